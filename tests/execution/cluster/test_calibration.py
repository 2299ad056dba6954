from __future__ import annotations

import pytest

from utilitune.domain import Measure
from utilitune.execution.cluster.calibration import (
    loop_s,
    reference_times,
    slower_limits,
    spread_warning,
)
from utilitune.targets.base import Ending, RawResult


def test_the_loop_takes_time():
    assert 0.0 < loop_s() < 1.0


def test_a_spread_that_matters_is_said():
    assert spread_warning({"a": 0.01}) == ""
    assert spread_warning({"a": 0.01, "b": 0.0119}) == ""
    text = spread_warning({"a": 0.01, "b": 0.014, "c": 0.012})
    assert "b takes 1.4 times as long as a" in text
    assert "A1" in text


def test_times_of_a_slow_worker_are_scaled_there_and_back():
    message = slower_limits({"captime_s": 10.0, "wall_limit_s": 160.0}, factor=2.0)
    assert message == {"captime_s": 20.0, "wall_limit_s": 160.0}
    assert slower_limits({"captime_s": None}, factor=2.0) == {"captime_s": None}
    raw = RawResult(Ending.CAPTIME, cpu_s=20.0, wall_s=21.0, trace=((4.0, "7", None, None),))
    cpu = reference_times(raw, Measure.CPU, factor=2.0)
    assert (cpu.cpu_s, cpu.wall_s, cpu.trace) == (10.0, 21.0, ((2.0, "7", None, None),))
    assert reference_times(raw, Measure.WALL, factor=2.0).wall_s == pytest.approx(10.5)

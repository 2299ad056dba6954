"""Distribution functions of runs some of which were stopped."""

from __future__ import annotations

import numpy as np
import pytest

from utilitune.reports.distributions import distribution, share_below, utility_curve
from utilitune.utility import parse_utility


def found(watched: list[float], finished: list[bool]) -> dict:
    return distribution(np.array(watched), np.array(finished, dtype=np.bool_))


def test_without_stopped_runs_it_counts():
    curve = found([3.0, 1.0, 2.0, 4.0], [True] * 4)
    assert curve["t"] == [1.0, 2.0, 3.0, 4.0]
    assert curve["p"] == pytest.approx([0.25, 0.5, 0.75, 1.0])


def test_stopped_runs_count_as_long_as_they_were_watched():
    curve = found([1.0, 2.0, 2.0, 5.0], [True, False, True, True])
    assert curve["t"] == [1.0, 2.0, 5.0]
    assert curve["p"] == pytest.approx([1 / 4, 1 - 3 / 4 * 2 / 3, 1.0])
    assert (curve["runs"], curve["stopped"]) == (4, 1)


def test_a_failed_run_never_ends():
    curve = found([1.0, np.inf], [True, False])
    assert curve["p"] == pytest.approx([0.5])
    assert curve["end"] == 1.0


@pytest.mark.parametrize("size", [0, 1, 5000])
def test_any_number_of_runs(size: int):
    curve = found(list(np.arange(size) + 1.0), [True] * size)
    assert len(curve["t"]) == len(curve["p"]) <= 400
    assert len(share_below(np.linspace(0, 1, size))["t"]) <= 400


def test_the_utility_above():
    curve = utility_curve(parse_utility("uniform(k0=10)"), 1.0, 100.0)
    assert curve["u"][0] == pytest.approx(0.9)
    assert curve["u"][-1] == 0
    assert utility_curve(parse_utility("uniform(k0=10)"), 0.0, 0.0) == {"t": [], "u": []}

"""``utilitune demo``: what it is told is checked before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, invoke
from utilitune.errors import UtilituneError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("time", "complaint"),
    [("x", "'x' is not a duration"), ("0", "--time must be a positive number"), ("-3s", "'-3s' is not")],
)
def test_a_wrong_time_is_refused_before_anything_is_written(tmp_path: Path, time: str, complaint: str):
    with pytest.raises(UtilituneError, match=complaint):
        invoke("demo", tmp_path / "here", "--time", time)
    assert not list(tmp_path.iterdir())


def test_the_demo_goes_from_instances_to_a_comparison_and_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    toy = Toy.write(tmp_path)
    monkeypatch.setattr("utilitune.scenario.demo.prepare", lambda _: toy.scenario)
    first = invoke("demo", tmp_path, "--time", "20s", "--workers", "1").stdout
    assert "Best configuration" in first
    assert "8 test instances" in first
    assert (tmp_path / "promise.png").is_file()
    assert (tmp_path / "solved.png").is_file()
    again = invoke("demo", tmp_path, "--time", "20s", "--workers", "1").stdout
    assert "Best configuration" in again

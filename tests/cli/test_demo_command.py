"""``utilitune demo``: what it is told is checked before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.live_runs import invoke
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

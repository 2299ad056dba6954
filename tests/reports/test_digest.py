"""Many runs added up: who made them, and under which captimes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from utilitune.reports.digest import CaptimeCount, _Lanes
from utilitune.reports.distributions import captime_counts


def test_there_are_never_more_rows_than_workers():
    lanes = _Lanes(workers=2)
    assert [lanes.place(*run) for run in ((0, 5), (0, 3), (3.0005, 4))] == [0, 1, 1]
    assert lanes.place(3.9, 9) == 1, "clocks differ: there was no third worker"
    assert lanes.place(9, 10) == 0


def test_runs_that_others_make_get_as_many_rows_as_they_need():
    lanes = _Lanes(workers=2**31)
    assert [lanes.place(0, 5) for _ in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize("levels", [0, 1, 12, 13, 700])
def test_no_run_is_lost_where_captimes_are_put_together(levels: int):
    counts = {0.01 * 1.013**n: CaptimeCount(1, n, 2) for n in range(levels)}
    found = captime_counts(SimpleNamespace(captimes=counts))
    assert min(levels, 10) <= len(found["captime_s"]) <= min(levels, 12)
    assert found["captime_s"] == sorted(found["captime_s"])
    assert found["captime_s"][-1:] == sorted(counts)[-1:]
    assert found["together"] == (levels > 12)
    assert (sum(found["finished"]), sum(found["failed"])) == (levels, 2 * levels)
    assert sum(found["stopped"]) == sum(range(levels))

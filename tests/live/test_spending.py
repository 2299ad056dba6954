"""What a run has spent over every start of it."""

from __future__ import annotations

import pytest

from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.live.spending import elapsed_s
from utilitune.store import ConfigurationRecord, MemoryStore, Snapshot, StoredOrigin
from utilitune.store.records import RunRecord, SessionRecord


def store_with_runs(*times: tuple[float, float]) -> MemoryStore:
    store = MemoryStore(Snapshot({}, ""))
    store.add_configuration(ConfigurationRecord(0, {}, StoredOrigin.DEFAULT))
    for position, (started_at, ended_at) in enumerate(times):
        request, outcome = RunRequest(0, position, 4.0), RunOutcome(RunStatus.FINISHED, 1.0)
        store.add_run(RunRecord(request, outcome, seed=1, started_at=started_at, ended_at=ended_at))
    return store


@pytest.mark.parametrize(
    ("ended_at", "seconds"),
    [
        ([110.0, 1050.0], 60.0),
        ([None, 1050.0], 58.0),  # killed: until 108, and not until it was started again
        ([None, None], 8.0 + 20.0),
        ([110.0, None], 10.0 + 20.0),
    ],
)
def test_a_start_that_was_killed_lasted_until_its_last_run_had_ended(ended_at, seconds):
    store = store_with_runs((0.0, 0.0), (101.0, 104.0), (102.0, 108.0), (1010.0, 1020.0))
    sessions = [SessionRecord(start, {}, end) for start, end in zip((100.0, 1000.0), ended_at, strict=True)]
    assert elapsed_s(store, sessions) == seconds


def test_no_start_no_time():
    assert elapsed_s(store_with_runs(), []) == 0
    assert elapsed_s(store_with_runs(), [SessionRecord(5.0, {})]) == 0

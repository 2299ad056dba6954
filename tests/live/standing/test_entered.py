"""How many configurations a promise compares, and that a search adds only what it nominates."""

from __future__ import annotations

from utilitune.domain import Progress, RunOutcome, RunRequest, RunStatus
from utilitune.live.standing.card import compared
from utilitune.live.standing.entered import Entered
from utilitune.store import ConfigurationRecord, MemoryStore, RunRecord, Snapshot, StoredOrigin

PROGRESS = Progress(
    best_index=0,
    epsilon=0.5,
    gamma=0.1,
    delta=0.05,
    total_time_s=1.0,
    runs=10,
    rounds=10,
    configurations=4,
    alive=4,
)


def entered(origins: list[StoredOrigin], values: list[int], run: list[int], nominated: list[int]) -> Entered:
    store = MemoryStore(Snapshot({}, "digest"))
    for index, (origin, value) in enumerate(zip(origins, values, strict=True)):
        store.add_configuration(ConfigurationRecord(index, {"x": value}, origin))
    for index in run:
        store.add_run(RunRecord(RunRequest(index, 0, 1.0), RunOutcome(RunStatus.FINISHED, 0.5)))
    for index in nominated:
        store.nominate(index)
    return Entered.of(store, store.configurations())


def test_a_candidate_takes_part_only_where_it_was_nominated():
    origins = [StoredOrigin.DEFAULT, *[StoredOrigin.RANDOM] * 2, *[StoredOrigin.CANDIDATE] * 5]
    found = entered(origins, list(range(8)), [0, *range(3, 8)], [4])
    assert found == Entered(compared=4, tried=2, searched=5)
    words = "4 configurations, 2 of them run, 4 not ruled out; search has tried 5"
    assert compared(PROGRESS, found) == words


def test_a_configuration_that_is_to_be_proved_was_tried_by_no_search():
    found = entered([StoredOrigin.DEFAULT, StoredOrigin.CANDIDATE], [0, 1], [0, 1], [1])
    assert found == Entered(compared=2, tried=2, searched=0)


def test_a_configuration_that_was_drawn_or_nominated_again_counts_once():
    found = entered([StoredOrigin.DEFAULT, *[StoredOrigin.RANDOM] * 3], [0, 1, 0, 2], [0, 1, 3], [1])
    assert found == Entered(compared=3, tried=3, searched=0)
    assert compared(PROGRESS, found) == "3 configurations, 3 not ruled out"


def test_nothing_more_is_said_where_nothing_more_is_known():
    assert compared(PROGRESS) == "4 configurations, 4 not ruled out"

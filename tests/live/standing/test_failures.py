"""What failed runs have in common: named where it fits, and only there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.live.standing.failures import common_cause, failures_of
from utilitune.store import MemoryStore, Snapshot
from utilitune.store.records import ConfigurationRecord, RunRecord, StoredOrigin

if TYPE_CHECKING:
    from collections.abc import Iterator


def on_off(count: int) -> dict[int, dict[str, Any]]:
    return {n: {"heuristicsOnOff": "on" if n % 3 == 0 else "off", "x": n / 10} for n in range(count)}


def test_a_value_that_all_failures_share():
    assert common_cause({0, 3, 6, 9}, on_off(10)) == "all with heuristicsOnOff = on"


def test_a_range_that_all_failures_share():
    assert common_cause({7, 8, 9}, on_off(10)) == "all with x ≥ 0.7"
    assert common_cause({0, 1, 2}, on_off(10)) == "all with x ≤ 0.2"


@pytest.mark.parametrize(
    ("failed", "assignments"),
    [
        ({0}, on_off(10)),  # one configuration shares everything with itself
        ({0, 1}, on_off(2)),  # nobody is left to compare with
        ({0, 9, 4}, on_off(10)),
        ({0, 1}, {n: {"a": "same"} for n in range(9)}),
        ({0, 1}, {0: {}, 1: {"a": 1}, 2: {"a": 2}}),
        (set(), on_off(10)),
    ],
)
def test_no_cause_where_none_fits(failed: set[int], assignments: dict[int, dict[str, Any]]):
    assert not common_cause(failed, assignments)


def test_values_of_several_kinds_are_no_range():
    assignments = {0: {"a": 1}, 1: {"a": "auto"}, 2: {"a": True}, 3: {"a": 2}}
    assert not common_cause({0, 1}, assignments)
    assert common_cause({0, 3}, {**assignments, 4: {"a": 0.5}}) == "all with a ≥ 1"


def _store(runs: list[tuple[int, int, RunStatus]]) -> MemoryStore:
    store = MemoryStore(Snapshot({}, ""))
    records = [
        ConfigurationRecord(index, assignment, StoredOrigin.RANDOM)
        for index, assignment in on_off(10).items()
    ]
    store.add_configuration(*records)
    for index, position, status in runs:
        outcome = RunOutcome(status, 1.0, detail="Traceback:\n  exit code 3" if status.failed else "")
        store.add_run(RunRecord(RunRequest(index, position, 5.0), outcome))
    return store


def test_failures_are_told_with_their_cause():
    crashed = [(index, position, RunStatus.CRASHED) for index in (0, 3, 6) for position in range(13)]
    fine = [(index, 0, RunStatus.FINISHED) for index in (1, 2, 4)]
    store = _store([*crashed, *fine, (5, 0, RunStatus.MEMOUT)])
    crashes, memory = failures_of(store, store.configurations())
    assert crashes.sentence() == "39 crashes, all with heuristicsOnOff = on"
    assert crashes.detail == "exit code 3"
    assert crashes.example == 38
    assert memory.sentence() == "1 run out of memory"


def test_configurations_that_never_ran_are_no_witnesses():
    store = _store([(0, 0, RunStatus.CRASHED), (3, 0, RunStatus.CRASHED), (6, 0, RunStatus.FINISHED)])
    (crashes,) = failures_of(store, store.configurations())
    assert "heuristicsOnOff" not in crashes.sentence()


def test_an_instance_that_all_failures_share():
    store = _store([(0, 4, RunStatus.CRASHED), (1, 4, RunStatus.CRASHED), (2, 1, RunStatus.FINISHED)])
    (crashes,) = failures_of(store, [], lambda position: f"instance-{position}")
    assert crashes.sentence() == "2 crashes, all on instance-4"


def test_several_instances_on_which_nothing_works():
    crashed = [(index, position, RunStatus.CRASHED) for index in (0, 1, 3) for position in (2, 5, 7)]
    fine = [(index, position, RunStatus.FINISHED) for index in (0, 1, 3) for position in (1, 3)]
    store = _store([*fine, *crashed])
    (crashes,) = failures_of(store, store.configurations(), lambda position: f"p{position}.c")
    assert crashes.sentence() == "9 crashes, all on 3 instances where nothing works (p2.c, p5.c and 1 more)"
    assert crashes.example_configuration == 3


def test_runs_that_failed_are_not_read_whole_to_see_that_nothing_works(monkeypatch: pytest.MonkeyPatch):
    store = _store([(index, 4, RunStatus.CRASHED) for index in (0, 1, 3, 6)])
    asked = store.runs
    read: list[object] = []

    def counted(**wanted: object) -> Iterator[object]:
        for run in asked(**wanted):
            read.append(run)
            yield run

    monkeypatch.setattr(store, "runs", counted)
    (crashes,) = failures_of(store, [], lambda position: f"p{position}.c")
    assert crashes.sentence() == "4 crashes, all on p4.c"
    assert not read


def test_instances_on_which_something_works_are_not_to_blame():
    crashed = [(index, position, RunStatus.CRASHED) for index in (0, 1, 3) for position in (2, 5)]
    store = _store([*crashed, (4, 5, RunStatus.TIMEOUT)])
    (crashes,) = failures_of(store, store.configurations())
    assert "instances" not in crashes.sentence()


def test_instances_that_only_one_configuration_was_run_on_prove_nothing():
    store = _store([(0, 2, RunStatus.CRASHED), (1, 5, RunStatus.CRASHED), (3, 7, RunStatus.CRASHED)])
    (crashes,) = failures_of(store, [])
    assert crashes.sentence() == "3 crashes"


def test_an_instance_that_works_for_somebody_is_not_to_blame():
    store = _store([(0, 4, RunStatus.CRASHED), (1, 4, RunStatus.CRASHED), (2, 4, RunStatus.FINISHED)])
    (crashes,) = failures_of(store, [])
    assert crashes.sentence() == "2 crashes"


def test_without_failures_there_is_nothing_to_tell():
    assert failures_of(_store([(0, 0, RunStatus.TIMEOUT)]), []) == ()


def test_a_store_that_goes_on_is_read_from_where_it_was_read_to():
    crashed, fine = RunStatus.CRASHED, RunStatus.FINISHED
    store = _store([(0, 1, crashed), (3, 1, crashed), *((n, 1, fine) for n in (1, 2, 4, 5, 7, 8))])
    [first] = failures_of(store, store.configurations())
    assert first.sentence() == "2 crashes, all with heuristicsOnOff = on"
    for index, position in ((6, 2), (1, 3), (2, 3)):  # and now some that have it off
        outcome = RunOutcome(crashed, 1.0, detail="exit code 3")
        store.add_run(RunRecord(RunRequest(index, position, 5.0), outcome))
    read_from = []
    real = store.failed_runs
    store.failed_runs = lambda *, since=0: read_from.append(since) or real(since=since)
    again = failures_of(store, store.configurations())
    fresh = failures_of(_copy(store), store.configurations())
    assert read_from == [2], "only what is new is read"
    assert again == fresh
    assert (again[0].count, again[0].configurations, again[0].cause) == (5, 5, "all with x ≤ 0.6")


def _copy(store: MemoryStore) -> MemoryStore:
    again = MemoryStore(Snapshot({}, ""))
    again.add_configuration(*store.configurations())
    for run in store.runs():
        again.add_run(run)
    return again

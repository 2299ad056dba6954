"""Every store keeps what it is given and answers the same questions in the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from utilitune.domain import (
    PhaseRecord,
    Progress,
    RunOutcome,
    RunRequest,
    RunStatus,
    StopReason,
    TracePoint,
)
from utilitune.store import (
    ConfigurationRecord,
    MemoryStore,
    RunRecord,
    Snapshot,
    StoredOrigin,
    open_run_folder,
    read_run_folder,
)
from utilitune.store.base import LONGEST_DETAIL, LONGEST_TAIL

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.store import Store

SNAPSHOT = Snapshot({"target": {"command": ["solve", "{instance}"]}, "delta": 0.05}, "digest-1")
PROGRESS = Progress(2, 0.25, 0.125, 0.05, 12.5, 40, 7, 3, 2)


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path):
    made = MemoryStore(SNAPSHOT) if request.param == "memory" else open_run_folder(tmp_path / "run", SNAPSHOT)
    yield made
    made.close()


def a_run(configuration: int = 0, position: int = 0, status: RunStatus = RunStatus.FINISHED, **outcome: str):
    return RunRecord(
        RunRequest(configuration, position, 4.0), RunOutcome(status, 1.5, **outcome), seed=7, started_at=1.0
    )


def with_configurations(store: Store):
    for index in range(3):
        store.add_configuration(ConfigurationRecord(index, {"x": index}, StoredOrigin.RANDOM))
    return store


def test_keeps_the_scenario(store: Store):
    assert store.snapshot == SNAPSHOT


def test_keeps_configurations_in_order(store: Store):
    records = [
        ConfigurationRecord(0, {}, StoredOrigin.DEFAULT, drawn_at=3.5),
        ConfigurationRecord(
            1, {"a b": 'it\'s "x"\n', "y": 1e-300, "z": None, "w": True}, StoredOrigin.USER, 12, 4.5
        ),
        ConfigurationRecord(2, {"x": -3}, StoredOrigin.MODEL),
    ]
    for record in reversed(records):
        store.add_configuration(record)
    assert store.configurations() == records


def test_configurations_are_kept_together_or_not_at_all(store: Store):
    records = [ConfigurationRecord(index, {"x": index}, StoredOrigin.RANDOM) for index in range(4)]
    store.add_configuration(*records[:3])
    assert store.configurations() == records[:3]
    with pytest.raises(ValueError, match="does not fit what is stored"):
        store.add_configuration(records[3], records[1])
    assert store.configurations() == records[:3]
    store.add_configuration(records[3])
    assert store.configurations() == records


def test_numpy_values_come_back_as_plain_ones(store: Store):
    store.add_configuration(
        ConfigurationRecord(0, {"n": np.int64(3), "x": np.float64(0.5)}, StoredOrigin.RANDOM)
    )
    assignment = store.configurations()[0].assignment
    assert assignment == {"n": 3, "x": 0.5}
    assert {type(value) for value in assignment.values()} == {int, float}


def test_keeps_what_is_known_of_solutions(store: Store):
    with_configurations(store)
    outcomes = [
        RunOutcome(RunStatus.FINISHED, 1.5, quality=-3.25, bound=-4.0),
        RunOutcome(RunStatus.TIMEOUT, 4.0, quality=0.0, output_tail="o 0"),
        RunOutcome(RunStatus.TIMEOUT, 4.0, bound=1e300),
        RunOutcome(
            RunStatus.TIMEOUT,
            4.0,
            trace=(
                TracePoint(0.1, 9.5),
                TracePoint(0.30000000000000004, None, -2.0),
                TracePoint(2, 1e-300, 0),
            ),
        ),
        RunOutcome(RunStatus.FINISHED, 1.0),
    ]
    for position, outcome in enumerate(outcomes):
        store.add_run(RunRecord(RunRequest(0, position, 4.0), outcome))
    assert [record.outcome for record in store.runs()] == outcomes


def test_keeps_what_a_continued_run_was_paid_for_before(store: Store):
    with_configurations(store)
    outcomes = [
        RunOutcome(RunStatus.TIMEOUT, 1.0, overshoot_s=0.1),
        RunOutcome(RunStatus.FINISHED, 1.5, output_tail="done", continued_s=1.1),
        RunOutcome(RunStatus.TIMEOUT, 4.0, continued_s=0.30000000000000004),
    ]
    for position, outcome in enumerate(outcomes):
        store.add_run(RunRecord(RunRequest(0, position, 4.0), outcome))
    assert [record.outcome for record in store.runs()] == outcomes


def test_refuses_a_configuration_number_twice_and_a_run_of_an_unknown_configuration(store: Store):
    with_configurations(store)
    with pytest.raises(ValueError, match="does not fit what is stored"):
        store.add_configuration(ConfigurationRecord(1, {}, StoredOrigin.RANDOM))
    with pytest.raises(ValueError, match="does not fit what is stored"):
        store.add_run(a_run(configuration=9))
    with pytest.raises(ValueError, match="does not fit what is stored"):
        store.add_run(a_run(configuration=9, output_tail="some output"))
    assert store.add_run(a_run()) == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(
    status=st.sampled_from(RunStatus),
    numbers=st.lists(st.floats(min_value=0, allow_nan=False), min_size=6, max_size=6),
    whole=st.lists(st.integers(min_value=0, max_value=2**62), min_size=3, max_size=3),
    exit_code=st.none() | st.integers(-64, 255),
    texts=st.lists(st.text(st.characters(codec="utf-8"), max_size=50), min_size=2, max_size=2),
    speculative=st.booleans(),
)
def test_a_run_comes_back_as_it_went_in(  # noqa: PLR0917 - one argument per part of a run
    store: Store,
    status: RunStatus,
    numbers: list[float],
    whole: list[int],
    exit_code: int | None,
    texts: list[str],
    speculative: bool,
):
    if not store.configurations():
        with_configurations(store)
    captime_s, runtime_s, cpu_s, wall_s, overshoot_s, started_at = numbers
    outcome = RunOutcome(status, runtime_s, cpu_s, wall_s, whole[0], exit_code, overshoot_s, *texts)
    record = RunRecord(
        RunRequest(2, whole[1], captime_s), outcome, whole[2], started_at, started_at, speculative
    )
    sequence = store.add_run(record)
    assert list(store.runs(since=sequence)) == [replace(record, sequence=sequence)]


def test_filters_agree_with_a_plain_loop(store: Store):
    with_configurations(store)
    statuses = list(RunStatus)
    for number in range(60):
        store.add_run(a_run(number % 3, number % 7, statuses[number % 5], output_tail="x" * (number % 2)))
    everything = list(store.runs())
    assert [run.sequence for run in everything] == list(range(60))
    for wanted in ({"configuration": 1}, {"position": 4}, {"status": RunStatus.MEMOUT}, {"since": 50}):
        for other in ({}, {"status": RunStatus.FINISHED}, {"configuration": 2}):
            criteria = {**other, **wanted}
            expected = [
                run
                for run in everything
                if run.request.configuration == criteria.get("configuration", run.request.configuration)
                and run.request.position == criteria.get("position", run.request.position)
                and run.outcome.status == criteria.get("status", run.outcome.status)
                and run.sequence >= criteria.get("since", 0)
            ]
            assert list(store.runs(**criteria)) == expected
    assert store.counts() == dict.fromkeys(RunStatus, 12)


def test_an_empty_store_answers_too(store: Store):
    assert list(store.runs()) == []
    assert store.counts() == dict.fromkeys(RunStatus, 0)
    assert store.last_progress() is None
    assert store.sessions() == store.configurations() == store.events() == list(store.trajectory()) == []
    assert store.phases() == []


def test_keeps_the_trajectory(store: Store):
    with_configurations(store)
    store.add_progress(replace(PROGRESS, gamma=None))
    store.add_run(a_run())
    store.add_progress(PROGRESS)
    points = list(store.trajectory())
    assert [(point.progress.gamma, point.sequence) for point in points] == [(None, 0), (0.125, 1)]
    assert points[-1] == store.last_progress()
    assert points[-1].progress == PROGRESS
    assert points[0].at <= points[1].at


def test_keeps_phases_once(store: Store):
    phases = [PhaseRecord.of(1, PROGRESS), PhaseRecord.of(2, replace(PROGRESS, gamma=None))]
    for phase in phases:
        store.add_phase(phase)
    assert store.phases() == phases
    with pytest.raises(ValueError, match="does not fit what is stored"):
        store.add_phase(phases[0])
    assert store.phases() == phases


def test_keeps_events(store: Store):
    store.add_event("warning", "the machine was oversubscribed")
    store.add_event("note", "")
    assert [(event.kind, event.text) for event in store.events()] == [
        ("warning", "the machine was oversubscribed"),
        ("note", ""),
    ]


def test_notes_every_start_and_end(store: Store):
    store.begin_session({"procedure": "coup", "workers": 2})
    store.end_session(StopReason("budget", "give it more time"))
    store.end_session(StopReason("again", "a second end changes nothing"))
    store.begin_session({"procedure": "wager"})
    first, second = store.sessions()
    assert first.settings == {"procedure": "coup", "workers": 2}
    assert first.stop == StopReason("budget", "give it more time")
    assert first.started_at <= first.ended_at
    assert (second.ended_at, second.stop) == (None, None)
    assert {"utilitune", "python", "numpy"} <= set(second.versions)
    assert second.machine["cores"] >= 1


def test_a_request_to_stop_is_seen_and_forgotten_by_the_next_session(store: Store):
    assert not store.stop_requested()
    store.request_stop()
    assert store.stop_requested()
    store.begin_session({})
    assert not store.stop_requested()


def test_long_texts_keep_their_end_or_beginning(store: Store):
    with_configurations(store)
    store.add_run(a_run(output_tail="a" * 9999 + "z", detail="b" * 9999))
    outcome = next(store.runs()).outcome
    assert outcome.output_tail == "a" * (LONGEST_TAIL - 1) + "z"
    assert outcome.detail == "b" * LONGEST_DETAIL


def test_output_is_kept_within_bounds_and_failures_have_their_own_share(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("utilitune.store.base.ORDINARY_OUTPUT", 25)
    monkeypatch.setattr("utilitune.store.base.FAILURE_OUTPUT", 25)
    if isinstance(store, MemoryStore):
        store = MemoryStore(SNAPSHOT)
    else:
        store.close()
        store = open_run_folder(tmp_path / "run", SNAPSHOT)
    with_configurations(store)
    for status in (RunStatus.FINISHED, RunStatus.TIMEOUT, RunStatus.FINISHED, RunStatus.CRASHED):
        store.add_run(a_run(status=status, output_tail="0123456789"))
    if not isinstance(store, MemoryStore):  # what was kept before a restart counts
        store.close()
        store = open_run_folder(tmp_path / "run", SNAPSHOT)
    for status in (RunStatus.MEMOUT, RunStatus.WRONG_ANSWER, RunStatus.FINISHED):
        store.add_run(a_run(status=status, output_tail="0123456789"))
    kept = [bool(run.outcome.output_tail) for run in store.runs()]
    store.close()
    assert kept == [True, True, False, True, True, False, False]


def test_a_folder_holds_all_of_it_after_reopening(tmp_path: Path):
    with_configurations(store := open_run_folder(tmp_path / "run", SNAPSHOT))
    store.begin_session({"procedure": "coup"})
    store.add_run(a_run(output_tail="out"))
    store.add_progress(PROGRESS)
    before = [list(store.runs()), store.configurations(), list(store.trajectory()), store.sessions()]
    store.close()
    for again in (read_run_folder(tmp_path / "run"), open_run_folder(tmp_path / "run", SNAPSHOT)):
        assert [
            list(again.runs()),
            again.configurations(),
            list(again.trajectory()),
            again.sessions(),
        ] == before
        again.close()

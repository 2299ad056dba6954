"""A run that has lasted longer than it is needed for: ended, stored as stopped there, and never sooner."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from live.simulated_scenarios import make_scenario
from utilitune.domain import Measure, RunRequest, RunStatus, StopReason
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.asker import Done, Ended, Instruction, Make, Room, Wanted
from utilitune.live.driver import Driver
from utilitune.live.live_run import LiveRun
from utilitune.live.running import run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.store import ConfigurationRecord, MemoryStore, Snapshot, StoredOrigin, read_run_folder
from utilitune.targets.base import Ending, RawResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from utilitune.execution.backend import Job
    from utilitune.scenario import Scenario
    from utilitune.store import RunRecord

LONG, SHORT, OTHER = RunRequest(0, 0, 8.0), RunRequest(0, 0, 2.0), RunRequest(0, 1, 2.0)


class Impatient:
    """Wants a run up to 8 s and, when another one has ended, finds that 2 s would do."""

    phases = ()

    def __init__(self) -> None:
        self.heard: list[Ended] = []
        self.asked = 0

    def restore(self, configurations: object) -> None:
        pass

    def hear(self, run: Ended) -> None:
        self.heard.append(run)

    def ask(self, room: Room) -> Instruction:
        self.asked += 1
        positions = [run.request.position for run in self.heard]
        if 0 in positions:
            return Done(StopReason("enough", "Enough is known."))
        if not room.under_way:
            return Make([Wanted(LONG, ahead=True), *([] if positions else [Wanted(OTHER)])])
        return Make([], enough=[SHORT])

    def progress(self) -> None:
        return None

    def close(self) -> None:
        pass


def lasting(*seconds: float) -> Callable[[Job], SimulatedRun]:
    """Each run lasts as long as the next of these."""
    left = list(seconds)
    return lambda _: SimulatedRun(left.pop(0))


def run_on_first(store: MemoryStore) -> RunRecord:
    [found] = [run for run in store.runs() if run.request.position == 0]
    return found


def driven(scenario: Scenario, backend: SimulatedBackend) -> tuple[MemoryStore, Impatient]:
    store = MemoryStore(Snapshot({}, ""))
    store.add_configuration(ConfigurationRecord(0, {"x": 0.9}, StoredOrigin.DEFAULT))
    asker = Impatient()
    live = LiveRun(Task(scenario), store, asker)
    with live.session():
        Driver(live, backend).work()
    return store, asker


def test_it_counts_as_stopped_at_the_captime_that_is_needed(tmp_path: Path):
    backend = SimulatedBackend(2, lasting(50.0, 0.5))
    store, asker = driven(make_scenario(tmp_path), backend)
    run = run_on_first(store)
    assert run.request == SHORT
    assert (run.outcome.status, run.outcome.runtime_s) == (RunStatus.TIMEOUT, 2.0)
    assert run.outcome.overshoot_s == pytest.approx(0.0)
    assert [each.request for each in asker.heard] == [OTHER, SHORT], "it is stored before anybody hears of it"
    assert backend.now_s == pytest.approx(2.0)


def test_one_that_ends_by_itself_in_time_counts_as_it_ended(tmp_path: Path):
    backend = SimulatedBackend(2, lasting(1.5, 0.5))
    store, _ = driven(make_scenario(tmp_path), backend)
    run = run_on_first(store)
    assert (run.request, run.outcome.status, run.outcome.runtime_s) == (LONG, RunStatus.FINISHED, 1.5)


class Lagging(SimulatedBackend):
    """Its runs get half a second of CPU time per second."""

    def wait(self, timeout_s: float | None = None) -> list[tuple[int, RawResult]]:
        return [
            (job, replace(raw, cpu_s=raw.cpu_s / 2) if raw.ending is Ending.CANCELLED else raw)
            for job, raw in super().wait(timeout_s)
        ]


def test_what_was_not_measured_to_last_so_long_does_not_count(tmp_path: Path):
    scenario = make_scenario(tmp_path)
    assert scenario.measure is Measure.CPU
    store, _ = driven(scenario, Lagging(2, lasting(50.0, 0.5, 1.0)))
    run = run_on_first(store)
    assert (run.request, run.outcome.status) == (LONG, RunStatus.FINISHED), "it was made again"


def runtime_s(job: Job) -> SimulatedRun:
    """Anything from a moment to minutes, by instance and configuration."""
    digest = hashlib.sha256(" ".join(job.task.argv[1:]).encode()).digest()
    return SimulatedRun(0.2 * 2.0 ** (digest[0] / 20.0))


@pytest.mark.parametrize("options", [{"configurations": 8}, {"proposals": 0.0}], ids=["fixed", "growing"])
def test_any_number_of_workers_comes_to_the_same_state(tmp_path: Path, options: dict[str, object]):
    scenario = make_scenario(tmp_path, procedure="wager", options=options)
    scenario = replace(scenario, stop=replace(scenario.stop, epsilon=0.45))
    states, cut = [], 0
    for workers in (1, 4, 40):
        folder = tmp_path / str(workers)
        settings = settings_of(scenario, workers=workers)
        result = run_scenario(scenario, folder, settings, backend=SimulatedBackend(workers, runtime_s))
        with contextlib.closing(read_run_folder(folder)) as store:
            assert all(run.outcome.overshoot_s >= 0.0 for run in store.runs())
            cut += sum(run.speculative for run in store.runs())
        progress = result.progress
        states.append((progress.best_index, progress.epsilon, progress.gamma, progress.rounds))
        again = run_scenario(scenario, folder, settings, backend=SimulatedBackend(workers, runtime_s))
        assert again.progress.epsilon == progress.epsilon, "what is stored leads to the same state"
    assert states[0] == states[1] == states[2]
    assert cut > 0

"""Runs that somebody waits for: kept as soon as they end, what ends together before anybody hears of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from live.simulated_scenarios import make_scenario
from utilitune.domain import RunStatus
from utilitune.errors import StoppedError, TargetError
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.driver import Driver
from utilitune.live.grid import GivenRuns, Grid, complete
from utilitune.live.live_run import LiveRun
from utilitune.live.task import Task
from utilitune.scenario import FailurePolicy
from utilitune.scenario.instances import instance_source
from utilitune.store import ConfigurationRecord, MemoryStore, Snapshot, StoredOrigin
from utilitune.targets.base import Ending, RawResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from utilitune.execution.backend import Job
    from utilitune.scenario import Scenario

DEFAULT = ConfigurationRecord(0, {"x": 0.9}, StoredOrigin.DEFAULT)


class MadeOnDemand:
    """Instances that somebody makes: whoever wants one is asked whether to stop meanwhile."""

    def __init__(self, scenario: Scenario, look: Callable[[], object]) -> None:
        self._listed = instance_source(scenario)
        self._look = look
        self.count = self._listed.count
        self.name = self._listed.name
        self.seed = self._listed.seed

    def prepare(self, position: int, stopping: Callable[[], bool]) -> bool:
        assert not stopping()
        self._look()
        return not stopping()

    def require_unchanged(self, position: int) -> None:
        self._listed.require_unchanged(position)


def crashing_first(scenario: Scenario) -> Callable[[Job], SimulatedRun]:
    """The run on the first instance crashes, the others finish at the same moment."""
    first = instance_source(scenario).name(0)
    return lambda job: SimulatedRun(0.5, exit_code=int(job.task.argv[1] == first))


def test_what_ends_with_a_run_that_ends_everything_is_kept(tmp_path: Path):
    scenario = make_scenario(tmp_path, policies={RunStatus.CRASHED: FailurePolicy.ABORT})
    store = MemoryStore(Snapshot({}, ""))
    grid = Grid(Task(scenario), instance_source(scenario), [DEFAULT], 2.0)
    backend = SimulatedBackend(3, crashing_first(scenario))
    with pytest.raises(TargetError, match="the scenario says to stop at"):
        complete(grid, [(0, position) for position in range(5)], store, backend)
    assert sorted((run.request.position, run.outcome.status) for run in store.runs()) == [
        (0, RunStatus.CRASHED),
        (1, RunStatus.FINISHED),
        (2, RunStatus.FINISHED),
    ]


def test_what_ends_while_an_instance_is_made_is_kept_before_that_is_there(tmp_path: Path):
    scenario = make_scenario(tmp_path)
    store = MemoryStore(Snapshot({}, ""))
    kept: list[int] = []
    instances = MadeOnDemand(scenario, lambda: kept.append(len(list(store.runs()))))
    at_once = SimulatedBackend(4, lambda _: SimulatedRun(0.0))
    grid = Grid(Task(scenario), instances, [DEFAULT], 2.0)
    complete(grid, [(0, n) for n in range(4)], store, at_once)
    assert kept == [0, 1, 2, 3]


def first_is_quick(scenario: Scenario) -> Callable[[Job], SimulatedRun]:
    """The run on the first instance ends long before the others."""
    first = instance_source(scenario).name(0)
    return lambda job: SimulatedRun(0.5 if job.task.argv[1] == first else 1.5)


def test_a_stop_ends_what_is_under_way_and_keeps_what_has_ended(tmp_path: Path):
    scenario = make_scenario(tmp_path)
    store = MemoryStore(Snapshot({}, ""))
    backend = SimulatedBackend(3, first_is_quick(scenario))
    grid = Grid(Task(scenario), instance_source(scenario), [DEFAULT], 2.0)
    wanted = [(0, position) for position in range(5)]
    with pytest.raises(StoppedError, match="Stopped on request: start again to go on from here"):
        complete(grid, wanted, store, backend, lambda known, _: known and store.request_stop())
    assert [run.request.position for run in store.runs()] == [0]
    assert (backend.now_s, backend.free_slots) == (0.5, 3)
    assert len(complete(grid, wanted, store, backend)) == len(list(store.runs())) == 5


def test_a_stop_is_obeyed_while_an_instance_is_made(tmp_path: Path):
    scenario = make_scenario(tmp_path)
    store = MemoryStore(Snapshot({}, ""))
    instances = MadeOnDemand(scenario, lambda: backend.free_slots == 1 and store.request_stop())
    backend = SimulatedBackend(3, lambda _: SimulatedRun(0.5))
    with pytest.raises(StoppedError):
        complete(Grid(Task(scenario), instances, [DEFAULT], 2.0), [(0, 0), (0, 1), (0, 2)], store, backend)
    assert list(store.runs()) == []
    assert (backend.now_s, backend.free_slots) == (0.0, 3)


class OneCannotStart(SimulatedBackend):
    """The first of the runs that end together could not be started."""

    def wait(self, timeout_s: float | None = None) -> list[tuple[int, RawResult]]:
        (job, _), *others = super().wait(timeout_s)
        return [(job, RawResult(Ending.EXITED, launch_error="no such program")), *others]


def test_a_run_that_could_not_be_made_takes_no_other_with_it(tmp_path: Path):
    scenario = make_scenario(tmp_path)
    store = MemoryStore(Snapshot({}, ""))
    backend = OneCannotStart(2, lambda _: SimulatedRun(0.5))
    asker = GivenRuns(2.0)
    live = LiveRun(Task(scenario), store, asker)
    with live.session():
        live.keep(DEFAULT)
        asker.want([(0, 0), (0, 1)])
        with pytest.raises(TargetError, match="no such program"):
            Driver(live, backend).work()
    assert not live.under_way
    assert [run.request.position for run in store.runs()] == [1]
    assert list(asker.known) == [(0, 1)]


class ComingAndGoing(SimulatedBackend):
    """The worker goes after the first look, and is back at the fourth."""

    looks = 0

    @property
    def free_slots(self) -> int:
        self.looks += 1
        return 0 if self.looks in (2, 3) else super().free_slots


def test_workers_that_go_between_two_looks_are_waited_for(tmp_path: Path):
    scenario = make_scenario(tmp_path)
    grid = Grid(Task(scenario), instance_source(scenario), [DEFAULT], 2.0)
    backend = ComingAndGoing(1, lambda _: SimulatedRun(0.5))
    made = complete(grid, [(0, 0), (0, 1)], MemoryStore(Snapshot({}, "")), backend)
    assert [outcome.status for outcome in made.values()] == [RunStatus.FINISHED] * 2

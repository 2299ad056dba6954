"""A scenario's program as a ground, and a peer let loose on it.

Runs are made by our own backend: metered, stopped at the captime, judged by the scenario's rules, and kept in
a run folder before the peer hears of them. So ``utilitune best``, ``runs``, ``status`` and ``evaluate`` work
on a peer's folder as on any other; only a promise there is none.

Going on is playing again: a peer repeats its choices from its seed, and runs that the folder holds are
charged but not made again. The folder is bound to the peer and its settings, as its scenario names the peer
as the procedure.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from utilitune.baselines.rival import Allowance, Objective
from utilitune.domain import Progress, RunRequest, StopReason
from utilitune.errors import StoppedError, UsageError, UtilituneError
from utilitune.execution.runs import RunRules
from utilitune.peers.arena import Arena, HaltError, Played
from utilitune.scenario.instances import instance_source
from utilitune.scenario.targets import build_target
from utilitune.session.failures import FailureGuard
from utilitune.session.grid import settled
from utilitune.session.making import Made, RunsUnderWay, Workshop
from utilitune.session.opening import backend_for, worker_count
from utilitune.session.result import RunResult
from utilitune.session.supply import given_configurations
from utilitune.spaces import Assignment
from utilitune.store import ConfigurationRecord, MemoryStore, Origin, Snapshot, open_run_folder
from utilitune.store.base import note_once
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from utilitune.baselines.rival import Standing
    from utilitune.domain import RunOutcome
    from utilitune.execution.backend import Backend
    from utilitune.peers.peer import Peer
    from utilitune.scenario.model import Scenario
    from utilitune.spaces.parameters import Value
    from utilitune.store.base import Store
    from utilitune.utility import Utility

_POINT_EVERY = 10 ** (1 / 40)
_NOTHING_PROVED = 1.0  # every configuration is within 1 of the best


class LiveGround:
    """A program to run.

    Args:
        scenario: What is run on what.
        store: Where runs are kept, and where earlier ones are found.
        backend: What makes the runs.
        worth: What a run is worth, by its outcome.
        captime_s: Where runs are stopped.
    """

    def __init__(
        self,
        scenario: Scenario,
        store: Store,
        backend: Backend,
        worth: Callable[[RunOutcome], float],
        captime_s: float,
    ) -> None:
        self.space = scenario.space
        self.given = given_configurations(scenario)
        self.slots = backend.free_slots
        instances = instance_source(scenario)
        self.positions = instances.count
        self._store = store
        self._worth = worth
        self._captime_s = captime_s
        target = build_target(scenario)
        target.check()
        rules = RunRules(target, scenario.measure, scenario.memory_bytes)
        self._workshop = Workshop(rules, instances, store, backend)
        self._guard = FailureGuard(scenario, target)
        self._assignments = [Assignment(record.assignment) for record in store.configurations()]
        self._numbers = {assignment: number for number, assignment in enumerate(self._assignments)}
        self._made: dict[tuple[int, int], RunOutcome] = {
            (record.request.configuration, record.request.position): outcome
            for record in store.runs()
            if (outcome := settled(record, captime_s)) is not None
        }
        for assignment in self.given:  # the first is number 0, which answers are compared with
            self.number(assignment)

    def number(self, assignment: Mapping[str, Value]) -> int:
        """The number of a configuration; a new one is kept."""
        valid = self.space.validate(assignment)
        if valid not in self._numbers:
            number = len(self._assignments)
            first = Origin.USER if number else Origin.DEFAULT
            origin = first if number < len(self.given) else Origin.MODEL
            self._store.add_configuration(
                ConfigurationRecord(number, dict(valid), origin, drawn_at=time.time())
            )
            self._assignments.append(valid)
            self._numbers[valid] = number
        return self._numbers[valid]

    def run(self, configuration: int, positions: Sequence[int]) -> Sequence[Played]:
        """Make the runs that the store does not hold, all at once."""
        try:
            self._make(configuration, [each for each in positions if (configuration, each) not in self._made])
        except StoppedError as stopped:
            raise HaltError(StopReason("stop-requested", str(stopped))) from None
        outcomes = (self._made[configuration, position] for position in positions)
        return [Played(self._worth(each), each.runtime_s + each.overshoot_s) for each in outcomes]

    def _make(self, configuration: int, positions: Sequence[int]) -> None:
        if self._store.stop_requested():
            raise StoppedError
        under_way = RunsUnderWay(self._workshop, self._note)
        for position in positions:
            request = RunRequest(configuration, position, self._captime_s)
            under_way.begin(request, self._assignments[configuration])
        while under_way:
            under_way.take_in()

    def _note(self, made: Made) -> None:
        self._made[made.request.configuration, made.request.position] = made.outcome
        self._guard.note(made.invocation, made.outcome)


def worth_of(utility: Utility, objective: Objective, captime_s: float) -> Callable[[RunOutcome], float]:
    """The score of a run: as for rivals on recorded runs, and a failed run never ends.

    A run that was stopped is worth what an answer at the captime is; where runtime counts, a run without an
    answer counts with the captime.
    """

    def worth(outcome: RunOutcome) -> float:
        if objective is Objective.RUNTIME:
            return -outcome.runtime_s if outcome.finished else -captime_s
        return utility.infimum if outcome.failed else float(utility(outcome.runtime_s))

    return worth


@dataclass(frozen=True, slots=True)
class Match:
    """Who configures what, with which budget; made by `Match.of`.

    Attributes:
        scenario: The scenario, with the peer as its procedure.
        peer: The peer.
        budget: What it may spend.
        captime_s: Where runs are stopped.
    """

    scenario: Scenario
    peer: Peer
    budget: Allowance
    captime_s: float

    @classmethod
    def of(cls, scenario: Scenario, peer: Peer, budget: Allowance | None = None) -> Match:
        """A match on a scenario, whose largest captime and budget count where nothing else is said."""
        captime_s = scenario.max_captime_s if peer.captime_s is None else peer.captime_s
        if captime_s is None:
            raise UsageError("this scenario has no largest captime: say with --captime when to stop a run")
        own = {field.name: getattr(peer, field.name) for field in fields(peer)}
        options = {name: value for name, value in own.items() if value is not None}
        told = replace(scenario, procedure=peer.name, options=options)
        return cls(told, peer, budget or budget_of(scenario), captime_s)


def play_live(
    scenario: Scenario,
    peer: Peer,
    budget: Allowance | None = None,
    *,
    folder: Path | None = None,
    workers: int | None = None,
    on_progress: Callable[[Standing], None] | None = None,
) -> RunResult:
    """Let a peer configure a program on this machine.

    Args:
        scenario: What to configure.
        peer: Who does it.
        budget: What it may spend; that of the scenario if left out.
        folder: Where the runs are kept, to go on later; nowhere if left out.
        workers: Runs at the same time, where the peer asks for several (else a warning says that it does
            not); the scenario's number, or the cores, if left out.
        on_progress: Called whenever the peer has an answer to look at.
    """
    peer.require_installed()
    match = Match.of(scenario, peer, budget)
    snapshot = Snapshot(match.scenario.snapshot(), match.scenario.digest())
    afresh = "choose another --folder to start afresh"
    store: Store = (
        MemoryStore(snapshot) if folder is None else open_run_folder(folder, snapshot, afresh=afresh)
    )
    count = worker_count(scenario, workers)
    with (
        contextlib.closing(store),
        backend_for(scenario, 1 if peer.one_run_at_a_time else count) as backend,
    ):
        if peer.one_run_at_a_time and workers is not None and workers > 1:
            text = f"{peer.name} makes one run after the other: of the {workers} workers one is used."
            note_once(store, "warning", text)
        final = play_into(store, backend, match, on_progress)
        return RunResult.read(store, folder, final=final)


def play_into(
    store: Store,
    backend: Backend,
    match: Match,
    on_progress: Callable[[Standing], None] | None = None,
) -> Progress:
    """Let a peer play, keep every run in a store, and return where the peer stands at its end.

    Args:
        store: Where runs are kept, and where earlier ones are found.
        backend: What makes the runs.
        match: Who configures what.
        on_progress: Called whenever the peer has an answer to look at.
    """
    scenario, peer = match.scenario, match.peer
    worth = worth_of(parse_utility(scenario.utility), peer.objective, match.captime_s)
    ground = LiveGround(scenario, store, backend, worth, match.captime_s)
    store.begin_session({"procedure": {"name": peer.name}, "workers": backend.free_slots})
    reason = StopReason("failed", "The run ended with an error: mend it and start again.")
    try:
        arena = Arena(ground, match.budget, peer.instances)
        final, reason = _drive(peer, arena, _Diary(store, scenario.delta), on_progress)
    except UtilituneError as error:
        reason = StopReason("failed", str(error))
        raise
    finally:
        store.end_session(reason)
    return final


def budget_of(scenario: Scenario) -> Allowance:
    """The budget a scenario sets; one that sets none is refused, as peers have no end of their own."""
    stop, usual = scenario.stop, Allowance()
    if stop.cpu_time_s is None and stop.runs is None:
        raise UsageError("a peer needs a budget: say with --max-time how much run time it has")
    return Allowance(
        usual.total_time_s if stop.cpu_time_s is None else stop.cpu_time_s,
        usual.runs if stop.runs is None else stop.runs,
    )


class _Diary:
    """Keeps where a peer stands, whenever its answer changes or some time was spent."""

    def __init__(self, store: Store, delta: float) -> None:
        last = store.last_progress()
        self._store = store
        self._delta = delta
        self._kept_s = 0.0 if last is None else last.progress.total_time_s
        self._best = None if last is None else last.progress.best_index

    def progress(self, standing: Standing) -> Progress:
        """A standing in the terms of a run, with nothing proved."""
        return Progress(
            best_index=standing.best_index,
            epsilon=_NOTHING_PROVED,
            gamma=None,
            delta=self._delta,
            total_time_s=standing.total_time_s,
            runs=standing.runs,
            rounds=standing.runs,
            configurations=standing.configurations,
            alive=standing.alive,
        )

    def note(self, standing: Standing, *, last: bool = False) -> None:
        """Keep a standing that says something new."""
        spent_s = standing.total_time_s
        if spent_s < self._kept_s or (spent_s == self._kept_s and standing.best_index == self._best):
            return
        if last or standing.best_index != self._best or spent_s > self._kept_s * _POINT_EVERY:
            self._store.add_progress(self.progress(standing))
            self._kept_s, self._best = spent_s, standing.best_index


def _drive(
    peer: Peer, arena: Arena, diary: _Diary, on_progress: Callable[[Standing], None] | None
) -> tuple[Progress, StopReason]:
    """Let a peer play; Ctrl-C ends it with the answer it has."""
    standing: Standing | None = None
    steps = peer.play_on(arena)
    try:
        while True:
            standing = next(steps)
            diary.note(standing)
            if on_progress is not None:
                on_progress(standing)
    except StopIteration as end:
        reason: StopReason = end.value
    except KeyboardInterrupt:
        if arena.untouched:
            raise
        reason = StopReason("interrupted", "Interrupted: the same command goes on from here.")
        standing = arena.standing(None if standing is None else standing.best_index)
    finally:
        steps.close()
    final = standing or arena.standing()
    diary.note(final, last=True)
    return diary.progress(final), reason

"""A scenario's program as a ground, and a peer let loose on it.

Runs are made by our own backend: metered, stopped at the captime, judged by the scenario's rules, and kept in
a run folder before the peer hears of them. So ``utilitune best``, ``runs``, ``status`` and ``evaluate`` work
on a peer's folder as on any other. Only the promise is missing.

Going on is playing again: a peer repeats its choices from its seed, and runs that the folder holds are
charged but not made again. The folder is bound to the peer and its settings, as its scenario names the peer
as the procedure.
"""

from __future__ import annotations

import contextlib
import math
import signal
import time
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

from utilitune.domain import Progress
from utilitune.domain.stopping import TARGET_FAILS, LogSpacing, interrupted
from utilitune.errors import TargetError, UsageError
from utilitune.live.driver import Driver
from utilitune.live.grid import ALL_MADE, GivenRuns
from utilitune.live.live_run import POINTS_PER_DECADE, LiveRun, Terms
from utilitune.live.result import RunResult
from utilitune.live.running import open_store
from utilitune.live.task import Task
from utilitune.procedures.judged_evidence import DEFAULT
from utilitune.rivals.packages.arena import Arena, HaltError, Played
from utilitune.rivals.packages.captimes import advised_captime_s
from utilitune.rivals.packages.peer import LARGEST_SEED
from utilitune.rivals.rival import RankedBy
from utilitune.store import ConfigurationRecord, StoredOrigin
from utilitune.store.base import note_once
from utilitune.utility import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from utilitune.domain import RunOutcome, StopReason
    from utilitune.domain.stopping import Budget
    from utilitune.execution.backend import Backend
    from utilitune.live.asker import Pair
    from utilitune.rivals.packages.peer import Peer
    from utilitune.rivals.rival import RivalStanding
    from utilitune.scenario.judging import QualityJudge
    from utilitune.scenario.model import Scenario
    from utilitune.spaces.parameters import Value
    from utilitune.store.base import Store
    from utilitune.utility import Utility

_NOTHING_PROVED = 1.0  # every configuration is within 1 of the best


class LiveGround:
    """A program to run.

    Args:
        live: The run in which the runs are made.
        driver: What makes them.
        asker: Who wants them.
        slots: How many are made at once.
        match: Who plays, and where runs are stopped.
    """

    def __init__(self, live: LiveRun, driver: Driver, asker: GivenRuns, slots: int, match: Match) -> None:
        self.space = live.task.space
        self.given = live.task.given
        self.slots = slots
        self.positions = live.task.training.count
        self._live = live
        self._driver = driver
        self._asker = asker
        self.captime_s = match.captime_s
        self._objective = match.peer.objective
        self._judge = None if live.task.scenario.quality is None else live.task.judge()
        self._paid: set[Pair] = set()
        self._numbers = {assignment: number for number, assignment in live.assignments.items()}
        for assignment in self.given:  # the first is number 0, which answers are compared with
            self.number(assignment)

    def number(self, assignment: Mapping[str, Value]) -> int:
        """The number of a configuration; a new one is kept."""
        valid = self.space.validate(assignment)
        if valid not in self._numbers:
            number = self._live.next_number
            first = StoredOrigin.USER if number else StoredOrigin.DEFAULT
            origin = first if number < len(self.given) else StoredOrigin.PEER
            self._live.keep(ConfigurationRecord(number, dict(valid), origin, drawn_at=time.time()))
            self._numbers[valid] = number
        return self._numbers[valid]

    @cached_property
    def features(self) -> Sequence[Sequence[float]] | None:
        """What is known of the training instances, in their order."""
        known = self._live.task.features()
        return None if known is None else known.tolist()

    def run(
        self, configuration: int, positions: Sequence[int], captime_s: float | None = None
    ) -> Sequence[Played]:
        """Make the runs that are not known, all at once."""
        if self._judge is not None:
            return self._judged(self._judge, configuration, positions)
        pairs = [(configuration, position) for position in positions]
        limit_s = self.captime_s if captime_s is None else min(captime_s, self.captime_s)
        worth = worth_of(self._live.task.utility, self._objective, limit_s)
        return [Played(worth(each), _time_s(each), limit_s) for each in self._made(pairs, limit_s)]

    def _judged(self, judge: QualityJudge, configuration: int, positions: Sequence[int]) -> Sequence[Played]:
        """Make runs to the limit, whose cost for the peer is 1 − worth.

        Runs of the default that solutions are compared with are made as well, and paid for once.
        """
        numbers = dict.fromkeys([configuration, DEFAULT] if judge.compares_with_default else [configuration])
        pairs = [(number, position) for position in positions for number in numbers]
        known = dict(zip(pairs, self._made(pairs, self.captime_s), strict=True))
        played = []
        for position in positions:
            new = [(number, position) for number in numbers if (number, position) not in self._paid]
            self._paid.update(new)
            worth = judge.worth(position, known[configuration, position], known.get((DEFAULT, position)))
            played.append(Played(worth - 1.0, sum(_time_s(known[pair]) for pair in new), self.captime_s))
        return played

    def _made(self, pairs: Sequence[Pair], limit_s: float) -> list[RunOutcome]:
        self._asker.want(pairs, limit_s)
        reason = self._driver.work()
        if reason != ALL_MADE:
            raise HaltError(reason)
        return [self._asker.known[pair] for pair in pairs]


def _time_s(outcome: RunOutcome) -> float:
    """What a run cost."""
    return outcome.paid_s


def worth_of(utility: Utility, objective: RankedBy, captime_s: float) -> Callable[[RunOutcome], float]:
    """The score of a run: as for rivals on recorded runs, and a failed run never ends.

    A run that was stopped is worth what an answer at the captime is; where runtime counts, a run without an
    answer counts with the captime.
    """

    def worth(outcome: RunOutcome) -> float:
        if objective is RankedBy.RUNTIME:
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
    budget: Budget
    captime_s: float

    @classmethod
    def of(cls, scenario: Scenario, peer: Peer, budget: Budget | None = None) -> Match:
        """A match on a scenario, whose seed, captime and budget count where nothing else is said."""
        captime_s = _captime_s(scenario, peer)
        if peer.seed is None:
            peer = replace(peer, seed=scenario.seed % LARGEST_SEED)
        own = {field.name: getattr(peer, field.name) for field in fields(peer)}
        own["captime_s"] = captime_s
        options = {name: value for name, value in own.items() if value is not None}
        told = replace(scenario, procedure=peer.name, options=options)
        return cls(told, peer, budget or budget_of(scenario), captime_s)


def _captime_s(scenario: Scenario, peer: Peer) -> float:
    """Where the runs of a peer are stopped: as it is told, else where little worth is left."""
    if scenario.quality is not None:
        if peer.captime_s is not None or peer.objective is not RankedBy.UTILITY:
            raise UsageError(
                f"solutions are judged by their worth at the scenario's limit, "
                f"{format_duration(scenario.limit_s)}: leave captime and objective out"
            )
        return scenario.limit_s
    largest_s = scenario.max_captime_s
    if peer.captime_s is not None:
        return peer.captime_s
    if peer.objective is RankedBy.UTILITY:
        largest_s = advised_captime_s(peer.name, Task(scenario).utility, largest_s)
    if largest_s is None:
        raise UsageError("this scenario has no largest captime: say with --captime when to stop a run")
    return largest_s


def play_live(
    scenario: Scenario,
    peer: Peer,
    budget: Budget | None = None,
    *,
    folder: Path | None = None,
    workers: int | None = None,
    on_progress: Callable[[RivalStanding], None] | None = None,
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
    task = Task(match.scenario)
    count = task.worker_count(workers)
    with (
        contextlib.closing(open_store(task, folder, "choose another --folder to start afresh")) as store,
        task.backend(1 if peer.one_run_at_a_time else count, folder) as backend,
    ):
        if peer.one_run_at_a_time and workers is not None and workers > 1:
            text = f"{peer.name} makes one run after the other: of the {workers} workers one is used."
            note_once(store, "warning", text)
        final = play_into(store, backend, match, on_progress)
        return RunResult.read(store, folder, task=task, final=final)


def play_into(
    store: Store,
    backend: Backend,
    match: Match,
    on_progress: Callable[[RivalStanding], None] | None = None,
) -> Progress:
    """Let a peer play, keep every run in a store, and return where the peer stands at its end.

    Args:
        store: Where runs are kept, and where earlier ones are found.
        backend: What makes the runs.
        match: Who configures what.
        on_progress: Called whenever the peer has an answer to look at.

    Raises:
        TargetError: The program keeps failing.
    """
    task, peer = Task(match.scenario), match.peer
    asker, slots = GivenRuns(match.captime_s), backend.free_slots
    settings = {"procedure": {"name": peer.name}, "workers": slots}
    clock = replace(match.budget, max_time_s=math.inf, max_runs=None)  # the arena keeps the rest
    live = LiveRun(task, store, asker, Terms(clock, slots, settings=settings))
    driver = Driver(live, backend)
    with live.session():
        arena = Arena(LiveGround(live, driver, asker, slots, match), match.budget, peer.instances)
        with _interrupted_by_sigterm():
            final, reason = _drive(peer, arena, _Diary(store, match.scenario.delta), on_progress)
        live.close(reason)
    if reason.code == TARGET_FAILS:
        raise TargetError(reason.advice)
    return final


def budget_of(scenario: Scenario) -> Budget:
    """The budget a scenario sets; one that sets none is refused, as peers have no end of their own."""
    budget = scenario.stop.budget()
    if not budget.limited:
        raise UsageError("a peer needs a budget: say with --max-time how much run time it has")
    return budget


class _Diary:
    """Keeps where a peer stands, whenever its answer changes or some time was spent."""

    def __init__(self, store: Store, delta: float) -> None:
        last = store.last_progress()
        self._store = store
        self._delta = delta
        self._points = LogSpacing(POINTS_PER_DECADE, 0.0 if last is None else last.progress.total_time_s)
        self._best = None if last is None else last.progress.best_index

    def progress(self, standing: RivalStanding) -> Progress:
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

    def note(self, standing: RivalStanding, *, last: bool = False) -> None:
        """Keep a standing that says something new."""
        spent_s = standing.total_time_s
        kept_s = self._points.last
        if spent_s < kept_s or (spent_s == kept_s and standing.best_index == self._best):
            return
        if last or standing.best_index != self._best or self._points.is_due(spent_s):
            self._store.add_progress(self.progress(standing))
            self._points.last, self._best = spent_s, standing.best_index


@contextlib.contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """While the block runs, SIGTERM is like Ctrl-C also where the peer thinks and no run is at work."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    try:
        previous = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread: the caller has its own way to stop
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _drive(
    peer: Peer, arena: Arena, diary: _Diary, on_progress: Callable[[RivalStanding], None] | None
) -> tuple[Progress, StopReason]:
    """Let a peer play; an interrupt ends it with the answer it has."""
    standing: RivalStanding | None = None
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
        reason = interrupted()
        standing = arena.standing(None if standing is None else standing.best_index)
    finally:
        steps.close()
    final = standing or arena.standing()
    diary.note(final, last=True)
    return diary.progress(final), reason

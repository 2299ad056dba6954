"""The asker behind ``collect``, ``evaluate`` and peers: runs that are wanted whatever the others give.

`GivenRuns` wants some pairs at one captime and is done when all are known. `complete` has the missing ones
made and returns all. Every run is stored before it counts, so that a process that is killed loses at most
the runs that were under way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from utilitune.domain import RunOutcome, RunRequest, RunStatus, StopReason
from utilitune.domain.stopping import ABORTED, INTERRUPTED, NO_LIMIT, TARGET_FAILS, Budget, finished
from utilitune.errors import StoppedError, TargetError
from utilitune.execution.backend import TellsNews
from utilitune.live.asker import Done, Make, Wanted, pair_of
from utilitune.live.driver import Driver
from utilitune.live.events import Listeners, RunEnded
from utilitune.live.live_run import LiveRun, Terms
from utilitune.procedures.pair_runtime import NOTHING_SEEN, PairRuntime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from utilitune.domain import PhaseRecord, Progress
    from utilitune.execution.backend import Backend
    from utilitune.live.asker import Ended, Instruction, Pair, Room
    from utilitune.live.events import Event
    from utilitune.live.supply import Drawn
    from utilitune.live.task import Task
    from utilitune.scenario.instances import InstanceSource
    from utilitune.store.base import Store
    from utilitune.store.records import ConfigurationRecord, RunRecord

ALL_MADE = finished("Every run that was wanted is made.")


def settled(
    run: Ended | RunRecord, captime_s: float, before: PairRuntime = NOTHING_SEEN
) -> RunOutcome | None:
    """What a run says about a run of its pair up to a captime; None if that is not known yet.

    Args:
        run: The run.
        captime_s: The captime.
        before: What earlier runs of the pair tell, see `utilitune.procedures.pair_runtime`.
    """
    known = before.then(PairRuntime.of(run.request, run.outcome))
    if known.runtime_s <= captime_s:
        return replace(run.outcome, status=RunStatus.FINISHED, runtime_s=known.runtime_s)
    if known.watched_s < captime_s:
        return None
    if run.outcome.failed:
        return run.outcome
    return replace(run.outcome, status=RunStatus.TIMEOUT, runtime_s=captime_s)


class GivenRuns:
    """Wants the runs it is given.

    Args:
        captime_s: For how long.

    Attributes:
        known: What is known of each pair, at that captime.
    """

    phases: Sequence[PhaseRecord] = ()

    def __init__(self, captime_s: float) -> None:
        self.known: dict[Pair, RunOutcome] = {}
        self._seen: dict[Pair, PairRuntime] = {}
        self._latest: dict[Pair, tuple[Ended, PairRuntime]] = {}
        self._captime_s = captime_s
        self._waiting: list[Pair] = []
        self._missing: set[Pair] = set()

    def want(self, pairs: Sequence[Pair], captime_s: float | None = None) -> None:
        """Want these pairs, in this order, in place of those before.

        Args:
            pairs: The pairs.
            captime_s: For how long from now on, if that changes.
        """
        if captime_s is not None and captime_s != self._captime_s:
            self._captime_s = captime_s
            for pair in pairs:
                self._judge(pair)
        self._waiting = [pair for pair in reversed(pairs) if pair not in self.known]
        self._missing = set(self._waiting)

    @property
    def missing(self) -> int:
        """How many of the pairs that are wanted are not known."""
        return len(self._missing)

    def restore(self, configurations: Sequence[ConfigurationRecord]) -> None:
        """Nothing is to be done: whoever wants the runs knows the configurations."""

    def joined(self, number: int, drawn: Drawn) -> None:
        """Whoever wants the runs brings the configurations in."""

    def nominated(self, number: int, configuration: int) -> None:
        """Nobody nominates here."""

    def hear(self, run: Ended) -> None:
        """Take in a run that has ended."""
        pair = pair_of(run.request)
        before = self._seen.get(pair, NOTHING_SEEN)
        now = before.then(PairRuntime.of(run.request, run.outcome))
        if now == before:
            return
        self._seen[pair] = now
        self._latest[pair] = run, before
        self._judge(pair)
        if pair in self.known:
            self._missing.discard(pair)

    def _judge(self, pair: Pair) -> None:
        """Note what is known of a pair at the captime of now."""
        self.known.pop(pair, None)
        if pair in self._latest:
            run, before = self._latest[pair]
            outcome = settled(run, self._captime_s, before)
            if outcome is not None:
                self.known[pair] = outcome

    def ask(self, room: Room) -> Instruction:
        """The next runs; done when all are known."""
        while self._waiting and self._is_begun(self._waiting[-1], room):
            self._waiting.pop()
        if not self._waiting and not room.under_way:
            return Done(ALL_MADE)
        following = reversed(self._waiting[max(0, len(self._waiting) - room.slots) :])
        fresh = (pair for pair in following if not self._is_begun(pair, room))
        return Make([Wanted(RunRequest(*pair, self._captime_s)) for pair in fresh])

    def _is_begun(self, pair: Pair, room: Room) -> bool:
        return pair in self.known or pair in room.under_way

    def progress(self) -> Progress | None:
        """There is no answer to speak of."""

    def close(self) -> None:
        """Nothing more will be asked."""


@dataclass(frozen=True, slots=True)
class Grid:
    """What there is to run.

    Attributes:
        task: What is run.
        instances: On what.
        configurations: With which parameters.
        captime_s: For how long.
        budget: When to end although runs are missing.
    """

    task: Task
    instances: InstanceSource
    configurations: Sequence[ConfigurationRecord]
    captime_s: float
    budget: Budget = NO_LIMIT


def complete(
    grid: Grid,
    pairs: Sequence[Pair],
    store: Store,
    backend: Backend,
    on_run: Callable[[int, int], None] | None = None,
) -> dict[Pair, RunOutcome]:
    """The outcomes of some pairs of a grid: stored ones, and the missing ones made in this order.

    Args:
        grid: What there is to run.
        pairs: The runs that are wanted.
        store: Where runs are kept, and where earlier ones are found.
        backend: What makes the runs.
        on_run: Called after every run, with how many are known and how many there are in all.

    Raises:
        StoppedError: Somebody asked for a stop, or a budget is spent.
        TargetError: The target keeps failing, or failed in a way that the scenario says to stop at.
    """
    asker = GivenRuns(grid.captime_s)

    def tell(event: Event | None = None) -> None:
        if on_run is not None and (event is None or isinstance(event, RunEnded)):
            on_run(len(pairs) - asker.missing, len(pairs))

    workers = backend.slots if isinstance(backend, TellsNews) else backend.free_slots
    settings = {"captime_s": grid.captime_s, "workers": workers}
    among = len({configuration for configuration, _ in pairs})
    terms = Terms(grid.budget, workers, grid.instances, settings=settings, configurations=among)
    live = LiveRun(grid.task, store, asker, terms, Listeners(on_event=tell))
    with live.session():
        live.keep(*grid.configurations)
        asker.want(pairs)
        tell()
        reason = Driver(live, backend).work()
        live.close(reason)
    require_complete(reason)
    return {pair: asker.known[pair] for pair in pairs}


def require_complete(reason: StopReason) -> None:
    """Raise what belongs to a reason for which some of the runs are missing."""
    if reason.code == INTERRUPTED:
        raise KeyboardInterrupt
    if reason.code in (TARGET_FAILS, ABORTED):
        raise TargetError(reason.advice)
    if reason != ALL_MADE:
        raise StoppedError(reason.advice)

"""A peer as a searcher: SMAC3, irace or Optuna looks for configurations, and others prove what they find.

A peer asks for runs and waits for them; a searcher is asked which runs it wants and is told of them. The two
are joined by a thread in which the peer works. It rests whenever runs are missing, and whoever looks at the
searcher waits until it rests. So what it wants follows from outcomes alone, never from timing.
"""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.domain.stopping import Budget, interrupted
from utilitune.errors import UsageError
from utilitune.rivals.packages.arena import Arena, HaltError, Played
from utilitune.rivals.packages.captimes import advised_captime_s
from utilitune.rivals.packages.irace_peer import Irace, SmallBudgetError
from utilitune.rivals.packages.optuna_peer import OptunaTpe
from utilitune.rivals.packages.peer import LARGEST_SEED
from utilitune.rivals.packages.smac_peer import Smac
from utilitune.search.base import DEFAULT, WantedRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from utilitune.rivals.packages.peer import Peer
    from utilitune.search.base import SearchTask, Seen
    from utilitune.spaces import Assignment
    from utilitune.spaces.parameters import Value


class PeerSearcher:
    """A peer that searches; made for one search, and closed after it.

    Args:
        peer: Who looks.
        task: What there is to search.
        budget_s: How much run time it may plan with.

    Attributes:
        until_s: When to wait; a peer goes on all the same.
    """

    until_s: float = math.inf

    def __init__(self, peer: Peer, task: SearchTask, budget_s: float) -> None:
        peer.require_installed()
        if peer.seed is None:
            peer = replace(peer, seed=task.seed % LARGEST_SEED)
        self._ground = _SearchGround(task, peer)
        self._peer = peer
        self._budget = Budget(max_time_s=budget_s)
        self._best = DEFAULT
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=f"{peer.name} searches", daemon=True)
        self._thread.start()

    @property
    def candidates(self) -> Sequence[Assignment]:
        """Every candidate so far, by its number; the first is the default."""
        self._rested()
        return tuple(self._ground.candidates)

    @property
    def spent_s(self) -> float:
        """Seconds of the runs it has looked at."""
        return self._ground.spent_s

    def wanted(self, count: int) -> list[WantedRun]:
        """Up to `count` runs that the peer waits for; none once it has ended."""
        self._rested()
        return self._ground.missing()[:count]

    def tell(self, run: WantedRun, seen: Seen) -> None:
        """What came of a run."""
        self._rested()
        self._ground.take_in(run, seen)

    def nominee(self) -> int:
        """The peer's answer; the default where the runs of both say that it is better."""
        self._rested()
        return self._best if self._ground.gain(self._best) >= 0 else DEFAULT

    def close(self) -> None:
        """End the peer, with all that it has started."""
        self._ground.end()
        self._thread.join()

    def _work(self) -> None:
        try:
            arena = Arena(self._ground, self._budget, self._peer.instances)
            for standing in self._peer.play_on(arena):
                self._best = standing.best_index
        except BaseException as problem:  # noqa: BLE001 -- told to whoever asks next
            self._problem = problem
        finally:
            self._ground.end()

    def _rested(self) -> None:
        """Wait until the peer waits for runs, or has ended."""
        self._ground.wait_for_rest()
        if self._problem is not None:
            problem, self._problem = self._problem, None
            if isinstance(problem, SmallBudgetError):
                raise self._too_small(problem) from None
            raise problem

    def _too_small(self, problem: SmallBudgetError) -> UsageError:
        """What to do where a peer needs more than its share; a run cannot go on with another plan."""
        budget_s = self._budget.max_time_s
        times = math.ceil(10 * problem.least / budget_s) / 10
        return UsageError(
            f"{self._peer.name} searches with its share of the time of the first start, {budget_s:g} s, "
            f"and needs at least {problem.least} s: start in another --folder with at least {times:g} times "
            "as much time or another search.method; with --reuse the runs that were made count there"
        )


def smac(task: SearchTask) -> PeerSearcher:
    """SMAC3 searches; it goes on for as long as it is asked to."""
    return PeerSearcher(Smac(), task, math.inf)


def irace(task: SearchTask) -> PeerSearcher:
    """Irace searches; it must know how much time it has."""
    return PeerSearcher(Irace(), task, task.budget_s)


def optuna_tpe(task: SearchTask) -> PeerSearcher:
    """Optuna's TPE searches; how many instances a trial has depends on how much time there is."""
    return PeerSearcher(OptunaTpe(), task, task.budget_s)


class _SearchGround:
    """What the peer plays on: its runs are made by whoever drives the search."""

    features = None

    def __init__(self, task: SearchTask, peer: Peer) -> None:
        self.space = task.space
        self.given = (task.space.default(), *task.given)
        self.positions = task.positions
        self.slots = task.workers
        largest_s = task.largest_captime_s
        advised_s = advised_captime_s(peer.name, task.utility, largest_s) if task.by_time else None
        self.captime_s = peer.captime_s or advised_s or largest_s
        self.spent_s = 0.0
        self.candidates: list[Assignment] = []
        self._utility = task.utility
        self._numbers: dict[Assignment, int] = {}
        self._waiting: dict[WantedRun, None] = {}
        self._known: dict[WantedRun, Played] = {}
        self._worths: dict[int, dict[int, float]] = {}
        self._ended = False
        self._changed = threading.Condition()
        for assignment in self.given:
            self.number(assignment)

    def number(self, assignment: Mapping[str, Value]) -> int:
        """The number of a candidate."""
        valid = self.space.validate(assignment)
        if valid not in self._numbers:
            self._numbers[valid] = len(self.candidates)
            self.candidates.append(valid)
        return self._numbers[valid]

    def run(
        self, configuration: int, positions: Sequence[int], captime_s: float | None = None
    ) -> Sequence[Played]:
        """Want these runs, and wait until all are there."""
        limit_s = self.captime_s if captime_s is None else min(captime_s, self.captime_s)
        runs = [WantedRun(configuration, position, limit_s) for position in positions]
        with self._changed:
            self._waiting = dict.fromkeys(runs)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._ended or not self._waiting)
            if self._ended:
                raise HaltError(interrupted())
            return [self._known.pop(run) for run in runs]

    def missing(self) -> list[WantedRun]:
        """The runs that the peer waits for."""
        with self._changed:
            return list(self._waiting)

    def take_in(self, run: WantedRun, seen: Seen) -> None:
        """A run has ended; what was seen beyond its captime is left out."""
        with self._changed:
            if run not in self._waiting:
                return
            del self._waiting[run]
            finished = seen.time_s <= run.captime_s
            time_s = min(seen.time_s, seen.failed_s, run.captime_s)
            failed = not finished and seen.failed_s <= run.captime_s
            worth = seen.worth if finished else self._utility.infimum
            if not finished and not failed:
                worth = float(self._utility(run.captime_s))
            self._known[run] = Played(worth, time_s, run.captime_s)
            self._worths.setdefault(run.candidate, {})[run.position] = worth
            self.spent_s += time_s
            self._changed.notify_all()

    def gain(self, candidate: int) -> float:
        """Mean worth above the default's, over the positions that both were run on; 0 without any."""
        ours, default = self._worths.get(candidate, {}), self._worths.get(DEFAULT, {})
        both = sorted(set(ours) & set(default))
        return sum(ours[position] - default[position] for position in both) / max(len(both), 1)

    def wait_for_rest(self) -> None:
        """Wait until the peer waits for runs, or has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or bool(self._waiting))

    def end(self) -> None:
        """Nothing more is run."""
        with self._changed:
            self._ended = True
            self._waiting = {}
            self._changed.notify_all()

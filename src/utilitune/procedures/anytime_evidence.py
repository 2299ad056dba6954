"""Evidence for runs that are worth something while they run: each look at one gives an interval.

The worth of a run is that of its best moment: the largest worth of a solution it had found, at the time when
it had found it, up to the limit T. Looked at up to a captime κ < T it lies in [X, Y], where X is the best
moment so far and Y the most that a later solution could still be worth. The judge of the task knows both. X
never falls and Y never rises with κ. A run that has ended, or was watched up to T, has X = Y.

`AnytimeEvidence` keeps X and Y of every run for every captime that a procedure may ask for; `RecordedLooks`
has them of recorded runs.

**A run that is repeated** may find its solutions at slightly other times. A run is one fact: what an earlier
look has shown stays, and a later one is taken into the interval that was known.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from utilitune.domain import RunRequest, RunStatus
from utilitune.procedures.evidence import NO_INTERVALS, Evidence, RecordedEvidence
from utilitune.procedures.judged_evidence import DEFAULT, Judge, JudgedEvidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from utilitune.domain import RunOutcome
    from utilitune.utility import Utility

Looks = tuple["NDArray[np.float64]", "NDArray[np.float64]"]
"""X and Y at each of several captimes."""


class LookJudge(Judge, Protocol):
    """What runs are worth that find better solutions while they run."""

    @property
    def ceiling(self) -> Utility:
        """The most that a solution can be worth after a time; nothing from the limit on."""

    def looks(
        self,
        position: int,
        outcome: RunOutcome,
        default: RunOutcome | None,
        captimes_s: NDArray[np.float64],
    ) -> Looks:
        """X and Y of a run, looked at up to each of these captimes.

        Args:
            position: On which instance of the order it was made.
            outcome: What came of it; it lasted at least as long as the largest of the captimes.
            default: What came of the default configuration there, where that matters.
            captimes_s: The captimes, increasing.
        """


class AnytimeEvidence(JudgedEvidence):
    """Evidence that grows run by run, with an interval for each captime.

    Args:
        judge: What runs are worth.
        positions: How many instances there are; a large number for an endless generator.
    """

    def __init__(self, judge: LookJudge, positions: int) -> None:
        self._captimes_s = np.array([judge.limit_s])
        self._least = np.zeros((0, 1))
        self._most = np.ones((0, 1))
        super().__init__(judge, positions)
        self._utility = judge.ceiling
        self._anytime_judge = judge
        self._told: list[tuple[RunRequest, RunOutcome]] = []
        self._pending: dict[int, list[tuple[RunRequest, RunOutcome]]] = {}

    @property
    def arrays(self) -> Evidence:
        """The arrays as they stand; taken anew after every growth."""
        return super().arrays._replace(least=self._least, most=self._most)

    def look_at(self, captimes_s: NDArray[np.float64]) -> None:
        """Learn of the captimes at which runs will be looked at, and look at all runs anew."""
        self._captimes_s = np.array(captimes_s)
        size = (len(self._runtime_s), len(captimes_s))
        self._least, self._most = np.zeros(size), np.ones(size)
        self._runtime_s[:], self._known_s[:], self._value[:] = math.inf, 0.0, self._floor
        self._defaults.clear()
        self._pending.clear()
        told, self._told = self._told, []
        for request, outcome in told:
            self.tell(request, outcome)

    def tell(self, request: RunRequest, outcome: RunOutcome) -> None:
        """Add what came of a run, also of one that was stopped before the limit."""
        self._told.append((request, replace(outcome, output_tail="")))
        if not self._judge.compares_with_default:
            self._look(request, outcome, None)
            return
        position = request.position
        if request.configuration == DEFAULT and self._has_ended(request, outcome):
            self._defaults.setdefault(position, outcome)
        self._pending.setdefault(position, []).append((request, outcome))
        default = self._defaults.get(position)
        if default is not None:
            for asked, came in self._pending.pop(position):
                self._look(asked, came, default)

    def lacking(self, requests: Iterable[RunRequest]) -> list[RunRequest]:
        """The runs to be made for these to be known; what compares with the default needs its end."""
        found: dict[RunRequest, None] = {}
        for request in requests:
            if self._judge.compares_with_default and request.position not in self._defaults:
                found[RunRequest(DEFAULT, request.position, self._judge.limit_s)] = None
                if request.configuration == DEFAULT or self._is_pending(request):
                    continue
            found[request] = None
        return list(found)

    def _is_pending(self, request: RunRequest) -> bool:
        """Whether a run was made that waits for the default."""
        return any(
            asked.configuration == request.configuration
            and (asked.captime_s >= request.captime_s or self._has_ended(asked, came))
            for asked, came in self._pending.get(request.position, ())
        )

    @property
    def learnable(self) -> tuple[Evidence, Utility]:
        """Runs as a model of runtimes can learn from them: (1 − X)·T seconds of those that are over."""
        arrays, utility = super().learnable
        return arrays._replace(least=np.zeros((1, 0)), most=np.zeros((1, 0))), utility

    def _look(self, request: RunRequest, outcome: RunOutcome, default: RunOutcome | None) -> None:
        at = self._place(request.configuration, request.position)
        if math.isfinite(self._runtime_s[at]):
            return
        if self._has_ended(request, outcome):
            self._settle_at(at, request.position, outcome, default)
        else:
            self._watched(at, request.position, outcome, default, request.captime_s)

    def _has_ended(self, request: RunRequest, outcome: RunOutcome) -> bool:
        return outcome.status is not RunStatus.TIMEOUT or request.captime_s >= self._judge.limit_s

    def _settle_at(self, at: int, position: int, outcome: RunOutcome, default: RunOutcome | None) -> None:
        if math.isfinite(self._runtime_s[at]):
            return
        ended_s = min(max(outcome.runtime_s, float(self._known_s[at])), self._latest_s)
        self._watched(at, position, outcome, default, ended_s)
        least, most = self._least[at, -1], self._most[at, -1]
        self._runtime_s[at] = self._known_s[at] = ended_s
        self._value[at] = min(max(self._judge.worth(position, outcome, default), least), most)

    def _watched(
        self, at: int, position: int, outcome: RunOutcome, default: RunOutcome | None, watched_s: float
    ) -> None:
        """Take in the looks up to the time a run was watched, as far as they are new."""
        before = int(np.searchsorted(self._captimes_s, self._known_s[at], side="right"))
        reached = int(np.searchsorted(self._captimes_s, watched_s, side="right"))
        if reached > before:
            looks = self._anytime_judge.looks(position, outcome, default, self._captimes_s[before:reached])
            for g, x, y in zip(range(before, reached), *looks, strict=True):
                low = self._least[at, g - 1] if g else 0.0
                high = self._most[at, g - 1] if g else 1.0
                self._least[at, g] = min(max(x, low), high)
                self._most[at, g] = max(min(y, high), self._least[at, g])
            self._least[at, reached:] = self._least[at, reached - 1]
            self._most[at, reached:] = self._most[at, reached - 1]
        self._known_s[at] = max(float(self._known_s[at]), watched_s)

    def _reserve(self, count: int) -> None:
        super()._reserve(count)
        missing = len(self._runtime_s) - len(self._least)
        if missing > 0:
            levels = len(self._captimes_s)
            self._least = np.concatenate([self._least, np.zeros((missing, levels))])
            self._most = np.concatenate([self._most, np.ones((missing, levels))])

    def _reserve_position(self, configuration: int, position: int) -> None:
        old, capacity = int(self._base[configuration]), int(self._capacity[configuration])
        super()._reserve_position(configuration, position)
        new = int(self._base[configuration])
        if new != old:
            for values in (self._least, self._most):
                values[new : new + capacity] = values[old : old + capacity]


class RecordedLooks(RecordedEvidence):
    """Recorded runs, all known to their end, with an interval for each captime.

    Args:
        ended_s: When each run (configuration, instance) ended or reached the limit.
        worth: What it is worth.
        looks: X and Y of all runs at captimes: arrays of shape (configurations, instances, captimes); None
            where nothing is known of a run before its end.
    """

    def __init__(
        self,
        ended_s: NDArray[np.float64],
        worth: NDArray[np.float64],
        looks: Callable[[NDArray[np.float64]], Looks] | None,
    ) -> None:
        rows, width = ended_s.shape
        self.configurations, self.positions = rows, width
        self._looks = looks
        self.arrays = Evidence(
            base=np.arange(rows, dtype=np.int64) * width,
            column=np.arange(width, dtype=np.int64),
            room=np.array([width], dtype=np.int64),
            runtime_s=np.ascontiguousarray(ended_s, dtype=np.float64).reshape(-1),
            utility=np.ascontiguousarray(worth, dtype=np.float64).reshape(-1),
            known_s=np.array([math.inf]),
            failed_s=np.array([math.inf]),
            least=NO_INTERVALS if looks is None else np.zeros((1, 1)),
            most=NO_INTERVALS if looks is None else np.ones((1, 1)),
        )

    def at_the_end(self) -> RecordedEvidence:
        """The same runs, of which nothing is known before their end."""
        other = copy(self)
        other._looks = None  # noqa: SLF001 - its own kind
        other.arrays = self.arrays._replace(least=NO_INTERVALS, most=NO_INTERVALS)
        return other

    def look_at(self, captimes_s: NDArray[np.float64]) -> None:
        """Work out all intervals at the captimes at which runs will be looked at."""
        if self._looks is None:
            return
        least, most = self._looks(captimes_s)
        shape = (-1, len(captimes_s))
        self.arrays = self.arrays._replace(
            least=np.ascontiguousarray(least.reshape(shape)), most=np.ascontiguousarray(most.reshape(shape))
        )

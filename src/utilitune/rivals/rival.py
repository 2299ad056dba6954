"""What all rivals share: the recorded runs they read, how they are paid, and how they are driven.

A rival is a frozen, validated value (its settings) with one method, `play`. It yields a `RivalStanding`
whenever its current answer is worth looking at and returns why it is done. Rivals promise nothing about
utility, so a standing holds no ε: only the answer and what it has cost.

Configurations are the rows of the recorded matrix. They are *drawn* in a random order fixed by a seed
(`RecordedRuns.order`), or in the order of the rows without one. Where a rival asks for fresh random
configurations it gets the next rows of that order; once all rows were drawn, the order starts again.
Instances are taken in the order of the matrix, and a run pays min(runtime, captime). A completed run is
never paid twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from utilitune.domain import StopReason, require_positive
from utilitune.domain.stopping import Budget, interrupted
from utilitune.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from numpy.typing import NDArray

    from utilitune.procedures.evidence import Evidence
    from utilitune.utility import Utility

POINTS_PER_DECADE = 20
"""How often an anytime rival reports, on the logarithmic axis of total time."""


class RankedBy(StrEnum):
    """What a rival ranks by: the mean utility of its runs, or their mean capped runtime."""

    UTILITY = "utility"
    RUNTIME = "runtime"


@dataclass(frozen=True, slots=True)
class RivalStanding:
    """Where a rival stands: its current answer and what it has cost; nothing is proved.

    Attributes:
        best_index: Row of the current answer.
        total_time_s: Seconds of run time paid.
        runs: Runs that cost time.
        configurations: Configurations looked at.
        alive: Configurations still in play.
    """

    best_index: int
    total_time_s: float
    runs: int
    configurations: int
    alive: int


@dataclass(frozen=True, slots=True, eq=False)
class RecordedRuns:
    """The recorded runs a rival plays on.

    Attributes:
        evidence: Runtimes and utilities, laid out once.
        utility: The utility function.
        configurations: Number of rows.
        positions: Length of the instance order.
        limit_s: Runs are not known beyond this; the recording's cutoff.
        order: The order in which rows are drawn.
        features: What is known of the configurations, a row each, for rivals that learn from it; see
            `RuntimeMatrix.features`.
    """

    evidence: Evidence
    utility: Utility
    configurations: int
    positions: int
    limit_s: float
    order: NDArray[np.int64]
    features: NDArray[np.float64] | None = None

    def runs_of(self, row: int, first: int, last: int) -> NDArray[np.int64]:
        """Where the runs of a row on positions first … last − 1 lie in the evidence."""
        first_run = int(self.evidence.base[row])
        return self.evidence.column[first:last] + first_run

    def captime_s(self, wanted_s: float | None) -> float:
        """The captime a rival runs at: the one asked for, or the cutoff of the recording."""
        captime_s = self.limit_s if wanted_s is None else wanted_s
        if captime_s > self.limit_s:
            raise UsageError(
                f"the captime ({captime_s:g} s) is above the cutoff of the recorded runs "
                f"({self.limit_s:g} s): choose a smaller one"
            )
        if math.isinf(captime_s) and np.isinf(self.evidence.runtime_s).any():
            raise UsageError(
                "some of the recorded runs never finish and the data names no cutoff: set a captime"
            )
        return captime_s


class Scores:
    """Scores of runs at one captime, larger is better: utility, or minus the capped runtime."""

    def __init__(self, runs: RecordedRuns, objective: RankedBy, captime_s: float) -> None:
        self._runs = runs
        self._objective = objective
        self._captime_s = captime_s

    def worth(self, stopped_s: float) -> float:
        """Score of a run that was stopped after so many seconds."""
        return float(self._runs.utility(stopped_s)) if self._objective is RankedBy.UTILITY else -stopped_s

    def of(self, row: int, first: int, last: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score and paid seconds of each run of a row on positions first … last − 1."""
        at = self._runs.runs_of(row, first, last)
        runtimes_s = self._runs.evidence.runtime_s[at]
        paid_s = np.minimum(runtimes_s, self._captime_s)
        if self._objective is RankedBy.RUNTIME:
            return -paid_s, paid_s
        finished = runtimes_s < self._captime_s
        return np.where(finished, self._runs.evidence.utility[at], self.worth(self._captime_s)), paid_s


class Draws:
    """Fresh random configurations: the next rows of the order, which starts again at its end."""

    def __init__(self, order: NDArray[np.int64]) -> None:
        self._order = order
        self._drawn = 0

    @property
    def seen(self) -> int:
        """How many different rows were drawn so far."""
        return min(self._drawn, len(self._order))

    def take(self, count: int, besides: int | None = None) -> list[int]:
        """The next `count` different rows, none of them `besides`; all there are if that is fewer."""
        rows: list[int] = []
        most = min(count, len(self._order) - (besides is not None))
        while len(rows) < most:
            row = int(self._order[self._drawn % len(self._order)])
            self._drawn += 1
            if row != besides and row not in rows:
                rows.append(row)
        return rows


class Rival(Protocol):
    """A rival procedure and its settings."""

    name: ClassVar[str]
    anytime: ClassVar[bool]
    """Whether its answer is meant to be used before it is done: a curve, not a point, in figures."""

    def play(self, runs: RecordedRuns, budget: Budget) -> Generator[RivalStanding, None, StopReason]:
        """Work on recorded runs; yield where it stands now and then, return why it is done."""
        ...


def play_rival(
    rival: Rival,
    runs: RecordedRuns,
    budget: Budget | None = None,
    on_progress: Callable[[RivalStanding], None] | None = None,
) -> tuple[Sequence[RivalStanding], StopReason]:
    """Take a rival to its end, or to the end of its budget; return its standings and why it stopped."""
    allowed = budget or Budget()
    points: list[RivalStanding] = []
    steps = rival.play(runs, allowed)
    try:
        while True:
            points.append(next(steps))
            if on_progress is not None:
                on_progress(points[-1])
            if (reason := spent(points[-1], allowed)) is not None:
                return points, reason
    except StopIteration as end:
        return points, end.value
    except KeyboardInterrupt:
        if not points:
            raise
        return points, interrupted(goes_on=False)


def spent(standing: RivalStanding, budget: Budget) -> StopReason | None:
    """Why a rival may not go on: a limit of its budget is reached; None while it may."""
    return budget.spent(standing.total_time_s, standing.runs)


def require_objective(value: RankedBy) -> None:
    """Refuse what is no objective; a text would silently compare unequal to every one."""
    if not isinstance(value, RankedBy):
        raise UsageError(f"the objective must be one of {' and '.join(RankedBy)}, not {value!r}")


def check_optional_captime(captime_s: float | None) -> None:
    """Refuse a captime that is not a positive number; none at all is the recording's cutoff."""
    if captime_s is not None:
        require_positive("the captime", captime_s)

"""What a run is worth, as far as it was watched: X ≤ v ≤ Y (docs/theory.md, section 2).

Where the time of a run counts, a run that finished is worth u(t), one that failed u(∞), and one that was
stopped at its captime something from u(∞) to u(captime). Where the quality of its solution counts, it is
worth w(q, t) when it is over, and before that anything. Where solutions count while it runs, it is worth its
best moment, and before it is over something from the best moment so far to what a later one can be worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.utility import Goal, Standard, parse_solution_utility, parse_utility
from utilitune.utility.solutions import BOUND, DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from utilitune.utility import SolutionUtility

FINISHED, STOPPED = "finished", "timeout"
FAILED = frozenset({"crashed", "memout", "wrong-answer"})

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class RunColumns:
    """The log of runs as columns; each pair of a configuration and a position has one entry or more."""

    configuration: NDArray[np.int64]
    position: NDArray[np.int64]
    captime_s: NDArray[np.float64]
    status: NDArray[np.str_]
    runtime_s: NDArray[np.float64]
    quality: Sequence[float | None] = ()
    bound: Sequence[float | None] = ()
    trace: Sequence[Sequence[Sequence[float | None]]] = ()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.position)


class ByTime:
    """The time of runs counts.

    Args:
        text: The utility.
    """

    compares = False

    def __init__(self, text: str) -> None:
        utility = parse_utility(text)
        self.bottom, self.top = float(utility(math.inf)), float(utility(0.0))
        self._utility = utility

    def intervals(self, runs: RunColumns) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """X and Y of every run."""
        finished, stopped = runs.status == FINISHED, runs.status == STOPPED
        lasted_s = np.where(finished, runs.runtime_s, np.where(stopped, runs.captime_s, math.inf))
        most = np.asarray(self._utility(lasted_s), dtype=np.float64)
        return np.where(stopped, self.bottom, most), most


class ByQuality:
    """The quality of the solution that a run ends with counts.

    Args:
        text: The utility.
        rules: Which qualities are better, what is known of instances, and when every run is stopped.
        order: The instances by position.
    """

    bottom, top = 0.0, 1.0

    def __init__(self, text: str, rules: Mapping[str, Any], order: Sequence[str]) -> None:
        self._worth: SolutionUtility = parse_solution_utility(text)
        self.compares = DEFAULT in self._worth.references
        self._goal = Goal(rules["better"])
        self._known, self._bounds = rules["references"], rules["bounds"]
        self._limit_s = float(rules["limit_s"])
        self._order = order
        self._defaults: dict[int, int] = {}

    def intervals(self, runs: RunColumns) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """X and Y of every run; where they are compared with the default, its runs are looked at first."""
        if self.compares:
            for row in np.flatnonzero(runs.configuration == 0).tolist():
                if self._is_over(runs, row):
                    self._defaults.setdefault(int(runs.position[row]), row)
        least, most = np.full(runs.count, self.bottom), np.full(runs.count, self.top)
        for row in range(runs.count):
            if not self.compares or int(runs.position[row]) in self._defaults:
                least[row], most[row] = self._interval(runs, row)
        return least, most

    def _is_over(self, runs: RunColumns, row: int) -> bool:
        status = runs.status[row]
        if status == STOPPED:
            return bool(runs.captime_s[row] == self._limit_s)
        known = status != FINISHED or runs.quality[row] is not None
        return known and bool(runs.runtime_s[row] <= self._limit_s)

    def _interval(self, runs: RunColumns, row: int) -> Interval:
        if not self._is_over(runs, row):
            return self.bottom, self.top
        if runs.status[row] in FAILED:
            return 0.0, 0.0
        standard = self._standard(runs, row, runs.bound[row])
        worth = self._worth(runs.quality[row], float(runs.runtime_s[row]), standard)
        return worth, worth

    def _standard(self, runs: RunColumns, row: int, bound: float | None) -> Standard:
        position = int(runs.position[row])
        known = self._known.get(self._name(position))
        default = self._defaults.get(position)
        reached = None if default is None else self._final(runs, default)
        return Standard(self._goal, known=known, default=reached, bound=bound)

    def _name(self, position: int) -> str | None:
        return self._order[position] if position < len(self._order) else None

    def _final(self, runs: RunColumns, row: int) -> float | None:
        """What a run of the default has reached."""
        return None if runs.status[row] in FAILED else runs.quality[row]


class ByBestMoment(ByQuality):
    """What counts is the best moment of a run, w(q(t), t) at its largest."""

    def _is_over(self, runs: RunColumns, row: int) -> bool:
        return bool(runs.status[row] != STOPPED or runs.captime_s[row] >= self._limit_s)

    def _interval(self, runs: RunColumns, row: int) -> Interval:
        over = self._is_over(runs, row)
        until_s = self._limit_s if over else float(runs.captime_s[row])
        least, bound = 0.0, self._bounds.get(self._name(int(runs.position[row])))
        quality: float | None = None
        for time_s, found, proved in runs.trace[row]:
            if time_s is None or time_s > until_s:
                break
            quality = _better(self._goal, quality, found)
            bound = _better(self._goal.opposite, bound, proved)
            standard = self._standard(runs, row, bound)
            least = max(least, self._worth(quality, float(time_s), standard))
        return least, least if over else max(least, self._top(runs, row, until_s, bound))

    def _top(self, runs: RunColumns, row: int, captime_s: float, bound: float | None) -> float:
        """The most that something found later can be worth: no better than the bound, and no sooner."""
        ceiling = self._worth.ceiling(captime_s)
        if BOUND in self._worth.references:
            return ceiling
        best = self._goal.best if bound is None else bound
        return min(ceiling, self._worth(best, captime_s, self._standard(runs, row, None)))

    def _final(self, runs: RunColumns, row: int) -> float | None:
        best: float | None = None
        for time_s, found, _ in runs.trace[row]:
            if time_s is not None and time_s <= self._limit_s:
                best = _better(self._goal, best, found)
        return best


def _better(goal: Goal, one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return goal.better(one, other)

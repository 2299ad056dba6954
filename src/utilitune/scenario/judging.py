"""What the runs of a scenario are worth where the quality of their solutions counts.

`QualityJudge` looks at the solution a run ends with. `AnytimeJudge` looks at all that it finds: the worth of
a run is that of its best moment, sup over t ≤ T of w(q(t), t), where q(t) is the best solution it has found
after t seconds. Worth never rises with time, so only the moments count at which something better is found.

**Up to a captime κ** the worth lies between X, the best moment so far, and

    Y = max(X, w(b, κ)),

where b is a quality that no solution surpasses: the best bound that the run has reported by then or that the
scenario lists, or else the best of all numbers. What is found later is no better than b and no sooner than κ,
and w never rises with time nor with a worse quality; so it is worth at most w(b, κ). Where the utility itself
compares with the bound of a run, a later bound may close the gap, and Y is only what time leaves: the ceiling
of w.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from utilitune.domain import Objective
from utilitune.utility import (
    Goal,
    Minimum,
    Product,
    SolutionUtility,
    Standard,
    Step,
    Utility,
)
from utilitune.utility.solutions import BOUND, DEFAULT, SolutionCombination, SolutionMinimum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from utilitune.domain import RunOutcome
    from utilitune.scenario.model import QualityRules, Scenario


class Named(Protocol):
    """Instances in an order, of which only the names matter."""

    def name(self, position: int) -> str:
        """What the instance at a position is called."""


@dataclass(frozen=True, slots=True)
class QualityJudge:
    """Judges runs by the solution they end with.

    Attributes:
        utility: What a solution is worth.
        rules: Which qualities are better, and what is known of instances.
        instances: The instances in their order.
        limit_s: The time at which every run is stopped.
    """

    utility: SolutionUtility
    rules: QualityRules
    instances: Named
    limit_s: float

    @property
    def compares_with_default(self) -> bool:
        """Whether the worth of a run depends on what the default configuration reached on its instance."""
        return DEFAULT in self.utility.references

    def worth(self, position: int, outcome: RunOutcome, default: RunOutcome | None) -> float:
        """What a run that is over is worth; one that failed is worth nothing, whatever it had reported.

        Args:
            position: On which instance of the order it was made.
            outcome: What came of it.
            default: What came of the default configuration there, where that matters.
        """
        if outcome.failed:
            return 0.0
        standard = self.standard(position, self.final(default), outcome.bound)
        return self.utility(outcome.quality, outcome.runtime_s, standard)

    def final(self, default: RunOutcome | None) -> float | None:
        """What the default configuration ended with."""
        return None if default is None or default.failed else default.quality

    def standard(self, position: int, default: float | None, bound: float | None) -> Standard:
        """What qualities on an instance are measured against."""
        known = self.rules.references.get(self.instances.name(position))
        return Standard(self.rules.better, known=known, default=default, bound=bound)


@dataclass(frozen=True, slots=True)
class AnytimeJudge(QualityJudge):
    """Judges runs by their best moment; what a run that fails had found before still counts."""

    @property
    def ceiling(self) -> Utility:
        """The most that a solution can be worth after a time; nothing from the limit on."""
        times = _time_parts(self.utility)
        return Product((times, Step(self.limit_s))) if times is not None else Step(self.limit_s)

    def worth(self, position: int, outcome: RunOutcome, default: RunOutcome | None) -> float:
        """What a run that is over is worth: its best moment up to the limit.

        Args:
            position: On which instance of the order it was made.
            outcome: What came of it.
            default: What came of the default configuration there, where that matters.
        """
        moments = self._moments(position, outcome, self.final(default))
        return max((worth for time_s, worth, _ in moments if time_s <= self.limit_s), default=0.0)

    def looks(
        self,
        position: int,
        outcome: RunOutcome,
        default: RunOutcome | None,
        captimes_s: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """X and Y of a run, looked at up to each of these captimes.

        Args:
            position: On which instance of the order it was made.
            outcome: What came of it; it lasted at least as long as the largest of the captimes.
            default: What came of the default configuration there, where that matters.
            captimes_s: The captimes, increasing.
        """
        reached = self.final(default)
        moments = list(self._moments(position, outcome, reached))
        seen = np.searchsorted([time_s for time_s, _, _ in moments], captimes_s, side="right")
        best = np.maximum.accumulate([0.0, *(worth for _, worth, _ in moments)])
        bounds = [self._listed_bound(position), *(bound for _, _, bound in moments)]
        tops = [
            self._top(position, captime_s, reached, bounds[place])
            for captime_s, place in zip(captimes_s.tolist(), seen, strict=True)
        ]
        return best[seen], np.maximum(best[seen], tops)

    def _top(self, position: int, captime_s: float, default: float | None, bound: float | None) -> float:
        """The most that a solution which is found later can be worth."""
        ceiling = _ceiling(self.utility, captime_s)
        if bound is None or BOUND in self.utility.references:
            return ceiling
        return min(ceiling, self.utility(bound, captime_s, self.standard(position, default, None)))

    def _moments(
        self, position: int, outcome: RunOutcome, default: float | None
    ) -> Iterator[tuple[float, float, float | None]]:
        """Every point of a trace as its time, the worth at that moment and the best bound by then."""
        goal = self.rules.better
        quality, bound = None, self._listed_bound(position)
        for point in outcome.trace:
            quality = _better(goal, quality, point.quality)
            bound = _better(goal.opposite, bound, point.bound)
            worth = self.utility(quality, point.time_s, self.standard(position, default, bound))
            yield point.time_s, worth, bound

    def _listed_bound(self, position: int) -> float | None:
        return self.rules.bounds.get(self.instances.name(position))

    def final(self, default: RunOutcome | None) -> float | None:
        """The best that the default configuration found up to the limit."""
        best = None
        for point in () if default is None else default.trace:
            if point.time_s <= self.limit_s:
                best = _better(self.rules.better, best, point.quality)
        return best


def judge_of(scenario: Scenario, utility: SolutionUtility, instances: Named) -> QualityJudge:
    """The judge of a scenario about solutions, on these instances."""
    kind = AnytimeJudge if scenario.objective is Objective.ANYTIME else QualityJudge
    return kind(utility, scenario.require_quality(), instances, scenario.limit_s)


@lru_cache(maxsize=1024)
def _ceiling(utility: SolutionUtility, time_s: float) -> float:
    """The most that any solution can be worth after a time; asked for again and again at the same times."""
    return utility.ceiling(time_s)


def _better(goal: Goal, one: float | None, other: float | None) -> float | None:
    """The better of two qualities, of which some may be missing."""
    if one is None or other is None:
        return other if one is None else one
    return goal.better(one, other)


def _time_parts(utility: SolutionUtility) -> Utility | None:
    """The utility of time that is left where every quality is the best; None where time takes nothing."""
    if not isinstance(utility, SolutionCombination):
        return None
    parts = [_time_parts(part) if isinstance(part, SolutionUtility) else part for part in utility.parts]
    times = [part for part in parts if part is not None]
    if len(times) < 2:
        return times[0] if times else None
    return Minimum(tuple(times)) if isinstance(utility, SolutionMinimum) else Product(tuple(times))

"""Why ε falls or has stopped falling, what the next 0.01 will cost, and how long the target will take.

Confidence bounds shrink like a power of the time spent, and so does ε while nothing else stands in its way:
ε ≈ a · t^(−b). The exponent b is fitted to the recent part of the trajectory, the points since a third of the
time was spent. All that follows is a forecast, never a promise, and says so by "about".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.utility import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.domain import Progress
    from utilitune.live.standing.worths import Estimate

STEP = 0.01
"""The gain in ε whose cost is told."""

_RECENT = 3.0
_FEWEST_POINTS = 4
_STANDS_STILL = 0.03
"""An exponent below this means that tripling the time would lower ε by hardly a thirtieth."""
_FARTHEST = 1000.0
"""Times the time spent: beyond that, a forecast says "not in reach"."""
_NOTICEABLE = 0.005


@dataclass(frozen=True, slots=True)
class Limits:
    """What stands in the way of a smaller ε, as far as stored facts tell.

    Attributes:
        answer: The estimate of the answer.
        instances: How many instances there are; 0 without end.
        target_epsilon: The ε at which the run ends; None if there is none.
        elapsed_s: Time on the clock so far.
    """

    answer: Estimate | None = None
    instances: int = 0
    target_epsilon: float | None = None
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What more time would bring; times are those on the clock.

    Attributes:
        falling: Whether ε is falling.
        reason: Why it has stopped falling, in a sentence; empty while it falls.
        next_step_s: Seconds until ε is 0.01 smaller; None if unknown or not in reach.
        target_s: Seconds until the ε asked for, 0 where it is proved; None without one, if unknown, or not in
            reach.
    """

    falling: bool
    reason: str
    next_step_s: float | None = None
    target_s: float | None = None

    def sentence(self) -> str:
        """Everything known, in words; empty if that is nothing."""
        parts = [self.reason] if self.reason else []
        if self.next_step_s is not None:
            parts.append(f"The next {STEP:g} of ε will take about {_about(self.next_step_s)}.")
        if self.target_s == 0:
            parts.append("The ε asked for is proved.")
        elif self.target_s is not None:
            parts.append(f"The ε asked for is about {_about(self.target_s)} away.")
        return " ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "falling": self.falling,
            "reason": self.reason,
            "next_step_s": self.next_step_s,
            "target_s": self.target_s,
            "sentence": self.sentence(),
        }


def outlook_of(points: Sequence[Progress], limits: Limits) -> Outlook | None:
    """What to expect, from the trajectory; None as long as it is too short to tell."""
    points = [point for point in points if point.total_time_s > 0]
    if not points or points[-1].epsilon >= 1:
        return None
    last = points[-1]
    if last.promise.epsilon <= 0:
        return Outlook(
            falling=False, reason="ε is 0: nothing is left to prove.", next_step_s=None, target_s=None
        )
    recent = [point for point in points if point.total_time_s >= last.total_time_s / _RECENT]
    recent = [point for point in recent if 0 < point.epsilon < 1]
    if len(recent) < _FEWEST_POINTS:
        return None
    exponent = _exponent(recent)
    rate = limits.elapsed_s / last.total_time_s if limits.elapsed_s > 0 else 1.0
    falling = exponent >= _STANDS_STILL
    wanted = limits.target_epsilon
    return Outlook(
        falling=falling,
        reason="" if falling else _reason(recent, limits),
        next_step_s=_time_to(last.epsilon - STEP, last, exponent, rate) if falling else None,
        target_s=_time_to(wanted, last, exponent, rate) if falling and wanted is not None else None,
    )


def _exponent(points: Sequence[Progress]) -> float:
    """B of ε ≈ a · t^(−b), by least squares of the logarithms."""
    times = np.log([point.total_time_s for point in points])
    values = np.log([point.epsilon for point in points])
    spread = float(((times - times.mean()) ** 2).sum())
    if spread <= 0:
        return 0.0
    return max(0.0, -float(((times - times.mean()) * (values - values.mean())).sum()) / spread)


def _time_to(epsilon: float, last: Progress, exponent: float, rate: float) -> float | None:
    """Seconds on the clock from now until ε is this small; None if that is not in reach."""
    if epsilon >= last.epsilon:
        return 0.0
    if epsilon <= 0 or math.log(last.epsilon / epsilon) > exponent * math.log(_FARTHEST):
        return None
    factor = math.pow(last.epsilon / epsilon, 1.0 / exponent)
    return (factor - 1.0) * last.total_time_s * rate


def _reason(recent: Sequence[Progress], limits: Limits) -> str:
    """Why ε stands still: the first of the usual causes that the facts show."""
    first, last = recent[0], recent[-1]
    answer = limits.answer
    uncertain = 0.0 if answer is None else answer.seen_high - answer.seen_low
    much = max(_NOTICEABLE, last.epsilon / 3)
    if answer is not None and limits.instances and answer.runs >= limits.instances:
        used = f"all {limits.instances} instances" if limits.instances > 1 else "the one instance there is"
        if answer.high - answer.low - uncertain >= much:  # else others are open, or runs that were stopped
            return (
                f"ε has stopped falling because the answer has been run on {used}: a new run with more "
                "instances would lower it."
            )
    if uncertain >= much:
        return (
            f"ε has stopped falling because {uncertain:.2g} of the answer's mean utility depends on what "
            "stopped runs are worth: a new run with a larger largest captime would show it."
        )
    if last.configurations > first.configurations and (last.gamma or 0.0) < (first.gamma or 0.0):
        return (
            f"ε has not fallen lately because new configurations joined ({first.configurations} → "
            f"{last.configurations}), which made γ smaller ({first.gamma:.3g} → {last.gamma:.3g})."
        )
    if last.best_index != first.best_index:
        return (
            "ε has not fallen lately because another configuration became the answer, of which less is "
            "proved so far."
        )
    left = "1 configuration is not ruled out, and to rule it out"
    if last.alive != 1:
        left = f"{last.alive} configurations are not ruled out, and to rule out each of them"
    return f"ε has not fallen lately: {left} takes more and more runs."


def _about(seconds: float) -> str:
    return format_duration(float(f"{seconds:.2g}"))

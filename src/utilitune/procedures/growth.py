"""How the set of configurations in play grows: not at all, or in the phases of COUP.

COUP's phase p plays with n_p = ⌈ln(π²p²/(3δ))/γ_p⌉ configurations until it has proved ε_p
(Algorithm 2, line 5). With probability 1 − δ/2 every phase then holds a configuration as good as
the best of all but a γ_p fraction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from utilitune.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_PHASES_COUNTED = 60


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a schedule: play with `configurations` until ε < `epsilon`; γ is then `gamma`."""

    number: int
    epsilon: float
    gamma: float
    configurations: int


@dataclass(frozen=True)
class Schedule:
    """ε_p and γ_p for p = 1, 2, …; both in (0, 1), γ_p decreasing.

    Example:
        >>> SCHEDULES["default"].phase(1, delta=0.01)
        Phase(number=1, epsilon=0.8464817248906141, gamma=0.7165313105737893, configurations=9)
    """

    name: str
    epsilon: Callable[[int], float]
    gamma: Callable[[int], float]
    length: int | None = None

    def phase(self, number: int, delta: float) -> Phase | None:
        """Phase p (counted from 1), or None past the end of a finite schedule."""
        if self.length is not None and number > self.length:
            return None
        gamma = self.gamma(number)
        count = math.ceil(least_gamma(number, 1, delta) / gamma)
        return Phase(number, self.epsilon(number), gamma, count)

    def spent_on_gamma(self, delta: float) -> float:
        """A bound on P(the draws of some phase miss its best fraction γ_p): Σ (1 − γ_p)^n_p or a little more.

        Phase p has so many draws that e^(−γ_p·n_p) is at most 3δ/(π²p²); these sum to δ/2. But
        (1 − γ)^n is smaller than e^(−γ·n), much smaller where γ is large. The phases after the last one that
        is looked at spend at most 3δ/(π²p) together.
        """
        spent = 0.0
        for number in range(1, _PHASES_COUNTED + 1):
            phase = self.phase(number, delta)
            if phase is None:
                return spent
            spent += math.exp(phase.configurations * math.log1p(-phase.gamma))
        return spent + 3 * delta / (math.pi**2 * _PHASES_COUNTED)

    def ending_with(self, configurations: int, delta: float, epsilon: float) -> Schedule:
        """The phases of this schedule that need fewer configurations, then a last one that has them all.

        Args:
            configurations: How many there are.
            delta: Probability with which the promise may fail.
            epsilon: What the last phase is to prove.
        """
        epsilons: list[float] = []
        gammas: list[float] = []
        while (phase := self.phase(len(gammas) + 1, delta)) is not None:
            if phase.configurations >= configurations:
                break
            epsilons.append(phase.epsilon)
            gammas.append(phase.gamma)
        last = _gamma_of_all(len(gammas) + 1, configurations, delta)
        if gammas and last >= gammas[-1]:  # the phase before has nearly all of them already
            del epsilons[-1], gammas[-1]
            last = _gamma_of_all(len(gammas) + 1, configurations, delta)
        return listed_schedule([*epsilons, epsilon], [*gammas, last])


@dataclass(frozen=True, slots=True)
class FixedSet:
    """Growth rule of UP and OUP: all configurations are there from the start."""

    configurations: int


@dataclass(frozen=True, slots=True)
class Phases:
    """Growth rule of COUP: phase after phase of a schedule, `most` of them at the most."""

    schedule: Schedule
    most: int | None = None


def least_gamma(number: int, configurations: int, delta: float) -> float:
    """What that many random configurations are enough for in phase p: γ = ln(π²p²/(3δ))/n."""
    return math.log(math.pi**2 * number**2 / (3 * delta)) / configurations


def _gamma_of_all(number: int, configurations: int, delta: float) -> float:
    """The γ with which phase p needs exactly this many configurations, safe from rounding up to one more."""
    return least_gamma(number, configurations, delta) * (1 + 1e-9)


SCHEDULES: dict[str, Schedule] = {
    "default": Schedule("default", lambda p: math.exp(-p / 6), lambda p: math.exp(-p / 3)),
    "gamma-focus": Schedule("gamma-focus", lambda p: math.exp(-p / 30), lambda p: math.exp(-p / 3)),
    "epsilon-focus": Schedule("epsilon-focus", lambda p: math.exp(-p / 3), lambda p: math.exp(-p / 30)),
    "balanced": Schedule("balanced", lambda p: math.exp(-p / 5), lambda p: math.exp(-p / 5)),
    "gamma-then-epsilon": Schedule(
        "gamma-then-epsilon", lambda p: math.exp(-(p**3) / 300), lambda p: math.exp(-(p**2) / 30)
    ),
}
"""The schedules of the paper (Section 5.2), by name."""


def named_schedule(name: str) -> Schedule:
    """One of the paper's schedules."""
    try:
        return SCHEDULES[name]
    except KeyError:
        raise UsageError(f"unknown schedule {name!r}; {did_you_mean(name, SCHEDULES)}") from None


def listed_schedule(epsilons: Sequence[float], gammas: Sequence[float]) -> Schedule:
    """The user's own schedule: one ε and one γ per phase."""
    if not epsilons or len(epsilons) != len(gammas):
        raise UsageError(
            f"a schedule needs as many ε as γ values, at least one; got {len(epsilons)} and {len(gammas)}"
        )
    for kind, values in (("ε", epsilons), ("γ", gammas)):
        for number, value in enumerate(values, 1):
            if not 0 < value < 1:
                raise UsageError(f"{kind} of phase {number} must lie strictly between 0 and 1, not {value:g}")
    for number, (earlier, later) in enumerate(pairwise(gammas), 2):
        if later >= earlier:
            raise UsageError(
                f"γ must decrease from phase to phase, but phase {number} has {later:g} after {earlier:g}"
            )
    for number, (earlier, later) in enumerate(pairwise(epsilons), 2):
        if later > earlier:
            raise UsageError(
                f"ε must not grow from phase to phase, but phase {number} has {later:g} after {earlier:g}"
            )
    return Schedule(
        "own", lambda p: float(epsilons[p - 1]), lambda p: float(gammas[p - 1]), length=len(epsilons)
    )

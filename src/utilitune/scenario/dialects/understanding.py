"""A scenario together with what was understood of the file it came from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from utilitune.scenario.model import usual_smallest_captime_s
from utilitune.utility import PiecewiseLinear, Uniform, format_duration, parse_solution_utility

if TYPE_CHECKING:
    from utilitune.scenario.dialects.configurations import GivenConfiguration
    from utilitune.scenario.model import Scenario

LEAST_BOUND_S = 1e-3
"""No program answers sooner."""

_JUST_BEFORE = 1 - 1e-6
_WITHOUT_BOUND = "log-laplace(k0=60s, alpha=1)"

USUAL_QUALITY_UTILITY = "compared(to=default, alpha=5)"
"""What a solution is worth where nothing is known of costs: 1/2 where it costs what the default's does."""


class Dialect(StrEnum):
    """Which tool a scenario file was written for."""

    NATIVE = "utilitune"
    IRACE = "irace"
    SMAC = "smac"


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a scenario file means here.

    Attributes:
        scenario: The scenario.
        dialect: Which tool the file was written for.
        understood: For a foreign file, what each part became, one line each; for one of ours, what is worth
            knowing of a parameter file it names.
        without_meaning: What it says that changes nothing here, one line each.
        guess: A sentence where the file leaves open what counts, so that it had to be guessed.
    """

    scenario: Scenario
    dialect: Dialect
    understood: tuple[str, ...] = ()
    without_meaning: tuple[str, ...] = ()
    guess: str = ""


@dataclass(slots=True)
class Notes:
    """Collects what a reader understood."""

    understood: list[str] = field(default_factory=list)
    without_meaning: list[str] = field(default_factory=list)

    def say(self, source: str, meaning: str) -> None:
        """A part of the file became something."""
        self.understood.append(f"{source} → {meaning}")

    def skip(self, source: str, reason: str = "") -> None:
        """A part of the file changes nothing here."""
        self.without_meaning.append(f"{source} ({reason})" if reason else source)

    def skip_repeated(self, source: str, count: int) -> None:
        """Entries of a list of instances that say again what an earlier one said change nothing here."""
        if count:
            entries = "1 entry that repeats" if count == 1 else f"{count} entries that repeat"
            self.skip(f"{entries} another in {source}", "every instance counts once")

    def skip_unused(self, source: str, given: GivenConfiguration) -> None:
        """Values of a configuration that do not apply in it change nothing here."""
        if given.unused:
            self.skip(f"{', '.join(given.unused)} in line {given.line} of {source}", "does not apply there")


def smallest_captime_s(largest_s: float | None) -> float:
    """The first captime of a wrapper: six doublings below the largest, time enough for a script to start."""
    return usual_smallest_captime_s(largest_s, least_s=0.1, doublings=6)


def penalised_utility(bound_s: float | None, factor: float) -> str:
    """The utility whose mean is 1 − PARk/(k κ): the objective of tools that minimise penalised runtime.

    An answer after t seconds is worth 1 − t/(k κ) for t < κ and nothing from κ on, where κ is the bound and
    k the factor. A larger mean utility is then exactly a smaller mean of runtimes in which a timeout counts
    k κ. Without a bound nothing says when an answer is worthless; then it is worth half after a minute.
    """
    if bound_s is None:
        return _WITHOUT_BOUND
    if factor <= 1 or not math.isfinite(factor):
        return str(Uniform(bound_s))
    return str(PiecewiseLinear(((0.0, 1.0), (bound_s * _JUST_BEFORE, 1 - 1 / factor), (bound_s, 0.0))))


def utility_in_words(bound_s: float | None, factor: float) -> str:
    """What `penalised_utility` says, for the list of what was understood."""
    if bound_s is None:
        return "an answer is worth half after a minute, for there is no bound"
    whole = bound_s * max(factor, 1)
    return (
        f"an answer after t seconds is worth 1 − t/{whole:g}, from {bound_s:g} s on nothing: the best mean "
        f"is the smallest PAR{max(factor, 1):g}"
    )


def quality_in_words(scenario: Scenario) -> str:
    """What the usual utility of qualities says, for the list of what was understood."""
    return (
        f"the quality of a solution: {parse_solution_utility(scenario.utility).describe()}; a run is stopped "
        f"after {format_duration(scenario.limit_s)}"
    )

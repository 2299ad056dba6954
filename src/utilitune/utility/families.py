"""The utility functions with a formula.

Most are survival functions P(T > t) of a random deadline T, the reading of Graham, Leyton-Brown and
Roughgarden, "Formalizing Preferences Over Runtime Distributions" (ICML 2023): an answer is worth the
probability that it is still wanted. The formulas are arranged so that every intermediate ratio lies
in [0, 1]: nothing overflows, for times from 0 over the smallest and largest floats to infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from utilitune.errors import UtilityError
from utilitune.utility.durations import format_duration
from utilitune.utility.parameters import NUMBER, SECONDS, SECONDS_OR_ZERO, ParametricUtility

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SECONDS_PER_HOUR = 3600.0


def _raise_to(base: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """base^exponent in place; the exponent 1 leaves the bits alone."""
    return base if exponent == 1 else np.power(base, exponent, out=base)


def _one_minus_where(early: NDArray[np.bool_], worth: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 − worth where early, else worth, in place, as |early − worth|: no branch, same rounding."""
    np.subtract(early, worth, out=worth)
    return np.abs(worth, out=worth)


def _tail_in_words(exponent: float) -> str:
    with np.errstate(over="ignore"):
        divisor = np.float64(2.0) ** exponent
    return f"every doubling of the time after that divides the worth by {divisor:.3g}"


@dataclass(frozen=True, slots=True)
class LogLaplace(ParametricUtility):
    """u(t) = 1 − ½ (t/k0)^α for t < k0, else ½ (k0/t)^α.

    The utility of the published experiments on utilitarian configuration, with k0 = 60 s and α = 1.

    Attributes:
        k0: Seconds at which an answer is worth one half.
        alpha: How sharply the worth turns at k0; large values approach a deadline at k0.
    """

    name: ClassVar[str] = "log-laplace"
    summary: ClassVar[str] = "worth 1/2 at k0 with a long tail: for when only the scale of time is known"
    example: ClassVar[str] = "log-laplace(k0=60, alpha=1)"

    k0: float = field(metadata=SECONDS)
    alpha: float = field(default=1.0, metadata=NUMBER)

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        early = time_s < self.k0
        worth = np.minimum(time_s, self.k0)
        worth /= np.maximum(time_s, self.k0)
        worth = _raise_to(worth, self.alpha)
        worth *= 0.5
        return _one_minus_where(early, worth)

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return f"worth 1 at once and 1/2 at {format_duration(self.k0)}; {_tail_in_words(self.alpha)}"


@dataclass(frozen=True, slots=True)
class GeneralisedLogLaplace(ParametricUtility):
    """u(t) = 1 − w (t/k0)^a for t < k0, else (1 − w) (k0/t)^b, with w = b/(a + b).

    a is `alpha_below` and b is `alpha_above`. The weight w makes the slope continuous at k0: u is the
    survival function of the asymmetric log-Laplace distribution (Kozubowski and Podgórski, "Log-Laplace
    distributions", 2003). Equal exponents give `LogLaplace`.

    Attributes:
        k0: Seconds at which the two pieces meet; an answer is then worth a/(a + b).
        alpha_below: Exponent before k0; larger means flatter at first.
        alpha_above: Exponent after k0; smaller means a longer tail.
    """

    name: ClassVar[str] = "generalised-log-laplace"
    aliases: ClassVar[tuple[str, ...]] = ("generalized-log-laplace",)
    summary: ClassVar[str] = "log-laplace with one exponent before k0 and another after it"
    example: ClassVar[str] = "generalised-log-laplace(k0=60, alpha_below=2, alpha_above=1)"

    k0: float = field(metadata=SECONDS)
    alpha_below: float = field(metadata=NUMBER)
    alpha_above: float = field(metadata=NUMBER)

    @property
    def _weight_below(self) -> float:
        return 1.0 / (1.0 + self.alpha_below / self.alpha_above)

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        early = time_s < self.k0
        worth = np.minimum(time_s, self.k0)
        worth /= np.maximum(time_s, self.k0)
        np.power(worth, self.alpha_below, out=worth, where=early)
        np.power(worth, self.alpha_above, out=worth, where=~early)
        worth *= np.where(early, self._weight_below, 1.0 - self._weight_below)
        return _one_minus_where(early, worth)

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return (
            f"worth 1 at once and {1.0 - self._weight_below:.3g} at {format_duration(self.k0)};"
            f" {_tail_in_words(self.alpha_above)}"
        )


@dataclass(frozen=True, slots=True)
class Uniform(ParametricUtility):
    """u(t) = 1 − t/k0 for t < k0, else 0.

    Attributes:
        k0: Seconds from which an answer is worth nothing.
    """

    name: ClassVar[str] = "uniform"
    aliases: ClassVar[tuple[str, ...]] = ("linear",)
    summary: ClassVar[str] = "falls in a straight line to 0 at k0: every second costs the same"
    example: ClassVar[str] = "uniform(k0=60)"

    k0: float = field(metadata=SECONDS)

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        worth = np.minimum(time_s, self.k0)
        worth /= self.k0
        return np.subtract(1.0, worth, out=worth)

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return f"worth 1 at once, falling in a straight line to 0 at {format_duration(self.k0)}"


@dataclass(frozen=True, slots=True)
class Exponential(ParametricUtility):
    """u(t) = exp(−t/k0).

    Attributes:
        k0: Mean seconds for which an answer stays wanted; after k0 it is worth 1/e, about 0.37.
    """

    name: ClassVar[str] = "exponential"
    summary: ClassVar[str] = (
        "loses the same share of its worth every second: k0 is how long it is wanted on average"
    )
    example: ClassVar[str] = "exponential(k0=60)"

    k0: float = field(metadata=SECONDS)

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        worth = np.minimum(time_s, 800.0 * self.k0)  # exp(−800) is 0 already, and the ratio cannot overflow
        worth /= -self.k0
        return np.exp(worth, out=worth)

    def describe(self) -> str:
        """The utility in one line of plain words."""
        half_life = format_duration(self.k0 * math.log(2))
        return f"worth 1 at once, halving every {half_life}"


@dataclass(frozen=True, slots=True)
class Pareto(ParametricUtility):
    """u(t) = 1 for t < k0, else (k0/t)^α.

    Attributes:
        k0: Seconds up to which an answer has its full worth.
        alpha: Exponent of the decline after that.
    """

    name: ClassVar[str] = "pareto"
    summary: ClassVar[str] = "full worth up to k0, then a long tail"
    example: ClassVar[str] = "pareto(k0=10, alpha=1)"

    k0: float = field(metadata=SECONDS)
    alpha: float = field(default=1.0, metadata=NUMBER)

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        worth = np.maximum(time_s, self.k0)
        np.divide(self.k0, worth, out=worth)
        return _raise_to(worth, self.alpha)

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return f"worth 1 up to {format_duration(self.k0)}; {_tail_in_words(self.alpha)}"


@dataclass(frozen=True, slots=True)
class Polynomial(ParametricUtility):
    """u(t) = 1 − (t/k0)^α for t < k0, else 0.

    Attributes:
        k0: Seconds from which an answer is worth nothing.
        alpha: 1 gives `Uniform`; larger values keep the worth high for longer, smaller ones drop early.
    """

    name: ClassVar[str] = "polynomial"
    summary: ClassVar[str] = (
        "falls along a curve to 0 at k0: late at first for alpha > 1, early for alpha < 1"
    )
    example: ClassVar[str] = "polynomial(k0=60, alpha=2)"

    k0: float = field(metadata=SECONDS)
    alpha: float = field(metadata=NUMBER)

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        worth = np.minimum(time_s, self.k0)
        worth /= self.k0
        worth = _raise_to(worth, self.alpha)
        return np.subtract(1.0, worth, out=worth)

    def describe(self) -> str:
        """The utility in one line of plain words."""
        half = format_duration(self.time_to_fall_to(0.5))
        return f"worth 1 at once, 1/2 at {half} and 0 from {format_duration(self.k0)} on"


@dataclass(frozen=True, slots=True)
class Step(ParametricUtility):
    """u(t) = 1 for t < deadline, else 0.

    An answer exactly at the deadline is late, just as a run that reaches its captime is unfinished; a
    captime equal to the deadline therefore decides every run.

    Attributes:
        deadline: Seconds before which an answer must come.
    """

    name: ClassVar[str] = "step"
    aliases: ClassVar[tuple[str, ...]] = ("deadline",)
    summary: ClassVar[str] = "a deadline: full worth before it, nothing from then on"
    example: ClassVar[str] = "step(deadline=60)"

    deadline: float = field(metadata=SECONDS)

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        return (time_s < self.deadline).astype(np.float64)

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return f"worth 1 before {format_duration(self.deadline)}, nothing from then on"


@dataclass(frozen=True, slots=True)
class Plateau(ParametricUtility):
    """u(t) = 1 for t ≤ start, 1 − ((t − start)/(end − start))^power up to end, then 0.

    Attributes:
        start: Seconds up to which an answer has its full worth; may be 0.
        end: Seconds from which it is worth nothing.
        power: Shape of the decline; 1 is a straight line.
    """

    name: ClassVar[str] = "plateau"
    summary: ClassVar[str] = "full worth up to start, then declining to 0 at end"
    example: ClassVar[str] = "plateau(start=10, end=60, power=1)"

    start: float = field(metadata=SECONDS_OR_ZERO)
    end: float = field(metadata=SECONDS)
    power: float = field(default=1.0, metadata=NUMBER)

    def __post_init__(self) -> None:
        ParametricUtility.__post_init__(self)
        if self.start >= self.end:
            raise UtilityError(
                f"plateau must end after it starts: end={self.end} is not after start={self.start}"
            )

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        worth = np.clip(time_s, self.start, self.end)
        worth -= self.start
        worth /= self.end - self.start
        worth = _raise_to(worth, self.power)
        return np.subtract(1.0, worth, out=worth)

    def describe(self) -> str:
        """The utility in one line of plain words."""
        half = format_duration(self.time_to_fall_to(0.5))
        return (
            f"worth 1 up to {format_duration(self.start)}, then declining: 1/2 at {half},"
            f" 0 from {format_duration(self.end)} on"
        )


@dataclass(frozen=True, slots=True)
class CostPerHour(ParametricUtility):
    """u(t) = max(0, value − rate · t/3600) / value.

    What is left of an answer's value once the hours of waiting (or of rented machines) are paid, as a
    share of that value; once they cost more than the answer is worth, one would rather have stopped.

    Attributes:
        value: Money an answer is worth, in any currency.
        rate: Money an hour costs, in the same currency.
    """

    name: ClassVar[str] = "cost-per-hour"
    summary: ClassVar[str] = (
        "an answer worth `value` money, minus `rate` money per hour, as a share of its value"
    )
    example: ClassVar[str] = "cost-per-hour(value=10, rate=2)"

    value: float = field(metadata=NUMBER)
    rate: float = field(metadata=NUMBER)

    def __post_init__(self) -> None:
        ParametricUtility.__post_init__(self)
        if not (math.isfinite(self.break_even_s) and self.break_even_s > 0):
            raise UtilityError(
                f"cost-per-hour with value={self.value} and rate={self.rate} is out of range:"
                " write amounts of like size in one currency"
            )

    @property
    def break_even_s(self) -> float:
        """Seconds after which the hours have cost as much as the answer is worth."""
        return self.value / self.rate * _SECONDS_PER_HOUR

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        break_even_s = self.break_even_s
        worth = np.minimum(time_s, break_even_s)
        worth /= break_even_s
        return np.subtract(1.0, worth, out=worth)

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return (
            f"an answer valued at {self.value:g} loses {self.rate:g} per hour, down to nothing"
            f" at {format_duration(self.break_even_s)}"
        )

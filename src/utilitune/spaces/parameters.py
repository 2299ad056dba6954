"""One parameter: a number in a range, or a choice from a list.

Inside the room a value travels as a *code*, a float64: a number is its own code, a choice is its
position in the list, and NaN marks an inactive parameter. Comparisons, draws and encodings are then
plain column operations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.errors import did_you_mean
from utilitune.spaces.problems import SpaceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Value = str | int | float | bool
LARGEST_EXACT_INTEGER = 2**53


@dataclass(frozen=True, slots=True)
class NumberParameter:
    """A float or an integer between two bounds, both included.

    A draw is uniform over the range. On the log scale a float has the density of exp(U) with U uniform
    on [ln low, ln high], and an integer k has probability proportional to ln((k + 1) / k).

    Attributes:
        name: Its name.
        low: Smallest value.
        high: Largest value.
        default: Its value in the default configuration.
        integer: Whether only whole numbers count.
        log: Whether draws are uniform on the log scale.
    """

    name: str
    low: float
    high: float
    default: float
    integer: bool = False
    log: bool = False

    def __post_init__(self) -> None:
        for bound in (self.low, self.high):
            self._check_number(bound, "range")
        if not self.low < self.high:
            raise self._problem(
                f"range [{self.low!r}, {self.high!r}] is empty: the first bound must be below the second",
                "range",
            )
        if not math.isfinite(self.high - self.low):
            raise self._problem(f"range [{self.low!r}, {self.high!r}] is too wide", "range")
        if self.log and self.low <= 0:
            raise self._problem(
                f"a log scale needs a range above 0, not one that starts at {self.low!r}", "log"
            )
        try:
            self.code(self.default)
        except SpaceError as error:
            raise SpaceError(f"the default of {error.reason}", ("parameters", self.name, "default")) from None
        cast = int if self.integer else float
        for name in ("low", "high", "default"):
            object.__setattr__(self, name, cast(getattr(self, name)))

    def _problem(self, reason: str, key: str) -> SpaceError:
        return SpaceError(f"parameter {self.name!r}: {reason}", ("parameters", self.name, key))

    def _check_number(self, value: Value, key: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self._problem(f"{value!r} is not a finite number", key)
        if self.integer and value != int(value):
            raise self._problem(f"{value!r} is not a whole number", key)
        if self.integer and abs(value) > LARGEST_EXACT_INTEGER:
            raise self._problem(f"{value!r} is beyond the largest supported integer, 2^53", key)

    @property
    def ordered(self) -> bool:
        """Whether < and > mean something."""
        return True

    @property
    def domain(self) -> str:
        """The domain in words."""
        return f"{'integer' if self.integer else 'float'} in [{self.low!r}, {self.high!r}]"

    def code(self, value: Value) -> float:
        """The code of a value; a `SpaceError` if it is outside the domain."""
        self._check_number(value, "default")
        if not self.low <= float(value) <= self.high:
            raise self._problem(f"{value!r} is outside its range [{self.low!r}, {self.high!r}]", "default")
        return float(value)

    def values(self, codes: NDArray[np.float64]) -> list[Value]:
        """The values of many codes, none of them NaN."""
        return list(codes.astype(np.int64).tolist() if self.integer else codes.tolist())

    def draw(self, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Codes of `count` independent draws."""
        if self.log:
            top = self.high + 1 if self.integer else self.high
            draws = np.exp(generator.uniform(math.log(self.low), math.log(top), count))
            if self.integer:
                draws = np.floor(draws)
            return np.clip(draws, self.low, self.high)
        if self.integer:
            return generator.integers(int(self.low), int(self.high), count, endpoint=True).astype(np.float64)
        return generator.uniform(self.low, self.high, count)

    def to_unit(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Codes scaled to [0, 1], on the log scale where the parameter has one."""
        if self.log:
            return np.log(codes / self.low) / math.log(self.high / self.low)
        return (codes - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class ChoiceParameter:
    """One of a list of values; `ordered` makes the list a scale from small to large.

    A draw is uniform, or proportional to the weights where there are some.
    """

    name: str
    choices: tuple[Value, ...]
    default: Value
    ordered: bool = False
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.choices:
            raise self._problem("it has no values", "values")
        seen: set[str] = set()
        for choice in self.choices:
            if not isinstance(choice, str | int | float) or choice != choice:  # noqa: PLR0124 - NaN
                raise self._problem(f"{choice!r} is not a text, number or boolean", "values")
            if str(choice) in seen:
                raise self._problem(f"the value {choice!r} is listed twice", "values")
            seen.add(str(choice))
        if self.weights is not None and (
            len(self.weights) != len(self.choices)
            or not all(math.isfinite(weight) and weight > 0 for weight in self.weights)
        ):
            raise self._problem("it needs one positive weight for each of its values", "weights")
        try:
            self.code(self.default)
        except SpaceError as error:
            raise SpaceError(f"the default of {error.reason}", ("parameters", self.name, "default")) from None

    def _problem(self, reason: str, key: str) -> SpaceError:
        return SpaceError(f"parameter {self.name!r}: {reason}", ("parameters", self.name, key))

    @property
    def domain(self) -> str:
        """The domain in words."""
        return f"one of {', '.join(repr(choice) for choice in self.choices)}"

    def code(self, value: Value) -> float:
        """The code of a value; a `SpaceError` if it is outside the domain."""
        for position, choice in enumerate(self.choices):
            if choice == value and isinstance(choice, bool) == isinstance(value, bool):
                return float(position)
        hint = did_you_mean(str(value), [str(choice) for choice in self.choices])
        raise self._problem(f"{value!r} is not one of its values; {hint}", "default")

    def values(self, codes: NDArray[np.float64]) -> list[Value]:
        """The values of many codes, none of them NaN."""
        return [self.choices[position] for position in codes.astype(np.intp).tolist()]

    def draw(self, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Codes of `count` independent draws."""
        if self.weights is None:
            return generator.integers(len(self.choices), size=count).astype(np.float64)
        shares = np.cumsum(self.weights) / math.fsum(self.weights)
        positions = np.searchsorted(shares, generator.random(count), side="right")
        return np.minimum(positions, len(self.choices) - 1).astype(np.float64)

    def to_unit(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Codes scaled to [0, 1]."""
        return codes / max(len(self.choices) - 1, 1)


Parameter = NumberParameter | ChoiceParameter


def number_default(low: float, high: float, *, integer: bool, log: bool) -> float:
    """The default of a number without one: the middle of its range, on its own scale."""
    middle = math.sqrt(low) * math.sqrt(high) if log and low > 0 else low + (high - low) / 2
    return round(middle) if integer else middle

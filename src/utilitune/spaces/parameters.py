"""One parameter: a number in a range, or a choice from a list.

Inside the room a value travels as a *code*, a float64: a number is its own code, a choice is its
position in the list, and NaN marks an inactive parameter. Comparisons, draws and encodings are then
plain column operations.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from utilitune.errors import did_you_mean
from utilitune.errors.outside import storable
from utilitune.spaces.problems import SpaceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Value = str | int | float | bool
LARGEST_NUMBER = sys.float_info.max
LARGEST_EXACT_INTEGER = 2**53
MOST_DIGITS = 15
VOID = math.inf
"""The code of a parameter whose range, which depends on others, holds no value."""


@dataclass(frozen=True, slots=True)
class NumberParameter:
    """A float or an integer between two bounds, both included.

    A draw is uniform over the range. On the log scale a float has the density of exp(U) with U uniform
    on [ln low, ln high], and an integer k has probability proportional to ln((k + 1) / k). With `digits`, a
    draw is rounded to that many decimal places, and no other values count.

    Attributes:
        name: Its name.
        low: Smallest value.
        high: Largest value.
        default: Its value in the default configuration.
        integer: Whether only whole numbers count.
        log: Whether draws are uniform on the log scale.
        digits: Decimal places of its values, for a float that is not kept exactly.
    """

    name: str
    low: float
    high: float
    default: float
    integer: bool = False
    log: bool = False
    digits: int | None = None

    def __post_init__(self) -> None:
        if self.digits is not None and (self.integer or not 0 <= self.digits <= MOST_DIGITS):
            raise self._problem(f"digits are for floats, and between 0 and {MOST_DIGITS}", "digits")
        for bound in (self.low, self.high):
            self._check_number(bound, "range")
        if self.low == self.high:
            raise self._problem(
                f"range [{self.low!r}, {self.high!r}] has one value only, so there is nothing to choose: "
                "leave the parameter out and write its value into the command or the function",
                "range",
            )
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
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_NUMBER:
            raise self._problem(f"{value!r} is not a finite number", key)
        if self.integer and value != int(value):
            raise self._problem(f"{value!r} is not a whole number", key)
        if self.integer and abs(value) > LARGEST_EXACT_INTEGER:
            raise self._problem(f"{value!r} is beyond the largest supported integer, 2^53", key)
        if self.digits is not None and value != round(value, self.digits):
            raise self._problem(f"{value!r} has more than {self.digits} decimal places", key)

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

    def all_codes(self, most: int) -> NDArray[np.float64] | None:
        """The codes of all its values; None if these are more than `most`, or a continuum."""
        if self.integer:
            count = int(self.high) - int(self.low) + 1
            return None if count > most else int(self.low) + np.arange(count, dtype=np.float64)
        if self.digits is None:
            return None
        scale = 10.0**self.digits
        if not math.isfinite(self.low * scale) or not math.isfinite(self.high * scale):
            return None
        first, last = round(self.low * scale), round(self.high * scale)
        return None if last - first + 1 > most else np.arange(first, last + 1, dtype=np.float64) / scale

    def draw(self, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Codes of `count` independent draws."""
        if self.log:
            return self.between(generator.random(count), self.low, self.high)
        if self.integer:
            return generator.integers(int(self.low), int(self.high), count, endpoint=True).astype(np.float64)
        draws = generator.uniform(self.low, self.high, count)
        return draws if self.digits is None else np.clip(_rounded(draws, self.digits), self.low, self.high)

    def between(
        self,
        shares: NDArray[np.float64],
        low: float | NDArray[np.float64],
        high: float | NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Codes of draws between bounds of their own, from uniform shares in [0, 1).

        The code is NaN where a bound is, and `VOID` where no value lies between the bounds.
        """
        low, high = self._inward(low, upward=True), self._inward(high, upward=False)
        top = high + 1 if self.integer else high
        with np.errstate(all="ignore"):
            if self.log:
                draws = np.exp(np.log(low) + shares * (np.log(top) - np.log(low)))
            else:
                draws = low + shares * (top - low)
            if self.integer:
                draws = np.floor(draws)
            elif self.digits is not None:
                draws = _rounded(draws, self.digits)
        return np.where(low > high, VOID, np.clip(draws, low, high))

    def _inward(self, bound: float | NDArray[np.float64], *, upward: bool) -> NDArray[np.float64]:
        """The nearest value the parameter can have, from a bound into the range."""
        exact = np.asarray(bound, dtype=np.float64)
        if self.integer:
            return np.asarray(np.ceil(exact) if upward else np.floor(exact))
        if self.digits is None:
            return exact
        near = _rounded(exact, self.digits)
        step = 10.0**-self.digits
        beside = _rounded(near + step if upward else near - step, self.digits)
        return np.where(near >= exact if upward else near <= exact, near, beside)

    def to_unit(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Codes scaled to [0, 1], on the log scale where the parameter has one."""
        if self.log:
            return np.log(codes / self.low) / math.log(self.high / self.low)
        return (codes - self.low) / (self.high - self.low)


_EQUAL = "{0!r} and {1!r} are equal, and one would be taken for the other; write one of them as a text"


def _equal_values(choices: tuple[Value, ...]) -> tuple[Value, Value]:
    """The first two values that Python holds to be equal, such as 1 and 1.0, or 1 and true."""
    return next((a, b) for place, b in enumerate(choices) for a in choices[:place] if a == b)


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
            if "\0" in str(choice) or storable(str(choice)) != str(choice):
                raise self._problem(f"{choice!r} is no text that a program can receive", "values")
            if str(choice) in seen:
                raise self._problem(f"the value {choice!r} is listed twice", "values")
            seen.add(str(choice))
        if len(set(self.choices)) < len(self.choices):
            raise self._problem(_EQUAL.format(*_equal_values(self.choices)), "values")
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

    def all_codes(self, most: int) -> NDArray[np.float64] | None:
        """The codes of all its values; None if these are more than `most`."""
        return None if len(self.choices) > most else np.arange(len(self.choices), dtype=np.float64)

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


def _rounded(numbers: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Numbers to so many decimal places; those so large that they have none stay as they are."""
    with np.errstate(over="ignore"):
        rounded = np.round(numbers, digits)
    return np.where(np.isfinite(rounded), rounded, numbers)


Parameter = NumberParameter | ChoiceParameter


def with_default(parameter: Parameter, value: Value) -> Parameter:
    """The same parameter with another default."""
    if isinstance(parameter, NumberParameter):
        return replace(parameter, default=float(value))
    return replace(parameter, default=value)


def number_default(low: float, high: float, *, integer: bool, log: bool, digits: int | None = None) -> float:
    """The default of a number without one: the middle of its range, on its own scale."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return low  # the range itself is wrong, and is refused as such
    middle = math.sqrt(low) * math.sqrt(high) if log and min(low, high) > 0 else low + (high - low) / 2
    return round(middle) if integer else middle if digits is None else round(middle, digits)

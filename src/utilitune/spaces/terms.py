"""Arithmetic over the numbers of a configuration: trees, their value, their range and their text.

A term stands where a plain number is not enough: in ``a + b > 10`` or in a range that ends at
``min(ants, 10)``. The value of a term that mentions an inactive parameter is NaN.

`hull` is interval arithmetic: an interval that surely holds every value of the term. It may be wider than
the values themselves, since it looks at every mention of a parameter separately.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

Interval = tuple[float, float]
EVERYTHING: Interval = (-math.inf, math.inf)
WORDS = frozenset({"and", "or", "not", "in", "true", "false"})
PLAIN_NAME = re.compile(r"[^\W\d][\w.-]*")
INFIX = frozenset({"+", "-", "*", "/", "^", "%"})


@dataclass(frozen=True, slots=True)
class Constant:
    """A number."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Reference:
    """The value of a parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator or function of `FUNCTIONS` applied to terms; ``-`` with one term is the sign."""

    function: str
    arguments: tuple[Term, ...]


Term = Constant | Reference | Operation


@dataclass(frozen=True, slots=True)
class Function:
    """How a function is computed, on how many terms (None: any number), and what its hull is."""

    compute: Callable[..., Any]
    count: int | None
    hull: Callable[..., Interval]


def names_in(term: Term) -> Iterator[str]:
    """The parameters a term mentions, in order, repeated as they are."""
    if isinstance(term, Reference):
        yield term.name
    elif isinstance(term, Operation):
        for argument in term.arguments:
            yield from names_in(argument)


def evaluate(term: Term, columns: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """The value of a term for every configuration, given the codes of its parameters."""
    with np.errstate(all="ignore"):
        value = _value(term, columns)
    for name in names_in(term):  # some powers of NaN are numbers
        value = np.where(np.isnan(columns[name]), np.nan, value)
    return value


def _value(term: Term, columns: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    match term:
        case Constant(value):
            return np.asarray(value, dtype=np.float64)
        case Reference(name):
            return columns[name]
        case Operation(function, arguments):
            values = [_value(argument, columns) for argument in arguments]
            return np.asarray(FUNCTIONS[function].compute(*values))


def hull(term: Term, ranges: Mapping[str, Interval]) -> Interval:
    """An interval that holds every value of the term while its parameters stay in their ranges."""
    match term:
        case Constant(value):
            return float(value), float(value)
        case Reference(name):
            return ranges[name]
        case Operation(function, arguments):
            with np.errstate(all="ignore"):
                low, high = FUNCTIONS[function].hull(*(hull(argument, ranges) for argument in arguments))
            return EVERYTHING if math.isnan(low) or math.isnan(high) else (float(low), float(high))


def name_text(name: str) -> str:
    """A name as the grammar of `parser` wants it."""
    return name if PLAIN_NAME.fullmatch(name) and name not in WORDS else f"`{name}`"


def term_text(
    term: Term,
    name: Callable[[str], str] = name_text,
    spelling: Mapping[str, str] | None = None,
) -> str:
    """The term as text, with every nested operation in parentheses.

    Arguments:
        term: The term.
        name: How the name of a parameter is written.
        spelling: Operators and functions that are spelled otherwise.
    """
    match term:
        case Constant(value):
            return repr(value)
        case Reference(reference):
            return name(reference)
        case Operation(function, arguments):
            word = (spelling or {}).get(function, function)
            if function not in INFIX:
                return f"{word}({', '.join(term_text(each, name, spelling) for each in arguments)})"
            texts = [_nested(each, name, spelling) for each in arguments]
            return f"{word}{texts[0]}" if len(texts) == 1 else f"{texts[0]} {word} {texts[1]}"


def _nested(term: Term, name: Callable[[str], str], spelling: Mapping[str, str] | None) -> str:
    text = term_text(term, name, spelling)
    infix = isinstance(term, Operation) and term.function in INFIX
    return f"({text})" if infix or text.startswith("-") else text


def _corners(compute: Callable[[Any, Any], Any], left: Interval, right: Interval) -> Interval:
    """The range of a function whose extremes lie at the corners of its box."""
    values = [float(compute(np.float64(a), np.float64(b))) for a in left for b in right]
    return (math.nan, math.nan) if any(map(math.isnan, values)) else (min(values), max(values))


def _minus_hull(left: Interval, right: Interval | None = None) -> Interval:
    if right is None:
        return -left[1], -left[0]
    return left[0] - right[1], left[1] - right[0]


def _divide_hull(left: Interval, right: Interval) -> Interval:
    return EVERYTHING if right[0] <= 0 <= right[1] else _corners(np.divide, left, right)


def _power_hull(base: Interval, exponent: Interval) -> Interval:
    if base[0] >= 0:
        return _corners(np.power, base, exponent)
    if exponent[0] != exponent[1] or exponent[0] != int(exponent[0]) or exponent[0] < 0:
        return EVERYTHING
    ends = [float(np.power(np.float64(end), exponent[0])) for end in base]
    return min(*ends, 0.0) if base[1] >= 0 else min(ends), max(ends)


def _modulo_hull(_: Interval, divisor: Interval) -> Interval:
    return EVERYTHING if divisor[0] <= 0 <= divisor[1] else (min(0.0, divisor[0]), max(0.0, divisor[1]))


def _absolute_hull(interval: Interval) -> Interval:
    ends = abs(interval[0]), abs(interval[1])
    return 0.0 if interval[0] <= 0 <= interval[1] else min(ends), max(ends)


def _rising(compute: Callable[[Any], Any]) -> Function:
    """A function of one term that never falls."""
    return Function(
        compute, 1, lambda ends: (float(compute(np.float64(ends[0]))), float(compute(np.float64(ends[1]))))
    )


def _smallest(*values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.minimum.reduce(np.broadcast_arrays(*values)))


def _largest(*values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.maximum.reduce(np.broadcast_arrays(*values)))


def _minus(left: NDArray[np.float64], right: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    return np.asarray(-left if right is None else left - right)


FUNCTIONS: dict[str, Function] = {
    "+": Function(np.add, 2, lambda a, b: (a[0] + b[0], a[1] + b[1])),
    "-": Function(_minus, None, _minus_hull),
    "*": Function(np.multiply, 2, lambda a, b: _corners(np.multiply, a, b)),
    "/": Function(np.divide, 2, _divide_hull),
    "^": Function(np.power, 2, _power_hull),
    "%": Function(np.mod, 2, _modulo_hull),
    "min": Function(_smallest, None, lambda *all_: (min(a for a, _ in all_), min(b for _, b in all_))),
    "max": Function(_largest, None, lambda *all_: (max(a for a, _ in all_), max(b for _, b in all_))),
    "abs": Function(np.abs, 1, _absolute_hull),
    "round": _rising(np.rint),
    "floor": _rising(np.floor),
    "ceiling": _rising(np.ceil),
    "trunc": _rising(np.trunc),
    "sqrt": _rising(np.sqrt),
    "exp": _rising(np.exp),
    "log": _rising(np.log),
    "log10": _rising(np.log10),
}
"""The operators and functions of terms; ``%`` has the sign of the divisor, ``round`` goes to even."""

"""Conditions and forbidden clauses as small trees, and what they mean.

A tree has no negation: `negated` pushes it down to the comparisons. **A comparison that mentions an
inactive parameter does not hold, whichever way it is written**: with an inactive `a` neither
``a == 1`` nor ``a != 1`` nor ``not (a == 1)`` holds.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.errors import did_you_mean
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter, Parameter, Value
from utilitune.spaces.problems import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
WORDS = frozenset({"and", "or", "not", "in", "true", "false"})
PLAIN_NAME = re.compile(r"[^\W\d][\w.-]*")
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


@dataclass(frozen=True, slots=True)
class Comparison:
    """A parameter against a value."""

    name: str
    operator: str
    value: Value


@dataclass(frozen=True, slots=True)
class Relation:
    """A parameter against another parameter, both numbers."""

    name: str
    operator: str
    other: str


@dataclass(frozen=True, slots=True)
class Membership:
    """A parameter inside (or, negated, outside) a list of values."""

    name: str
    values: tuple[Value, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every term holds."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one term holds."""

    terms: tuple[Expression, ...]


Expression = Comparison | Relation | Membership | AllOf | AnyOf
Leaf = Comparison | Relation | Membership


def negated(expression: Expression) -> Expression:
    """The opposite, with the negation at the comparisons (De Morgan)."""
    match expression:
        case Comparison(name, symbol, value):
            return Comparison(name, OPPOSITE[symbol], value)
        case Relation(name, symbol, other):
            return Relation(name, OPPOSITE[symbol], other)
        case Membership(name, values, negative):
            return Membership(name, values, not negative)
        case AllOf(terms):
            return AnyOf(tuple(negated(term) for term in terms))
        case AnyOf(terms):
            return AllOf(tuple(negated(term) for term in terms))


def leaves(expression: Expression) -> Iterator[Leaf]:
    """Every comparison of a tree."""
    if isinstance(expression, AllOf | AnyOf):
        for term in expression.terms:
            yield from leaves(term)
    else:
        yield expression


def names_of(expression: Expression) -> list[str]:
    """The parameters a tree mentions, each once, in order."""
    names: dict[str, None] = {}
    for leaf in leaves(expression):
        names[leaf.name] = None
        if isinstance(leaf, Relation):
            names[leaf.other] = None
    return list(names)


def check(expression: Expression, parameters: Mapping[str, Parameter]) -> None:
    """Raise a `SpaceError` unless every name exists and every comparison makes sense."""
    for name in names_of(expression):
        if name not in parameters:
            raise SpaceError(f"there is no parameter {name!r}; {did_you_mean(name, parameters)}")
    for leaf in leaves(expression):
        parameter = parameters[leaf.name]
        if isinstance(leaf, Membership):
            for value in leaf.values:
                parameter.code(value)
        elif isinstance(leaf, Relation):
            other = parameters[leaf.other]
            if not (isinstance(parameter, NumberParameter) and isinstance(other, NumberParameter)):
                raise SpaceError(
                    f"{to_text(leaf)} compares two parameters that are not both numbers; "
                    "compare each with its own values instead"
                )
        else:
            _check_comparison(leaf, parameter)


def _check_comparison(leaf: Comparison, parameter: Parameter) -> None:
    if leaf.operator in {"==", "!="} or isinstance(parameter, ChoiceParameter):
        if leaf.operator not in {"==", "!="} and not parameter.ordered:
            raise SpaceError(
                f"{to_text(leaf)} asks for an order, but the values of {leaf.name!r} have none; "
                "use == or in, or make its type 'ordinal'"
            )
        parameter.code(leaf.value)
    elif isinstance(leaf.value, bool) or not isinstance(leaf.value, int | float):
        raise SpaceError(f"{to_text(leaf)} compares the number {leaf.name!r} with something that is not one")


def holds(
    expression: Expression, parameters: Mapping[str, Parameter], columns: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.bool_]:
    """Where a checked expression holds, given the codes of every parameter (NaN: inactive)."""
    match expression:
        case AllOf(terms):
            return reduce(operator.and_, (holds(term, parameters, columns) for term in terms))
        case AnyOf(terms):
            return reduce(operator.or_, (holds(term, parameters, columns) for term in terms))
        case Membership(name, values, negative):
            column = columns[name]
            inside = np.zeros(column.shape, dtype=np.bool_)
            for value in values:
                inside |= column == parameters[name].code(value)
            return ~(inside | np.isnan(column)) if negative else inside
        case Relation(name, symbol, other):
            return _compared(columns[name], symbol, columns[other])
        case Comparison(name, symbol, value):
            return _compared(columns[name], symbol, comparison_code(parameters[name], value))


def _compared(
    column: NDArray[np.float64], symbol: str, other: float | NDArray[np.float64]
) -> NDArray[np.bool_]:
    """A comparison is false for NaN by itself, except for !=."""
    result = np.asarray(OPERATORS[symbol](column, other))
    return result & ~(np.isnan(column) | np.isnan(other)) if symbol == "!=" else result


def comparison_code(parameter: Parameter, value: Value) -> float:
    """What a value is compared as; a number may lie outside the range of the parameter."""
    return float(value) if isinstance(parameter, NumberParameter) else parameter.code(value)


def to_text(expression: Expression) -> str:
    """The expression in the grammar of `parser`."""
    match expression:
        case Relation(name, symbol, other):
            return f"{_name_text(name)} {symbol} {_name_text(other)}"
        case Comparison(name, symbol, value):
            return f"{_name_text(name)} {symbol} {_value_text(value)}"
        case Membership(name, values, negative):
            inside = "not in" if negative else "in"
            return f"{_name_text(name)} {inside} [{', '.join(map(_value_text, values))}]"
        case AllOf(terms):
            return " and ".join(f"({to_text(t)})" if isinstance(t, AnyOf) else to_text(t) for t in terms)
        case AnyOf(terms):
            return " or ".join(to_text(term) for term in terms)


def _name_text(name: str) -> str:
    return name if PLAIN_NAME.fullmatch(name) and name not in WORDS else f"`{name}`"


def _value_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value.translate(_ESCAPES)}'" if isinstance(value, str) else repr(value)

"""Conditions and forbidden clauses as small trees, and what they mean.

A tree has no negation: `negated` pushes it down to the comparisons. **A comparison that mentions an
inactive parameter does not hold, whichever way it is written**: with an inactive `a` neither
``a == 1`` nor ``a != 1`` nor ``not (a == 1)`` holds. Only `Presence` asks for inactivity itself.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.errors import did_you_mean
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter, Parameter, Value
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.terms import Term, evaluate, name_text, names_in, term_text

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
MIRRORED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


@dataclass(frozen=True, slots=True)
class ValueComparison:
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
class TermComparison:
    """Two terms against each other, at least one of them more than a name or a number."""

    left: Term
    operator: str
    right: Term


@dataclass(frozen=True, slots=True)
class Presence:
    """A parameter is active (or, with ``active=False``, is not)."""

    name: str
    active: bool = True


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every term holds."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one term holds."""

    terms: tuple[Expression, ...]


Leaf = ValueComparison | Relation | Membership | TermComparison | Presence
Expression = Leaf | AllOf | AnyOf


def negated(expression: Expression) -> Expression:  # noqa: PLR0911 - one case per kind
    """The opposite, with the negation at the comparisons (De Morgan)."""
    match expression:
        case ValueComparison(name, symbol, value):
            return ValueComparison(name, OPPOSITE[symbol], value)
        case Relation(name, symbol, other):
            return Relation(name, OPPOSITE[symbol], other)
        case Membership(name, values, negative):
            return Membership(name, values, not negative)
        case TermComparison(left, symbol, right):
            return TermComparison(left, OPPOSITE[symbol], right)
        case Presence(name, active):
            return Presence(name, not active)
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
    return list(dict.fromkeys(name for leaf in leaves(expression) for name in _leaf_names(leaf)))


def _leaf_names(leaf: Leaf) -> tuple[str, ...]:
    match leaf:
        case TermComparison(left, _, right):
            return (*names_in(left), *names_in(right))
        case Relation(name, _, other):
            return name, other
        case _:
            return (leaf.name,)


def check(expression: Expression, parameters: Mapping[str, Parameter]) -> None:
    """Raise a `SpaceError` unless every name exists and every comparison makes sense."""
    for name in names_of(expression):
        if name not in parameters:
            raise SpaceError(f"there is no parameter {name!r}; {did_you_mean(name, parameters)}")
    for leaf in leaves(expression):
        match leaf:
            case Membership(name, values):
                for value in values:
                    parameters[name].code(value)
            case ValueComparison(name):
                _check_comparison(leaf, parameters[name])
            case Relation() | TermComparison():
                _check_numbers(leaf, parameters)
            case Presence():
                pass


def _check_numbers(leaf: Relation | TermComparison, parameters: Mapping[str, Parameter]) -> None:
    kinds = {name: isinstance(parameters[name], NumberParameter) for name in _leaf_names(leaf)}
    if all(kinds.values()):
        return
    if isinstance(leaf, Relation):
        raise SpaceError(
            f"{to_text(leaf)} compares two parameters that are not both numbers; "
            "compare each with its own values instead"
        )
    wrong = next(name for name, number in kinds.items() if not number)
    raise SpaceError(f"{to_text(leaf)} calculates with {wrong!r}, which is not a number")


def _check_comparison(leaf: ValueComparison, parameter: Parameter) -> None:
    if leaf.operator in {"==", "!="} or isinstance(parameter, ChoiceParameter):
        if leaf.operator not in {"==", "!="} and not parameter.ordered:
            raise SpaceError(
                f"{to_text(leaf)} asks for an order, but the values of {leaf.name!r} have none; "
                "use == or in, or make its type 'ordinal'"
            )
        parameter.code(leaf.value)
    elif isinstance(leaf.value, bool) or not isinstance(leaf.value, int | float):
        raise SpaceError(f"{to_text(leaf)} compares the number {leaf.name!r} with something that is not one")


def holds(  # noqa: PLR0911 - one case per kind
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
        case ValueComparison(name, symbol, value):
            return _compared(columns[name], symbol, comparison_code(parameters[name], value))
        case TermComparison(left, symbol, right):
            some = columns[next(iter(_leaf_names(expression)))]
            holding = _compared(evaluate(left, columns), symbol, evaluate(right, columns))
            return np.broadcast_to(holding, some.shape)
        case Presence(name, active):
            inactive: NDArray[np.bool_] = np.isnan(columns[name])
            return ~inactive if active else inactive


def _compared(
    column: NDArray[np.float64], symbol: str, other: float | NDArray[np.float64]
) -> NDArray[np.bool_]:
    """A comparison is false for NaN by itself, except for !=."""
    result = np.asarray(OPERATORS[symbol](column, other))
    return result & ~(np.isnan(column) | np.isnan(other)) if symbol == "!=" else result


def comparison_code(parameter: Parameter, value: Value) -> float:
    """What a value is compared as; a number may lie outside the range of the parameter."""
    return float(value) if isinstance(parameter, NumberParameter) else parameter.code(value)


def to_text(expression: Expression) -> str:  # noqa: PLR0911 - one case per kind
    """The expression in the grammar of `parser`."""
    match expression:
        case Relation(name, symbol, other):
            return f"{name_text(name)} {symbol} {name_text(other)}"
        case ValueComparison(name, symbol, value):
            return f"{name_text(name)} {symbol} {_value_text(value)}"
        case Membership(name, values, negative):
            inside = "not in" if negative else "in"
            return f"{name_text(name)} {inside} [{', '.join(map(_value_text, values))}]"
        case TermComparison(left, symbol, right):
            return f"{term_text(left)} {symbol} {term_text(right)}"
        case Presence(name, active):
            return f"{'' if active else 'not '}active({name_text(name)})"
        case AllOf(terms):
            return " and ".join(f"({to_text(t)})" if isinstance(t, AnyOf) else to_text(t) for t in terms)
        case AnyOf(terms):
            return " or ".join(to_text(term) for term in terms)


def _value_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value.translate(_ESCAPES)}'" if isinstance(value, str) else repr(value)

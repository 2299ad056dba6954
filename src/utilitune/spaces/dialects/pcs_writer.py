"""PCS files written, as old or as new as asked; what PCS cannot say is refused.

PCS conditions have no ``<=`` and ``>=`` and no parentheses. A comparison with the next number does for the
first; for the second the condition is written as alternatives of conjunctions. Numbers and truth values
among the choices become texts, as on a command line, and come back as such.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

from utilitune.spaces.dialects.pcs import WORD
from utilitune.spaces.dialects.resolving import folded
from utilitune.spaces.dialects.source import NUMBER
from utilitune.spaces.expressions import (
    OPERATORS,
    AllOf,
    AnyOf,
    Expression,
    Leaf,
    Membership,
    Presence,
    Relation,
    TermComparison,
    ValueComparison,
    leaves,
    to_text,
)
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter, Parameter, Value
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.terms import INFIX, Operation, Term, term_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from utilitune.spaces.space import ParameterSpace

Alternatives = list[tuple[str, ...]]
_MOST_ALTERNATIVES = 256
_NO_WORD = "it is empty or has blanks or punctuation"
_SPELLING = {"ceiling": "ceil"}
_FUNCTIONS = {"+", "-", "*", "/", "^", "abs", "ceiling", "floor", "sqrt", "exp", "log", "log10"}


def write_old_pcs(space: ParameterSpace) -> str:
    """The space as an old PCS file."""
    lines = [_old_declaration(parameter) for parameter in space.parameters.values()]
    for name, condition in space.conditions.items():
        terms = condition.terms if isinstance(condition, AllOf) else (condition,)
        lines += [f"{name} | {_old_condition(space, name, term)}" for term in terms]
    for clause in space.forbidden:
        simple = _simple_clause(space, clause)
        if simple is None:
            raise SpaceError(
                f"an old PCS file can only forbid values that come together, not {to_text(clause)}"
            )
        lines.append(simple)
    _check_ranges(space)
    return "\n".join(lines) + "\n"


def write_new_pcs(space: ParameterSpace) -> str:
    """The space as a new PCS file."""
    lines = [_new_declaration(parameter) for parameter in space.parameters.values()]
    for name, condition in space.conditions.items():
        alternatives = _alternatives(space, name, condition)
        lines.append(f"{name} | {' || '.join(' && '.join(terms) for terms in alternatives)}")
    for clause in space.forbidden:
        simple = _simple_clause(space, clause)
        lines.append(simple or "{" + _clause_text(folded(_by_values(space, clause))) + "}")
    _check_ranges(space)
    return "\n".join(lines) + "\n"


def fulfilling(parameter: ChoiceParameter, leaf: ValueComparison | Membership) -> list[Value]:
    """The values of a choice for which a comparison holds."""
    if isinstance(leaf, Membership):
        codes = {parameter.code(value) for value in leaf.values}
        return [each for each in parameter.choices if (parameter.code(each) in codes) != leaf.negated]
    compare, code = OPERATORS[leaf.operator], parameter.code(leaf.value)
    return [each for each in parameter.choices if compare(parameter.code(each), code)]


def value_text(value: Value) -> str:
    """A value as it stands on a command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _word(value: Value, parameter: str) -> str:
    """A value of a parameter as a word, which is all that PCS has."""
    text = value_text(value)
    if not WORD.fullmatch(text):
        raise SpaceError(f"a PCS file cannot hold the value {text!r} of parameter {parameter!r}: {_NO_WORD}")
    return text


def _name(name: str) -> str:
    if NUMBER.fullmatch(name) or name == "in" or name in INFIX:
        raise SpaceError(f"a PCS file cannot hold the name {name!r}, which means something else there")
    if not WORD.fullmatch(name):
        raise SpaceError(f"a PCS file cannot hold the name {name!r}: {_NO_WORD}")
    return name


def _check_ranges(space: ParameterSpace) -> None:
    for name in space.ranges:
        raise SpaceError(f"a PCS file cannot say that the range of {name!r} depends on other parameters")


def _check_plain(parameter: Parameter) -> None:
    if isinstance(parameter, NumberParameter) and parameter.digits is not None:
        raise SpaceError(
            f"a PCS file cannot say that {parameter.name!r} has {parameter.digits} decimal places"
        )
    if isinstance(parameter, ChoiceParameter) and parameter.weights is not None:
        raise SpaceError(f"a PCS file cannot say how often each value of {parameter.name!r} is drawn")


def _set(parameter: ChoiceParameter) -> str:
    return "{" + ", ".join(_word(value, parameter.name) for value in parameter.choices) + "}"


def _old_declaration(parameter: Parameter) -> str:
    _check_plain(parameter)
    name = _name(parameter.name)
    if isinstance(parameter, ChoiceParameter):
        if parameter.ordered:
            raise SpaceError(f"an old PCS file cannot say that the values of {name!r} are ordered")
        return f"{name} {_set(parameter)}[{_word(parameter.default, name)}]"
    flags = ("i" if parameter.integer else "") + ("l" if parameter.log else "")
    return f"{name} [{parameter.low!r}, {parameter.high!r}][{parameter.default!r}]{flags}"


def _new_declaration(parameter: Parameter) -> str:
    _check_plain(parameter)
    name = _name(parameter.name)
    if isinstance(parameter, ChoiceParameter):
        kind = "ordinal" if parameter.ordered else "categorical"
        return f"{name} {kind} {_set(parameter)} [{_word(parameter.default, name)}]"
    kind = "integer" if parameter.integer else "real"
    log = " log" if parameter.log else ""
    return f"{name} {kind} [{parameter.low!r}, {parameter.high!r}] [{parameter.default!r}]{log}"


def _old_condition(space: ParameterSpace, child: str, term: Expression) -> str:
    match term:
        case ValueComparison(name) | Membership(name) if isinstance(space.parameters[name], ChoiceParameter):
            return _value_list(space, term)
        case Membership(name, values, False) if values:
            return f"{name} in {{{', '.join(map(repr, values))}}}"
        case ValueComparison(name, "==", value):
            return f"{name} in {{{value!r}}}"
        case _:
            raise SpaceError(
                f"an old PCS file can only list values in a condition, so it cannot say that {child!r} needs "
                f"{to_text(term)}"
            )


def _value_list(space: ParameterSpace, leaf: ValueComparison | Membership) -> str:
    parameter = space.parameters[leaf.name]
    assert isinstance(parameter, ChoiceParameter)  # noqa: S101 - the caller has looked
    words = [_word(value, parameter.name) for value in fulfilling(parameter, leaf)]
    return f"{leaf.name} in {{{', '.join(words)}}}"


def _simple_clause(space: ParameterSpace, clause: Expression) -> str | None:
    """``{a=1, b=x}`` where the clause is nothing but equalities."""
    terms = clause.terms if isinstance(clause, AllOf) else (clause,)
    if not all(isinstance(term, ValueComparison) and term.operator == "==" for term in terms):
        return None
    pairs = [(leaf.name, leaf.value) for leaf in leaves(clause) if isinstance(leaf, ValueComparison)]
    texts = [f"{name}={_word(_typed(space, name, value), name)}" for name, value in pairs]
    return "{" + ", ".join(texts) + "}"


def _typed(space: ParameterSpace, name: str, value: Value) -> Value:
    """A value in the type of its parameter."""
    parameter = space.parameters[name]
    if isinstance(parameter, NumberParameter):
        return int(value) if parameter.integer else float(value)
    return value


def _alternatives(space: ParameterSpace, child: str, expression: Expression) -> Alternatives:
    """A condition as alternatives of conjunctions."""
    match expression:
        case AnyOf(terms):
            found = [each for term in terms for each in _alternatives(space, child, term)]
        case AllOf(terms):
            parts = [_alternatives(space, child, term) for term in terms]
            if math.prod(map(len, parts)) > _MOST_ALTERNATIVES:
                raise SpaceError(
                    f"the condition of {child!r} is too long without parentheses, which PCS lacks"
                )
            found = [sum(choice, ()) for choice in product(*parts)]
        case _:
            return _leaf_alternatives(space, child, expression)
    if len(found) > _MOST_ALTERNATIVES:
        raise SpaceError(f"the condition of {child!r} is too long without parentheses, which PCS lacks")
    return found


def _leaf_alternatives(space: ParameterSpace, child: str, leaf: Leaf) -> Alternatives:
    if isinstance(leaf, Relation | TermComparison | Presence):
        raise SpaceError(f"a PCS file cannot say that {child!r} depends on {to_text(leaf)}")
    parameter = space.parameters[leaf.name]
    if isinstance(parameter, ChoiceParameter):
        return [(_value_list(space, leaf),)] if fulfilling(parameter, leaf) else []
    if isinstance(leaf, ValueComparison):
        return [(_number_comparison(parameter, leaf.operator, leaf.value),)]
    if not leaf.negated:
        return [(f"{leaf.name} in {{{', '.join(map(repr, leaf.values))}}}",)] if leaf.values else []
    if not leaf.values:
        return [(_number_comparison(parameter, "<=", parameter.high),)]
    return [tuple(f"{leaf.name} != {value!r}" for value in leaf.values)]


def _number_comparison(parameter: NumberParameter, symbol: str, value: Value) -> str:
    number = float(value)
    if symbol in {"<=", ">="}:
        upward = symbol == "<="
        if parameter.integer:
            number = math.floor(number) + 1.0 if upward else math.ceil(number) - 1.0
        else:
            number = math.nextafter(number, math.inf if upward else -math.inf)
        symbol = symbol[0]
    text = repr(int(number)) if number.is_integer() and parameter.integer else repr(number)
    return f"{parameter.name} {symbol} {text}"


def _by_values(space: ParameterSpace, expression: Expression) -> Expression:  # noqa: PLR0911 - a case per kind
    """The clause with lists and order comparisons of choices written value by value."""
    match expression:
        case AllOf(terms):
            return AllOf(tuple(_by_values(space, term) for term in terms))
        case AnyOf(terms):
            return AnyOf(tuple(_by_values(space, term) for term in terms))
        case ValueComparison(name) | Membership(name):
            parameter = space.parameters[name]
            if isinstance(parameter, ChoiceParameter):
                values = fulfilling(parameter, expression)
                return AnyOf(tuple(ValueComparison(name, "==", value) for value in values))
            if isinstance(expression, ValueComparison):
                return expression
            symbol, join = ("!=", AllOf) if expression.negated else ("==", AnyOf)
            if expression.negated and not expression.values:
                return ValueComparison(name, "<=", parameter.high)
            return join(tuple(ValueComparison(name, symbol, value) for value in expression.values))
        case _:
            return expression


def _clause_text(expression: Expression) -> str:
    match expression:
        case AllOf(terms):
            return " && ".join(
                f"({_clause_text(t)})" if isinstance(t, AnyOf) else _clause_text(t) for t in terms
            )
        case AnyOf(terms):
            return " || ".join(_clause_text(term) for term in terms)
        case ValueComparison(name, symbol, value):
            return f"{name} {symbol} {_word(value, name)}"
        case Relation(name, symbol, other):
            return f"{name} {symbol} {other}"
        case TermComparison(left, symbol, right):
            return f"{_term_text(left)} {symbol} {_term_text(right)}"
        case _:
            raise SpaceError(f"a PCS file cannot say {to_text(expression)}")


def _term_text(term: Term) -> str:
    for function in _functions(term):
        if function not in _FUNCTIONS:
            raise SpaceError(f"a PCS file cannot calculate {function} in a forbidden clause")
    return term_text(term, str, _SPELLING)


def _functions(term: Term) -> Iterator[str]:
    if isinstance(term, Operation):
        yield term.function
        for argument in term.arguments:
            yield from _functions(argument)

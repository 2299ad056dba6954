"""irace parameter files written; what irace cannot say is refused.

irace rounds real numbers to a number of decimal places that is the same for all, at most 15, and has no
defaults: the default configuration stands in a comment, in the form of irace's file of initial
configurations. Numbers and truth values among the choices become texts, as on a command line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from utilitune.spaces.dialects.pcs_writer import fulfilling, value_text
from utilitune.spaces.expressions import (
    AllOf,
    AnyOf,
    Expression,
    Membership,
    Presence,
    Relation,
    TermComparison,
    ValueComparison,
)
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter, Parameter, Value
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.terms import Constant, Term, term_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utilitune.spaces.space import ParameterSpace

_NAME = re.compile(r"[\w.]+")
_PLAIN_NAME = re.compile(r"[^\W\d_][\w.]*")
_SPELLING = {"%": "%%"}


def write_irace(space: ParameterSpace, switches: Mapping[str, str] | None, digits: int | None) -> str:
    """The space as an irace parameter file."""
    places = _digits(space, digits)
    lines = [*_default_lines(space)]
    for parameter in space.parameters.values():
        name = parameter.name
        switch = (switches or {}).get(name, f"--{name} ")
        line = f"{_declared_name(name)} {_quoted(switch)} {_kind(parameter)} {_domain(space, parameter)}"
        if name in space.conditions:
            line += f" | {_text(space, space.conditions[name])}"
        lines.append(line)
    if space.forbidden:
        lines += ["", "[forbidden]", *(_text(space, clause) for clause in space.forbidden)]
    if places is not None:
        lines += ["", "[global]", f"digits = {places}"]
    return "\n".join(lines) + "\n"


def _digits(space: ParameterSpace, digits: int | None) -> int | None:
    found: dict[int, str] = {}
    for parameter in space.parameters.values():
        if not isinstance(parameter, NumberParameter) or parameter.integer:
            continue
        places = digits if parameter.digits is None else parameter.digits
        name = parameter.name
        if places is None:
            raise SpaceError(f"irace rounds real numbers, and {name!r} is exact; choose digits for it")
        for end in (parameter.low, parameter.high):
            if name not in space.ranges and end != round(end, places):
                raise SpaceError(f"the bound {end!r} of {name!r} has more than {places} decimal places")
        found.setdefault(places, name)
    if len(found) > 1:
        names = " and ".join(repr(name) for name in found.values())
        raise SpaceError(f"irace has one number of decimal places for all, but {names} differ")
    return next(iter(found), None)


def _default_lines(space: ParameterSpace) -> list[str]:
    default = space.default()
    values = [_quoted(value_text(default[name])) if name in default else "NA" for name in space.names]
    return [
        "# The default, for the file of initial configurations (configurationsFile):",
        f"# {' '.join(space.names)}",
        f"# {' '.join(values)}",
        "",
    ]


def _declared_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise SpaceError(
            f"irace cannot hold the name {name!r}: only letters, digits, '.' and '_' are allowed"
        )
    return name


def _kind(parameter: Parameter) -> str:
    if isinstance(parameter, ChoiceParameter):
        if parameter.weights is not None:
            raise SpaceError(f"irace cannot say how often each value of {parameter.name!r} is drawn")
        return "o" if parameter.ordered else "c"
    return ("i" if parameter.integer else "r") + (",log" if parameter.log else "")


def _domain(space: ParameterSpace, parameter: Parameter) -> str:
    if isinstance(parameter, ChoiceParameter):
        return f"({', '.join(_quoted(value_text(value)) for value in parameter.choices)})"
    if parameter.name in space.ranges:
        ends = space.ranges[parameter.name]
        return f"({_end(ends.low)}, {_end(ends.high)})"
    return f"({parameter.low!r}, {parameter.high!r})"


def _end(term: Term) -> str:
    text = term_text(term, _reference, _SPELLING)
    return text if isinstance(term, Constant) else f'"{text}"'


def _quoted(text: str) -> str:
    if "\n" in text or "\r" in text or ('"' in text and "'" in text):
        raise SpaceError(f"irace cannot hold the text {text!r}, which has line ends or both kinds of quotes")
    return f"'{text}'" if '"' in text else f'"{text}"'


def _reference(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) and name not in {"TRUE", "FALSE"} else f"`{name}`"


def _text(space: ParameterSpace, expression: Expression) -> str:  # noqa: PLR0911 - one case per kind
    """An expression of R that means the same."""
    match expression:
        case AllOf(terms):
            return " & ".join(_nested(space, term) for term in terms) or "TRUE"
        case AnyOf(terms):
            return " | ".join(_nested(space, term) for term in terms) or "FALSE"
        case ValueComparison(name) | Membership(name):
            parameter = space.parameters[name]
            if isinstance(parameter, ChoiceParameter):
                return _choice_text(parameter, expression)
            return _number_text(expression)
        case Relation(name, symbol, other):
            return f"{_reference(name)} {symbol} {_reference(other)}"
        case TermComparison(left, symbol, right):
            sides = (term_text(term, _reference, _SPELLING) for term in (left, right))
            return f" {symbol} ".join(sides)
        case Presence(name, active):
            return f"{'!' if active else ''}is.na({_reference(name)})"


def _nested(space: ParameterSpace, expression: Expression) -> str:
    text = _text(space, expression)
    return f"({text})" if isinstance(expression, AllOf | AnyOf | Membership) else text


def _choice_text(parameter: ChoiceParameter, leaf: ValueComparison | Membership) -> str:
    name = _reference(parameter.name)
    if isinstance(leaf, ValueComparison) and leaf.operator in {"==", "!="}:
        return f"{name} {leaf.operator} {_r_text(leaf.value)}"
    values = fulfilling(parameter, leaf)
    return f"{name} %in% c({', '.join(map(_r_text, values))})" if values else "FALSE"


def _number_text(leaf: ValueComparison | Membership) -> str:
    name = _reference(leaf.name)
    if isinstance(leaf, ValueComparison):
        return f"{name} {leaf.operator} {leaf.value!r}"
    if not leaf.negated:
        return f"{name} %in% c({', '.join(map(repr, leaf.values))})" if leaf.values else "FALSE"
    return " & ".join(f"{name} != {value!r}" for value in leaf.values) or f"!is.na({name})"


def _r_text(value: Value) -> str:
    text = value_text(value).replace("\\", "\\\\")
    return _quoted(text)

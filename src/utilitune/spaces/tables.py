"""A space as plain tables: what a scenario file says inline and a run folder keeps.

::

    {"parameters": {"restarts": {"type": "integer", "range": [1, 100], "log": true, "default": 10,
                                 "when": "mode == 'luby'"}, …},
     "forbidden": [{"clause": "a == 1 and b > 2"}, …]}

An end of a range may be a calculation with other parameters: ``"range": [1, "min(ants, 10)"]``.

Every complaint carries the key path to blame, so that a reader can name the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from utilitune.errors import did_you_mean
from utilitune.errors.outside import storable
from utilitune.spaces.dependent import DependentNumber, DependentRange, settle
from utilitune.spaces.expressions import Expression, to_text
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter, Parameter, number_default
from utilitune.spaces.parser import parse_expression, parse_term
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.terms import Constant, Term, term_text

_KEYS = {
    "float": {"range", "log", "digits"},
    "integer": {"range", "log"},
    "categorical": {"values", "weights"},
    "ordinal": {"values"},
    "bool": set[str](),
}
_COMMON = {"type", "default", "when"}


Pieces = tuple[list[Parameter], dict[str, Expression], list[Expression], dict[str, DependentRange]]


def read_tables(parameters: Mapping[str, Any], forbidden: Sequence[Mapping[str, Any]] = ()) -> Pieces:
    """Parameters, conditions, forbidden clauses and dependent ranges from their tables."""
    conditions: dict[str, Expression] = {}
    read: dict[str, Parameter] = {}
    dependent: dict[str, DependentNumber] = {}
    for name, table in parameters.items():
        parameter = _parameter(name, table)
        if isinstance(parameter, DependentNumber):
            dependent[name] = parameter
        else:
            read[name] = parameter
        if "when" in table:
            conditions[name] = _expression(table["when"], ("parameters", name, "when"))
    clauses: list[Expression] = []
    for position, table in enumerate(forbidden):
        where = ("forbidden", position)
        if not isinstance(table, Mapping) or set(table) != {"clause"}:
            raise SpaceError('a forbidden entry holds exactly one key, clause = "…"', where)
        clauses.append(_expression(table["clause"], (*where, "clause")))
    read |= settle(dependent, read)
    ranges = {name: number.range for name, number in dependent.items()}
    return [read[name] for name in parameters], conditions, clauses, ranges


def write_tables(
    parameters: Iterable[Parameter],
    conditions: Mapping[str, Expression],
    forbidden: Iterable[Expression],
    ranges: Mapping[str, DependentRange],
) -> dict[str, Any]:
    """The tables that `read_tables` turns into the same pieces."""
    tables = {}
    for parameter in parameters:
        table = _table(parameter)
        if parameter.name in ranges:
            ends = ranges[parameter.name]
            table["range"] = [_end_value(ends.low), _end_value(ends.high)]
        if parameter.name in conditions:
            table["when"] = to_text(conditions[parameter.name])
        tables[parameter.name] = table
    return {"parameters": tables, "forbidden": [{"clause": to_text(clause)} for clause in forbidden]}


def _table(parameter: Parameter) -> dict[str, Any]:
    """One parameter without its condition."""
    if isinstance(parameter, NumberParameter):
        kind = "integer" if parameter.integer else "float"
        table: dict[str, Any] = {"type": kind, "range": [parameter.low, parameter.high]}
        if parameter.log:
            table["log"] = True
        if parameter.digits is not None:
            table["digits"] = parameter.digits
    elif _is_bool(parameter):
        table = {"type": "bool"}
    else:
        kind = "ordinal" if parameter.ordered else "categorical"
        table = {"type": kind, "values": list(parameter.choices)}
        if parameter.weights is not None:
            table["weights"] = list(parameter.weights)
    return {**table, "default": parameter.default}


def _end_value(term: Term) -> int | float | str:
    return term.value if isinstance(term, Constant) else term_text(term)


def _is_bool(parameter: ChoiceParameter) -> bool:
    booleans = all(isinstance(choice, bool) for choice in parameter.choices)
    return booleans and parameter.choices == (False, True) and not (parameter.ordered or parameter.weights)


def _parameter(name: str, table: object) -> Parameter | DependentNumber:
    where = ("parameters", name)
    if not name or "{" in name or "}" in name:
        raise SpaceError(f"{name!r} is no name for a parameter: it is empty or has braces", where)
    if "\0" in name or storable(name) != name:
        raise SpaceError(f"{name!r} is no name for a parameter: no program can receive it", where)
    if not isinstance(table, Mapping):
        raise SpaceError(f"parameter {name!r} must be a table such as [parameters.{name}]", where)
    kind = table.get("type")
    if not isinstance(kind, str) or kind not in _KEYS:
        hint = did_you_mean(str(kind), _KEYS) if kind is not None else f"one of {', '.join(_KEYS)}"
        text = f"has the unknown type {kind!r}" if kind is not None else "needs a type"
        raise SpaceError(f"parameter {name!r} {text}; {hint}", (*where, "type") if kind else where)
    allowed = _KEYS[kind] | _COMMON
    for key in table:
        if key not in allowed:
            hint = did_you_mean(key, allowed)
            raise SpaceError(f"parameter {name!r} of type {kind} has no key {key!r}; {hint}", (*where, key))
    return _number(name, table) if kind in {"float", "integer"} else _choice(name, table)


def _number(name: str, table: Mapping[str, Any]) -> NumberParameter | DependentNumber:
    bounds = table.get("range")
    if not isinstance(bounds, list) or len(bounds) != 2:
        where = ("parameters", name, "range") if "range" in table else ("parameters", name)
        raise SpaceError(f"parameter {name!r} needs a range = [smallest, largest]", where)
    log = table.get("log", False)
    if not isinstance(log, bool):
        raise SpaceError(f"parameter {name!r}: log must be true or false", ("parameters", name, "log"))
    digits = table.get("digits")
    if digits is not None and type(digits) is not int:
        raise SpaceError(f"parameter {name!r}: digits must be a whole number", ("parameters", name, "digits"))
    integer = table["type"] == "integer"
    if any(isinstance(bound, str) for bound in bounds):
        ends = DependentRange(*(_end(name, bound) for bound in bounds))
        return DependentNumber(name, ends, integer, log, digits, table.get("default"))
    low, high = bounds
    usable = all(isinstance(bound, int | float) for bound in bounds)
    middle = number_default(low, high, integer=integer, log=log, digits=digits) if usable else 0
    return NumberParameter(
        name, low, high, table.get("default", middle), integer=integer, log=log, digits=digits
    )


def _end(name: str, bound: object) -> Term:
    where = ("parameters", name, "range")
    if isinstance(bound, str):
        try:
            return parse_term(bound)
        except SpaceError as error:
            raise SpaceError(error.reason, where) from None
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        raise SpaceError(f"parameter {name!r}: {bound!r} is neither a number nor a calculation", where)
    return Constant(bound)


def _choice(name: str, table: Mapping[str, Any]) -> ChoiceParameter:
    kind = table["type"]
    choices: object = [False, True] if kind == "bool" else table.get("values")
    weights = table.get("weights")
    if not isinstance(choices, list):
        where = ("parameters", name, "values") if "values" in table else ("parameters", name)
        raise SpaceError(f'parameter {name!r} needs values = ["…", …]', where)
    numbers = (int, float)
    if weights is not None and not (
        isinstance(weights, list) and all(type(weight) in numbers for weight in weights)
    ):
        raise SpaceError(
            f"parameter {name!r}: weights must be a list of numbers", ("parameters", name, "weights")
        )
    default = table.get("default", choices[0] if choices else "")
    return ChoiceParameter(
        name,
        tuple(choices),
        default,
        ordered=kind == "ordinal",
        weights=None if weights is None else tuple(map(float, weights)),
    )


def _expression(text: object, where: tuple[str | int, ...]) -> Expression:
    if not isinstance(text, str):
        raise SpaceError(f"a condition is a text such as \"mode == 'fast'\", not {text!r}", where)
    try:
        return parse_expression(text)
    except SpaceError as error:
        raise SpaceError(error.reason, where) from None

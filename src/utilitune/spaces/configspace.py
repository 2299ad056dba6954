"""ConfigSpace's JSON files and objects, in both directions.

The JSON format (version 0.4) is read and written directly; objects go through the same format. So a
space that ConfigSpace 1.2 itself misjudges (parents that share an ``or``) is still read exactly.

ConfigSpace has no ``<=``, ``>=`` and ``not`` for conditions, compares only with values inside a domain,
and lets ``!=`` hold for inactive parents; so every comparison is written with ``==``, ``in``, ``<`` and
``>`` on values of the domain. Its normal and beta distributions are refused: a promise about "all but a
fraction of the space" needs draws whose law is plain.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from utilitune.errors.outside import read_number
from utilitune.spaces.expressions import (
    AllOf,
    AnyOf,
    Expression,
    Membership,
    Presence,
    Relation,
    TermComparison,
    ValueComparison,
    to_text,
)
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter, Parameter, Value, number_default
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.space import ParameterSpace

Entry = Mapping[str, Any]
"""One object of a ConfigSpace JSON file."""

_FORMAT_VERSION = 0.4
_CONDITIONS = {"EQ": "==", "NEQ": "!=", "LT": "<", "GT": ">"}
_CLAUSES = {"EQUALS": "==", "CLAUSE_LT": "<", "CLAUSE_LE": "<=", "CLAUSE_GT": ">", "CLAUSE_GE": ">="}
_RELATIONS = {"LT": "<", "LE": "<=", "EQ": "==", "GT": ">", "GE": ">="}


def from_json(text: str) -> ParameterSpace:
    """Read the text of a ConfigSpace JSON file; the order of its parameters is kept."""
    try:
        content = json.loads(text, parse_int=read_number)
    except RecursionError:
        raise SpaceError("the file is nested too deeply to be a space") from None
    return _from_content(content)


def to_json(space: ParameterSpace) -> str:
    """The space as a ConfigSpace JSON text."""
    return json.dumps(_to_content(space), indent=2, ensure_ascii=False) + "\n"


def from_configspace(configuration_space: Any) -> ParameterSpace:  # noqa: ANN401 - untyped library
    """Turn a `ConfigSpace.ConfigurationSpace` into a `ParameterSpace`."""
    return from_json(json.dumps(configuration_space.to_serialized_dict(), default=lambda value: value.item()))


def to_configspace(space: ParameterSpace) -> Any:  # noqa: ANN401 - untyped library
    """The equivalent `ConfigSpace.ConfigurationSpace`, for tools that speak it."""
    from ConfigSpace import ConfigurationSpace

    try:
        return ConfigurationSpace.from_serialized_dict(_to_content(space))
    except (ValueError, TypeError) as error:
        raise SpaceError(f"ConfigSpace refuses this space: {' '.join(str(error).split())}") from None


def _from_content(content: object) -> ParameterSpace:
    if not isinstance(content, dict) or not isinstance(content.get("hyperparameters"), list):
        raise SpaceError("this is no ConfigSpace JSON: it has no list of hyperparameters")
    try:
        parameters = [_parameter(entry) for entry in content["hyperparameters"]]
        conditions: dict[str, list[Expression]] = {}
        for entry in content.get("conditions") or ():
            conditions.setdefault(_child(entry), []).append(_condition(entry))
        forbidden = [_clause(entry) for entry in content.get("forbiddens") or ()]
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise SpaceError(f"this is no ConfigSpace JSON: an entry lacks or misuses {error}") from None
    joined = {
        name: terms[0] if len(terms) == 1 else AllOf(tuple(terms)) for name, terms in conditions.items()
    }
    return ParameterSpace(parameters, joined, forbidden)


def _parameter(entry: Entry) -> Parameter:
    kind, name = entry["type"], entry["name"]
    if not isinstance(name, str):
        raise SpaceError(f"this is no ConfigSpace JSON: {name!r} is no name for a parameter")
    if entry.get("q") is not None:
        raise SpaceError(f"parameter {name!r} has the quantisation q, which is not supported; use an ordinal")
    match kind:
        case "uniform_float" | "uniform_int":
            low, high, log = entry["lower"], entry["upper"], bool(entry.get("log"))
            integer = kind == "uniform_int"
            default = entry.get("default_value")
            if default is None:
                default = number_default(low, high, integer=integer, log=log)
            return NumberParameter(name, low, high, default, integer=integer, log=log)
        case "categorical" | "ordinal":
            choices = tuple(entry["choices" if kind == "categorical" else "sequence"])
            weights = entry.get("weights")
            return ChoiceParameter(
                name,
                choices,
                entry.get("default_value", choices[0] if choices else ""),
                ordered=kind == "ordinal",
                weights=None if weights is None else tuple(map(float, weights)),
            )
        case "constant":
            return ChoiceParameter(name, (entry["value"],), entry["value"])
        case _:
            raise SpaceError(f"parameter {name!r} is of type {kind!r}, but only uniform draws are supported")


def _child(entry: Entry) -> str:
    return str(entry["child"] if "child" in entry else _child(entry["conditions"][0]))


def _condition(entry: Entry) -> Expression:
    kind = entry["type"]
    if kind in {"AND", "OR"}:
        return (AllOf if kind == "AND" else AnyOf)(tuple(map(_condition, entry["conditions"])))
    if kind == "IN":
        return Membership(entry["parent"], tuple(entry["values"]))
    if kind in _CONDITIONS:
        return ValueComparison(entry["parent"], _CONDITIONS[kind], entry["value"])
    raise SpaceError(f"the condition of {entry['child']!r} has the unknown type {kind!r}")


def _clause(entry: Entry) -> Expression:
    kind = entry["type"]
    if kind in {"AND", "OR"}:
        return (AllOf if kind == "AND" else AnyOf)(tuple(map(_clause, entry["clauses"])))
    if kind == "IN":
        return Membership(entry["name"], tuple(entry["values"]))
    if kind in _CLAUSES:
        return ValueComparison(entry["name"], _CLAUSES[kind], entry["value"])
    symbol = _RELATIONS.get(
        str(entry.get("lambda") if kind == "RELATION" else kind).removeprefix("RELATION_")
    )
    if symbol is not None:
        return Relation(entry["left"], symbol, entry["right"])
    raise SpaceError(f"a forbidden clause has the unknown type {kind!r}")


def _to_content(space: ParameterSpace) -> dict[str, Any]:
    for name in space.ranges:
        raise SpaceError(f"ConfigSpace cannot say that the range of {name!r} depends on other parameters")
    clause = _Lowering(space, _clause_entry, lambda kind, terms: {"type": kind, "clauses": terms})
    return {
        "name": None,
        "hyperparameters": [_hyperparameter(parameter) for parameter in space.parameters.values()],
        "conditions": [_condition_entries(space, name) for name in space.conditions],
        "forbiddens": [clause(expression) for expression in space.forbidden],
        "format_version": _FORMAT_VERSION,
    }


def _hyperparameter(parameter: Parameter) -> dict[str, Any]:
    common = {"name": parameter.name, "default_value": parameter.default, "meta": None}
    if isinstance(parameter, NumberParameter):
        if parameter.digits is not None:
            raise SpaceError(f"ConfigSpace cannot say that {parameter.name!r} has {parameter.digits} digits")
        kind = "uniform_int" if parameter.integer else "uniform_float"
        bounds = {"lower": parameter.low, "upper": parameter.high, "log": parameter.log}
        return {"type": kind, **common, **bounds}
    if parameter.ordered:
        return {"type": "ordinal", **common, "sequence": list(parameter.choices)}
    weights = None if parameter.weights is None else list(parameter.weights)
    return {"type": "categorical", **common, "choices": list(parameter.choices), "weights": weights}


def _condition_entries(space: ParameterSpace, child: str) -> dict[str, Any]:
    kinds = {"==": "EQ", "<": "LT", ">": "GT", "in": "IN"}

    def leaf(name: str, symbol: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any value
        if isinstance(value, _Other):
            raise SpaceError(
                f"ConfigSpace cannot say that {child!r} depends on {name} {symbol} {value.name}",
                ("parameters", child, "when"),
            )
        key = "values" if symbol == "in" else "value"
        return {"type": kinds[symbol], "child": child, "parent": name, key: value}

    lowering = _Lowering(space, leaf, lambda kind, terms: {"type": kind, "child": child, "conditions": terms})
    return lowering(space.conditions[child])


def _clause_entry(name: str, symbol: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any value
    kinds = {"==": "EQUALS", "<": "CLAUSE_LT", ">": "CLAUSE_GT", "in": "IN"}
    if isinstance(value, _Other):
        relation = {"==": "RELATION_EQ", "<": "RELATION_LT", ">": "RELATION_GT"}[symbol]
        return {"type": relation, "left": name, "right": value.name}
    return {"type": kinds[symbol], "name": name, "values" if symbol == "in" else "value": value}


@dataclass(frozen=True, slots=True)
class _Other:
    """Stands for another parameter where a value is expected."""

    name: str


@dataclass(frozen=True, slots=True)
class _Lowering:
    """Writes an expression with the comparisons ConfigSpace has."""

    space: ParameterSpace
    leaf: Callable[[str, str, Any], dict[str, Any]]
    join: Callable[[str, list[dict[str, Any]]], dict[str, Any]]

    def __call__(self, expression: Expression) -> dict[str, Any]:
        match expression:
            case AllOf(terms):
                return self.join("AND", [self(term) for term in terms])
            case AnyOf(terms):
                return self.join("OR", [self(term) for term in terms])
            case Membership(name, values, negative):
                return self._outside(name, values) if negative else self.leaf(name, "in", list(values))
            case Relation(name, symbol, other):
                return self._split(name, symbol, _Other(other))
            case ValueComparison(name, symbol, value):
                return self._comparison(name, symbol, value)
            case TermComparison() | Presence():
                raise SpaceError(f"ConfigSpace cannot say {to_text(expression)}")

    def _split(self, name: str, symbol: str, value: object) -> dict[str, Any]:
        """``!=``, ``<=`` and ``>=`` as two comparisons each."""
        parts = {"!=": ("<", ">"), "<=": ("<", "=="), ">=": (">", "==")}.get(symbol)
        if parts is None:
            return self.leaf(name, symbol, value)
        return self.join("OR", [self.leaf(name, part, value) for part in parts])

    def _outside(self, name: str, values: Sequence[Value]) -> dict[str, Any]:
        parameter = self.space.parameters[name]
        if isinstance(parameter, ChoiceParameter):
            codes = {parameter.code(value) for value in values}
            rest = [choice for position, choice in enumerate(parameter.choices) if position not in codes]
            return self.leaf(name, "in", rest)
        if not values:
            return self._split(name, "<=", parameter.high)
        parts = [self._split(name, "!=", value) for value in values]
        return parts[0] if len(parts) == 1 else self.join("AND", parts)

    def _comparison(self, name: str, symbol: str, value: Value) -> dict[str, Any]:
        parameter = self.space.parameters[name]
        if isinstance(parameter, ChoiceParameter):
            return self._outside(name, (value,)) if symbol == "!=" else self._split(name, symbol, value)
        return self._split(name, *_inside(parameter, symbol, float(value)))


def _inside(parameter: NumberParameter, symbol: str, number: float) -> tuple[str, float]:
    """The same comparison with a number of the domain."""
    upward = symbol in {">", ">="}
    if parameter.integer and number != int(number):
        symbol, number = (">=", math.ceil(number)) if upward else ("<=", math.floor(number))
    if number > parameter.high:  # always true downward, never true upward
        symbol, number = (">" if upward else "<="), parameter.high
    elif number < parameter.low:
        symbol, number = (">=" if upward else "<"), parameter.low
    return symbol, int(number) if parameter.integer else number

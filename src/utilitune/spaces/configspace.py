"""A space as a ConfigSpace object, and ConfigSpace's JSON files, in both directions.

ConfigSpace has no ``<=``, ``>=`` and ``not`` for conditions, compares only with values inside a domain,
and lets ``!=`` hold for inactive parents; so every comparison is written with ``==``, ``in``, ``<`` and
``>`` on values of the domain. Its normal and beta distributions are refused: a promise about "all but a
fraction of the space" needs uniform draws.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utilitune.errors import ScenarioError
from utilitune.spaces.expressions import AllOf, AnyOf, Comparison, Expression, Membership, Relation, to_text
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter, Parameter, Value
from utilitune.spaces.problems import SpaceError
from utilitune.spaces.space import ParameterSpace

if TYPE_CHECKING:
    from pathlib import Path


def read_configspace_json(path: Path) -> ParameterSpace:
    """Read a ConfigSpace JSON file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"the parameter space cannot be read: {error}", path=path) from None
    try:
        return from_json(text)
    except json.JSONDecodeError as error:
        raise ScenarioError(f"this is not JSON: {error.msg}", path=path, line=error.lineno) from None
    except SpaceError as error:
        raise ScenarioError(error.reason, path=path) from None


def from_json(text: str) -> ParameterSpace:
    """Read the text of a ConfigSpace JSON file; the order of its parameters is kept."""
    from ConfigSpace import ConfigurationSpace

    content = json.loads(text)
    if not isinstance(content, dict) or not isinstance(content.get("hyperparameters"), list):
        raise SpaceError("this is no ConfigSpace JSON: it has no list of hyperparameters")
    try:
        space = ConfigurationSpace.from_serialized_dict(content)
        order = [entry["name"] for entry in content["hyperparameters"]]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise SpaceError(f"ConfigSpace refuses this space: {' '.join(str(error).split())}") from None
    return from_configspace(space, order)


def to_json(space: ParameterSpace) -> str:
    """The space as a ConfigSpace JSON text."""
    content = to_configspace(space).to_serialized_dict()
    rank = {name: position for position, name in enumerate(space.names)}
    content["hyperparameters"].sort(key=lambda entry: rank[entry["name"]])
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def from_configspace(configuration_space: Any, order: Sequence[str] | None = None) -> ParameterSpace:  # noqa: ANN401 - untyped library
    """Turn a `ConfigSpace.ConfigurationSpace` into a `ParameterSpace`."""
    names = list(configuration_space) if order is None else order
    conditions: dict[str, list[Expression]] = {}
    for condition in configuration_space.conditions:
        child = getattr(condition, "child", None) or condition.components[0].child
        conditions.setdefault(child.name, []).append(_lifted(condition))
    return ParameterSpace(
        [_parameter(configuration_space[name]) for name in names],
        {name: terms[0] if len(terms) == 1 else AllOf(tuple(terms)) for name, terms in conditions.items()},
        [_lifted(clause) for clause in configuration_space.forbidden_clauses],
    )


def to_configspace(space: ParameterSpace) -> Any:  # noqa: ANN401 - untyped library
    """The equivalent `ConfigSpace.ConfigurationSpace`, for tools that speak it."""
    import ConfigSpace

    result = ConfigSpace.ConfigurationSpace()
    result.add([_hyperparameter(parameter) for parameter in space.parameters.values()])
    result.add(
        [
            _Lowering(
                space, _condition_leaf(result, name), ConfigSpace.AndConjunction, ConfigSpace.OrConjunction
            )(condition)
            for name, condition in space.conditions.items()
        ]
    )
    clause = _Lowering(
        space,
        _forbidden_leaf(result),
        ConfigSpace.ForbiddenAndConjunction,
        ConfigSpace.ForbiddenOrConjunction,
    )
    result.add([clause(expression) for expression in space.forbidden])
    return result


def _plain(value: Any) -> Any:  # noqa: ANN401 - numpy scalars come in, Python values go out
    return value.item() if hasattr(value, "item") else value


def _parameter(hyperparameter: Any) -> Parameter:  # noqa: ANN401 - untyped library
    kind = type(hyperparameter).__name__
    name, default = hyperparameter.name, _plain(hyperparameter.default_value)
    match kind:
        case "UniformFloatHyperparameter" | "UniformIntegerHyperparameter":
            low, high = _plain(hyperparameter.lower), _plain(hyperparameter.upper)
            integer = kind == "UniformIntegerHyperparameter"
            return NumberParameter(name, low, high, default, integer=integer, log=hyperparameter.log)
        case "CategoricalHyperparameter":
            weights = hyperparameter.weights
            shares = None if weights is None else tuple(float(weight) for weight in weights)
            return ChoiceParameter(name, tuple(map(_plain, hyperparameter.choices)), default, weights=shares)
        case "OrdinalHyperparameter":
            return ChoiceParameter(name, tuple(map(_plain, hyperparameter.sequence)), default, ordered=True)
        case "Constant":
            return ChoiceParameter(name, (_plain(hyperparameter.value),), default)
        case _:
            raise SpaceError(f"parameter {name!r} is a {kind}, but only uniform draws are supported")


def _hyperparameter(parameter: Parameter) -> Any:  # noqa: ANN401 - untyped library
    import ConfigSpace

    if isinstance(parameter, NumberParameter):
        kind = (
            ConfigSpace.UniformIntegerHyperparameter
            if parameter.integer
            else ConfigSpace.UniformFloatHyperparameter
        )
        return kind(parameter.name, parameter.low, parameter.high, parameter.default, log=parameter.log)
    if parameter.ordered:
        return ConfigSpace.OrdinalHyperparameter(parameter.name, parameter.choices, parameter.default)
    return ConfigSpace.CategoricalHyperparameter(
        parameter.name, parameter.choices, parameter.default, weights=parameter.weights
    )


_LEAVES = {
    "EqualsCondition": "==",
    "NotEqualsCondition": "!=",
    "LessThanCondition": "<",
    "GreaterThanCondition": ">",
    "ForbiddenEqualsClause": "==",
    "ForbiddenLessThanClause": "<",
    "ForbiddenLessThanEqualsClause": "<=",
    "ForbiddenGreaterThanClause": ">",
    "ForbiddenGreaterThanEqualsClause": ">=",
    "ForbiddenEqualsRelation": "==",
    "ForbiddenLessThanRelation": "<",
    "ForbiddenLessThanEqualsRelation": "<=",
    "ForbiddenGreaterThanRelation": ">",
    "ForbiddenGreaterThanEqualsRelation": ">=",
}


def _lifted(term: Any) -> Expression:  # noqa: ANN401 - untyped library
    """A ConfigSpace condition or clause as an expression."""
    kind = type(term).__name__
    if kind.endswith("AndConjunction"):
        return AllOf(tuple(map(_lifted, term.components)))
    if kind.endswith("OrConjunction"):
        return AnyOf(tuple(map(_lifted, term.components)))
    if kind in _LEAVES and kind.endswith("Relation"):
        return Relation(term.left.name, _LEAVES[kind], term.right.name)
    name = (term.parent if hasattr(term, "parent") else term.hyperparameter).name
    if kind in {"InCondition", "ForbiddenInClause"}:
        return Membership(name, tuple(map(_plain, term.values)))
    if kind in _LEAVES:
        return Comparison(name, _LEAVES[kind], _plain(term.value))
    raise SpaceError(f"ConfigSpace's {kind} on {name!r} is not supported")


LeafBuilder = Callable[[str, str, Any], Any]


@dataclass(frozen=True, slots=True)
class _Other:
    """Stands for another parameter where a value is expected."""

    name: str


def _condition_leaf(configuration_space: Any, child: str) -> LeafBuilder:  # noqa: ANN401 - untyped library
    import ConfigSpace

    kinds = {
        "==": ConfigSpace.EqualsCondition,
        "<": ConfigSpace.LessThanCondition,
        ">": ConfigSpace.GreaterThanCondition,
        "in": ConfigSpace.InCondition,
    }

    def build(name: str, symbol: str, value: Any) -> Any:  # noqa: ANN401 - untyped library
        if isinstance(value, _Other):
            raise SpaceError(
                f"ConfigSpace cannot say that {child!r} depends on {name} {symbol} {value.name}",
                ("parameters", child, "when"),
            )
        return kinds[symbol](configuration_space[child], configuration_space[name], value)

    return build


def _forbidden_leaf(configuration_space: Any) -> LeafBuilder:  # noqa: ANN401 - untyped library
    import ConfigSpace

    kinds = {
        "==": ConfigSpace.ForbiddenEqualsClause,
        "<": ConfigSpace.ForbiddenLessThanClause,
        ">": ConfigSpace.ForbiddenGreaterThanClause,
        "in": ConfigSpace.ForbiddenInClause,
    }
    relations = {
        "==": ConfigSpace.ForbiddenEqualsRelation,
        "<": ConfigSpace.ForbiddenLessThanRelation,
        ">": ConfigSpace.ForbiddenGreaterThanRelation,
    }

    def build(name: str, symbol: str, value: Any) -> Any:  # noqa: ANN401 - untyped library
        if isinstance(value, _Other):
            return relations[symbol](configuration_space[name], configuration_space[value.name])
        return kinds[symbol](configuration_space[name], value)

    return build


@dataclass(frozen=True, slots=True)
class _Lowering:
    """Writes an expression with the comparisons ConfigSpace has."""

    space: ParameterSpace
    leaf: LeafBuilder
    conjunction: Callable[..., Any]
    disjunction: Callable[..., Any]

    def __call__(self, expression: Expression) -> Any:  # noqa: ANN401 - untyped library
        match expression:
            case AllOf(terms):
                return self.conjunction(*map(self, terms))
            case AnyOf(terms):
                return self.disjunction(*map(self, terms))
            case Membership(name, values, negative):
                return self._membership(name, values, negative)
            case Relation(name, symbol, other):
                return self._either(name, symbol, _Other(other))
            case Comparison(name, symbol, value):
                return self._comparison(name, symbol, value, to_text(expression))

    def _either(self, name: str, symbol: str, value: object) -> Any:  # noqa: ANN401 - untyped library
        parts = {"!=": "<>", "<=": "<=", ">=": ">="}.get(symbol)
        if parts is None:
            return self.leaf(name, symbol, value)
        symbols = [part if part in "<>" else "==" for part in parts]
        return self.disjunction(*(self.leaf(name, part, value) for part in symbols))

    def _membership(self, name: str, values: tuple[Value, ...], negative: bool) -> Any:  # noqa: ANN401
        if not negative:
            return self.leaf(name, "in", list(values))
        parameter = self.space.parameters[name]
        if isinstance(parameter, ChoiceParameter):
            return self.leaf(name, "in", [choice for choice in parameter.choices if choice not in values])
        parts = [self._either(name, "!=", value) for value in values]
        return parts[0] if len(parts) == 1 else self.conjunction(*parts)

    def _comparison(self, name: str, symbol: str, value: Value, text: str) -> Any:  # noqa: ANN401
        parameter = self.space.parameters[name]
        if isinstance(parameter, ChoiceParameter):
            if symbol == "!=":
                return self._membership(name, (value,), negative=True)
            return self._either(name, symbol, value)
        number = float(value)
        if symbol in {"<", "<="} and number > parameter.high:
            symbol, number = "<=", parameter.high
        elif symbol in {">", ">="} and number < parameter.low:
            symbol, number = ">=", parameter.low
        elif parameter.integer and number != int(number):
            symbol, number = ("<=", math.floor(number)) if symbol[0] == "<" else (">=", math.ceil(number))
        if not parameter.low <= number <= parameter.high:
            raise SpaceError(f"ConfigSpace cannot express {text}")
        return self._either(name, symbol, int(number) if parameter.integer else number)

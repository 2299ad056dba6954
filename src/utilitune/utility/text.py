"""From text to utility: the registries of families, `parse_utility` and `parse_solution_utility`."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from utilitune.errors import UtilityError, did_you_mean
from utilitune.utility.base import Family, Utility
from utilitune.utility.combining import Minimum, Product
from utilitune.utility.families import (
    CostPerHour,
    Exponential,
    GeneralisedLogLaplace,
    LogLaplace,
    Pareto,
    Plateau,
    Polynomial,
    Step,
    Uniform,
)
from utilitune.utility.functions import PREFIX, load_function, utility_from_callable
from utilitune.utility.piecewise import PiecewiseLinear
from utilitune.utility.solutions import (
    Compared,
    Gap,
    QualityFamily,
    Reached,
    RelativeGap,
    SolutionMinimum,
    SolutionProduct,
    SolutionUtility,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_ORDER: tuple[type[Family], ...] = (
    LogLaplace,
    GeneralisedLogLaplace,
    Uniform,
    Exponential,
    Pareto,
    Polynomial,
    Step,
    Plateau,
    CostPerHour,
    PiecewiseLinear,
    Product,
    Minimum,
)
FAMILIES: Mapping[str, type[Family]] = MappingProxyType({family.name: family for family in _ORDER})
"""Every family by its name, in the order in which to show them; each has a `summary` and an `example`."""

_QUALITY_ORDER: tuple[type[QualityFamily], ...] = (Gap, RelativeGap, Compared, Reached)
QUALITY_FAMILIES: Mapping[str, type[QualityFamily]] = MappingProxyType(
    {family.name: family for family in _QUALITY_ORDER}
)
"""Every family of utilities of the quality by its name, in the order in which to show them."""

_CALL = re.compile(r"(?P<name>[^()]*)(?:\((?P<arguments>.*)\))?", re.DOTALL)


def _key(name: str) -> str:
    """Names are compared without case, hyphens, underscores and spaces."""
    return re.sub(r"[-_\s]", "", name.lower())


_BY_KEY = {_key(name): family for family in _ORDER for name in (family.name, *family.aliases)}
_QUALITY_BY_KEY = {_key(family.name): family for family in _QUALITY_ORDER}
_OF_SOLUTIONS: dict[type[Family], type[SolutionProduct | SolutionMinimum]] = {
    Product: SolutionProduct,
    Minimum: SolutionMinimum,
}


def parse_utility(text: str) -> Utility:
    """Turn a text such as ``log-laplace(k0=1m, alpha=1)`` into a utility of time.

    Values may be named or in order, times may carry a unit, and ``python:package.module:function``
    names a function of the user's own.

    Raises:
        UtilityError: The text cannot be understood, or does not describe a utility of time.
    """
    parsed = parse_any_utility(text)
    if isinstance(parsed, SolutionUtility):
        raise UtilityError(
            f"{text.strip()!r} judges the quality of a solution, but here only the time of a run counts: "
            f'write objective = "quality" into the scenario, or take one of time, e.g. {LogLaplace.example}'
        )
    return parsed


def parse_solution_utility(text: str) -> SolutionUtility:
    """Turn a text such as ``gap(best=0, worst=100)`` into a utility of quality and time.

    Raises:
        UtilityError: The text cannot be understood, or does not judge a quality.
    """
    parsed = parse_any_utility(text)
    if not isinstance(parsed, SolutionUtility):
        raise UtilityError(
            f"{text.strip()!r} judges the time of a run alone, but here the quality of its solution counts: "
            f"take {Gap.example}, or product({RelativeGap.example}, {text.strip()})"
        )
    return parsed


def parse_any_utility(text: str) -> Utility | SolutionUtility:
    """Turn a text into a utility, of time alone or of quality and time.

    Raises:
        UtilityError: The text cannot be understood, or does not describe a utility.
    """
    if text.strip().lower().startswith(PREFIX):
        return load_function(text)
    match = _CALL.fullmatch(text.strip())
    name = "" if match is None else match["name"].strip()
    arguments = None if match is None else _split(match["arguments"] or "")
    if not name or arguments is None:
        raise UtilityError(
            f"{text!r} is not a utility: write a name and its values, e.g. {LogLaplace.example}"
        )
    quality = _QUALITY_BY_KEY.get(_key(name))
    if quality is not None:
        return quality.from_arguments(arguments)
    family = _BY_KEY.get(_key(name))
    if family is None:
        names = (*FAMILIES, *QUALITY_FAMILIES)
        raise UtilityError(f"there is no utility {name!r}: {did_you_mean(name.lower(), names)}")
    if family in _OF_SOLUTIONS:
        return _combined(family, arguments)
    return family.from_arguments(arguments)


def _combined(family: type[Family], arguments: Sequence[str]) -> Utility | SolutionUtility:
    parts = [parse_any_utility(argument) for argument in arguments]
    if any(isinstance(part, SolutionUtility) for part in parts):
        return _OF_SOLUTIONS[family](tuple(parts))
    return family.from_arguments(arguments)


def _split(text: str) -> list[str] | None:
    """The texts between commas outside of inner parentheses; None if the parentheses do not match."""
    parts = list(_parts(text.strip().removesuffix(",")))
    if any(part is None for part in parts):
        return None
    return [] if parts == [""] else [part for part in parts if part is not None]


def _parts(text: str) -> Iterator[str | None]:
    depth, start = 0, 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            yield None
            return
        if sign == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    yield None if depth else text[start:].strip()


def as_utility(value: Utility | str | Callable[[Any], Any]) -> Utility:
    """A utility from whatever a user may hand over: one, its text, or a function to check."""
    if isinstance(value, Utility):
        return value
    if isinstance(value, str):
        return parse_utility(value)
    if callable(value):
        return utility_from_callable(value)
    raise UtilityError(
        f"{value!r} is not a utility: give a text such as {LogLaplace.example!r}, or a function"
    )

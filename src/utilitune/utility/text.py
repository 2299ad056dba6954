"""From text to utility: the registry of families and `parse_utility`."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from utilitune.errors import UtilityError, did_you_mean
from utilitune.utility.base import Family, Utility
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
)
FAMILIES: Mapping[str, type[Family]] = MappingProxyType({family.name: family for family in _ORDER})
"""Every family by its name, in the order in which to show them; each has a `summary` and an `example`."""

_CALL = re.compile(r"(?P<name>[^()]*)(?:\((?P<arguments>[^()]*)\))?")


def _key(name: str) -> str:
    """Names are compared without case, hyphens, underscores and spaces."""
    return re.sub(r"[-_\s]", "", name.lower())


_BY_KEY = {_key(name): family for family in _ORDER for name in (family.name, *family.aliases)}


def parse_utility(text: str) -> Utility:
    """Turn a text such as ``log-laplace(k0=1m, alpha=1)`` into a utility.

    Values may be named or in order, times may carry a unit, and ``python:package.module:function``
    names a function of the user's own.

    Raises:
        UtilityError: The text cannot be understood, or does not describe a utility.
    """
    if text.strip().lower().startswith(PREFIX):
        return load_function(text)
    match = _CALL.fullmatch(text.strip())
    if match is None or not match["name"].strip():
        raise UtilityError(
            f"{text!r} is not a utility: write a name and its values, e.g. {LogLaplace.example}"
        )
    name = match["name"].strip()
    family = _BY_KEY.get(_key(name))
    if family is None:
        raise UtilityError(f"there is no utility {name!r}: {did_you_mean(name.lower(), FAMILIES)}")
    arguments = (match["arguments"] or "").strip().removesuffix(",")
    return family.from_arguments([each.strip() for each in arguments.split(",")] if arguments else [])


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

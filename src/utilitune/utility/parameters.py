"""Utilities with a handful of parameters: validation, text form, and arguments from text.

A family is a frozen dataclass. The metadata of its fields says which kind of parameter each is
(`ParameterKind`): a time, which may carry a unit in text, a plain number, a share, or a quality to compare
with. Nothing else has to be written per family but the formula.
"""

from __future__ import annotations

import math
from dataclasses import MISSING, Field, dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

from utilitune.errors import UsageError, UtilityError, did_you_mean
from utilitune.errors.outside import number_in
from utilitune.utility.base import Family, exact_text
from utilitune.utility.durations import parse_duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class ParameterKind:
    """What a parameter may be.

    Attributes:
        words: The kind in words.
        example: Values it may have.
        is_time: Whether it may carry a unit of time.
        may_be_zero: Whether it may be 0.
        is_share: Whether it may be written with a per cent sign.
        is_quality: Whether it may be any finite number, or one of `names`.
        names: Words that stand for a number which differs between instances.
    """

    words: str
    example: str
    is_time: bool = True
    may_be_zero: bool = False
    is_share: bool = False
    is_quality: bool = False
    names: tuple[str, ...] = ()

    def accepts(self, number: float) -> bool:
        """Whether a number is in range."""
        if not math.isfinite(number):
            return False
        return self.is_quality or number > 0 or (self.may_be_zero and number == 0)

    def read(self, text: str) -> float | str:
        """The value that a text stands for; a `ValueError` or `UsageError` if it stands for none."""
        if self.is_time:
            return parse_duration(text)
        if text.lower() in self.names:
            return text.lower()
        if self.is_share and text.endswith("%"):
            return number_in(text.removesuffix("%")) / 100
        return number_in(text)


SECONDS = {"kind": ParameterKind("positive time", "60 or 1m")}
SECONDS_OR_ZERO = {"kind": ParameterKind("time from 0 up", "0 or 10s", may_be_zero=True)}
NUMBER = {"kind": ParameterKind("positive number", "1 or 0.5", is_time=False)}


class Parametric:
    """What is given by parameters; a frozen dataclass whose fields are its parameters, in order.

    Attributes:
        name: The name in the text form.
        example: A text that can be parsed.
    """

    __slots__ = ()

    name: ClassVar[str]
    example: ClassVar[str]

    def _check_fields(self) -> None:
        for parameter in _fields_of(type(self)):
            value = self._checked(parameter, getattr(self, parameter.name))
            object.__setattr__(self, parameter.name, value)

    @classmethod
    def _checked(cls, parameter: Field[Any], value: object) -> float | str:
        kind: ParameterKind = parameter.metadata["kind"]
        if isinstance(value, str) and value in kind.names:
            return value
        if isinstance(value, bool) or not isinstance(value, Real):
            raise cls._parameter_error(parameter, value)
        try:
            number = float(value) + 0.0  # turns -0.0 into 0.0
        except OverflowError:
            number = math.inf
        if not kind.accepts(number):
            raise cls._parameter_error(parameter, value)
        return number

    @classmethod
    def _parameter_error(cls, parameter: Field[Any], value: object) -> UtilityError:
        kind: ParameterKind = parameter.metadata["kind"]
        return UtilityError(
            f"{parameter.name} of {cls.name} must be a {kind.words} such as {kind.example}, not {value!r}"
        )

    def __str__(self) -> str:
        values = ((each.name, getattr(self, each.name)) for each in _fields_of(type(self)))
        arguments = ", ".join(
            f"{name}={value if isinstance(value, str) else exact_text(value)}" for name, value in values
        )
        return f"{self.name}({arguments})"

    @classmethod
    def from_arguments(cls, arguments: Sequence[str]) -> Self:
        """Build one from ``value`` and ``name=value`` texts, plain values first."""
        known = {parameter.name: parameter for parameter in _fields_of(cls)}
        given: dict[str, float | str] = {}
        for position, argument in enumerate(arguments):
            left, equals, right = argument.partition("=")
            name = cls._named(left, known) if equals else cls._positional(position, given, list(known))
            if name in given:
                raise UtilityError(f"{cls.name} got {name} twice: write it once, e.g. {cls.example}")
            given[name] = cls._value(known[name], (right if equals else left).strip())
        missing = [each.name for each in known.values() if each.default is MISSING and each.name not in given]
        if missing:
            raise UtilityError(f"{cls.name} needs {' and '.join(missing)}: write e.g. {cls.example}")
        return cls(**given)

    @classmethod
    def _named(cls, text: str, known: Mapping[str, object]) -> str:
        name = text.strip().lower().replace("-", "_")
        if name not in known:
            raise UtilityError(f"{cls.name} has no parameter {text.strip()!r}: {did_you_mean(name, known)}")
        return name

    @classmethod
    def _positional(cls, position: int, given: Mapping[str, float | str], names: Sequence[str]) -> str:
        if position >= len(names):
            raise UtilityError(
                f"{cls.name} takes no more than {' and '.join(names)}: write e.g. {cls.example}"
            )
        if list(given) != list(names[:position]):
            raise UtilityError(
                f"{cls.name} has a plain value after a named one: name them all, e.g. {cls.example}"
            )
        return names[position]

    @classmethod
    def _value(cls, parameter: Field[Any], text: str) -> float | str:
        try:
            value = parameter.metadata["kind"].read(text)
        except (ValueError, UsageError):
            raise cls._parameter_error(parameter, text) from None
        return cls._checked(parameter, value)


def _fields_of(kind: type[Any]) -> tuple[Field[Any], ...]:
    """The parameters of a family."""
    return fields(kind)


@dataclass(frozen=True, slots=True)
class ParametricUtility(Parametric, Family):
    """A family given by positive numbers; its fields are its parameters, in order."""

    name: ClassVar[str]
    example: ClassVar[str]

    def __post_init__(self) -> None:
        self._check_fields()

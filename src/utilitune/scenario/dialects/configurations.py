"""Configurations to try first, as other tools write them: irace's table, SMAC's string of options."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import ScenarioError, did_you_mean
from utilitune.errors.outside import number_in
from utilitune.errors.wording import counted
from utilitune.scenario.dialects.r_tables import MISSING, split_row
from utilitune.scenario.source import read_text
from utilitune.spaces import ChoiceParameter, SpaceError
from utilitune.targets.command import written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from utilitune.spaces import Assignment, Parameter, ParameterSpace, Value

_MISSING = frozenset({MISSING, "<NA>"})


@dataclass(frozen=True, slots=True)
class GivenConfiguration:
    """A configuration to try first.

    Attributes:
        assignment: Its active parameters.
        unused: Parameters that have a value in the file but do not apply.
        line: Where it stands.
    """

    assignment: Assignment
    unused: tuple[str, ...]
    line: int


def read_configurations_table(
    path: Path, space: ParameterSpace, idle: Sequence[str] = ()
) -> tuple[GivenConfiguration, ...]:
    """A ``configurationsFile`` of irace: names, then lines of values, NA where none applies.

    Args:
        path: The file.
        space: The parameters.
        idle: Parameters that were left out because they are never active; their columns say nothing.
    """
    names: list[str] | None = None
    found = []
    for number, line in enumerate(read_text(path, "the file of configurations").splitlines(), 1):
        try:
            words = split_row(line)
        except ValueError:
            raise ScenarioError(
                "a quotation mark is not closed, or no blank follows; close it, and leave a blank",
                path=path,
                line=number,
            ) from None
        if not words:
            continue
        if names is None:
            names = words
            _check_names([name for name in names if name not in idle], path, number, space)
            _check_complete(names, path, number, space)
            continue
        if len(words) != len(names):
            raise ScenarioError(
                f"the line has {counted(len(words), 'value')} for {counted(len(names), 'parameter')}; "
                "write one each, NA where a parameter does not apply",
                path=path,
                line=number,
            )
        pairs = {
            name: word
            for name, word in zip(names, words, strict=True)
            if name not in idle and (word not in _MISSING or _is_choice(space.parameters[name], word))
        }
        given = _configuration(pairs, space, path, number)
        for name in given.assignment:
            if name not in pairs:
                raise ScenarioError(
                    f"the parameter {name!r} applies here, so it needs a value in place of NA",
                    path=path,
                    line=number,
                )
        found.append(given)
    return tuple(found)


def read_option_string(text: str, space: ParameterSpace, path: Path, line: int) -> GivenConfiguration:
    """An ``initial_incumbent`` of SMAC: ``-name 'value' …``; what is left out keeps its default."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise ScenarioError("a quotation mark is not closed; close it", path=path, line=line) from None
    names = [word.removeprefix("-") for word in words[::2]]
    if len(words) % 2 or not all(word.startswith("-") for word in words[::2]):
        raise ScenarioError(
            "initial_incumbent must be DEFAULT or options such as -alpha '1' -mode 'fast'",
            path=path,
            line=line,
        )
    _check_names(names, path, line, space)
    return _configuration(dict(zip(names, words[1::2], strict=True)), space, path, line)


def value_from_text(parameter: Parameter, text: str) -> Value:
    """The value of a parameter that a word stands for."""
    if isinstance(parameter, ChoiceParameter):
        return next((choice for choice in parameter.choices if written(choice) == text), text)
    try:
        number = number_in(text)
    except ValueError:
        return text
    return int(number) if parameter.integer and number.is_integer() else number


def _is_choice(parameter: Parameter, text: str) -> bool:
    return isinstance(parameter, ChoiceParameter) and text in map(written, parameter.choices)


def _check_names(names: list[str], path: Path, line: int, space: ParameterSpace) -> None:
    for place, name in enumerate(names):
        if name not in space.parameters:
            hint = did_you_mean(name, space.names)
            raise ScenarioError(f"there is no parameter {name!r}; {hint}", path=path, line=line)
        if name in names[:place]:
            raise ScenarioError(
                f"the parameter {name!r} stands there twice; remove one of them", path=path, line=line
            )


def _check_complete(names: list[str], path: Path, line: int, space: ParameterSpace) -> None:
    for name in space.names:
        if name not in names:
            raise ScenarioError(
                f"the table has no column for the parameter {name!r}; add one, NA where it does not apply",
                path=path,
                line=line,
            )


def _configuration(
    pairs: Mapping[str, str], space: ParameterSpace, path: Path, line: int
) -> GivenConfiguration:
    values = {name: value_from_text(space.parameters[name], text) for name, text in pairs.items()}
    try:
        assignment = space.completed(values)
    except SpaceError as error:
        raise ScenarioError(
            f"this is no configuration of the program: {error.reason}", path=path, line=line
        ) from None
    return GivenConfiguration(assignment, tuple(name for name in pairs if name not in assignment), line)

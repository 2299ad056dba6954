"""Switches of a parameter file as templates of a command."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from utilitune.spaces import ChoiceParameter
from utilitune.targets.command import literal, written

if TYPE_CHECKING:
    from utilitune.spaces.dialects import ParameterFile
    from utilitune.targets.command import Template, Words

_PLAIN = re.compile(r"[\w.,:;@%+/=-]+")


def switch_templates(file: ParameterFile) -> dict[str, Template]:
    """How each parameter of a file that has switches is written."""
    return {name: _template(file, name) for name in file.switches}


def _template(file: ParameterFile, name: str) -> Template:
    """A switch and its value, joined without a space as on irace's command line.

    A blank in the switch separates arguments there, and so it does here; a choice may hold blanks or
    nothing at all, and is split in the same way.
    """
    switch, parameter = file.switches[name], file.space.parameters[name]
    if not isinstance(parameter, ChoiceParameter):
        return _joined(switch, "{value}")
    choices = [written(choice) for choice in parameter.choices]
    if all(_PLAIN.fullmatch(choice) for choice in choices):
        return _joined(switch, "{value}")
    return {choice: _joined(switch, literal(choice)) for choice in choices}


def _joined(switch: str, value: str) -> Words:
    text = literal(switch) + value
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return (text,)

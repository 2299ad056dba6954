"""Lists of ranges, as SAT solvers print them: ``name minimum default maximum``, one parameter per line.

Whole numbers make an integer parameter; a point or an exponent in any of the three makes it a float. Equal
bounds make a fixed value. ``#`` begins a comment; a line that begins with ``c`` is one, unless it declares
a parameter of that name. On the command line a value follows ``--name=``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from utilitune.errors.outside import read_number
from utilitune.spaces.dialects.draft import Draft
from utilitune.spaces.dialects.model import ParameterFile
from utilitune.spaces.dialects.source import NUMBER, Scanner, SourceText, before_hash
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter, Parameter
from utilitune.spaces.problems import SpaceError

if TYPE_CHECKING:
    from utilitune.spaces.space import ParameterSpace

_REMARK = re.compile(rf"\s*c(?!\S)(?!(?:\s+{NUMBER.pattern}(?!\S)){{3}}\s*(?:#|$))")
_NAME = re.compile(r"[^\s\"'=]+")


def read_ranges(source: SourceText) -> ParameterFile:
    """Read a list of ranges."""
    draft = Draft(source)
    for scanner in source.scanners(_without_comment):
        _declare(draft, scanner)
    space = draft.space()
    return ParameterFile(
        source.path, "ranges", space, {name: f"--{name}=" for name in space.names}, notes=tuple(draft.notes)
    )


def _without_comment(line: str) -> str:
    return "" if _REMARK.match(line) else before_hash(line)


def _declare(draft: Draft, scanner: Scanner) -> None:
    place = scanner.place
    name = scanner.need(_NAME, "the name of a parameter")[0]
    pieces, texts = {}, []
    for key in ("range", "default", "high"):
        pieces[key] = scanner.place
        what = {"range": "its minimum", "default": "its default", "high": "its maximum"}[key]
        texts.append(scanner.need(NUMBER, what)[0])
    scanner.end()
    draft.declare(name, place, lambda: _parameter(name, texts), pieces)


def _parameter(name: str, texts: list[str]) -> Parameter:
    integer = all(text.lstrip("+-").isdecimal() for text in texts)
    low, default, high = (read_number(text) if integer else float(text) for text in texts)
    if low == default == high:
        return ChoiceParameter(name, (low,), low)
    return NumberParameter(name, low, high, default, integer=integer)


def write_ranges(space: ParameterSpace) -> str:
    """The space as a list of ranges; a `SpaceError` names what such a list cannot say."""
    if space.conditions or space.forbidden or space.ranges:
        raise SpaceError("a list of ranges cannot say conditions, forbidden clauses or dependent ranges")
    return "".join(f"{_line(parameter)}\n" for parameter in space.parameters.values())


def _line(parameter: Parameter) -> str:
    name = parameter.name
    if not _NAME.fullmatch(name) or "#" in name:
        raise SpaceError(f"a list of ranges cannot hold the name {name!r}")
    if isinstance(parameter, NumberParameter):
        if parameter.log or parameter.digits is not None:
            raise SpaceError(f"a list of ranges cannot say the log scale or the digits of {name!r}")
        return f"{name} {parameter.low!r} {parameter.default!r} {parameter.high!r}"
    (value, *others) = parameter.choices
    if others or isinstance(value, bool | str):
        raise SpaceError(f"a list of ranges cannot say the values of {name!r}, which are no range of numbers")
    return f"{name} {value!r} {value!r} {value!r}"

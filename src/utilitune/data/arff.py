"""A small reader of dense ARFF tables, the file format of ASlib.

Every row keeps its line number, so that whoever uses the table can say where something is wrong. A value
is text, or None where the file has an unquoted ``?``. Keywords are matched in any case; names and values
may be quoted with ``'`` or ``"``, with backslash escapes inside. Sparse rows are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.data.files import read_text
from utilitune.errors import DataError, did_you_mean
from utilitune.errors.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

_ATTRIBUTE = re.compile(
    r"""@attribute\s+
        (?: '(?P<single>(?:[^'\\]|\\.)*)' | "(?P<double>(?:[^"\\]|\\.)*)" | (?P<bare>[^\s'"]+) )
        \s*\S""",
    re.IGNORECASE | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class ArffTable:
    """A table with named columns; `lines[k]` is the line of `rows[k]`, `data_line` that of ``@DATA``."""

    path: Path
    names: tuple[str, ...]
    rows: list[list[str | None]]
    lines: list[int]
    data_line: int

    def index(self, name: str) -> int:
        """The position of a column, found by its name in any case."""
        lowered = [known.lower() for known in self.names]
        if name.lower() not in lowered:
            raise DataError(
                f"the table has no column {name!r}; {did_you_mean(name, self.names)}",
                path=self.path,
                line=self.data_line,
            )
        return lowered.index(name.lower())

    def column(self, name: str) -> list[str | None]:
        """The values of one column."""
        index = self.index(name)
        return [row[index] for row in self.rows]


def read_arff(path: Path) -> ArffTable:
    """Read a dense ARFF file."""
    lines = read_text(path).split("\n")
    names: list[str] = []
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        keyword = line.split(maxsplit=1)[0].lower() if line else ""
        if keyword == "@data":
            if not names:
                raise DataError("no @ATTRIBUTE stands before @DATA", path=path, line=number)
            return _read_rows(path, tuple(names), lines, number)
        if keyword == "@attribute":
            names.append(_attribute_name(path, line, number))
        elif keyword and keyword != "@relation" and not keyword.startswith("%"):
            raise DataError(
                f"expected @RELATION, @ATTRIBUTE, @DATA or a % comment, not {line[:40]!r}",
                path=path,
                line=number,
            )
    raise DataError("the file has no @DATA section", path=path, line=len(lines))


def _attribute_name(path: Path, line: str, number: int) -> str:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise DataError("an @ATTRIBUTE needs a name and a type", path=path, line=number)
    bare = match["bare"]
    return str(bare) if bare is not None else _unescape(match["single"] or match["double"] or "")


def _read_rows(path: Path, names: tuple[str, ...], lines: list[str], data_line: int) -> ArffTable:
    """The rows below line `data_line`, each checked for its number of values."""
    rows: list[list[str | None]] = []
    numbers: list[int] = []
    for number, raw in enumerate(lines[data_line:], start=data_line + 1):
        line = raw.strip()
        if not line or line[0] == "%":
            continue
        if line[0] == "{":
            raise DataError(
                "sparse ARFF rows are not supported; write every value out", path=path, line=number
            )
        row = _plain(line) if "'" not in line and '"' not in line else _quoted(path, line, number)
        if len(row) != len(names):
            raise DataError(
                f"the row has {counted(len(row), 'value')}, but {len(names)} attributes are declared",
                path=path,
                line=number,
            )
        rows.append(row)
        numbers.append(number)
    return ArffTable(path, names, rows, numbers, data_line)


def _plain(line: str) -> list[str | None]:
    cells = [cell.strip() for cell in line.split(",")]
    return [None if cell == "?" else cell for cell in cells] if "?" in cells else list(cells)


def _quoted(path: Path, line: str, number: int) -> list[str | None]:
    """Split a row at commas outside quotes; a value is quoted when its first character is a quote."""
    cells: list[str | None] = []
    start = 0
    while True:
        while start < len(line) and line[start].isspace():
            start += 1
        if start < len(line) and line[start] in "'\"":
            closing = _closing_quote(path, line, start, number)
            cells.append(_unescape(line[start + 1 : closing]))
            rest = line[closing + 1 :].lstrip()
            if rest and not rest.startswith(","):
                raise DataError("a comma is missing after a quoted value", path=path, line=number)
            comma = line.find(",", closing + 1)
        else:
            comma = line.find(",", start)
            cell = line[start : len(line) if comma < 0 else comma].strip()
            cells.append(None if cell == "?" else cell)
        if comma < 0:
            return cells
        start = comma + 1


def _closing_quote(path: Path, line: str, opening: int, number: int) -> int:
    position = opening + 1
    while position < len(line):
        if line[position] == "\\":
            position += 1
        elif line[position] == line[opening]:
            return position
        position += 1
    raise DataError("a quoted value is not closed on its line", path=path, line=number)


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED_LETTERS.get(match[1], match[1]), text)

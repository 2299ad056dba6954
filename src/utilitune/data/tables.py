"""Runtime matrices as CSV: a row per configuration, a column per instance.

::

    # cutoff_s = 300
    configuration,easy.cnf,hard.cnf
    default,1.5,
    restarts,0.9,212.4

The first row is a header unless its first cell is a runtime, in which case the whole file is numbers
without names. An empty cell, ``inf`` or ``timeout`` is a run that did not finish. Lines that begin with
``#`` may stand at the top; one of them may give the cutoff.
"""

from __future__ import annotations

import csv
import io
import math
import re
from typing import TYPE_CHECKING

import numpy as np

from utilitune.data.files import read_text, replacing
from utilitune.data.matrix import RuntimeMatrix
from utilitune.errors import DataError, UsageError
from utilitune.errors.outside import number_in
from utilitune.errors.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

_UNFINISHED = frozenset({"", "inf", "+inf", "infinity", "timeout"})
_CUTOFF = re.compile(r"#\s*cutoff_s\s*[=:]\s*(\S+)\s*$", re.IGNORECASE)


def read_csv(path: Path) -> RuntimeMatrix:
    """Read a CSV file of runtimes."""
    text = read_text(path)
    cutoff_s, skipped, body = _split_comments(text, path)
    rows = _rows(body, skipped, path)
    first = next(rows, None)
    if first is None:
        raise DataError("the file has no runtimes", path=path)
    line, cells = first
    named = not _is_runtime(cells[0])
    instances = tuple(cell.strip() for cell in cells[1:]) if named else None
    width = len(cells)
    names: list[str] = []
    runtimes_s: list[NDArray[np.float64]] = []
    for line, row in rows if named else _chain(first, rows):
        if len(row) != width:
            raise DataError(
                f"the row has {counted(len(row), 'cell')}, "
                f"but the first row has {width}; all rows must be equally long",
                path=path,
                line=line,
            )
        names.append(row[0].strip())
        runtimes_s.append(_runtimes(row[1:] if named else row, path, line))
    if not runtimes_s or runtimes_s[0].size == 0:
        raise DataError("the file has a header but no runtimes", path=path, line=line)
    return RuntimeMatrix.from_array(
        np.stack(runtimes_s),
        cutoff_s,
        configurations=names if named else None,
        instances=instances,
        source=str(path),
    )


def write_csv(matrix: RuntimeMatrix, path: Path) -> None:
    """Write a matrix that `read_csv` reads back exactly."""
    if matrix.features is not None or not np.array_equal(matrix.columns, np.arange(len(matrix.instances))):
        raise UsageError(
            f"a CSV file cannot hold features or a resampled instance order; write {path.stem}.npz"
        )
    with replacing(path) as stream, io.TextIOWrapper(stream, encoding="utf-8", newline="") as text:
        if math.isfinite(matrix.cutoff_s):
            text.write(f"# cutoff_s = {matrix.cutoff_s!r}\n")
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(["configuration", *matrix.instances])
        for name, row in zip(matrix.configurations, matrix.runtimes_s, strict=True):
            writer.writerow([name, *row.tolist()])


def _split_comments(text: str, path: Path) -> tuple[float, int, str]:
    """The cutoff, the number of comment lines at the top, and the text below them."""
    cutoff_s, skipped, start = math.inf, 0, 0
    while text.startswith("#", start):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        skipped += 1
        match = _CUTOFF.match(text[start:end].strip())
        if match is not None:
            try:
                cutoff_s = number_in(match[1])
            except ValueError:
                cutoff_s = math.nan
            if not cutoff_s > 0:
                raise DataError(
                    f"the cutoff must be a positive number of seconds, not {match[1]!r}",
                    path=path,
                    line=skipped,
                )
        start = end + 1
    return cutoff_s, skipped, text[start:]


def _rows(body: str, skipped: int, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Every non-empty row with the line it ends on."""
    reader = csv.reader(io.StringIO(body, newline=""), strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise DataError(
                f"this is not valid CSV ({error})", path=path, line=skipped + reader.line_num
            ) from error
        if row is None:
            return
        if len(row) > 1 or (row and row[0].strip()):
            yield skipped + reader.line_num, row


def _chain(
    first: tuple[int, list[str]], rest: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    yield first
    yield from rest


def _is_runtime(cell: str) -> bool:
    """Whether the first cell of the first row is a runtime; an empty one is the corner of a header."""
    text = cell.strip().lower()
    if text in _UNFINISHED:
        return bool(text)
    try:
        number_in(text)
    except ValueError:
        return False
    return True


def _runtimes(cells: list[str], path: Path, line: int) -> NDArray[np.float64]:
    together = "".join(cells)
    read = float if "_" not in together and together.isascii() else number_in
    try:
        values = np.array([read(cell) for cell in cells])
    except ValueError:
        values = np.array([_seconds(cell) for cell in cells])
    wrong = np.flatnonzero(~(values >= 0))
    if wrong.size:
        raise DataError(
            f"{cells[wrong[0]].strip()!r} is not a runtime; give seconds of at least 0, or leave the cell"
            " empty for a run that did not finish",
            path=path,
            line=line,
        )
    return values


def _seconds(cell: str) -> float:
    """A runtime, ∞ for one of the words for "did not finish", NaN for anything else."""
    text = cell.strip().lower()
    try:
        return math.inf if text in _UNFINISHED else number_in(text)
    except ValueError:
        return math.nan

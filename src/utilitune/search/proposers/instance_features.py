"""The file in which a user describes the instances: a CSV table, one line per instance, numbers as columns.

::

    instance,variables,clauses
    a.cnf,200,850
    b.cnf,310,1400

The first column names the instance as the scenario does, or by a path that ends in the same file name. An
empty cell is a number nobody knows. A model counts it as the average of its column over the instances that
it has seen runs of. By these it also brings columns to a common scale: trees do not need that, but then no
number is too large for them. Later instances take part in neither, because a proposal that follows from them
would be judged on instances that shaped it.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from utilitune.errors import DataError
from utilitune.errors.outside import number_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


def read_instance_features(path: Path, instances: Sequence[str]) -> NDArray[np.float64]:
    """One line of features per instance, in the order of `instances`, with NaN for what nobody knows.

    Raises:
        DataError: An instance has no line, or the file cannot be read.
    """
    lines = _read(path)
    bare = Counter(PurePath(name).name for name in lines)
    by_file_name = {
        PurePath(name).name: values for name, values in lines.items() if bare[PurePath(name).name] == 1
    }
    table = []
    for name in instances:
        values = lines.get(name, by_file_name.get(PurePath(name).name))
        if values is None:
            raise DataError(f"the instance {name!r} has no line of features: add one", path=path)
        table.append(values)
    return np.array(table, dtype=np.float64)


def _read(path: Path) -> dict[str, list[float]]:
    lines: dict[str, list[float]] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            if len(header) < 2:
                raise DataError(
                    "the first line must name the columns: the instance and at least one feature",
                    path=path,
                    line=1,
                )
            for cells in reader:
                if cells and cells[0].strip() in lines:
                    raise DataError(
                        f"the instance {cells[0].strip()!r} has a second line of features: remove one",
                        path=path,
                        line=reader.line_num,
                    )
                if cells:
                    lines[cells[0].strip()] = _numbers(cells, header, path, reader.line_num)
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"the instance features cannot be read: {error}", path=path) from None
    return lines


def _numbers(cells: Sequence[str], header: Sequence[str], path: Path, line: int) -> list[float]:
    if len(cells) != len(header):
        raise DataError(f"{len(header)} cells are expected, but there are {len(cells)}", path=path, line=line)
    values = []
    for name, cell in zip(header[1:], cells[1:], strict=True):
        text = cell.strip()
        try:
            value = number_in(text) if text else math.nan
        except ValueError:
            value = math.inf
        if math.isinf(value):
            raise DataError(f"{cell!r} is not a number (feature {name!r})", path=path, line=line)
        values.append(value)
    return values


def completed(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns scaled to [0, 1], what is missing replaced by the average, both over these lines alone."""
    known = ~np.isnan(table)
    halves = table / 2  # the difference of two of them is always finite
    low = np.min(halves, axis=0, initial=math.inf, where=known)
    high = np.max(halves, axis=0, initial=-math.inf, where=known)
    varies = high > low
    span = np.where(varies, high, 1.0) - np.where(varies, low, 0.0)
    scaled = (halves - np.where(np.isfinite(low), low, 0.0)) / span
    average = np.sum(scaled, axis=0, where=known) / np.maximum(known.sum(axis=0), 1)
    values: NDArray[np.float64] = np.where(known, scaled, average)
    return values

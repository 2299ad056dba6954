"""Reading minisat's `measurements.dump` without trusting it.

The file, published with LeapsAndBounds (Weisz et al. 2018), is a Python pickle of a dictionary: the key is
a configuration's command line, the value the list of its runtimes in seconds, one per instance; the
runs were stopped at 900 s. A pickle can run any code when it is loaded by ordinary means, so it is
read here by an unpickler that knows plain lists, tuples, dictionaries, text and numbers and nothing else.

Accepted: ``{configuration: [runtime, …]}``, ``{configuration: {instance: runtime}}`` and
``[[runtime, …], …]``; configurations are always the outer level. Rows are sorted by configuration.
"""

from __future__ import annotations

import gzip
import io
import pickle
import zlib
from typing import TYPE_CHECKING, NoReturn, Protocol

import numpy as np

from utilitune.data.files import unreadable
from utilitune.data.matrix import RuntimeMatrix
from utilitune.data.pickle_scan import NOT_PLAIN, scan
from utilitune.data.unfolding import most_unfolded, require_room
from utilitune.errors import DataError
from utilitune.errors.outside import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

LARGEST_PICKLE_BYTES = 2 << 30
_MEMORY_PER_BYTE = 20
"""Bytes that one byte of a large pickle may become; a number of nine bytes becomes thirty-two."""

_ALWAYS_FINE_BYTES = 64 << 20
_PIECE_BYTES = 1 << 24
_BROKEN = (
    pickle.UnpicklingError,
    ArithmeticError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


class BinaryReader(Protocol):
    """Anything open for reading bytes."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes."""


class PlainUnpickler(pickle.Unpickler):
    """An unpickler that refuses everything that is not plain data."""

    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse: a pickle of runtimes needs no classes and no functions."""
        raise DataError(
            f"refused to load {shortened(f'{module}.{name}', 200)}: "
            "only lists, dictionaries, text and numbers are read"
        )

    def persistent_load(self, pid: object) -> NoReturn:
        """Refuse: there is nothing outside the file to refer to."""
        raise DataError(f"refused to load the outside object {str(pid)[:40]!r}: only plain data is read")


def read_measurements(path: Path, cutoff_s: float) -> RuntimeMatrix:
    """Read a pickle of runtimes, plain or compressed with gzip."""
    try:
        with path.open("rb") as raw:
            if path.suffix != ".gz":
                return matrix_from_pickle(raw, cutoff_s, source=str(path))
            most_bytes = most_unfolded(path.stat().st_size)
            with gzip.open(raw) as unzipped:
                return matrix_from_pickle(unzipped, cutoff_s, source=str(path), most_bytes=most_bytes)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError("this is not a gzip file, or it is damaged", path=path) from error
    except OSError as error:
        raise unreadable(path, error) from error


def matrix_from_pickle(
    stream: BinaryReader, cutoff_s: float, source: str, most_bytes: int = LARGEST_PICKLE_BYTES
) -> RuntimeMatrix:
    """Read a pickle of runtimes from an open file (or a member of an archive).

    Args:
        stream: Where it begins.
        cutoff_s: Where its runs were stopped.
        source: What to call it.
        most_bytes: How large it may be.
    """
    content = _content(stream, min(most_bytes, LARGEST_PICKLE_BYTES), source)
    found, taken_bytes = scan(content)
    if found == NOT_PLAIN:
        raise DataError("this is not a pickle of plain runtimes, or it is damaged", path=source)
    fair_bytes = max(_ALWAYS_FINE_BYTES, _MEMORY_PER_BYTE * len(content))
    require_room(taken_bytes, source, most_bytes=min(fair_bytes, most_unfolded(len(content))))
    try:
        loaded = PlainUnpickler(io.BytesIO(content), encoding="latin-1").load()
        configurations, rows = _by_configuration(loaded)
        instances, table = _by_instance(rows, most_values=len(content))
        runtimes_s = _numbers(table)
    except DataError as error:
        raise DataError(str(error), path=source) from None
    except _BROKEN as error:
        raise DataError("this is not a pickle of plain runtimes, or it is damaged", path=source) from error
    return RuntimeMatrix.from_array(
        runtimes_s, cutoff_s, configurations=configurations, instances=instances, source=source
    )


def _content(stream: BinaryReader, most_bytes: int, source: str) -> bytes:
    """Everything in a stream, read piece by piece: a piece as large as the limit would be made at once."""
    pieces: list[bytes] = []
    left_bytes = most_bytes
    while piece := stream.read(_PIECE_BYTES):
        pieces.append(piece)
        left_bytes -= len(piece)
        if left_bytes < 0:
            raise DataError(
                f"the pickle is larger than the {most_bytes >> 20} MiB that it may be", path=source
            )
    return b"".join(pieces)


def _by_configuration(loaded: object) -> tuple[tuple[str, ...] | None, list[object]]:
    """Names (None for a bare list) and the measurements of every configuration."""
    if isinstance(loaded, dict) and loaded:
        keys = _sorted_keys(loaded)
        return tuple(_name(key) for key in keys), [loaded[key] for key in keys]
    if isinstance(loaded, list | tuple) and loaded:
        return None, list(loaded)
    raise DataError("expected a dictionary from configurations to lists of runtimes")


def _by_instance(
    rows: list[object], most_values: int
) -> tuple[tuple[str, ...] | None, list[Sequence[object]]]:
    """Instance names (None for lists) and equally long rows of values.

    A number takes at least one byte of the file. A table of more values than that repeats one list to fill
    our memory, and is refused before it is laid out.
    """
    first = rows[0]
    if not isinstance(first, dict | list | tuple) or not first:
        raise DataError("the configurations have no runtimes")
    if len(rows) * len(first) > most_values:
        raise DataError("the pickle repeats one list more often than its size allows")
    keys = _sorted_keys(first) if isinstance(first, dict) else None
    table: list[Sequence[object]] = []
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict) and keys is not None and row.keys() == set(keys):
            table.append([row[key] for key in keys])
        elif isinstance(row, list | tuple) and keys is None and len(row) == len(first):
            table.append(row)
        else:
            raise DataError(f"configuration number {number} was not measured on the same instances")
    return None if keys is None else tuple(_name(key) for key in keys), table


def _numbers(table: list[Sequence[object]]) -> NDArray[np.float64]:
    runtimes_s = np.empty((len(table), len(table[0])))
    for index, row in enumerate(table):
        if not set(map(type, row)) <= {int, float}:
            raise DataError(f"the runtimes of configuration number {index + 1} are not all numbers")
        runtimes_s[index] = np.asarray(row, dtype=np.float64)
    return runtimes_s


def _sorted_keys(mapping: dict[object, object]) -> list[object]:
    try:
        return sorted(mapping)  # type: ignore[type-var]
    except TypeError:
        return sorted(mapping, key=_name)


def _name(key: object) -> str:
    """A configuration's or instance's name; a tuple of command-line words is joined by spaces."""
    return " ".join(map(str, key)) if isinstance(key, tuple) else str(key)

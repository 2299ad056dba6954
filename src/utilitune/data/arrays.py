"""Runtime matrices as NumPy files, read without pickles.

An ``.npy`` file is the bare matrix, rows = configurations. An ``.npz`` file holds `runtimes_s` and, where
known, `cutoff_s`, `configurations`, `instances`, `columns`, `features`, `feature_names` and the arrays of
`utilitune.data.solutions`.

The header of an array promises a size. It is compared with what the file can hold (`unfolding`) before memory
is asked for.
"""

from __future__ import annotations

import lzma
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from utilitune.data import solutions
from utilitune.data.files import replacing, unreadable
from utilitune.data.matrix import RuntimeMatrix
from utilitune.data.unfolding import most_unfolded, require_room
from utilitune.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

RUNTIMES_KEY = "runtimes_s"
_OPTIONAL_KEYS = (
    *("cutoff_s", "configurations", "instances", "columns", "features", "feature_names"),
    *solutions.KEYS,
)
_PLAIN_KINDS = "fiubU"
_MOST_DIMENSIONS = 2
_CHUNK_BYTES = 1 << 24
_NOT_AN_ARRAY = (
    *(
        ArithmeticError,
        EOFError,
        LookupError,
        MemoryError,
        RecursionError,
        SyntaxError,
        TypeError,
        ValueError,
    ),
    tokenize.TokenError,
)
"""What NumPy raises for a header that makes no sense."""

NOT_AN_ARCHIVE = (
    *(AttributeError, EOFError, LookupError, NotImplementedError, OverflowError, RuntimeError, ValueError),
    *(lzma.LZMAError, struct.error, zipfile.BadZipFile, zlib.error),
)
"""What the library raises for an archive that is damaged, locked or packed in an unknown way."""


def read_npy(path: Path, cutoff_s: float = math.inf) -> RuntimeMatrix:
    """Read a bare matrix; the file does not say its cutoff."""
    try:
        with path.open("rb") as stream:
            size_bytes = os.fstat(stream.fileno()).st_size
            return matrix_from_npy(stream, cutoff_s, source=str(path), most_bytes=size_bytes)
    except OSError as error:
        raise unreadable(path, error) from error


def matrix_from_npy(
    stream: IO[bytes], cutoff_s: float, source: str, most_bytes: int | None = None
) -> RuntimeMatrix:
    """Read a bare matrix from an open file (or a member of an archive).

    Args:
        stream: Where it begins.
        cutoff_s: Where its runs were stopped.
        source: What to call it.
        most_bytes: How much it can hold; half of the free memory if left out.
    """
    runtimes_s = _read_array(stream, source, most_bytes)
    if runtimes_s.dtype.kind == "f":
        np.putmask(
            runtimes_s, runtimes_s >= cutoff_s, np.inf
        )  # ours to change: saves a copy of a large matrix
    return RuntimeMatrix.from_array(runtimes_s, cutoff_s, source=source)


def _read_array(stream: IO[bytes], source: str, most_bytes: int | None) -> NDArray[Any]:
    """One array of plain numbers or texts, after a look at how large it says it is."""
    try:
        shape, by_columns, kind = _header(stream)
    except _NOT_AN_ARRAY as error:
        raise _no_array(source) from error
    plain = kind.kind in _PLAIN_KINDS and not kind.hasobject and kind.names is None
    if not plain or len(shape) > _MOST_DIMENSIONS or any(length < 0 for length in shape):
        raise _no_array(source)
    count = math.prod(shape)
    needed_bytes = count * kind.itemsize
    if most_bytes is not None and needed_bytes > most_bytes:
        raise _no_array(source)
    require_room(needed_bytes, source)
    flat = np.empty(count, dtype=kind)
    _fill(flat, stream, source)
    try:
        return flat.reshape(shape, order="F" if by_columns else "C")
    except ValueError as error:  # nothing in it, and a side that no array can have
        raise _no_array(source) from error


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a file of Python 2 is as good as any
        if version == (1, 0):
            shape, by_columns, kind = np.lib.format.read_array_header_1_0(stream)
        elif version == (2, 0):
            shape, by_columns, kind = np.lib.format.read_array_header_2_0(stream)
        else:
            raise ValueError(f"format {version}")
    return tuple(int(length) for length in shape), bool(by_columns), kind


def _fill(flat: NDArray[Any], stream: IO[bytes], source: str) -> None:
    """Read piece by piece, so that a file that is cut short costs no more than it holds."""
    view = flat.view(np.uint8) if flat.dtype.itemsize else flat[:0].view(np.uint8)
    done = 0
    while done < view.size:
        piece = stream.read(min(_CHUNK_BYTES, view.size - done))
        if not piece:
            raise _no_array(source)
        view[done : done + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        done += len(piece)


def _no_array(source: str) -> DataError:
    return DataError("this is not a NumPy file of plain numbers, or it is cut short", path=source)


def read_npz(path: Path) -> RuntimeMatrix:
    """Read a matrix with its names and cutoff."""
    parts = _load_npz(path)
    if RUNTIMES_KEY not in parts:
        raise DataError(f"the file has no array {RUNTIMES_KEY!r}", path=path)
    runtimes_s = parts[RUNTIMES_KEY]
    base = RuntimeMatrix.from_array(
        runtimes_s,
        _number(parts["cutoff_s"], path) if "cutoff_s" in parts else math.inf,
        configurations=_names(parts, "configurations", path),
        instances=_names(parts, "instances", path),
        source=str(path),
    )
    features = parts.get("features")
    found = any(key in parts for key in solutions.KEYS)
    if features is None and "columns" not in parts and not found:
        return base
    if features is not None and features.ndim != 2:
        raise DataError("features must be a table of configurations × features", path=path)
    if "columns" in parts and parts["columns"].dtype.kind not in "iu":
        raise DataError("columns must be whole numbers", path=path)
    feature_names = _names(parts, "feature_names", path)
    if features is not None and feature_names is None:
        feature_names = tuple(f"f{number}" for number in range(features.shape[1]))
    return RuntimeMatrix(
        runtimes_s=base.runtimes_s,
        cutoff_s=base.cutoff_s,
        configurations=base.configurations,
        instances=base.instances,
        columns=parts.get("columns", base.columns),
        source=base.source,
        features=features,
        feature_names=feature_names or (),
        solutions=solutions.RecordedSolutions.from_arrays(parts, str(path)) if found else None,
    )


def write_npz(matrix: RuntimeMatrix, path: Path) -> None:
    """Write a matrix that `read_npz` reads back exactly."""
    arrays: dict[str, NDArray[Any]] = {
        RUNTIMES_KEY: matrix.runtimes_s,
        "cutoff_s": np.asarray(matrix.cutoff_s),
        "configurations": np.asarray(matrix.configurations),
        "instances": np.asarray(matrix.instances),
        "columns": matrix.columns,
    }
    if matrix.features is not None:
        arrays |= {
            "features": matrix.features,
            "feature_names": np.asarray(matrix.feature_names, dtype=np.str_),
        }
    if matrix.solutions is not None:
        arrays |= matrix.solutions.arrays()
    with replacing(path) as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def _load_npz(path: Path) -> dict[str, NDArray[Any]]:
    try:
        packed_bytes = path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            wanted = {key: f"{key}.npy" for key in (RUNTIMES_KEY, *_OPTIONAL_KEYS)}
            there = {key: archive.getinfo(name) for key, name in wanted.items() if name in archive.namelist()}
            total_bytes = sum(each.file_size for each in there.values())
            require_room(total_bytes, str(path), most_bytes=most_unfolded(packed_bytes))
            return {key: _member(archive, each, path) for key, each in there.items()}
    except OSError as error:
        raise unreadable(path, error) from error
    except NOT_AN_ARCHIVE as error:
        raise DataError("this is not a NumPy archive of plain arrays, or it is damaged", path=path) from error


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> NDArray[Any]:
    with archive.open(member) as stream:
        return _read_array(stream, str(path), member.file_size)


def _number(value: NDArray[Any], path: Path) -> float:
    if value.size != 1 or value.dtype.kind not in "fiu":
        raise DataError("cutoff_s must be one number", path=path)
    return float(value.reshape(()))


def _names(parts: dict[str, NDArray[Any]], key: str, path: Path) -> tuple[str, ...] | None:
    if key not in parts:
        return None
    if parts[key].ndim != 1:
        raise DataError(f"{key} must be a list of names", path=path)
    return tuple(str(name) for name in parts[key].tolist())

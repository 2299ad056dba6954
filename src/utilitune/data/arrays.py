"""Runtime matrices as NumPy files, read without pickles.

An ``.npy`` file is the bare matrix, rows = configurations. An ``.npz`` file holds `runtimes_s` and, where
known, `cutoff_s`, `configurations`, `instances`, `columns`, `features` and `feature_names`.
"""

from __future__ import annotations

import math
import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from utilitune.data.files import replacing, unreadable
from utilitune.data.matrix import RuntimeMatrix
from utilitune.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

RUNTIMES_KEY = "runtimes_s"
_OPTIONAL_KEYS = ("cutoff_s", "configurations", "instances", "columns", "features", "feature_names")


def read_npy(path: Path, cutoff_s: float = math.inf) -> RuntimeMatrix:
    """Read a bare matrix; the file does not say its cutoff."""
    try:
        with path.open("rb") as stream:
            return matrix_from_npy(stream, cutoff_s, source=str(path))
    except OSError as error:
        raise unreadable(path, error) from error


def matrix_from_npy(stream: IO[bytes], cutoff_s: float, source: str) -> RuntimeMatrix:
    """Read a bare matrix from an open file (or a member of an archive)."""
    try:
        runtimes_s = np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError) as error:
        raise DataError(
            "this is not a NumPy file of plain numbers, or it is cut short", path=source
        ) from error
    if runtimes_s.dtype.kind == "f":
        np.putmask(
            runtimes_s, runtimes_s >= cutoff_s, np.inf
        )  # ours to change: saves a copy of a large matrix
    return RuntimeMatrix.from_array(runtimes_s, cutoff_s, source=source)


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
    if features is None and "columns" not in parts:
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
    with replacing(path) as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def _load_npz(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return {key: archive[key] for key in (RUNTIMES_KEY, *_OPTIONAL_KEYS) if key in archive.files}
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, EOFError, SyntaxError, AttributeError, zipfile.BadZipFile) as error:
        raise DataError("this is not a NumPy archive of plain arrays, or it is damaged", path=path) from error


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

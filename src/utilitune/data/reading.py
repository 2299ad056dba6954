"""From what a user names to a matrix: files, folders, fetched data sets and synthetic data.

========================================  ==============================================================
source                                    what it is
========================================  ==============================================================
a folder, or its `algorithm_runs.arff`    an ASlib scenario
``runs.csv``, ``.npy``, ``.npz``          a runtime matrix
``measurements.dump`` (also ``.gz``)      minisat's measurements, cutoff 900 s
``cplex_rcw*.npy``, ``cplex_region*.npy`` predicted CPLEX runtimes, cutoff 10 000 s
``minisat``, ``cplex_rcw?seed=521``       a data set fetched before
``shipped:kissat``                        a data set that comes with the package
``lookalike:minisat?seed=7``              a synthetic stand-in for it
``synthetic:rows=1000,columns=20000``     synthetic data
========================================  ==============================================================

After any of them ``?cutoff=300`` (or ``5m``) treats runs of 300 s and more as not finished.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from utilitune.data.arrays import read_npy, read_npz, write_npz
from utilitune.data.aslib import RUNS_FILE, read_aslib
from utilitune.data.catalogue import (
    CPLEX_CUTOFF_S,
    CPLEX_FILE,
    DATA_SETS,
    MINISAT_CUTOFF_S,
    read_data_set,
)
from utilitune.data.pickles import read_measurements
from utilitune.data.shipping import PREFIX, SHIPPED, read_shipped
from utilitune.data.synthetic import LOOKALIKES, generate, parse_synthetic
from utilitune.data.tables import read_csv, write_csv
from utilitune.errors import DataError, UsageError, did_you_mean
from utilitune.errors.outside import exists, is_folder
from utilitune.utility.durations import parse_duration

if TYPE_CHECKING:
    from utilitune.data.matrix import RuntimeMatrix

_MINISAT_FILE = "measurements.dump"
_OPTIONS = ("cutoff", "seed")
_MOST_SEED_DIGITS = 18


def read_matrix(source: str | Path, *, measure: str | None = None) -> RuntimeMatrix:
    """Read recorded or synthetic runtimes; the module lists what `source` may be.

    Args:
        source: A path, the name of a fetched data set, or a description of synthetic data.
        measure: Which performance measure of an ASlib scenario to read; its first runtime by default.
    """
    text = str(source)
    options: dict[str, str] = {}
    if "?" in text and not exists(text):
        text, _, query = text.partition("?")
        options = _options(query)
    matrix = _read(text, _seed(options), measure)
    return _with_cutoff(matrix, options["cutoff"]) if "cutoff" in options else matrix


def write_matrix(matrix: RuntimeMatrix, path: str | Path) -> None:
    """Write a matrix to a ``.csv`` or ``.npz`` file, all or nothing; `read_matrix` reads it back."""
    target = Path(path)
    writers = {".csv": write_csv, ".npz": write_npz}
    if target.suffix not in writers:
        raise UsageError(
            f"{target}: a runtime matrix is written as .csv or .npz; choose one of these endings"
        )
    if matrix.solutions is not None and target.suffix != ".npz":
        raise UsageError(f"{target}: recorded solutions are written as .npz; choose this ending")
    writers[target.suffix](matrix, target)


def _read(text: str, seed: int | None, measure: str | None) -> RuntimeMatrix:
    kind, colon, rest = text.partition(":")
    if colon and kind in ("lookalike", "synthetic"):
        _refuse_measure(measure, text)
        return _synthetic(kind, rest, seed)
    if colon and kind == PREFIX:
        _refuse_measure(measure, text)
        _refuse_seed(seed, text)
        return read_shipped(rest)
    path = Path(text)
    if path.name == RUNS_FILE:
        path = path.parent
    if is_folder(path) and exists(path / RUNS_FILE):
        _refuse_seed(seed, text)
        return read_aslib(path, measure)
    _refuse_measure(measure, text)
    if text in DATA_SETS and not exists(path):
        return read_data_set(DATA_SETS[text], seed)
    _refuse_seed(seed, text)
    return _read_file(path)


def _synthetic(kind: str, rest: str, seed: int | None) -> RuntimeMatrix:
    if kind == "synthetic":
        spec = parse_synthetic(rest)
    elif rest in LOOKALIKES:
        spec = LOOKALIKES[rest]
    else:
        raise DataError(f"there is no look-alike {rest!r}; {did_you_mean(rest, LOOKALIKES)}")
    return generate(spec if seed is None else replace(spec, seed=seed), source=f"{kind}:{rest}")


def _read_file(path: Path) -> RuntimeMatrix:
    """Read a single file by the ending of its name."""
    if is_folder(path):
        raise DataError(f"the folder has no {RUNS_FILE}, so it is not an ASlib scenario", path=path)
    if not exists(path):
        raise DataError(f"there is no such data; {did_you_mean(str(path), _known_sources(path))}", path=path)
    if path.name in (_MINISAT_FILE, _MINISAT_FILE + ".gz"):
        return read_measurements(path, MINISAT_CUTOFF_S)
    if path.suffix == ".npy":
        return read_npy(path, CPLEX_CUTOFF_S if CPLEX_FILE.match(path.name) else math.inf)
    if path.suffix == ".npz":
        return read_npz(path)
    if path.suffix == ".csv":
        return read_csv(path)
    raise DataError(
        f"files of this kind are not known; give an ASlib folder, .csv, .npy, .npz or {_MINISAT_FILE}",
        path=path,
    )


def _known_sources(path: Path) -> list[str]:
    """What may have been meant: the names we know, and what lies beside the missing path."""
    try:
        siblings = [str(sibling) for sibling in path.parent.iterdir() if not sibling.name.startswith(".")]
    except OSError:
        siblings = []
    near = [sibling for sibling in siblings if _looks_like_data(Path(sibling))]
    ours = [f"{PREFIX}:{name}" for name in SHIPPED]
    return [*DATA_SETS, *ours, *(f"lookalike:{name}" for name in LOOKALIKES), "synthetic:", *near]


def _looks_like_data(path: Path) -> bool:
    return path.suffix in (".csv", ".npy", ".npz") or _MINISAT_FILE in path.name or exists(path / RUNS_FILE)


def _options(query: str) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name in options:
        if name not in _OPTIONS:
            raise DataError(f"data sources have no option {name!r}; {did_you_mean(name, _OPTIONS)}")
    return options


def _seed(options: dict[str, str]) -> int | None:
    text = options.get("seed")
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_SEED_DIGITS):
        raise DataError(
            "the seed of a data source must be a whole number of at least 0 and at most "
            f"{_MOST_SEED_DIGITS} digits, not {text!r}"
        )
    return int(text)


def _with_cutoff(matrix: RuntimeMatrix, text: str) -> RuntimeMatrix:
    cutoff_s = parse_duration(text)
    if cutoff_s > matrix.cutoff_s:
        raise DataError(
            f"the runs were recorded up to {matrix.cutoff_s:g} s, so nothing is known up to {cutoff_s:g} s;"
            " give a smaller cutoff",
            path=matrix.source,
        )
    return replace(matrix, cutoff_s=cutoff_s)


def _refuse_measure(measure: str | None, text: str) -> None:
    if measure is not None:
        raise DataError(
            f"only an ASlib scenario has several measures to choose from, and {text!r} is not one"
        )


def _refuse_seed(seed: int | None, text: str) -> None:
    if seed is not None:
        raise DataError(f"{text!r} has no seed to choose; only public data sets and synthetic data have")

"""Reading a scenario of ASlib, the algorithm selection library.

A scenario is a folder with `description.txt` (YAML: cutoff, performance measures) and
`algorithm_runs.arff` (one line per run). The matrix has the algorithms as rows and the instances as
columns, both sorted by name. Only a run with status ``ok`` finished. Where an algorithm ran several
times on an instance, its run with the lowest repetition number counts: one column per instance keeps
the columns independent draws, which further repetitions of the same instance would not be.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from utilitune.data.arff import ArffTable, read_arff
from utilitune.data.files import read_text
from utilitune.data.matrix import RuntimeMatrix
from utilitune.errors import DataError, did_you_mean
from utilitune.errors.outside import number_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

RUNS_FILE = "algorithm_runs.arff"
DESCRIPTION_FILE = "description.txt"
_BARE_UNKNOWN = re.compile(
    r"^(\s*[\w-]+:\s*)\?\s*$", re.MULTILINE
)  # older scenarios; not YAML without quotes
STATUSES = ("ok", "timeout", "memout", "not_applicable", "crash", "other")


@dataclass(frozen=True, slots=True)
class AslibDescription:
    """What `description.txt` says about the runs.

    Attributes:
        path: The file.
        cutoff_s: The time limit of the runs; ∞ where the scenario gives none.
        measures: Every performance measure, in the file's order, with whether it is a runtime to minimise.
    """

    path: Path
    cutoff_s: float
    measures: dict[str, bool]

    def choose(self, wanted: str | None) -> str:
        """The measure to read: the wanted one, or the first runtime."""
        if wanted is not None:
            if wanted not in self.measures:
                raise DataError(
                    f"the scenario has no measure {wanted!r}; {did_you_mean(wanted, self.measures)}",
                    path=self.path,
                )
            if not self.measures[wanted]:
                raise DataError(f"the measure {wanted!r} is not a runtime to be minimised", path=self.path)
            return wanted
        for name, is_runtime in self.measures.items():
            if is_runtime:
                return name
        raise DataError("the scenario measures no runtime, only solution quality", path=self.path)


def read_aslib(folder: Path, measure: str | None = None) -> RuntimeMatrix:
    """Read a scenario folder; `measure` picks one of several performance measures by name."""
    description = read_description(folder / DESCRIPTION_FILE)
    table = read_arff(folder / RUNS_FILE)
    chosen = description.choose(measure)
    return _assemble(table, chosen, description.cutoff_s, source=str(folder))


def read_description(path: Path) -> AslibDescription:
    """Read `description.txt`."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = yaml.load(_BARE_UNKNOWN.sub(r"\1'?'", read_text(path)), Loader=loader)  # noqa: S506 - both are safe loaders
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise DataError("this is not valid YAML", path=path, line=mark and mark.line + 1) from error
    except (ValueError, LookupError, RecursionError) as error:  # numbers, dates and depths that nobody means
        raise DataError("this is not valid YAML, or holds values that make no sense", path=path) from error
    if not isinstance(content, dict):
        raise DataError("expected `name: value` lines, as ASlib prescribes", path=path)
    return AslibDescription(
        path, _cutoff(content.get("algorithm_cutoff_time"), path), _measures(content, path)
    )


def _cutoff(value: object, path: Path) -> float:
    if value is None or value == "?":
        return math.inf
    try:
        cutoff_s = number_in(str(value))
    except ValueError:
        cutoff_s = math.nan
    if not cutoff_s > 0:
        raise DataError(
            f"algorithm_cutoff_time must be a positive number of seconds or ?, not {value!r}", path=path
        )
    return cutoff_s


def _measures(content: dict[str, Any], path: Path) -> dict[str, bool]:
    names = _listed(content.get("performance_measures"))
    types = _listed(content.get("performance_type"))
    maximise = _listed(content.get("maximize"))
    if not names:
        raise DataError("performance_measures is missing", path=path)
    if len(types) != len(names) or (maximise and len(maximise) != len(names)):
        raise DataError(
            f"{len(names)} performance_measures need as many entries of performance_type and maximize",
            path=path,
        )
    flags = maximise or [False] * len(names)
    return {
        str(name): str(kind).lower() == "runtime" and str(flag).lower() != "true"
        for name, kind, flag in zip(names, types, flags, strict=True)
    }


def _listed(value: object) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _assemble(table: ArffTable, measure: str, cutoff_s: float, source: str) -> RuntimeMatrix:
    """Fill the matrix from the runs, lowest repetition first, and refuse pairs that were never run."""
    if not table.rows:
        raise DataError("the file has no runs", path=table.path, line=table.data_line)
    for name in ("instance_id", "repetition", "algorithm", measure, "runstatus"):
        table.index(name)
    algorithms = _required(table, "algorithm")
    instances = _required(table, "instance_id")
    rows = {name: index for index, name in enumerate(sorted(set(algorithms)))}
    columns = {name: index for index, name in enumerate(sorted(set(instances)))}
    runtimes_s = np.full((len(rows), len(columns)), math.nan)
    seen: dict[tuple[int, int, float], int] = {}
    lowest: dict[tuple[int, int], float] = {}
    runs = zip(
        algorithms, instances, _repetitions(table), _runtimes(table, measure), table.lines, strict=True
    )
    for algorithm, instance, repetition, runtime_s, line in runs:
        pair = rows[algorithm], columns[instance]
        earlier = seen.setdefault((*pair, repetition), line)
        if earlier != line:
            raise DataError(
                f"algorithm {algorithm!r} on instance {instance!r}, repetition {repetition:g}, was given"
                f" before on line {earlier}; remove one of the two",
                path=table.path,
                line=line,
            )
        if repetition < lowest.get(pair, math.inf):
            lowest[pair] = repetition
            runtimes_s[pair] = runtime_s
    _refuse_gaps(runtimes_s, list(rows), list(columns), table.path)
    return RuntimeMatrix.from_array(
        runtimes_s, cutoff_s, configurations=tuple(rows), instances=tuple(columns), source=source
    )


def _required(table: ArffTable, name: str) -> list[str]:
    values = table.column(name)
    for value, line in zip(values, table.lines, strict=True):
        if value is None:
            raise DataError(f"the value of {name} is missing", path=table.path, line=line)
    return [value for value in values if value is not None]


def _repetitions(table: ArffTable) -> Iterator[float]:
    for value, line in zip(_required(table, "repetition"), table.lines, strict=True):
        try:
            yield number_in(value)
        except ValueError:
            raise DataError(
                f"the repetition must be a number, not {value!r}", path=table.path, line=line
            ) from None


def _runtimes(table: ArffTable, measure: str) -> Iterator[float]:
    """Seconds of every run, ∞ where its status is not ``ok``."""
    statuses = _required(table, "runstatus")
    for value, status, line in zip(table.column(measure), statuses, table.lines, strict=True):
        lowered = status.lower()
        if lowered not in STATUSES:
            raise DataError(
                f"unknown runstatus {status!r}; {did_you_mean(lowered, STATUSES)}", path=table.path, line=line
            )
        if lowered != "ok":
            yield math.inf
            continue
        try:
            runtime_s = math.nan if value is None else float(value)
        except ValueError:
            runtime_s = math.nan
        if not runtime_s >= 0:
            shown = "missing" if value is None else repr(value)
            raise DataError(
                f"a run with status ok needs a {measure} of at least 0 seconds, but it is {shown}",
                path=table.path,
                line=line,
            )
        yield runtime_s


def _refuse_gaps(runtimes_s: NDArray[np.float64], rows: list[str], columns: list[str], path: Path) -> None:
    gaps = np.argwhere(np.isnan(runtimes_s))
    if gaps.size:
        row, column = gaps[0]
        raise DataError(
            f"algorithm {rows[row]!r} has no run on instance {columns[column]!r}"
            f" ({len(gaps)} such gaps); every algorithm must have run on every instance",
            path=path,
        )

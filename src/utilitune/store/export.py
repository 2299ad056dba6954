"""Stored runs as plain rows, and as CSV or Parquet files.

One row per run, with its configuration's parameters in columns ``parameter.<name>`` (empty where a parameter
was not active). A file appears complete or not at all: it is written beside its place and then moved there.
"""

from __future__ import annotations

import contextlib
import csv
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utilitune.errors import MissingExtraError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord, RunRecord

_BATCH_ROWS = 50_000


def run_rows(
    store: StoreReader, known: Iterable[ConfigurationRecord] | None = None
) -> Iterator[dict[str, Any]]:
    """Every run as one flat dict; all dicts have the same keys in the same order.

    Args:
        store: Where they are kept.
        known: The configurations, where somebody has read them already.
    """
    configurations = {record.index: record for record in known or store.configurations()}
    names = sorted({name for record in configurations.values() for name in record.assignment})
    parameters = {
        index: {f"parameter.{name}": record.assignment.get(name) for name in names}
        for index, record in configurations.items()
    }
    for run in store.runs():
        index = run.request.configuration
        if index not in configurations:  # drawn and run after the configurations were read
            continue
        yield {**_run_row(run), "origin": configurations[index].origin.value, **parameters[index]}


def write_csv(rows: Iterable[dict[str, Any]], path: Path | str) -> int:
    """Write rows to a CSV file and return how many there were."""
    count = 0
    with _replacing(Path(path)) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        writer = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(stream, fieldnames=list(row))
                writer.writeheader()
            writer.writerow(row)
            count += 1
    return count


def write_parquet(rows: Iterable[dict[str, Any]], path: Path | str) -> int:
    """Write rows to a Parquet file and return how many there were.

    A parameter whose values are of several kinds (numbers and words) becomes a column of text.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("writing Parquet files", "export") from error
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    table = pa.table({name: _uniform(values) for name, values in columns.items()})
    with _replacing(Path(path)) as temporary:
        pq.write_table(table, temporary, row_group_size=_BATCH_ROWS)
    return int(table.num_rows)


def _run_row(run: RunRecord) -> dict[str, Any]:
    request, outcome = run.request, run.outcome
    return {
        "sequence": run.sequence,
        "configuration": request.configuration,
        "position": request.position,
        "captime_s": request.captime_s,
        "seed": run.seed,
        "status": outcome.status.value,
        "runtime_s": outcome.runtime_s,
        "cpu_s": outcome.cpu_s,
        "wall_s": outcome.wall_s,
        "peak_memory_bytes": outcome.peak_memory_bytes,
        "exit_code": outcome.exit_code,
        "overshoot_s": outcome.overshoot_s,
        "continued_s": outcome.continued_s,
        "detail": outcome.detail,
        "quality": outcome.quality,
        "bound": outcome.bound,
        "started_at": None if run.taken_over else run.started_at,
        "ended_at": None if run.taken_over else run.ended_at,
        "speculative": run.speculative,
        "taken_over": run.taken_over,
    }


def _uniform(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 or kinds == {int, float}:
        return [float(value) if kinds == {int, float} and value is not None else value for value in values]
    return [None if value is None else str(value) for value in values]


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(descriptor)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)

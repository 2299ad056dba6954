"""``utilitune export``: runs, configurations or the trajectory of a run folder as a file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utilitune.cli.texts import FOLDER_HELP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from utilitune.store import StoreReader


def export(
    folder: Annotated[Path, typer.Argument(help=FOLDER_HELP)],
    file: Annotated[Path, typer.Argument(help="Where to write; the name ends in .csv or .parquet.")],
    what: Annotated[
        str,
        typer.Option(
            help="runs, configurations, instances (with their features and how the best did on them), or "
            "trajectory (what was proved after how much time)."
        ),
    ] = "runs",
) -> None:
    """Write what a run folder holds to a CSV or Parquet file.

    For example:

    - `utilitune export scenario.run runs.parquet`
    - `utilitune export scenario.run progress.csv --what trajectory`
    """
    import contextlib

    from utilitune.errors import UsageError, did_you_mean
    from utilitune.store import read_run_folder
    from utilitune.store.export import write_csv, write_parquet

    writers = {".csv": write_csv, ".parquet": write_parquet}
    if what not in _ROWS:
        raise UsageError(f"there is nothing called {what!r} to export; {did_you_mean(what, _ROWS)}")
    if file.suffix.lower() not in writers:
        raise UsageError(f"cannot export to {file.name!r}: its name must end in .csv or .parquet")
    with contextlib.closing(read_run_folder(folder)) as store:
        count = writers[file.suffix.lower()](_ROWS[what](store), file)
    typer.echo(f"Wrote {count:,} {'points of the trajectory' if what == 'trajectory' else what} to {file}.")


def _runs(store: StoreReader) -> Iterator[dict[str, Any]]:
    from utilitune.cli.runs import named_rows

    return named_rows(store)


def _configurations(store: StoreReader) -> Iterator[dict[str, Any]]:
    """One row per configuration, a column per parameter (empty where it was not active)."""
    records = store.configurations()
    names = sorted({name for record in records for name in record.assignment})
    for record in records:
        yield {
            "configuration": record.index,
            "origin": record.origin.value,
            "drawn_at": record.drawn_at,
            **{f"parameter.{name}": record.assignment.get(name) for name in names},
        }


def _trajectory(store: StoreReader) -> Iterator[dict[str, Any]]:
    """One row per recorded moment."""
    for point in store.trajectory():
        yield {"at": point.at, "after_runs": point.sequence, **asdict(point.progress)}


def _instances(store: StoreReader) -> Iterator[dict[str, Any]]:
    from utilitune.reports.instances import instance_rows

    return instance_rows(store)


_ROWS: dict[str, Callable[[StoreReader], Iterator[dict[str, Any]]]] = {
    "runs": _runs,
    "configurations": _configurations,
    "instances": _instances,
    "trajectory": _trajectory,
}

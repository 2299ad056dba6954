"""``utilitune export``: runs, configurations or the trajectory of a run folder as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utilitune.cli.places import RunPlace
from utilitune.cli.terminal import say


def export(
    folder: RunPlace,
    file: Annotated[Path, typer.Argument(help="Where to write; the name ends in .csv or .parquet.")],
    what: Annotated[
        str,
        typer.Option(
            help="runs, configurations (with mean utility and its interval), "
            "instances (with their features and how the best did on them), or "
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
    from utilitune.reports.tables import TABLES
    from utilitune.store import read_run_folder
    from utilitune.store.export import write_csv, write_parquet

    writers = {".csv": write_csv, ".parquet": write_parquet}
    if what not in TABLES:
        raise UsageError(f"there is nothing called {what!r} to export; {did_you_mean(what, TABLES)}")
    if file.suffix.lower() not in writers:
        raise UsageError(f"cannot export to {file.name!r}: its name must end in .csv or .parquet")
    with contextlib.closing(read_run_folder(folder)) as store:
        count = writers[file.suffix.lower()](TABLES[what](store), file)
    say(f"Wrote {count:,} {'points of the trajectory' if what == 'trajectory' else what} to {file}.")

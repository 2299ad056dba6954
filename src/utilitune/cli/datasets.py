"""``utilitune datasets``: what recorded data there are, getting them, and looking at them."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table

from utilitune.cli.commands import CliCommand, CommandGroup
from utilitune.cli.terminal import Terminal, say_json
from utilitune.data import LOOKALIKES, read_matrix
from utilitune.data.catalogue import DATA_SETS, data_folder, find_data_set
from utilitune.data.fetch import fetch as download
from utilitune.data.shipping import SHIPPED
from utilitune.data.summary import MatrixSummary, mean_utilities, summarise
from utilitune.errors import UsageError
from utilitune.utility import format_duration, parse_utility

if TYPE_CHECKING:
    from utilitune.data import RuntimeMatrix

app = typer.Typer(
    cls=CommandGroup, help="Recorded runtimes: list, fetch and describe them.", no_args_is_help=True
)


@app.command("list", cls=CliCommand)
def list_data_sets() -> None:
    """List the public data sets and their synthetic look-alikes."""
    folder = data_folder()
    table = Table("name", "size", "cutoff", "fetched", "about", box=None)
    table.columns[0].no_wrap = table.columns[1].no_wrap = table.columns[2].no_wrap = True
    for data_set in DATA_SETS.values():
        table.add_row(
            data_set.name,
            f"{data_set.rows:,} × {data_set.columns:,}",
            f"{data_set.cutoff_s:,.0f} s",
            "yes" if (folder / data_set.archive.filename).exists() else "no",
            data_set.about,
        )
    console = _console()
    console.print(table)
    console.print("\nData that come with the package:")
    for data in SHIPPED.values():
        console.print(f"  shipped:{data.name}: {data.about}")
    console.print("\nSynthetic data of the same sizes, which need no download:")
    console.print("  " + ", ".join(f"lookalike:{name}" for name in LOOKALIKES))
    console.print(
        f"\nFetched data are kept in {folder}; set UTILITUNE_DATA to choose another folder.", soft_wrap=True
    )


@app.command(cls=CliCommand)
def fetch(
    name: Annotated[str, typer.Argument(help="Name of a public data set, see `utilitune datasets list`.")],
    to: Annotated[Path | None, typer.Option(help="Folder to keep it in, instead of the usual one.")] = None,
) -> None:
    """Download a public data set from where its authors publish it; continues a download that was cut off."""
    data_set = find_data_set(name)
    folder = to or data_folder()
    console = _console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(data_set.archive.filename, total=None)
        path = download(
            data_set.archive,
            folder,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    console.print(f"{name} is in {path}", soft_wrap=True)
    if folder != data_folder():
        console.print(f"Set UTILITUNE_DATA={folder} to use it by its name.", soft_wrap=True)


@app.command(cls=CliCommand)
def describe(
    data: Annotated[str, typer.Argument(help="A file, an ASlib folder, or a name from the list.")],
    utility: Annotated[
        str | None,
        typer.Option(help="Also show what is best by this utility, e.g. 'log-laplace(k0=60, alpha=1)'."),
    ] = None,
    top: Annotated[int, typer.Option(help="How many of the best configurations to show.")] = 5,
    measure: Annotated[
        str | None, typer.Option(help="Which measure of an ASlib scenario, if it has several.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the size of a data set, how many runs finished, how long they took, and what is best."""
    if top < 1:
        raise UsageError(f"--top must be at least 1, not {top}")
    worth = None if utility is None else parse_utility(utility)
    matrix = read_matrix(data, measure=measure)
    summary = summarise(matrix)
    best = [] if worth is None else _best_rows(matrix, mean_utilities(matrix, worth), top)
    if as_json:
        say_json(_as_json(summary, best))
        return
    console = _console()
    console.print(_summary_table(summary))
    if best:
        table = Table("rank", "row", "configuration", "mean utility", box=None)
        for rank, entry in enumerate(best, start=1):
            table.add_row(
                str(rank), str(entry["row"]), str(entry["configuration"]), f"{entry['mean_utility']:.4f}"
            )
        console.print(f"\nBest by {worth} (a run that did not finish counts as never finishing):")
        console.print(table)


def _console(*, stderr: bool = False) -> Console:
    """A console that shows names as they are, brackets and all."""
    return Terminal(stderr=stderr, markup=False, highlight=False)


def _best_rows(matrix: RuntimeMatrix, utilities: np.ndarray[Any, Any], top: int) -> list[dict[str, Any]]:
    order = np.argsort(-utilities, kind="stable")[:top]
    return [
        {"row": int(row), "configuration": matrix.configurations[row], "mean_utility": float(utilities[row])}
        for row in order
    ]


def _summary_table(summary: MatrixSummary) -> Table:
    table = Table(box=None, show_header=False)
    table.add_row("source", summary.source)
    table.add_row("configurations", f"{summary.rows:,}")
    table.add_row("instances", f"{summary.columns:,}")
    cutoff = f"{summary.cutoff_s:g} s" if math.isfinite(summary.cutoff_s) else "none recorded"
    table.add_row("cutoff", cutoff)
    table.add_row("finished", f"{100 * summary.finished_share:.2f} % of the runs")
    for level, runtime_s in summary.quantiles_s.items():
        name = {0.0: "shortest run", 0.5: "median run", 1.0: "longest run"}.get(level)
        shown = format_duration(runtime_s) if math.isfinite(runtime_s) else "not finished"
        table.add_row(name or f"{100 * level:g} % quantile", shown)
    return table


def _as_json(summary: MatrixSummary, best: list[dict[str, Any]]) -> dict[str, Any]:
    """The same as plain JSON values; what is infinite becomes null."""
    content = asdict(summary)
    content["cutoff_s"] = _finite(summary.cutoff_s)
    content["quantiles_s"] = {f"{level:g}": _finite(value) for level, value in summary.quantiles_s.items()}
    content["best"] = best
    return content


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

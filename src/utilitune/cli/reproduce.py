"""``utilitune reproduce``: the seven figures of the paper, on any recorded data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.reports.reproduction import FigureReport

_QUICK_SEEDS = 2
_SEEDS = 5


def reproduce(
    figures: Annotated[
        list[str] | None, typer.Argument(help="Which figures, e.g. 1 or fig5.  [default: all seven]")
    ] = None,
    data: Annotated[str, typer.Option(help="Recorded runtimes: a file, an ASlib folder or a name.")] = (
        "shipped:kissat"
    ),
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the files; a second start goes on there.")
    ] = Path("reproduction"),
    seeds: Annotated[
        int | None, typer.Option(help="Seeds of Figures 5 to 7.  [default: 5, or 2 with --quick]")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer settings and larger ε: a first impression in minutes.")
    ] = False,
    k0: Annotated[
        str | None,
        typer.Option(help="Time after which an answer has lost half its worth.  [default: 60s, or by data]"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Procedures at the same time.  [default: the cores]")
    ] = None,
) -> None:
    """Reproduce the figures of the COUP paper on recorded runtimes, and check its claims.

    Writes the data (CSV), a PDF and a PNG of every figure, and says whether the paper's claims hold on
    this data and by what factor. Every result is kept: an interrupted start goes on where it was, and a
    later one computes only what is new.

    For example:

    - `utilitune reproduce --quick`
    - `utilitune reproduce 1 5 --data lookalike:minisat -o minisat`
    """
    from utilitune.cli.texts import INTERRUPTED, run_bar
    from utilitune.execution.machine import available_cores
    from utilitune.reports.reproduction import Effort
    from utilitune.reports.reproduction import reproduce as make
    from utilitune.utility import parse_duration

    usual = _QUICK_SEEDS if quick else _SEEDS
    effort = Effort(usual if seeds is None else seeds, quick)
    k0_s = None if k0 is None else parse_duration(k0)
    workers = available_cores() if workers is None else workers
    try:
        with run_bar("replays") as show:
            reports = make(data, out, figures or (), effort=effort, k0_s=k0_s, workers=workers, on_job=show)
    except KeyboardInterrupt:
        say("Interrupted: results are kept, and the same command goes on from there.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    _print(reports, out)


def _print(reports: Sequence[FigureReport], folder: Path) -> None:
    from utilitune.cli.texts import words

    console = words()
    for report in reports:
        console.print(f"Figure {report.name.removeprefix('fig')}: {report.title}", style="bold")
        for claim in report.claims:
            style = {True: "green", False: "red", None: "yellow"}[claim.holds]
            console.print(f"  {claim.line()}", style=style)
    console.print(f"Written: {folder}/fig*.csv, .pdf and .png")

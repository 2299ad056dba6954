"""``utilitune collect``: record a program's runtimes on a grid of configurations and instances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.clusters import GivenRunOptions
from utilitune.cli.grouping import grouped
from utilitune.cli.places import beside
from utilitune.cli.terminal import say
from utilitune.errors.outside import shell_word

if TYPE_CHECKING:
    from utilitune.data import RuntimeMatrix


@grouped
def collect(
    scenario: Annotated[
        Path, typer.Argument(help="The scenario: ours (see: utilitune init), or of irace, SMAC, AClib.")
    ],
    *,
    configurations: Annotated[
        int, typer.Option(min=1, help="How many configurations: the default, and random ones.")
    ] = 100,
    instances: Annotated[
        int | None, typer.Option(min=1, help="How many training instances.  [default: all]")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The matrix (.npz).  [default: SCENARIO's name with .npz]"),
    ] = None,
    making: GivenRunOptions,
) -> None:
    """Record how long a program takes, or what it finds, for replaying and comparing procedures.

    Runs the program with every one of some random configurations on every one of some training
    instances, and writes a matrix of runtimes that `utilitune replay` and `utilitune reproduce` read. Where
    the scenario is about the quality of solutions, these are recorded too, and `utilitune replay` reads them.
    Every run is kept beside the matrix, in a folder whose name ends in .collect: a collection that was
    interrupted goes on, and a larger one makes only the runs that are new.

    For example:

    - `utilitune collect scenario.toml --configurations 50 --captime 5s`
    - `utilitune collect scenario.toml --configurations 200 --instances 500 -o runs.npz`
    """
    from utilitune.cli.texts import INTERRUPTED, run_bar, words
    from utilitune.data import write_matrix
    from utilitune.live.collecting import GridSize, plan_size
    from utilitune.live.collecting import collect as record
    from utilitune.live.standing.card import counted
    from utilitune.reports.files import check_writable
    from utilitune.scenario import read_scenario
    from utilitune.utility import format_duration

    told = making.placed(read_scenario(scenario))
    target = output or beside(scenario, ".npz")
    check_writable(target, (".npz",))
    size: GridSize = plan_size(told, configurations, instances, making.captime_s)
    size = replace(size, budget=making.budget())
    try:
        with run_bar("runs") as show:
            matrix = record(told, beside(target, ".collect"), size, making.workers, show)
    except KeyboardInterrupt:
        say("Interrupted: finished runs are kept, and the same command goes on from there.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    write_matrix(matrix, target)
    words().print(
        f"{counted(matrix.rows, 'configuration')} × {counted(matrix.positions, 'instance')}, "
        f"{_share(matrix)} within {format_duration(size.captime_s)}.\n"
        f"Written: {target} (try: utilitune replay {shell_word(str(target))})"
    )


def _share(matrix: RuntimeMatrix) -> str:
    """How many runs gave what was wanted."""
    if matrix.solutions is None:
        return f"{100 * matrix.finished_share:.1f} % of runs finished"
    return f"{100 * (matrix.solutions.count > 0).mean():.1f} % of runs found a solution"

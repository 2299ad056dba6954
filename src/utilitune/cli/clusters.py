"""Options of commands that make runs: how many at once, on which cluster, until when."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.domain import Guesses

if TYPE_CHECKING:
    from utilitune.domain.stopping import Budget
    from utilitune.scenario.model import Scenario

ClusterPlace = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE",
        help="Make the runs on a Dask cluster: local:8, tcp://host:8786, or a file such as slurm.toml.  "
        "[default: as in the scenario, or on this machine]",
    ),
]
"""The option that names a cluster."""

GuessesChoice = Annotated[
    Guesses | None,
    typer.Option(
        help="Which runs are made before they are needed. useful: only those that are likely to be of use, "
        "so some workers may wait. all: every free worker gets one, best first, which is sooner done and "
        "wastes more.  [default: as in the scenario, or useful]"
    ),
]
"""The option that says which runs are made ahead of need."""

Workers = Annotated[
    int | None, typer.Option(min=1, help="Runs at the same time.  [default: as in the scenario]")
]
"""The option that says how many runs are made at once."""

Captime = Annotated[
    str | None,
    typer.Option(help="Stop each run after this time, e.g. 60s.  [default: the scenario's largest]"),
]
"""The option that limits each run."""

WallTime = Annotated[
    str | None,
    typer.Option(
        "--max-wall-time",
        help="Stop after this much time on the clock, all starts together, e.g. 30m; a larger one goes on.",
    ),
]
"""The option that limits all runs of a collection or an evaluation."""


def within(wall_time: str | None) -> Budget:
    """The budget that `WallTime` gives; no limit where it is left out."""
    from utilitune.domain.stopping import NO_LIMIT, Audience, Budget
    from utilitune.utility import parse_duration

    if wall_time is None:
        return NO_LIMIT
    return Budget(max_wall_s=parse_duration(wall_time), audience=Audience.COMMAND_LINE)


def guessing(scenario: Scenario, guesses: Guesses | None) -> Scenario:
    """The scenario with these guesses, where some are named."""
    return scenario if guesses is None else replace(scenario, guesses=guesses)


def placed(scenario: Scenario, cluster: str | None, workers: int | None = None) -> Scenario:
    """The scenario with its runs on a cluster, where one is named; one that cannot be is refused."""
    from utilitune.errors import UsageError
    from utilitune.live.task import Task

    if cluster is not None:
        path = Path(cluster)
        scenario = replace(scenario, cluster=os.path.realpath(path) if path.suffix == ".toml" else cluster)
    if Task(scenario).cluster is not None and workers is not None:
        raise UsageError("a cluster says itself how many runs it makes at once: leave --workers out")
    return scenario

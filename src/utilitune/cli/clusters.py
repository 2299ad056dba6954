"""Options of commands that make runs: how many at once, on which cluster, until when."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
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

GUESSES = (
    "Which runs workers make before they are needed. useful: only runs that are likely to be needed, so some "
    "workers may wait. all: every free worker makes one, the likeliest first: sooner done, with more wasted."
)
"""What the option says that chooses between runs ahead of need."""

GuessesChoice = Annotated[
    Guesses | None, typer.Option(help=f"{GUESSES}  [default: as in the scenario, or useful]")
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
        help="Stop after this much time on the clock, all starts together, e.g. 30m. To go on, start again "
        "with more.",
    ),
]
"""The option that limits all runs of a collection or an evaluation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRunOptions:
    """How runs are made that are known beforehand, as those of an evaluation or a collection."""

    workers: Workers = None
    cluster: ClusterPlace = None
    captime: Captime = None
    max_wall_time: WallTime = None

    @property
    def captime_s(self) -> float | None:
        """Where each run is stopped; None where nothing was said."""
        from utilitune.utility import parse_duration

        return None if self.captime is None else parse_duration(self.captime)

    def placed(self, scenario: Scenario) -> Scenario:
        """The scenario with its runs where they are to be made."""
        return placed(scenario, self.cluster, self.workers)

    def budget(self) -> Budget:
        """How much time on the clock all of them have; no limit where nothing was said."""
        from utilitune.domain.stopping import NO_LIMIT, Audience, Budget
        from utilitune.utility import parse_duration

        if self.max_wall_time is None:
            return NO_LIMIT
        return Budget(max_wall_s=parse_duration(self.max_wall_time), audience=Audience.COMMAND_LINE)


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

"""``utilitune peer``: let another configurator have a go at a scenario, on runs that we make."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.grouping import grouped
from utilitune.cli.places import beside
from utilitune.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from utilitune.domain.stopping import Budget
    from utilitune.rivals.rival import RivalStanding
    from utilitune.scenario.model import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerBudget:
    """How much another configurator may spend."""

    max_time: Annotated[
        str | None,
        typer.Option(
            help="Its budget of time in runs of the program, e.g. 3600 or 10h.  [default: the scenario's]"
        ),
    ] = None
    max_wall_time: Annotated[str | None, typer.Option(help="Its budget of time on the clock, e.g. 30m.")] = (
        None
    )
    max_runs: Annotated[int | None, typer.Option(min=1, help="Its budget of runs.")] = None

    def of(self, scenario: Scenario) -> Budget:
        """What was given; the scenario's where nothing was."""
        import math
        from dataclasses import replace

        from utilitune.domain.stopping import Audience, Budget
        from utilitune.rivals.packages.live import budget_of
        from utilitune.utility import parse_duration

        times = (self.max_time, self.max_wall_time)
        if times == (None, None) and self.max_runs is None:
            return replace(budget_of(scenario), audience=Audience.COMMAND_LINE)
        time_s, wall_s = (math.inf if given is None else parse_duration(given) for given in times)
        return Budget(time_s, self.max_runs, wall_s, Audience.COMMAND_LINE)


@grouped
def peer(
    name: Annotated[str, typer.Argument(help="Who: optuna-tpe, optuna-random, smac or irace.")],
    scenario: Annotated[
        Path, typer.Argument(help="The scenario: ours (see: utilitune init), or of irace, SMAC, AClib.")
    ],
    budget: PeerBudget,
    captime: Annotated[
        str | None,
        typer.Option(
            help="Stop each run after this time, e.g. 60s.  [default: where a fifth of the worth is left, "
            "at most the scenario's largest]"
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of its own, e.g. instances=100; repeatable."
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where the runs are kept.  [default: SCENARIO's name with .NAME.run]"),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Runs at the same time, for optuna; smac and irace make one after the other.  "
            "[default: as in the scenario]",
        ),
    ] = None,
) -> None:
    """Let SMAC3, Optuna or irace configure a program, to compare its answer with ours. It promises nothing.

    The package proposes; the runs are made, measured and stopped by Utilitune, and each is charged to one
    budget. They are kept in a run folder: the same command goes on with it, and 'utilitune evaluate' compares
    the answer with the default.

    For example:

    - `utilitune peer smac scenario.toml --max-time 1h`
    - `utilitune peer optuna-tpe scenario.toml --max-time 1h --set instances=32 --set trials=500`
    """
    from utilitune.cli import understanding
    from utilitune.cli.summary import print_result
    from utilitune.rivals.naming import split_settings
    from utilitune.rivals.packages import peer_named, play_live

    given = split_settings(settings or [])
    if captime is not None:
        given.setdefault("captime", captime)
    player = peer_named(name, given)
    player.require_installed()
    told = understanding.told(scenario)
    place = folder or beside(scenario, f".{name}.run")
    with _watching(name) as show:
        result = play_live(told, player, budget.of(told), folder=place, workers=workers, on_progress=show)
    print_result(result)


@contextlib.contextmanager
def _watching(name: str) -> Iterator[Callable[[RivalStanding], None]]:
    """A line that lives while the peer works."""
    from utilitune.live.standing.card import counted

    with Terminal(stderr=True).status(f"{name}: at work") as status:

        def show(standing: RivalStanding) -> None:
            status.update(
                f"{name}: {counted(standing.runs, 'run')} of "
                f"{counted(standing.configurations, 'configuration')}, {standing.total_time_s:,.0f} s paid"
            )

        yield show

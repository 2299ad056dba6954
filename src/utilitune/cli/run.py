"""``utilitune run``: configure a program, starting or going on where it was."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.clusters import ClusterPlace, GuessesChoice, guessing, placed
from utilitune.cli.grouping import grouped
from utilitune.cli.places import default_folder

if TYPE_CHECKING:
    from utilitune.live.reusing import EarlierRuns
    from utilitune.live.running import RunSettings
    from utilitune.scenario.model import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalOptions:
    """When a run may stop: what is then proved, or what it has cost."""

    epsilon: Annotated[
        float | None,
        typer.Option(help="Stop once the answer's mean utility is proved this close to the best, e.g. 0.05."),
    ] = None
    gamma: Annotated[
        float | None,
        typer.Option(
            help="With --epsilon: leave this fraction of all configurations, the luckiest ones, out of "
            "the comparison, e.g. 0.05."
        ),
    ] = None
    max_time: Annotated[
        str | None, typer.Option(help="Stop after this much time in runs of the program, e.g. 3600 or 10h.")
    ] = None
    max_wall_time: Annotated[
        str | None, typer.Option(help="Stop after this much time on the clock, e.g. 30m.")
    ] = None
    max_runs: Annotated[int | None, typer.Option(help="Stop after this many runs.")] = None

    def put_into(self, settings: RunSettings) -> RunSettings:
        """Settings in which every goal that was given replaces the scenario's."""
        from utilitune.domain import require_whole
        from utilitune.domain.stopping import Audience
        from utilitune.utility import parse_duration

        spec, budget = settings.specification, replace(settings.budget, audience=Audience.COMMAND_LINE)
        if self.epsilon is not None:
            spec = replace(spec, epsilon=self.epsilon)
        if self.gamma is not None:
            spec = replace(spec, gamma=self.gamma)
        if self.max_time is not None:
            budget = replace(budget, max_time_s=parse_duration(self.max_time))
        if self.max_wall_time is not None:
            budget = replace(budget, max_wall_s=parse_duration(self.max_wall_time))
        if self.max_runs is not None:
            require_whole("--max-runs", self.max_runs)
            budget = replace(budget, max_runs=self.max_runs)
        return replace(settings, specification=spec, budget=budget)


@dataclass(frozen=True, slots=True)
class WayOptions:
    """How a run is made: with how many workers, with which earlier runs, and how it is shown."""

    workers: Annotated[
        int | None,
        typer.Option(help="Runs at the same time.  [default: as in the scenario, or one per core]"),
    ] = None
    cluster: ClusterPlace = None
    guesses: GuessesChoice = None
    reuse: Annotated[
        Path | None,
        typer.Option(
            help="Take over the runs of this earlier run folder of the same program, instances and seed."
        ),
    ] = None
    plain: Annotated[bool, typer.Option("--plain", help="Plain lines instead of a live view.")] = False


@grouped
def run(
    scenario: Annotated[
        Path, typer.Argument(help="The scenario: ours (see: utilitune init), or of irace, SMAC, AClib.")
    ],
    folder: Annotated[
        Path | None, typer.Option(help="Where the run is kept.  [default: SCENARIO's name with .run]")
    ] = None,
    *,
    how: WayOptions,
    goals: GoalOptions,
) -> None:
    """Find the best configuration of a program, with a proof.

    Tries configurations on the training instances until the scenario's goal is proved or its budget is
    spent, and shows all the while what is proved. Ctrl-C at any moment leaves a valid answer, and starting
    again goes on from there; the options below may then ask for more than before.

    For example:

    - `utilitune run scenario.toml`
    - `utilitune run scenario.toml --max-wall-time 2h --epsilon 0.05`
    - `utilitune run scenario.toml --cluster tcp://host:8786`
    """
    work_on(scenario, folder or default_folder(scenario), goals, how)


def work_on(scenario: Path, place: Path, goals: GoalOptions, how: WayOptions | None = None) -> None:
    """Configure the program of a scenario, show how it goes, and print the answer."""
    from utilitune.cli import understanding

    how = how or WayOptions()
    told = guessing(placed(understanding.told(scenario), how.cluster, how.workers), how.guesses)
    settings = goals.put_into(understanding.settings_told(scenario, told, how.workers))
    understanding.check_search_told(scenario, told, settings, place)
    work_with(told, place, earlier_runs(settings, how.reuse, place, told), plain=how.plain)


def work_with(told: Scenario, place: Path, settings: RunSettings, *, plain: bool) -> None:
    """Make a run with these settings, show how it goes, and print the answer."""
    from utilitune.cli.live import watching
    from utilitune.cli.summary import print_result
    from utilitune.live.running import run_scenario

    with watching(_headline(told, settings), told.population.value, plain=plain, folder=place) as show:
        result = run_scenario(told, place, settings, on_update=show)
    print_result(result)


def earlier_runs(settings: RunSettings, reuse: Path | None, place: Path, told: Scenario) -> RunSettings:
    """The settings with the runs of an earlier run folder, where one is named."""
    from utilitune.errors import UsageError

    if reuse is None:
        return settings
    if os.path.realpath(reuse) == os.path.realpath(place):
        raise UsageError(f"{reuse} is the run itself, whose runs count anyway: leave --reuse out")
    return replace(settings, earlier=_earlier(reuse, told))


def _earlier(folder: Path, scenario: Scenario) -> EarlierRuns:
    import contextlib

    from utilitune.live.reusing import EarlierRuns
    from utilitune.store import read_run_folder

    with contextlib.closing(read_run_folder(folder)) as store:
        return EarlierRuns.read(store, folder, scenario)


def _headline(scenario: Scenario, settings: RunSettings) -> str:
    spec = settings.specification
    plural = "" if settings.workers == 1 else "s"
    place = f"{settings.workers} worker{plural}" if scenario.cluster is None else f"on {scenario.cluster}"
    return f"{scenario.name}: {spec.name}, {place}, δ = {spec.delta}"

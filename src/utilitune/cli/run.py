"""``utilitune run``: configure a program, starting or going on where it was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.grouping import grouped

if TYPE_CHECKING:
    from utilitune.scenario.model import Scenario
    from utilitune.session.opening import RunSettings
    from utilitune.session.reusing import EarlierRuns


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalOptions:
    """When a run may stop: what is then proved, or what it has cost."""

    epsilon: Annotated[
        float | None,
        typer.Option(help="Stop once the answer's mean utility is proved this close to the best, e.g. 0.05."),
    ] = None
    gamma: Annotated[
        float | None,
        typer.Option(help="... to the best of all but this fraction of all configurations, e.g. 0.05."),
    ] = None
    max_time: Annotated[
        str | None, typer.Option(help="Stop after this much time in runs of the program, e.g. 3600 or 10h.")
    ] = None
    max_wall_time: Annotated[
        str | None, typer.Option(help="Stop after this much time on the clock, e.g. 30m.")
    ] = None
    max_runs: Annotated[int | None, typer.Option(help="Stop after this many runs.")] = None

    def put_into(self, settings: RunSettings) -> RunSettings:
        """Settings with these goals in place of the scenario's, where there are any."""
        from utilitune.domain import require_positive
        from utilitune.utility import parse_duration

        spec, budget = settings.specification, settings.budget
        if self.epsilon is not None:
            spec = replace(spec, epsilon=self.epsilon)
        if self.gamma is not None:
            spec = replace(spec, gamma=self.gamma)
        if self.max_time is not None:
            budget = replace(budget, max_time_s=parse_duration(self.max_time))
        if self.max_wall_time is not None:
            budget = replace(budget, max_wall_s=parse_duration(self.max_wall_time))
        if self.max_runs is not None:
            budget = replace(budget, max_runs=require_positive("--max-runs", self.max_runs))
        return replace(settings, specification=spec, budget=budget)


@grouped
def run(
    scenario: Annotated[
        Path, typer.Argument(help="The scenario: ours (see: utilitune init), or of irace, SMAC, AClib.")
    ],
    folder: Annotated[
        Path | None, typer.Option(help="Where the run is kept.  [default: SCENARIO's name with .run]")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Runs at the same time.  [default: as in the scenario, or one per core]"),
    ] = None,
    *,
    goals: GoalOptions,
    reuse: Annotated[
        Path | None,
        typer.Option(help="Let the runs of this earlier run folder of the same program and instances count."),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Plain lines instead of a live view.")] = False,
) -> None:
    """Find the best configuration of a program, with a proof.

    Tries configurations on the training instances until the scenario's goal is proved or its budget is
    spent, and shows all the while what is proved. Ctrl-C at any moment leaves a valid answer, and starting
    again goes on from there; the options below may then ask for more than before.

    For example:

    - `utilitune run scenario.toml`
    - `utilitune run scenario.toml --max-wall-time 2h --epsilon 0.05`
    """
    work_on(scenario, folder or default_folder(scenario), goals, workers=workers, reuse=reuse, plain=plain)


def work_on(
    scenario: Path,
    place: Path,
    goals: GoalOptions,
    *,
    workers: int | None = None,
    reuse: Path | None = None,
    plain: bool = False,
) -> None:
    """Configure the program of a scenario, show how it goes, and print the answer."""
    from utilitune.cli import understanding
    from utilitune.cli.live import watching
    from utilitune.cli.summary import print_result
    from utilitune.errors import UsageError
    from utilitune.session.opening import run_scenario

    told = understanding.told(scenario)
    settings = goals.put_into(understanding.settings_told(scenario, told, workers))
    if reuse is not None:
        if reuse.resolve() == place.resolve():
            raise UsageError(f"{reuse} is the run itself, whose runs count anyway: leave --reuse out")
        settings = replace(settings, earlier=_earlier(reuse, told))
    with watching(_headline(told, settings), told.population.value, plain=plain) as show:
        result = run_scenario(told, place, settings, on_update=show)
    print_result(result)


def _earlier(folder: Path, scenario: Scenario) -> EarlierRuns:
    import contextlib

    from utilitune.session.reusing import EarlierRuns
    from utilitune.store import read_run_folder

    with contextlib.closing(read_run_folder(folder)) as store:
        return EarlierRuns.read(store, folder, scenario)


def default_folder(scenario: Path) -> Path:
    """Where the run of a scenario is kept if nobody says where."""
    return scenario.with_suffix(".run")


def _headline(scenario: Scenario, settings: RunSettings) -> str:
    spec = settings.specification
    plural = "" if settings.workers == 1 else "s"
    return f"{scenario.name}: {spec.name}, {settings.workers} worker{plural}, δ = {spec.delta:g}"

"""``utilitune prove``: the promise of a configuration that was found elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.clusters import guessing, placed
from utilitune.cli.grouping import grouped
from utilitune.cli.places import beside
from utilitune.cli.run import GoalOptions, WayOptions, earlier_runs, work_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.spaces import Assignment, ParameterSpace


@grouped
def prove(
    scenario: Annotated[
        Path, typer.Argument(help="The scenario: ours (see: utilitune init), or of irace, SMAC, AClib.")
    ],
    configuration: Annotated[
        Path,
        typer.Option(
            help='A JSON file with its values, such as {"level": 3}; parameters that it leaves out keep '
            "their defaults."
        ),
    ],
    folder: Annotated[
        Path | None, typer.Option(help="Where the proof is kept.  [default: SCENARIO's name with .proof]")
    ] = None,
    *,
    how: WayOptions,
    goals: GoalOptions,
) -> None:
    """Prove how good a configuration is that was found elsewhere, by whatever means.

    The configuration may even have been tuned on these very instances: on a list of instances it is judged
    along a random order that is drawn only now. It is compared with random configurations, and the promise
    says how close it is to the best of nearly all of them.

    For example:

    - `utilitune prove scenario.toml --configuration found.json --max-time 2h`
    - `utilitune prove scenario.toml --configuration found.json --reuse scenario.run --epsilon 0.1`
    """
    from utilitune.cli import understanding

    told = guessing(placed(understanding.told(scenario), how.cluster, how.workers), how.guesses)
    settings = goals.put_into(understanding.settings_told(scenario, told, how.workers))
    found = read_configuration(configuration, told.space)
    check_procedure(settings.specification)
    settings = replace(settings, found=found)
    place = folder or beside(scenario, ".proof")
    work_with(told, place, earlier_runs(settings, how.reuse, place, told), plain=how.plain)


def check_procedure(specification: ProcedureSpec) -> None:
    """Refuse a procedure that compares random configurations only.

    Raises:
        UsageError: No configuration from elsewhere can take part.
    """
    from utilitune.errors import UsageError

    if not specification.grows:
        raise UsageError(
            f"a configuration from elsewhere is proved by wager with a growing set, not by "
            f"{specification.name} as set in the scenario: leave its [procedure] out, or list the "
            "configuration under initial, so that it takes part"
        )


def read_configuration(path: Path, space: ParameterSpace) -> Assignment:
    """The configuration in a file; what 'utilitune best --format json' prints is understood too."""
    from utilitune.errors import UsageError, UtilituneError
    from utilitune.scenario.source import read_text

    try:
        values = json.loads(read_text(path, "it"))
    except UtilituneError as error:
        raise UsageError(f"the configuration cannot be read: {error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the configuration {path} cannot be read as JSON: {error}") from None
    if isinstance(values, dict) and isinstance(values.get("best"), dict):
        values = values["best"]
    if not isinstance(values, dict):
        raise UsageError(
            f'{path} must hold one JSON object with a value for each parameter, as {{"level": 3}}'
        )
    given = {name: value for name, value in values.items() if value is not None or name not in space.names}
    try:
        found = space.completed(given)
    except UtilituneError as error:
        raise UsageError(f"{path} holds no configuration of this scenario: {error}") from None
    for name in values.keys() - given.keys():
        if name in found:
            raise UsageError(
                f"{path} has null for {name!r}, which applies to this configuration: give it a value, or "
                f"leave it out for its default, {space.parameters[name].default!r}"
            )
    _say_dropped([name for name in given if name not in found], space)
    if found == space.default():
        raise UsageError(
            f"{path} holds the default configuration, which every run compares with: name another, or let "
            "'utilitune run' say how much better its answer is"
        )
    return found


def _say_dropped(names: Sequence[str], space: ParameterSpace) -> None:
    """Say which values mean nothing in a configuration, because their condition does not hold."""
    from utilitune.cli.texts import words
    from utilitune.spaces.expressions import to_text

    for name in names:
        only = to_text(space.activity[name])
        words(stderr=True).print(f"Note: the value of {name!r} is left out: it only applies when {only}.")

"""``utilitune demo``: the main job on a real solver, from instances to a held-out comparison."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[Path, typer.Argument(help="Where instances, run and pictures go.")] = Path(
        "demo-output"
    ),
    time: Annotated[str, typer.Option(help="How long to configure, e.g. 30s or 10m.")] = "2m",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at the same time.  [default: one per core]")
    ] = None,
) -> None:
    """Configure the SAT solver kissat for two minutes, then compare the answer with its default.

    Everything is real: the solver, 200 generated formulas to learn from, 100 others to judge the
    answer on. Calling it again goes on with the same run for as long again.
    """
    from utilitune.cli.clusters import GivenRunOptions
    from utilitune.cli.evaluate import compare
    from utilitune.cli.places import default_folder
    from utilitune.cli.run import GoalOptions, WayOptions, work_on
    from utilitune.cli.texts import words
    from utilitune.domain import require_positive
    from utilitune.reports.figures import epsilon_over_time
    from utilitune.reports.files import write_picture
    from utilitune.scenario.demo import prepare
    from utilitune.store import read_run_folder
    from utilitune.utility import format_duration, parse_duration

    seconds = require_positive("--time", parse_duration(time))
    say = words().print
    say("1. Instances", style="bold")
    scenario = prepare(folder)
    say(f"   written to {folder}: train/, test/ and {scenario.name}, which you can edit\n")

    place = default_folder(scenario)
    budget_s = _spent_before_s(place) + seconds
    say(
        f"2. Configuring kissat for {format_duration(seconds)} (Ctrl-C stops early, with a valid answer)",
        style="bold",
    )
    work_on(scenario, place, GoalOptions(max_wall_time=f"{budget_s}s"), WayOptions(workers=workers))

    say("\n3. The answer against kissat's default, on formulas neither has seen", style="bold")
    compare(place, GivenRunOptions(workers=workers), plot=folder / "solved.png")

    reader = read_run_folder(place)
    points = [record.progress for record in reader.trajectory()]
    reader.close()
    write_picture(epsilon_over_time({"wager": points}, "kissat: what is proved"), folder / "promise.png")
    say(f"Drawn: {folder / 'promise.png'}")
    say("\nTo go on with the same run for as long again, give the same command again.")


def _spent_before_s(folder: Path) -> float:
    """Wall-clock seconds that earlier calls spent on the same run."""
    from utilitune.live.spending import elapsed_s
    from utilitune.store import read_run_folder
    from utilitune.store.sqlite_errors import DATABASE_NAME

    if not (folder / DATABASE_NAME).is_file():
        return 0.0
    with contextlib.closing(read_run_folder(folder)) as reader:
        return elapsed_s(reader, reader.sessions())

"""``utilitune evaluate``: the answer of a run against the default, on the test instances."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.clusters import GivenRunOptions
from utilitune.cli.grouping import grouped
from utilitune.cli.places import RunPlace
from utilitune.cli.terminal import Terminal, say, say_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from utilitune.live.evaluation import Comparison
    from utilitune.live.resampling import Interval
    from utilitune.scenario.model import Scenario
    from utilitune.store import RunFolderReader


@grouped
def evaluate(
    folder: RunPlace,
    *,
    configuration: Annotated[
        int | None,
        typer.Option(help="Number of the configuration to evaluate.  [default: the best so far]"),
    ] = None,
    making: GivenRunOptions,
    scenario: Annotated[
        Path | None,
        typer.Option(help="Take the test instances from this scenario file, e.g. after adding some."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw how many instances each solves within a time (.png, .pdf or .svg)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of words.")] = False,
) -> None:
    """Run the best configuration and the default on the test instances, and compare them.

    Both get the same instances with the same seeds. Every run is kept in the run folder: an evaluation
    that was interrupted goes on, and a second one makes only the runs that are missing.

    For example:

    - `utilitune evaluate scenario.run --plot solved.png`
    - `utilitune evaluate scenario.run --configuration 17 --captime 5m`
    """
    compare(folder, making, configuration, scenario=scenario, plot=plot, as_json=as_json)


def compare(
    folder: Path,
    making: GivenRunOptions,
    configuration: int | None = None,
    *,
    scenario: Path | None = None,
    plot: Path | None = None,
    as_json: bool = False,
) -> None:
    """Make the runs of an evaluation, and print what came of it."""
    from utilitune.cli.texts import INTERRUPTED, run_bar
    from utilitune.errors import UsageError
    from utilitune.live.evaluation import evaluate_in_folder, plan_evaluation
    from utilitune.reports.files import check_picture
    from utilitune.store import read_run_folder

    if plot is not None:
        check_picture(plot)
    with contextlib.closing(read_run_folder(folder)) as store:
        told = making.placed(_scenario_of(store, scenario))
        plan = plan_evaluation(store, told, configuration, making.captime_s)
        plan = replace(plan, budget=making.budget())
        _warn_if_at_work(store)
    if plot is not None and plan.scenario.quality is not None:
        raise UsageError("the picture shows how soon instances are solved, not how well: leave --plot out")
    try:
        with run_bar("test runs") as show:
            comparison = evaluate_in_folder(plan, folder, making.workers, show)
    except KeyboardInterrupt:
        say("Interrupted: finished runs are kept, and the same command goes on from there.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if plot is not None:
        _draw(comparison, plan.scenario.name, plot)
    if as_json:
        say_json(comparison.to_dict())
    else:
        _print_comparison(comparison, plot)


def _scenario_of(store: RunFolderReader, path: Path | None) -> Scenario:
    """The scenario of a run as it was kept, or a file of the same scenario."""
    from utilitune.errors import StoreError
    from utilitune.live.task import Task
    from utilitune.rivals.packages import PEERS
    from utilitune.scenario import read_scenario

    kept = Task.stored(store).scenario
    if path is None:
        return kept
    told = read_scenario(path)
    if kept.procedure in PEERS:  # a peer takes the place of the procedure that the file names
        told = replace(told, procedure=kept.procedure, options=kept.options)
    if told.digest() != store.snapshot.digest:
        raise StoreError(
            f"{path} is not the scenario of {store.folder}, or was changed so that runs mean something else: "
            "name the file that the run was started with"
        )
    return told


def _warn_if_at_work(store: RunFolderReader) -> None:
    from utilitune.cli.texts import words

    if store.owner() is not None:
        words(stderr=True).print(
            "Warning: the run is still at work and shares the machine with this evaluation; for "
            "steadier times, end it first with 'utilitune stop'.",
            style="yellow",
        )


def _draw(comparison: Comparison, name: str, path: Path) -> None:
    from utilitune.reports.evaluation import solved_over_time
    from utilitune.reports.files import write_picture

    ours, theirs = comparison.chosen, comparison.default
    curves = {"default": theirs.runtimes_s, f"configuration {ours.configuration}": ours.runtimes_s}
    title = f"{name}: {comparison.pairs} test instances"
    write_picture(solved_over_time(curves, comparison.captime_s, title), path)


def _print_comparison(comparison: Comparison, plot: Path | None) -> None:
    from rich.table import Table

    from utilitune.cli.texts import prose, words
    from utilitune.utility import format_duration

    ours, theirs = comparison.chosen, comparison.default
    table = Table("", f"configuration {ours.configuration}", "default", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("mean utility", f"{ours.mean_utility:.4f}", f"{theirs.mean_utility:.4f}")
    if comparison.of_solutions:
        table.add_row("mean quality", *(_quality_text(side.mean_quality) for side in (ours, theirs)))
    else:
        table.add_row(
            "mean runtime", format_duration(ours.mean_runtime_s), format_duration(theirs.mean_runtime_s)
        )
    for name in ("solved", "timeouts", "failures"):
        table.add_row(name, f"{getattr(ours, name):,}", f"{getattr(theirs, name):,}")
    Terminal(highlight=False).print(table)
    say = words().print
    if ours.configuration != theirs.configuration:
        gain = _figure(comparison.difference, comparison.difference_interval, "{:+.4f}")
        speed = _figure(comparison.speed_up, comparison.speed_up_interval, "{:.2f} times")
        say(f"\nUtility gain: {gain}" + ("" if comparison.of_solutions else f"\nSpeed-up: {speed}"))
    prose(words(), comparison.verdict(), style="bold")
    for sentence in (*_explanations(comparison), comparison.note):
        if sentence:
            prose(words(), sentence)
    if plot is not None:
        say(f"Drawn: {plot}")


def _explanations(comparison: Comparison) -> Iterator[str]:
    """How the figures are to be read."""
    from utilitune.live.resampling import RESAMPLES
    from utilitune.live.standing.card import counted
    from utilitune.utility import format_duration

    seeds = f"\n{counted(comparison.pairs, 'test instance')}, the same seed for both."
    if comparison.of_solutions:
        yield f"{seeds} A run without a solution is worth nothing, and has no part in the mean quality."
    else:
        yield (
            f"{seeds} A run without an answer is worth as much as one that never ends; in mean runtime and "
            f"speed-up it counts as {format_duration(comparison.captime_s)}."
        )
    if comparison.chosen.configuration == comparison.default.configuration:
        return
    proved = comparison.difference_interval
    if proved is None or proved.low <= 0 <= proved.high:
        yield (
            "To use more test instances, add them to the scenario and name its file with --scenario. Without "
            "--scenario, the test instances are those that the run began with."
        )
    if proved is not None:
        likely = comparison.resampled_interval
        shown = (
            ""
            if likely is None
            else f": the gain was mostly between {likely.low:+.4f} and {likely.high:+.4f}"
        )
        yield (
            "The interval of the gain holds by proof, whatever the distribution of independent test "
            "instances: it allows for losses too rare to be seen. "
            + ("" if comparison.of_solutions else "That of the speed-up holds approximately. ")
            + "To show how the figures vary, the test instances were drawn again at random, "
            f"{RESAMPLES:,} times{shown}."
        )


def _quality_text(quality: float | None) -> str:
    return "none" if quality is None else f"{quality:.6g}"


def _figure(value: float, interval: Interval | None, form: str) -> str:
    shown = form.format(value)
    if interval is None:
        return shown
    return (
        f"{shown}, with 95 % confidence between {form.format(interval.low)} and {form.format(interval.high)}"
    )

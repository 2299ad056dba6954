"""``utilitune show``: everything about one configuration of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from utilitune.cli.places import RunPlace
from utilitune.cli.terminal import say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.reports.configuration import ConfigurationFacts

_USUAL_LIMIT = 20


def show(
    folder: RunPlace,
    configuration: Annotated[
        str, typer.Argument(help="Number of the configuration, or: best, default.")
    ] = "best",
    limit: Annotated[
        int, typer.Option(min=0, help="How many of its runs to show, the latest ones; 0 shows all.")
    ] = _USUAL_LIMIT,
    output: Annotated[
        bool, typer.Option("--output", help="Also print what is kept of the output of these runs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of words.")] = False,
) -> None:
    """Show one configuration: its command line, its parameters, how good it is, and its runs.

    For example:

    - `utilitune show scenario.run 17 --output`
    - `utilitune show scenario.run default --json`
    """
    import contextlib

    from utilitune.reports.configuration import configuration_facts
    from utilitune.store import read_run_folder

    with contextlib.closing(read_run_folder(folder)) as store:
        facts = configuration_facts(store, configuration)
    if as_json:
        say_json(facts.to_dict())
        return
    _print(facts, facts.runs[-limit:] if limit else facts.runs, output=output)


def _print(facts: ConfigurationFacts, runs: Sequence[dict[str, Any]], *, output: bool) -> None:
    from rich.table import Table

    from utilitune.cli.texts import paragraphs, words
    from utilitune.errors.outside import printable
    from utilitune.store.records import StoredOrigin

    say = words().print
    say(f"Configuration {facts.number} ({StoredOrigin(facts.origin).words})", style="bold")
    say(f"  {printable(facts.command)}")
    say(f"Mean utility {facts.estimate.text()} on {facts.estimate.instances()}")
    if facts.differences:
        say("Different from the default", style="bold")
        for name, ours, theirs in facts.differences:
            say(f"  {printable(name)}: {printable(theirs)} → {printable(ours)}")
    say(f"Runs: {facts.counts_text()}", style="bold")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in ("run", "instance", "status", facts.measure_name, "captime", "exit"):
        table.add_column(head, overflow="fold")
    for run in runs:
        table.add_row(*map(printable, _cells(run)))
    if runs:
        paragraphs().print(table)
    if len(runs) < len(facts.runs):
        say(f"The latest {len(runs):,} of {len(facts.runs):,} runs; --limit 0 shows all.")
    for run in runs if output else ():
        say(f"Output kept of run {run['sequence']} on {printable(run['instance'])}", style="bold")
        say(printable(run["output"], keep="\n\t") or "  (none is kept)")
    if facts.reproduce:
        say(f"Repeat its latest run by hand: {printable(facts.reproduce)}")


def _cells(run: dict[str, Any]) -> list[str]:
    from utilitune.utility import format_duration

    quality = run["quality"]
    worth = format_duration(run["runtime_s"]) if quality is None else f"{quality:.6g}"
    return [
        str(run["sequence"]),
        run["instance"],
        run["status"],
        worth,
        format_duration(run["captime_s"]),
        "" if run["exit_code"] is None else str(run["exit_code"]),
    ]

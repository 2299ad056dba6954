"""``utilitune best``: the answer of a run, ready to be used."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from utilitune.cli.places import RunPlace
from utilitune.cli.terminal import hand_over

if TYPE_CHECKING:
    from utilitune.live.result import RunResult


def best(
    folder: RunPlace,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="command (a line for the shell, put your instance where INSTANCE stands), json, toml, irace "
            "(a configurationsFile), smac (an initial_incumbent) or pcs (a PCS file with these defaults).",
        ),
    ] = "command",
) -> None:
    """Print the best configuration so far, exactly as it can be pasted elsewhere.

    For example:

    - `utilitune best scenario.run`
    - `utilitune best scenario.run --format json | jq .best`
    """
    import contextlib

    from utilitune.errors import UsageError, did_you_mean
    from utilitune.live.result import RunResult
    from utilitune.live.task import Task
    from utilitune.reports.answers import FORMS
    from utilitune.store import read_run_folder

    if form not in FORMS:
        raise UsageError(f"there is no format {form!r}; {did_you_mean(form, FORMS)}")
    with contextlib.closing(read_run_folder(folder)) as store:
        task = Task.stored(store)
        result = RunResult.read(store, folder, task=task, with_runs=False)
    text = FORMS[form](result, task.scenario)
    if sys.stderr.isatty():
        _print_numbers(result)
    hand_over(text)


def _print_numbers(result: RunResult) -> None:
    """How good it is, for somebody who looks; what is piped or pasted stays as it is."""
    from utilitune.cli.summary import epsilon_sentences, utility_sentences
    from utilitune.cli.texts import words

    for sentence in (*utility_sentences(result), result.promise.sentence(), *epsilon_sentences(result)):
        words(stderr=True).print(f"# {sentence}", style="dim")

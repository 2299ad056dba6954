"""A run's result in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.cli.texts import headed, prose, words
from utilitune.errors.outside import exists, shell_word
from utilitune.live.standing.card import compared, counted, spent
from utilitune.store.sqlite_errors import DATABASE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from utilitune.live.result import RunResult


def print_result(result: RunResult) -> None:
    """The answer, the promise, what it cost, what to do next."""
    console = words()
    progress = result.progress
    console.print("Best configuration", style="bold")
    console.print(f"  {result.command}")
    console.print("Mean utility", style="bold")
    for sentence in utility_sentences(result):
        prose(console, sentence, indent=2)
    console.print("Promise", style="bold")
    for sentence in (result.promise.sentence(), *epsilon_sentences(result), result.last_phase):
        if sentence:
            prose(console, sentence, indent=2)
    console.print("Cost", style="bold")
    tried = f" of {counted(progress.configurations, 'configuration')}"
    rivals = tried if result.promise.refusal else f"; compared: {compared(progress, result.standing.entered)}"
    prose(console, f"{spent(progress)}{rivals}.", indent=2)
    if result.use is not None:
        prose(console, result.use.sentence(), indent=2)
    if result.stop_reason is not None:
        console.print(headed("Stopped", f"({result.stop_reason.code})"))
        prose(console, result.stop_reason.advice, indent=2)
    if result.note:
        prose(console, result.note, indent=2)
    for sentence in _troubles(result):
        prose(console, sentence, style="yellow")
    if result.folder is not None and not exists(result.folder / DATABASE_NAME):
        gone = f"{result.folder} was removed while the run was at work: only what you see here is left"
        prose(console, gone, style="yellow")
    elif result.folder is not None:
        after = "next: utilitune report, serve, best, show, runs or evaluate"
        prose(console, f"Kept in {result.folder}; {after} {_argument(result)}")


def _troubles(result: RunResult) -> Iterator[str]:
    """Failed runs, with a way to see what one of them printed, and warnings."""
    for failures in result.standing.failures:
        yield f"Failures: {failures.sentence()}"
        if result.folder is not None:
            place = f"{_argument(result)} {failures.example_configuration}"
            yield f"What such runs printed: utilitune show {place} --output"
    for warning in result.warnings:
        yield f"Warning: {warning}"


def _argument(result: RunResult) -> str:
    """The run folder, as a shell reads it."""
    return shell_word(str(result.folder))


def utility_sentences(result: RunResult) -> Iterator[str]:
    """How good the answer and the default are."""
    standing = result.standing
    yield f"{standing.utilities()} (0 is worthless, 1 is perfect)"
    if gain := standing.gain():
        yield gain


def epsilon_sentences(result: RunResult) -> Iterator[str]:
    """What ε means, and what more time would bring; nothing where there is no promise."""
    if result.promise.refusal:
        return
    if result.standing.epsilon_means:
        yield result.standing.epsilon_means
    outlook = result.standing.outlook
    if outlook is not None and (sentence := outlook.sentence()):
        yield sentence

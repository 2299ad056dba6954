"""A run's result in words."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from utilitune.cli.texts import headed, words
from utilitune.outside import printable
from utilitune.standing.card import spent

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
        console.print(f"  {sentence}")
    console.print("Promise", style="bold")
    console.print(f"  {result.promise.sentence()}")
    for sentence in epsilon_sentences(result):
        console.print(f"  {sentence}")
    if result.last_phase:
        console.print(f"  {result.last_phase}")
    console.print("Cost", style="bold")
    still = "is" if progress.alive == 1 else "are"
    in_play = "" if result.promise.refusal else f"; {progress.alive:,} {still} still in play"
    console.print(f"  {spent(progress)}{in_play}.")
    if result.stop_reason is not None:
        console.print(headed("Stopped", f"({result.stop_reason.code})"))
        console.print(f"  {result.stop_reason.advice}")
    if result.note:
        console.print(f"  {result.note}")
    for failures in result.standing.failures:
        console.print(f"Failures: {printable(failures.sentence())}", style="yellow")
    for warning in result.warnings:
        console.print(f"Warning: {warning}", style="yellow")
    if result.folder is not None:
        argument = shlex.quote(str(result.folder))
        console.print(
            f"Kept in {result.folder}; next: utilitune report, serve, best, show, runs or evaluate {argument}"
        )


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

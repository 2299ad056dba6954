"""A run's result in words."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from utilitune.cli.texts import headed, words

if TYPE_CHECKING:
    from utilitune.session.result import RunResult


def print_result(result: RunResult) -> None:
    """The answer, the promise, what it cost, what to do next."""
    console = words()
    progress = result.progress
    console.print("Best configuration", style="bold")
    console.print(f"  {result.command}")
    console.print("Promise", style="bold")
    console.print(f"  {result.promise.sentence()}")
    if result.last_phase:
        console.print(f"  {result.last_phase}")
    console.print("Cost", style="bold")
    in_play = "" if result.promise.refusal else f"; {progress.alive} are still in play"
    console.print(
        f"  {progress.total_time_s:,.1f} s in {progress.runs:,} runs of {progress.configurations} "
        f"configurations{in_play}."
    )
    if result.stop_reason is not None:
        console.print(headed("Stopped", f"({result.stop_reason.code})"))
        console.print(f"  {result.stop_reason.advice}")
    if result.note:
        console.print(f"  {result.note}")
    for warning in result.warnings:
        console.print(f"Warning: {warning}", style="yellow")
    if result.folder is not None:
        argument = shlex.quote(str(result.folder))
        console.print(f"Kept in {result.folder}; next: utilitune best, status, runs or evaluate {argument}")

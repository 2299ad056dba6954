"""A run's result in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from utilitune.session.result import RunResult


def print_result(result: RunResult) -> None:
    """The answer, the promise, what it cost, what to do next."""
    console = Console(highlight=False, soft_wrap=True)
    progress = result.progress
    console.print("[bold]Best configuration[/]")
    console.print(Text(f"  {result.command}"))
    console.print("[bold]Promise[/]")
    console.print(f"  {result.promise.sentence()}")
    console.print("[bold]Cost[/]")
    console.print(
        f"  {progress.total_time_s:,.1f} s in {progress.runs:,} runs of {progress.configurations} "
        f"configurations; {progress.alive} are still in play."
    )
    if result.stop_reason is not None:
        console.print(f"[bold]Stopped[/] ({result.stop_reason.code})")
        console.print(Text(f"  {result.stop_reason.advice}"))
    if result.note:
        console.print(Text(f"  {result.note}"))
    for warning in result.warnings:
        console.print(Text(f"Warning: {warning}", style="yellow"))
    if result.folder is not None:
        console.print(
            f"Kept in {result.folder}; next: utilitune best, status, runs or evaluate {result.folder}"
        )

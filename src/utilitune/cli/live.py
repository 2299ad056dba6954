"""What one sees while a run is at work: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from utilitune.cli.texts import WARMING_UP
from utilitune.utility import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from utilitune.session.coordinator import View

_PLAIN_LINE_EVERY_S = 10.0
_SPARKS = "▁▂▃▄▅▆▇█"
_HISTORY = 60


@contextlib.contextmanager
def watching(headline: str, population: str, *, plain: bool = False) -> Iterator[Callable[[View], None]]:
    """A function that shows views for as long as the block runs.

    Args:
        headline: What is at work.
        population: Which instances the promise is about.
        plain: Lines even on a terminal.
    """
    console = Console(stderr=True, highlight=False)
    if plain or not console.is_terminal:
        yield _PlainLines(console, headline).show
        return
    panel = LivePanel(headline, population)
    with Live(Text(WARMING_UP), console=console, refresh_per_second=8, transient=True) as live:

        def show(view: View) -> None:
            live.update(panel.drawn(view))

        yield show


class _PlainLines:
    """A line now and then, for logs."""

    def __init__(self, console: Console, headline: str) -> None:
        self._console = console
        self._next_at = 0.0
        console.print(f"{headline}; {WARMING_UP}", markup=False)

    def show(self, view: View) -> None:
        if time.monotonic() < self._next_at:
            return
        self._next_at = time.monotonic() + _PLAIN_LINE_EVERY_S
        progress = view.progress
        gamma = "" if progress.gamma is None else f", γ = {progress.gamma:.3f}"
        self._console.print(
            f"[{format_duration(round(view.elapsed_s))}] ε = {progress.epsilon:.3f}{gamma}; "
            f"{progress.runs} runs, {progress.configurations} configurations, {failures(view)} failures; "
            f"leader: {view.best_command}",
            markup=False,
            soft_wrap=True,
        )


class LivePanel:
    """The promise in words, ε and γ falling, the leader, and how the work goes."""

    def __init__(self, headline: str, population: str) -> None:
        self._headline = headline
        self._population = population
        self._epsilons: list[float] = []
        self._gammas: list[float] = []

    def drawn(self, view: View) -> Panel:
        """The panel for a view."""
        progress = view.progress
        self._epsilons.append(progress.epsilon)
        if progress.gamma is not None:
            self._gammas.append(progress.gamma)
        rows = Table.grid(padding=(0, 2))
        rows.add_column(style="bold", no_wrap=True)
        rows.add_column(overflow="fold")
        rows.add_row("ε", f"{progress.epsilon:.4f}  {sparkline(self._epsilons)}")
        if progress.gamma is not None:
            rows.add_row("γ", f"{progress.gamma:.4f}  {sparkline(self._gammas)}")
        rows.add_row("leader", Text(view.best_command))
        rows.add_row(
            "runs",
            f"{progress.runs:,} ({view.runs_per_s:.1f} per second), {view.workers_busy} under way, "
            f"{failures(view)} failures",
        )
        rows.add_row("in play", f"{progress.alive} of {progress.configurations} configurations")
        rows.add_row("time", f"{format_duration(round(view.elapsed_s))} passed, {_left(view)}")
        promise = replace(progress.promise, population=self._population)
        words = Text(promise.sentence(), style="green")
        return Panel(Group(words, Text(""), rows), title=Text(self._headline), title_align="left")


def sparkline(values: list[float]) -> str:
    """Numbers between 0 and 1 as a row of bars, thinned to fit."""
    step = max(1, math.ceil(len(values) / _HISTORY))
    thinned = [*values[::step], values[-1]]
    return "".join(_SPARKS[min(7, max(0, int(value * 8)))] for value in thinned)


def failures(view: View) -> int:
    """How many runs neither finished nor were capped."""
    return sum(count for status, count in view.statuses.items() if status.failed)


def _left(view: View) -> str:
    """What the tightest budget leaves."""
    budget, progress = view.budget, view.progress
    shares = [
        view.elapsed_s / budget.max_wall_s,
        progress.total_time_s / budget.max_time_s,
        progress.runs / budget.max_runs,
    ]
    used = max(shares)
    if used <= 0:
        return "no time limit; Ctrl-C leaves a valid answer"
    left_s = view.elapsed_s * (1 - used) / used
    return f"about {format_duration(max(0, round(left_s)))} left"

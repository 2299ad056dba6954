"""What one sees while a run is at work: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from utilitune.cli.numbers import NumbersBeside
from utilitune.cli.rich_terminal import height_of
from utilitune.cli.terminal import Terminal
from utilitune.cli.texts import WARMING_UP
from utilitune.domain import rounded_up
from utilitune.errors import UtilituneError
from utilitune.errors.outside import shortened
from utilitune.live.progress_line import pause_in_a_log_s
from utilitune.live.standing.card import compared, counted
from utilitune.live.standing.standing import gain_in_words
from utilitune.live.standing.terms import without_epsilon
from utilitune.utility.clock import time_passed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from utilitune.live.events import View
    from utilitune.live.standing.standing import Standing

_MARGINS = 14
"""Columns of a panel that rows cannot use: the frame, the names and what lies between."""

_ANSWER_LINES = 4
"""A longer command is cut here; 'utilitune best' shows all of it."""

_SPARKS = "▁▂▃▄▅▆▇█"
_HISTORY = 60
COMPILING = "compiling the proof, once per install: runs count, time does not"


@contextlib.contextmanager
def watching(
    headline: str, population: str, *, plain: bool = False, folder: Path | None = None
) -> Iterator[Callable[[View], None]]:
    """A function that shows views for as long as the block runs.

    Args:
        headline: What is at work.
        population: Which instances the promise is about.
        plain: Lines even on a terminal.
        folder: Where the run is kept: its numbers are read from there, and what it showed before.
    """
    console = Terminal(stderr=True, highlight=False)
    with NumbersBeside(folder) as numbers:
        if plain or not console.is_terminal:
            yield _PlainLines(console, headline, numbers).show
            return
        panel = LivePanel(headline, population, numbers)
        panel.remember(folder)
        waiting = Spinner("dots", Text(f" {headline}; {WARMING_UP}"))
        with Live(waiting, console=console, refresh_per_second=8, transient=True) as live:

            def show(view: View) -> None:
                live.update(panel.drawn(view, console.width))

            yield show


class _PlainLines:
    """A line now and then, for logs."""

    def __init__(self, console: Console, headline: str, numbers: NumbersBeside) -> None:
        self._console = console
        self._numbers = numbers
        self._began_at = time.monotonic()
        self._next_at = 0.0
        console.print(f"{headline}; {WARMING_UP}", markup=False)

    def show(self, view: View) -> None:
        now = time.monotonic()
        if now < self._next_at:
            return
        self._next_at = now + pause_in_a_log_s(now - self._began_at)
        progress = view.progress
        gamma = "" if progress.gamma is None else f", γ = {rounded_up(progress.gamma)}"
        utilities = _utilities(self._numbers.latest, view)
        utilities = f"{utilities}; " if utilities else ""
        passed = COMPILING if view.compiling else time_passed(round(view.elapsed_s))
        self._console.print(
            f"[{passed}] {utilities}ε = {rounded_up(progress.epsilon)}{gamma}; "
            f"{counted(progress.runs, 'run')}, {counted(progress.configurations, 'configuration')}, "
            f"{counted(failures(view), 'failure')}; "
            f"answer: {view.best_command}",
            markup=False,
            soft_wrap=True,
        )


class LivePanel:
    """How good the answer is, the promise in words, ε and γ falling, and how the work goes.

    The rows are always the same and never become shorter, so that nothing jumps: a fact that is not known yet
    is a dash.

    Args:
        headline: What is at work.
        population: Which instances the promise is about.
        numbers: Where the numbers come from.
    """

    def __init__(self, headline: str, population: str, numbers: NumbersBeside | None = None) -> None:
        self._headline = headline
        self._population = population
        self._numbers = NumbersBeside(None) if numbers is None else numbers
        self._epsilons: list[float] = []
        self._gammas: list[float] = []
        self._heights: dict[str, int] = {}

    def remember(self, folder: Path | None) -> None:
        """Begin the bars with what earlier starts of the same run have proved."""
        from utilitune.store import read_run_folder

        if folder is None or not folder.is_dir():
            return
        with contextlib.suppress(UtilituneError), contextlib.closing(read_run_folder(folder)) as store:
            points = [record.progress for record in store.trajectory()]
            self._epsilons = [point.epsilon for point in points]
            self._gammas = [point.gamma for point in points if point.gamma is not None]

    def drawn(self, view: View, width: int = 80) -> Panel:
        """The panel for a view.

        Args:
            view: What there is to show.
            width: Columns of the terminal.
        """
        progress = view.progress
        self._epsilons.append(progress.epsilon)
        if progress.gamma is not None:
            self._gammas.append(progress.gamma)
        rows = Table.grid(padding=(0, 2))
        rows.add_column(style="bold", no_wrap=True, min_width=8)
        rows.add_column(overflow="fold")
        for name, text in self._rows(view, width):
            rows.add_row(name, self._steady(name, text, width - _MARGINS))
        promise = replace(progress.promise, population=self._population, condition=view.condition)
        words = self._steady("promise", promise.sentence(), width - 4)
        words.stylize("green")
        notes = [Text(text, style="yellow") for text in self._notes()]
        return Panel(Group(words, Text(""), rows, *notes), title=Text(self._headline), title_align="left")

    def _steady(self, name: str, text: str, width: int) -> Text:
        """A text with as many lines as it had at the most, so that what follows stays where it is."""
        words = Text(text)
        lines = height_of(words, max(20, width))
        self._heights[name] = height = max(lines, self._heights.get(name, 1))
        words.append("\n" * (height - lines))
        return words

    def _rows(self, view: View, width: int) -> Iterator[tuple[str, str]]:
        progress, standing = view.progress, self._numbers.latest
        bars = max(10, width - 30)
        yield "utility", _utilities(standing, view) or "–"
        yield "gain", "–" if progress.gain is None else gain_in_words(progress.gain)
        yield "ε", f"{rounded_up(progress.epsilon):<6}  {sparkline(self._epsilons, bars)}"
        yield "", "" if standing is None else without_epsilon(standing.epsilon_means)
        gamma = (
            "–"
            if progress.gamma is None
            else f"{rounded_up(progress.gamma):<6}  {sparkline(self._gammas, bars)}"
        )
        yield "γ", gamma
        yield "answer", shortened(view.best_command, _ANSWER_LINES * (width - _MARGINS))
        speed = f"{view.runs_per_s:.1f} per second"
        failed = counted(failures(view), "failure")
        yield "runs", f"{progress.runs:,} ({speed}), {view.workers_busy} under way, {failed}"
        yield "compared", compared(progress, None if standing is None else standing.entered)
        passed = f"{time_passed(round(view.elapsed_s))} passed, {_left(view)}"
        yield "time", COMPILING if view.compiling else passed
        outlook = "" if standing is None or standing.outlook is None else standing.outlook.sentence()
        yield "outlook", outlook or "–"

    def _notes(self) -> Iterator[str]:
        """Failures with their cause, and warnings such as that of a model that is missing."""
        standing = self._numbers.latest
        for each in () if standing is None else standing.failures:
            yield f"{each.sentence()}."
        yield from self._numbers.warnings


def _utilities(standing: Standing | None, view: View) -> str:
    """How good the answer is; nothing while the latest numbers are about an earlier answer."""
    if standing is None or standing.answer.configuration != view.progress.best_index:
        return ""
    return standing.utilities()


def sparkline(values: list[float], width: int = _HISTORY) -> str:
    """Numbers between 0 and 1 as a row of bars; more than fit are thinned to exactly this width."""
    bars = min(len(values), width)
    last = len(values) - 1
    kept = (values[round(bar * last / max(1, bars - 1))] for bar in range(bars - 1))
    return "".join(_SPARKS[min(7, max(0, int(value * 8)))] for value in [*kept, values[-1]])


def failures(view: View) -> int:
    """How many runs neither finished nor were capped."""
    return sum(count for status, count in view.statuses.items() if status.failed)


def _left(view: View) -> str:
    """What the tightest budget leaves."""
    budget, progress = view.budget, view.progress
    used = budget.used_share(progress.total_time_s, progress.runs, view.elapsed_s)
    if used <= 0:
        return "no time limit; Ctrl-C leaves a valid answer"
    left_s = view.elapsed_s * (1 - used) / used
    return f"about {time_passed(max(0, round(left_s)))} left"

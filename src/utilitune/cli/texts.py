"""Small things every command says or takes the same way."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from utilitune.cli.terminal import Terminal
from utilitune.errors.outside import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.text import Text

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C has ended, as shells report it."""
WARMING_UP = "getting ready (longer when a procedure is used for the first time)"
FOLDER_HELP = (
    "The run: its folder (the --folder of 'utilitune run', by default the scenario's name with .run), or the "
    "scenario file."
)


def words(*, stderr: bool = False) -> Console:
    """A console for sentences: they are not cut, and brackets in names mean nothing."""
    return Terminal(stderr=stderr, highlight=False, markup=False, soft_wrap=True)


def paragraphs() -> Console:
    """A console for a summary: wrapped to the terminal, and brackets in names mean nothing."""
    return Terminal(highlight=False, markup=False)


def prose(console: Console, text: str, *, indent: int = 0, style: str = "") -> None:
    """Write a sentence: wrapped between words on a screen, on a line of its own in a file or a pipe."""
    from rich.padding import Padding
    from rich.text import Text

    if console.is_terminal:
        console.print(Padding(Text(printable(text, keep="\n"), style), (0, 0, 0, indent)), soft_wrap=False)
    else:
        console.print(" " * indent + text, style=style)


def headed(head: str, text: str) -> Text:
    """A line that begins with words in bold."""
    from rich.text import Text

    return Text.assemble((head, "bold"), " ", printable(text))


@contextlib.contextmanager
def run_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on the error stream, and what tells it how many of how many are done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Terminal(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield show


@contextlib.contextmanager
def proof_bar(what: str, total: float = 1.0, *, enabled: bool) -> Iterator[Callable[[float, str], None]]:
    """A line on the error stream that lives, and what tells it how much is done and how things stand."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    state = TextColumn("{task.fields[state]}")
    columns = (TextColumn("[bold]{task.description}"), BarColumn(bar_width=30), state, TimeElapsedColumn())
    console = Terminal(stderr=True)
    hidden = not (enabled and console.is_terminal)
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(what, total=total, state=WARMING_UP)

        def show(done: float, state: str) -> None:
            bar.update(task, completed=done, state=state)

        yield show


def part_proved(epsilon: float, target: float | None) -> float:
    """Which part of the way from ε = 1 to the target is done."""
    return min(1.0, max(0.0, (1.0 - epsilon) / (1.0 - (target or 0.0))))


def memory_text(size_bytes: int) -> str:
    """A size for people, or "unknown"."""
    if size_bytes <= 0:
        return "unknown"
    if size_bytes >= 2**30:
        return f"{size_bytes / 2**30:.2f} GiB"
    return f"{size_bytes / 2**20:.1f} MiB"

"""A result at a glance: one line where Python prints it, a small table where a notebook shows it.

Names and values come from outside. In the line they stand as Python writes them; in the table they are made
visible and escaped, so that a notebook shows them and never runs them.
"""

from __future__ import annotations

import html
import reprlib
from typing import TYPE_CHECKING

from utilitune.domain import rounded_up
from utilitune.errors.outside import printable
from utilitune.utility.clock import time_passed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from utilitune.domain import Progress, Promise
    from utilitune.live.standing.entered import Entered

_MOST_PARAMETERS = 6
_LONGEST_WORD = 60


class _Shortened(reprlib.Repr):
    """Values as Python writes them, but few of them and with few digits."""

    def __init__(self) -> None:
        super().__init__()
        self.maxdict = _MOST_PARAMETERS
        self.maxstring = self.maxother = _LONGEST_WORD

    def repr_float(self, value: float, _: int) -> str:
        return f"{value:.6g}"


def line(kind: str, best: object, promise: Promise) -> str:
    """What Python prints of a result: its answer and what is proved of it, always on the safe side.

    Args:
        kind: The name of the class.
        best: The answer.
        promise: What is proved about it.
    """
    answer = f"best={_Shortened().repr(best)}"
    if promise.refusal:
        return f"<{kind} {answer}, nothing proved>"
    gamma = "None" if promise.gamma is None else rounded_up(promise.gamma)
    proved = promise.gain is not None and promise.gain >= 0.0  # less than no gain is no news
    gain = f"{0.0 - float(rounded_up(-(promise.gain or 0.0))):g}" if proved else "None"
    return f"<{kind} {answer}, epsilon={rounded_up(promise.epsilon)}, gamma={gamma}, gain={gain}>"


def spent(progress: Progress) -> str:
    """What a result cost, in words."""
    return f"{time_passed(progress.total_time_s)} in {counted(progress.runs, 'run')}"


def compared(progress: Progress, entered: Entered | None = None) -> str:
    """How many configurations the promise compares with the answer, and how many of them may be the best.

    Args:
        progress: Where the procedure stands; it counts a configuration that was drawn twice twice.
        entered: How many different ones take part, and how many were run, where that is known.
    """
    if entered is None:
        return f"{counted(progress.configurations, 'configuration')}, {progress.alive:,} not ruled out"
    number = min(progress.configurations, entered.compared)
    some = "" if entered.tried >= number else f"{entered.tried:,} of them run, "
    search = f"; search has tried {entered.searched:,}" if entered.searched else ""
    return f"{counted(number, 'configuration')}, {some}{min(number, progress.alive):,} not ruled out{search}"


def counted(number: int, what: str) -> str:
    """So many of something, such as "1 run" or "2,000 runs"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def html_table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A small table of names and texts as HTML; a row without a text is left out."""
    lines = "".join(
        f'<tr><th style="text-align:left;vertical-align:top">{_escaped(name)}</th>'
        f'<td style="text-align:left">{_escaped(text)}</td></tr>'
        for name, text in rows
        if text
    )
    return f"<table><caption>{_escaped(title)}</caption><tbody>{lines}</tbody></table>"


def _escaped(text: str) -> str:
    return html.escape(printable(text))

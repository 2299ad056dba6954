"""How far a run is, as one line of text: for scripts and notebooks.

On a terminal and in a notebook the line is written over itself. In a log it is a new line now and then.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from utilitune.domain import rounded_up
from utilitune.live.standing.card import counted
from utilitune.utility.clock import time_passed

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from utilitune.live.events import View

_OVER_ITSELF_EVERY_S = 0.5
_IN_A_LOG_EVERY_S = 4.0
_SHARE_OF_TIME = 0.02


def pause_in_a_log_s(shown_for_s: float) -> float:
    """How long a log waits for its next line: the longer a run takes, the longer, or a night fills thousands.

    >>> pause_in_a_log_s(10.0), pause_in_a_log_s(3600.0)
    (4.0, 72.0)
    """
    return max(_IN_A_LOG_EVERY_S, _SHARE_OF_TIME * shown_for_s)


class ProgressLine:
    """Shows every view it is called with, but not too often.

    Args:
        stream: Where to write; the standard error stream if left out.
        clock: The time in seconds.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._over_itself = self._stream.isatty() or "ipykernel" in sys.modules
        self._began_at = float("inf")
        self._next_at = -float("inf")
        self._width = 0
        self._latest: View | None = None

    def __call__(self, view: View) -> None:
        """Show where a run stands, if it is time to."""
        self._latest = view
        if self._clock() >= self._next_at:
            now = self._clock()
            self._began_at = min(self._began_at, now)
            pause_s = _OVER_ITSELF_EVERY_S if self._over_itself else pause_in_a_log_s(now - self._began_at)
            self._next_at = now + pause_s
            self._write(view)

    def close(self) -> None:
        """Show the latest state once more, and end the line."""
        if self._latest is not None:
            self._write(self._latest)
        if self._width:
            self._stream.write("\n")

    def _write(self, view: View) -> None:
        text = progress_text(view)
        if self._over_itself:
            self._stream.write(f"\r{text:<{self._width}}")
            self._width = len(text)
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()


def progress_text(view: View) -> str:
    """Where a run stands, in one line of less than 80 signs."""
    progress = view.progress
    gamma = "" if progress.gamma is None else f", γ = {rounded_up(progress.gamma)}"
    return (
        f"[{time_passed(round(view.elapsed_s))}] ε = {rounded_up(progress.epsilon)}{gamma}; "
        f"{counted(progress.runs, 'run')}, {counted(progress.configurations, 'configuration')}"
    )

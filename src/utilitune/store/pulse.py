"""How far a start of a run has come, in a small file beside the database that is overwritten at every run.

It answers two questions for the next start, whatever became of this one:

* How long did it last? Seconds of a clock that nobody sets are counted, so a clock that is put forward or
  back between or during two starts neither spends a budget nor lifts it.
* Are all runs still there? SQLite keeps the latest in a file of its own (`run.sqlite-wal`) until they are
  moved over. If somebody deletes that file, the database is whole and knows less than before, without a word.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

PULSE_NAME = "pulse"
_WIDTH = 64


class Beat(NamedTuple):
    """The last sign of life of a start.

    Attributes:
        runs: Runs stored so far, over every start.
        session: The number of the start.
        elapsed_s: Seconds since it began.
        before_s: Seconds of all starts before it.
    """

    runs: int
    session: int
    elapsed_s: float
    before_s: float = 0.0


class Pulse:
    """Writes the signs of life of one start.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.last = read_pulse(path)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._session, self._before_s = 0, 0.0
        self._began_s = time.monotonic()

    def begin(self, session: int, runs: int, before_s: float) -> None:
        """A start begins."""
        self._session, self._before_s = session, before_s
        self._began_s = time.monotonic()
        self.beat(runs)

    def elapsed_s(self) -> float:
        """Seconds since the start began."""
        return time.monotonic() - self._began_s

    def beat(self, runs: int) -> None:
        """Write how far it has come."""
        seconds = f"{self.elapsed_s():.6f} {self._before_s:.6f}"
        text = f"{runs} {self._session} {seconds}".ljust(_WIDTH - 1) + "\n"
        with contextlib.suppress(OSError):  # a full disk must not end a run whose outcome is stored
            os.pwrite(self._descriptor, text.encode("ascii"), 0)

    def close(self) -> None:
        """Let the file go; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def read_pulse(path: Path) -> Beat | None:
    """The last sign of life; None if there is none, or none that makes sense."""
    try:
        runs, session, *seconds = path.read_text(encoding="ascii")[:_WIDTH].split()
        beat = Beat(int(runs), int(session), *map(float, seconds))
    except (OSError, ValueError, TypeError):
        return None
    return beat if all(0 <= each < float("inf") for each in beat) else None

"""What others ask of a run at work: small files in its folder, which it looks at between any two runs.

::

    stop-requested         end in good order
    pause-requested        begin no more runs as long as this is here
    more-time-requested    seconds by which the budget of time on the clock is extended

Whoever may write to the folder may ask. A new session of the run forgets old requests.
"""

from __future__ import annotations

import contextlib
import math
import os
from typing import TYPE_CHECKING

from utilitune.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STOP_NAME = "stop-requested"
PAUSE_NAME = "pause-requested"
MORE_TIME_NAME = "more-time-requested"
REQUEST_NAMES = (STOP_NAME, PAUSE_NAME, MORE_TIME_NAME)
"""All files that may lie in a run folder for this purpose."""


class FolderRequests:
    """The requests in a run folder.

    Args:
        folder: The run folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stop_file = os.fspath(folder / STOP_NAME)
        self._pause_file = os.fspath(folder / PAUSE_NAME)
        self._more_time_file = folder / MORE_TIME_NAME

    def request_stop(self) -> None:
        """Ask the owner of this run to stop in good order."""
        with self._leaving("a request to stop"):
            (self.folder / STOP_NAME).touch()

    def stop_requested(self) -> bool:
        """Whether somebody asked for a stop since the latest session began."""
        return os.path.exists(self._stop_file)  # noqa: PTH110 - asked between any two runs

    def request_pause(self, *, pause: bool) -> None:
        """Ask the owner of this run to begin no more runs, or to go on."""
        with self._leaving("a request to pause"):
            if pause:
                (self.folder / PAUSE_NAME).touch()
            else:
                (self.folder / PAUSE_NAME).unlink(missing_ok=True)

    def pause_requested(self) -> bool:
        """Whether somebody asked for a pause since the latest session began, and for no end of it."""
        return os.path.exists(self._pause_file)  # noqa: PTH110 - asked between any two runs

    def request_more_time(self, seconds: float) -> None:
        """Ask the owner of this run to go on for so much longer on the clock than its budget says."""
        with self._leaving("a request for more time"):
            partial = self._more_time_file.with_suffix(".part")
            partial.write_text(repr(self.more_time_s() + seconds), encoding="ascii")
            partial.replace(self._more_time_file)

    def more_time_s(self) -> float:
        """By how much the budget of time on the clock was extended since the latest session began."""
        try:
            seconds = float(self._more_time_file.read_text(encoding="ascii"))
        except (OSError, ValueError):  # nobody asked, or somebody wrote something else there
            return 0.0
        return seconds if 0.0 <= seconds < math.inf else 0.0

    def _forget_requests(self) -> None:
        for name in REQUEST_NAMES:
            (self.folder / name).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _leaving(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"cannot leave {what} in {self.folder}: {error.strerror}") from error

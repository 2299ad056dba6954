"""The numbers of a run at work, for the live view: read from its folder, in a thread of its own.

The run itself is never asked and never waits. How often they are read follows from how long that takes: never
for more than a fiftieth of the time.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Self

from utilitune.errors import UtilituneError

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.live.standing import Standing

_SHORTEST_PAUSE_S = 2.0
_SHARE = 50.0


class NumbersBeside:
    """How a run stands, as of a moment ago.

    Args:
        folder: The run folder; None for a run that is kept nowhere.
        first_after_s: When to look for the first time: while rules are compiled there is nothing to see.
    """

    def __init__(self, folder: Path | None, first_after_s: float = 3.0) -> None:
        self.latest: Standing | None = None
        self.warnings: tuple[str, ...] = ()
        self._folder = folder
        self._pause_s = first_after_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="numbers for the live view", daemon=True)

    def __enter__(self) -> Self:
        """Begin to look."""
        if self._folder is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Look no more; what is being read is not waited for."""
        self._stop.set()

    def _work(self) -> None:
        while not self._stop.wait(self._pause_s):
            began = time.thread_time()
            with contextlib.suppress(UtilituneError, IndexError):
                self.look()
            self._pause_s = max(_SHORTEST_PAUSE_S, _SHARE * (time.thread_time() - began))

    def look(self) -> None:
        """Read the numbers once."""
        from utilitune.live.standing import standing_of
        from utilitune.live.task import Task
        from utilitune.store import read_run_folder

        if self._folder is None:
            return
        with contextlib.closing(read_run_folder(self._folder)) as store:
            points = [record.progress for record in store.trajectory()]
            records = store.configurations()
            self.warnings = tuple(event.text for event in store.events() if event.kind == "warning")
            if points and records:
                self.latest = standing_of(store, Task.stored(store), records, points[-1], points)

"""Processes that help with computing: none of them outlives who started it."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing import parent_process


def end_with_the_parent() -> None:
    """What a helping process does first: leave Ctrl-C to its parent, and watch for the parent's end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_wait_for_the_end, daemon=True).start()


def _wait_for_the_end() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

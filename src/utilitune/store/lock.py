"""One writer per run folder: an advisory lock on a small file that names its holder.

The lock dies with its process, however that ends, so nothing has to be cleaned up after a kill. A forked
child gives its copy up at once: otherwise a child that outlives a killed coordinator would keep the folder
locked.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PATIENCE_S = 0.5
_RETRY_S = 0.02

_held: weakref.WeakSet[FolderLock] = weakref.WeakSet()


class FolderLock:
    """Holds the lock file from construction to `release`.

    Raises:
        BlockingIOError: If another holder has it and keeps it for half a second.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._acquire()
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        except BaseException:
            self.release()
            raise
        _held.add(self)

    def _acquire(self) -> None:
        # A reader that asks `holder` has the lock for an instant, hence some patience.
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_S)
            else:
                return

    def release(self) -> None:
        """Give the lock up; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def holder(path: Path) -> int | None:
    """The process id of whoever holds the lock file, None if nobody does, 0 if it cannot be told."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(descriptor, 32).decode("ascii", "replace").strip()
        return int(text) if text.isdecimal() else 0
    else:
        return None
    finally:
        os.close(descriptor)


def _forget_in_child() -> None:
    for lock in list(_held):
        with contextlib.suppress(OSError):
            lock.release()


os.register_at_fork(after_in_child=_forget_in_child)

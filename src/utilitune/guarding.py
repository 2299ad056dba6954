"""Commands of ours that must not outlive us: instance generators, feature extractors, a peer's program.

A watcher is a small process of its own, one for each process that needs it. We tell it, through a pipe, which
process groups are at work. The pipe closes when we end, however we end, and then the watcher kills the
groups that are left. (Runs of the target are not its business: their supervisors see to that themselves.)
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BEGINS, _ENDS = "+", "-"


@contextlib.contextmanager
def guarded(argv: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:  # noqa: ANN401 -- what Popen takes
    """A command at work in a process group of its own; what is left of it at the end of the block is killed.

    Args:
        argv: The command line.
        options: As for `subprocess.Popen`.

    Raises:
        OSError: It cannot be started.
    """
    watcher = _watcher_of(os.getpid())
    process = subprocess.Popen(argv, start_new_session=True, **options)
    watcher.tell(_BEGINS, process.pid)
    with process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            watcher.tell(_ENDS, process.pid)


class _Watcher:
    """The watcher's process, seen from ours."""

    def __init__(self) -> None:
        reading, self._pipe = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(reading)

    def tell(self, what: str, group: int) -> None:
        with contextlib.suppress(BrokenPipeError):  # somebody has killed it: nobody watches any more
            os.write(self._pipe, f"{what}{group}\n".encode())

    def close(self) -> None:
        os.close(self._pipe)
        self._process.wait()


@functools.cache
def _watcher_of(process: int) -> _Watcher:
    """The watcher of a process of ours; one that was forked needs its own."""
    watcher = _Watcher()
    atexit.register(lambda: watcher.close() if os.getpid() == process else None)
    return watcher


def watch() -> None:
    """The watcher itself: keep the list until the pipe closes, then kill what is left."""
    groups: set[int] = set()
    for line in sys.stdin:
        (groups.add if line[0] == _BEGINS else groups.discard)(int(line[1:]))
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    watch()

"""Commands of ours that must not outlive us: instance generators, feature extractors, a peer's program.

A watcher is a small process of its own, one for each process that needs it. We tell it, through a pipe, which
process groups are at work. When we end, however we end, it kills the groups that are left: it sees that the
pipe is closed, or that it has another parent. (Runs of the target are not its business: their supervisors see
to that themselves.)

A process that was forked from ours has nothing to do with our watcher: it closes the pipe and has its own.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_BEGINS, _ENDS = "+", "-"
_LOOK_EVERY_S = 0.2
_MUCH = 65_536


@contextlib.contextmanager
def guarded(argv: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:  # noqa: ANN401 -- what Popen takes
    """A command at work in a process group of its own; what is left of it at the end of the block is killed.

    Args:
        argv: The command line.
        options: As for `subprocess.Popen`.

    Raises:
        OSError: It cannot be started.
    """
    _watch.ready()
    beginner = os.getpid()
    with subprocess.Popen(argv, start_new_session=True, **options) as process:
        try:
            _watch.begins(process.pid)
            yield process
        finally:
            if os.getpid() == beginner:  # not a process that was forked from it in the block
                _kill([process.pid])
                process.wait()
                _watch.ends(process.pid)


class _Watch:
    """The process groups at work, and the watcher that knows of them; one that was killed is replaced."""

    def __init__(self) -> None:
        self._forget()

    def ready(self) -> None:
        """See to it that there is a watcher."""
        with self._lock:
            if self._watcher is None or self._watcher.poll() is not None:
                self._start()

    def begins(self, group: int) -> None:
        """A group is at work."""
        with self._lock:
            self._groups.add(group)
            self._tell(_BEGINS, group)

    def ends(self, group: int) -> None:
        """A group has ended."""
        with self._lock:
            self._groups.discard(group)
            self._tell(_ENDS, group)

    def close(self) -> None:
        """We end: nothing of ours may be left, and then there is nothing to watch."""
        _kill(self._groups)
        if self._watcher is not None:
            self._watcher.kill()
            self._watcher.wait()

    def leave(self) -> None:
        """We were forked from the process whose watch this was, and begin with none of our own."""
        if self._watcher is not None:
            self._watcher.returncode = 0  # not ours to wait for
            os.close(self._pipe)
        self._forget()

    def _forget(self) -> None:
        self._groups: set[int] = set()
        self._watcher: subprocess.Popen[bytes] | None = None
        self._pipe = -1
        self._lock = threading.Lock()

    def _tell(self, what: str, group: int) -> None:
        try:
            os.write(self._pipe, f"{what}{group}\n".encode())
        except BrokenPipeError:
            self._start()

    def _start(self) -> None:
        """Start a watcher and tell it what is at work."""
        if self._watcher is not None:
            os.close(self._pipe)
            self._watcher.wait()
        reading, self._pipe = os.pipe()
        self._watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(reading)
        with contextlib.suppress(BrokenPipeError):  # killed at once: the next command has another one
            os.write(self._pipe, "".join(f"{_BEGINS}{group}\n" for group in self._groups).encode())


_watch = _Watch()
atexit.register(_watch.close)
os.register_at_fork(after_in_child=_watch.leave)


def _kill(groups: Iterable[int]) -> None:
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def watch() -> None:
    """The watcher itself: keep the list for as long as its parent lives, then kill what is left."""
    parent = os.getppid()
    groups: set[int] = set()
    unread = b""
    while True:
        if not select.select([sys.stdin], [], [], _LOOK_EVERY_S)[0]:
            if os.getppid() != parent:
                break
            continue
        heard = os.read(sys.stdin.fileno(), _MUCH)
        if not heard:
            break
        *lines, unread = (unread + heard).split(b"\n")
        for line in lines:
            (groups.add if line[:1] == _BEGINS.encode() else groups.discard)(int(line[1:]))
    _kill(groups)


if __name__ == "__main__":
    watch()

"""What must not outlive us: generators, feature extractors, a peer's program, supervisors with their runs.

A watcher is a small process of its own, one for each process that needs it. We tell it, through a pipe, which
process groups and which supervisors are at work. When we end, however we end, it kills what is left: it sees
that the pipe is closed, or that it has another parent. Supervisors end themselves and their runs when we go;
the watcher sees to those that were killed together with us.

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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utilitune.execution import leftovers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_BOOTSTRAP = (
    "import sys; sys.path.append(sys.argv.pop()); from utilitune.execution.watcher import watch; watch()"
)
_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])
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
            _watch.begins(str(process.pid))
            yield process
        finally:
            if os.getpid() == beginner:  # not a process that was forked from it in the block
                _kill([str(process.pid)])
                process.wait()
                _watch.ends(str(process.pid))


def guard_supervisor(traces: leftovers.Traces | None, kept: str = "") -> Callable[[], None]:
    """Have a supervisor watched, with everything it will start; returns what ends the watch.

    Args:
        traces: How it is found; None where nothing can be found.
        kept: The file that its traces stand in, where there is one.
    """
    if traces is None:
        return lambda: None
    _watch.ready()
    text = f"{traces.mark} {traces.group}" + (f"\0{kept}" if kept and "\n" not in kept else "")
    _watch.begins(text)
    return lambda: _watch.ends(text)


class _Watch:
    """What is at work, and the watcher that knows of it; one that was killed is replaced.

    A process group is told by its number, a supervisor by its mark and its control group.
    """

    def __init__(self) -> None:
        self._forget()

    def ready(self) -> None:
        """See to it that there is a watcher."""
        with self._lock:
            if self._watcher is None or self._watcher.poll() is not None:
                self._start()

    def begins(self, what: str) -> None:
        """Something is at work."""
        with self._lock:
            self._at_work.add(what)
            self._tell(_BEGINS, what)

    def ends(self, what: str) -> None:
        """It has ended."""
        with self._lock:
            if what in self._at_work:
                self._at_work.discard(what)
                self._tell(_ENDS, what)

    def close(self) -> None:
        """We end: no command of ours may be left; supervisors see that we go and need no watcher."""
        _kill(self._at_work)
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
        self._at_work: set[str] = set()
        self._watcher: subprocess.Popen[bytes] | None = None
        self._pipe = -1
        self._lock = threading.Lock()

    def _tell(self, happens: str, what: str) -> None:
        try:
            os.write(self._pipe, _line(happens, what))
        except BrokenPipeError:
            self._start()

    def _start(self) -> None:
        """Start a watcher and tell it what is at work."""
        if self._watcher is not None:
            os.close(self._pipe)
            self._watcher.wait()
        reading, self._pipe = os.pipe()
        self._watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BOOTSTRAP, _PACKAGE_PARENT],
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(reading)
        with contextlib.suppress(BrokenPipeError):  # killed at once: the next command has another one
            os.write(self._pipe, b"".join(_line(_BEGINS, what) for what in self._at_work))


_watch = _Watch()
atexit.register(_watch.close)
os.register_at_fork(after_in_child=_watch.leave)


def _line(happens: str, what: str) -> bytes:
    return os.fsencode(f"{happens}{what}\n")


def _kill(at_work: Iterable[str]) -> None:
    """Kill the process groups among what is at work."""
    for what in at_work:
        if what.isdecimal():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(what), signal.SIGKILL)


def _end_supervisors(at_work: Iterable[str]) -> None:
    for what in at_work:
        mark, space, rest = what.partition(" ")
        group, _, kept = rest.partition("\0")
        if space:
            leftovers.end(leftovers.Traces(mark, group), kept)


def watch() -> None:
    """The watcher itself: keep the list for as long as its parent lives, then kill what is left."""
    parent = os.getppid()
    at_work: set[str] = set()
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
            (at_work.add if line[:1] == _BEGINS.encode() else at_work.discard)(os.fsdecode(line[1:]))
    _kill(at_work)
    _end_supervisors(at_work)

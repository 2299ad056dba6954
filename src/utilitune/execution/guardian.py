"""A guardian above every supervisor: whatever a supervisor that was killed leaves behind falls to it (Linux).

It is a process that the supervisor is forked from, and a child subreaper like it. While the supervisor lives
it sleeps. When the supervisor has ended, however it has, all that is left of its run is by then below the
guardian, whatever its session and its environment, and is ended (`chasing`). Only then does the guardian end
too, and with it the connection to the coordinator: whoever hears of a dead supervisor finds nothing left of
its run.

A program may also *stop* its supervisor (SIGSTOP to its parent), which then neither meters nor ends it. The
guardian lets it go on, and kills it if that happens again and again.

If the guardian is killed, the supervisor is told by the kernel, ends its run and ends. Only if both are
killed at once are the runs nobody's; `leftovers` then looks for them by other traces.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from typing import TYPE_CHECKING

from utilitune.execution.chasing import end_children
from utilitune.execution.metering import become_subreaper, stat_fields

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

GUARDIAN_NAME = "ut-guardian"
SUPERVISOR_NAME = "ut-supervisor"
"""What the kernel calls the two, for those who look for them."""

PATIENCE_S = 30.0
_ASKING_S = 3
_STOPPED_S = 0.2
"""How long a supervisor stays stopped; whoever stops all of a job has stopped the guardian by then, too."""

_MOST_STOPS = 5
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_PARENT = 1
_LEFT_SOMETHING = 3


def stand_guard() -> Callable[[], bool]:
    """Fork into guardian and supervisor; returns in the latter, with a look whether all above are there."""
    coordinator = os.getppid()
    guardian = os.getpid()
    become_subreaper()
    supervisor = os.fork()
    if supervisor:
        try:
            _guard(supervisor)
        finally:
            os._exit(_LEFT_SOMETHING)
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_NAME, SUPERVISOR_NAME.encode(), 0, 0, 0)
    prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    become_subreaper()
    return lambda: _stands(guardian, coordinator)


def _stands(guardian: int, coordinator: int) -> bool:
    """Whether guardian and coordinator are both where they were."""
    try:
        return os.getppid() == guardian and int(stat_fields(guardian)[_PARENT]) == coordinator
    except OSError:
        return False


def _guard(supervisor: int) -> None:
    """Wait for the supervisor's end, and end what it leaves; never returns."""

    def send(number: int) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.kill(supervisor, number)

    def ask(*_: int | FrameType | None) -> None:
        send(signal.SIGTERM)
        signal.alarm(_ASKING_S)

    ctypes.CDLL(None).prctl(_PR_SET_NAME, GUARDIAN_NAME.encode(), 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, ask)
    signal.signal(signal.SIGALRM, lambda *_: send(signal.SIGKILL))
    status = _awaited(supervisor, send)
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    ended = end_children(PATIENCE_S)
    code = os.waitstatus_to_exitcode(status)
    os._exit(_LEFT_SOMETHING if not ended else min(abs(code), 255))


def _awaited(supervisor: int, send: Callable[[int], None]) -> int:
    """How the supervisor has ended; one that is stopped is woken."""
    stops = 0
    while os.WIFSTOPPED(status := os.waitpid(supervisor, os.WUNTRACED)[1]):
        stops += 1
        time.sleep(_STOPPED_S)
        send(signal.SIGCONT if stops < _MOST_STOPS else signal.SIGKILL)
    return status

"""Stopping the processes of a run so that they can go on later as if nothing had happened (Linux).

A run that has reached its captime may be wanted again with a larger one. Instead of being killed and started
afresh it is *stopped* (SIGSTOP), all of its tree, and *continued* (SIGCONT) when that time comes. Nothing is
consumed meanwhile: CPU clocks stand still, and whoever measures wall-clock time leaves the pause out.

A stopped tree is found as it was left, or it counts as lost: if one of its processes has ended, or if
somebody else has let it run, the run is started afresh. Losing it costs time and nothing else. A process that
had stopped itself before is not woken.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

from utilitune.execution.chasing import freeze, strike_below
from utilitune.execution.metering import proportional_bytes, read_process, stat_fields, unmapped_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.execution.metering import Meter, Process, TreeReading

STOPPING_S = 1.0
"""How long it may take until all have really stopped; a process in the middle of a disk access does not."""

CONSUMED_S = 0.02
"""A tree that has consumed more than this while it was stopped was not stopped."""

_LOOK_S = 0.0005
_STOPPED, _DEAD = b"Tt", b"ZX"


class StoppedTree:
    """The processes of a run, all stopped.

    Args:
        reading: What they were when the last of them had stopped.
        asleep: Those that had been stopped before, by themselves.
    """

    def __init__(self, reading: TreeReading, asleep: frozenset[int]) -> None:
        self.reading = reading
        self.since_s = time.monotonic()
        self._asleep = asleep
        self._living = _living(reading.processes)

    def is_intact(self, now: TreeReading) -> bool:
        """Whether all of them are there as they were left; one that dies, or was woken, is not stopped."""
        if _living(now.processes) != self._living or now.cpu_s - self.reading.cpu_s > CONSUMED_S:
            return False
        return _keys(now.processes, _stopped(now.processes)) == self._living

    def wake(self) -> None:
        """Let them go on, children before parents: nobody sees a child that is stopped."""
        for process in reversed(self.reading.processes):
            if process.pid not in self._asleep:
                with contextlib.suppress(OSError):  # gone: whoever looks next will see
                    os.kill(process.pid, signal.SIGCONT)

    def held_bytes(self, others: frozenset[int]) -> int:
        """Memory that is taken as long as they are kept.

        Args:
            others: Processes that are there for their sake only.
        """
        helpers = []
        for pid in others:
            with contextlib.suppress(OSError):  # gone
                helpers.append(read_process(pid))
        processes = [*self.reading.processes, *helpers]
        return proportional_bytes(processes) + unmapped_bytes(self.reading.processes)


def stop_tree(meter: Meter, reap: Callable[[], None], ignore: frozenset[int]) -> StoppedTree | None:
    """Stop everything below this process, which is a subreaper; None if some of it goes on.

    Args:
        meter: What follows the run.
        reap: Waits for children that have ended, without blocking.
        ignore: Children that are no part of the run.
    """
    ourselves, asleep = os.getpid(), frozenset(_stopped(meter.read().processes))

    def stop() -> set[int]:
        reap()
        return strike_below(ourselves, signal.SIGSTOP, ignore)

    freeze(stop)
    deadline_s = time.monotonic() + STOPPING_S
    while time.monotonic() < deadline_s:
        reap()
        reading = meter.read()
        if not (_living(reading.processes) - _keys(reading.processes, _stopped(reading.processes))):
            return StoppedTree(reading, asleep)
        stop()
        time.sleep(_LOOK_S)
    return None


def _living(processes: list[Process]) -> set[tuple[int, int]]:
    return _keys(processes, {process.pid for process in processes if _state(process.pid) not in _DEAD})


def _keys(processes: list[Process], pids: set[int]) -> set[tuple[int, int]]:
    return {(process.pid, process.started) for process in processes if process.pid in pids}


def _stopped(processes: list[Process]) -> set[int]:
    return {process.pid for process in processes if _state(process.pid) in _STOPPED}


def _state(pid: int) -> bytes:
    try:
        return stat_fields(pid)[0]
    except OSError:
        return b"X"

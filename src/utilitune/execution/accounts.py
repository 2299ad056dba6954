"""What a run has consumed by the kernel's own books, which know also children that nobody waited for.

A supervisor has one book, opened before it starts anything: that of its control group (`cgroups`), or else a
*task clock*, a counter of perf_event_open(2) that every child inherits, however it is started and whoever
waits for it. Reading it gives the CPU time of the supervisor and of everything below it, alive or gone.
Ordinary users may have one where ``/proc/sys/kernel/perf_event_paranoid`` is at most 2, the kernel's default.

A control group books exactly what `metering` adds up. A task clock also runs on while the hypervisor has
taken the processor away (stolen time) or an interrupt is served. So it counts only where it shows clearly
more than the processes that were followed, and without what was stolen from all processors meanwhile: neither
book stops a run early. Sources: perf_event_open(2), proc(5), and perf_event.h for the layout.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import time
from typing import Protocol

from utilitune.execution.cgroups import process_clock_s

OFF = "UTILITUNE_NO_TASK_CLOCK"
"""If this variable is set, no task clock is opened."""

_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241, "riscv64": 241}
_SOFTWARE, _TASK_CLOCK, _CLOSE_ON_EXEC = 1, 1, 8
_INHERIT, _WITHOUT_KERNEL, _WITHOUT_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_STOLEN = 8
_UNCLEAR_S = 0.001
_UNCLEAR_SHARE = 0.003


class Book(Protocol):
    """What the kernel knows of a supervisor and of everything that it ever started."""

    def cpu_s(self) -> float:
        """CPU seconds of all of them together."""

    def doubtful_s(self) -> float:
        """Seconds that `cpu_s` may hold although nobody consumed them."""

    def clear_s(self, followed_s: float) -> float:
        """How many seconds show clearly that there was more than those who were followed."""


class TaskClock:
    """A counter that everything inherits which this process starts from now on.

    Args:
        descriptor: The open counter.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._steals = stolen_s() > 0

    def cpu_s(self) -> float:
        """CPU seconds of this process and everything below it since the counter was opened."""
        return int.from_bytes(os.read(self.descriptor, 8), sys.byteorder) * 1e-9

    def doubtful_s(self) -> float:
        """Seconds that others on the same hardware took from our processors since the start; usually 0."""
        return stolen_s() if self._steals else 0.0

    def clear_s(self, followed_s: float) -> float:
        """The clock and the processes that were followed agree up to this figure."""
        return followed_s + _UNCLEAR_S + _UNCLEAR_SHARE * followed_s


def open_task_clock() -> TaskClock | None:
    """Open a task clock of this process; None where that is refused."""
    number = _PERF_EVENT_OPEN.get(os.uname().machine)
    if OFF in os.environ or number is None or sys.maxsize < 1 << 32:
        return None
    flags = _INHERIT | _WITHOUT_KERNEL | _WITHOUT_HYPERVISOR  # a clock runs on in the kernel nevertheless
    wanted = struct.pack("=IIQ24xQ16x", _SOFTWARE, 64, _TASK_CLOCK, flags)
    ours, any_processor, no_group = 0, -1, -1
    descriptor = ctypes.CDLL(None).syscall(number, wanted, ours, any_processor, no_group, _CLOSE_ON_EXEC)
    return TaskClock(descriptor) if descriptor >= 0 else None


def stolen_s() -> float:
    """Seconds that the hypervisor has taken from all processors together since the machine was started."""
    try:
        with open("/proc/stat", "rb") as stream:  # noqa: PTH123 (pathlib would slow every supervisor's start)
            return int(stream.readline().split()[_STOLEN]) * _TICK_S
    except (OSError, IndexError, ValueError):
        return 0.0


class Account:
    """What one run has consumed, by a book of its supervisor: all but the supervisor itself and its servers.

    Args:
        book: The supervisor's book.
        servers: Process ids of its fork servers.
        known_s: What the run has consumed already.
    """

    def __init__(self, book: Book, servers: frozenset[int], known_s: float = 0.0) -> None:
        self._book = book
        self._servers_s = dict.fromkeys(servers, 0.0)
        self._doubtful_s = book.doubtful_s()
        self._rested_s = self._doubtful_s
        self._before_s = self._booked_s() - known_s

    def consumed_s(self, followed_s: float) -> float:
        """CPU seconds of the run, if following its processes has given `followed_s`."""
        booked_s = self._booked_s() - self._before_s
        if booked_s <= self._book.clear_s(followed_s):
            return followed_s
        return max(followed_s, booked_s - (self._book.doubtful_s() - self._doubtful_s))

    def rest(self) -> None:
        """The run is stopped: what is doubtful from now on is none of its business."""
        self._rested_s = self._book.doubtful_s()

    def go_on(self) -> None:
        """The run goes on."""
        self._doubtful_s += self._book.doubtful_s() - self._rested_s

    def _booked_s(self) -> float:
        """Reading our own clock first makes the kernel book it in a group as well."""
        for server in self._servers_s:
            try:
                self._servers_s[server] = process_clock_s(server)
            except OSError:
                continue  # it has ended; what it consumed stays what it was
        own_s = time.process_time()
        return self._book.cpu_s() - own_s - sum(self._servers_s.values())

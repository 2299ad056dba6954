"""What a whole process tree has consumed, while it runs and after it has ended.

The supervisor is a child subreaper (prctl(2)): a process whose parent dies becomes the supervisor's
child, so everything a run starts stays below the supervisor, also after setsid or a double fork, and
ends by being waited for, by its own parent or by the supervisor. The CPU time of the tree is then

    C  =  Σ_{reaped by the supervisor} rusage  +  Σ_{alive} (own clock + waited-for children)  +  lost

* ``wait4`` gives the user and system time of a process and of all it waited for, to the microsecond.
* The CPU clock of a live process, ``clock_gettime`` on the clock id (~pid << 3) | 2, covers all its
  threads, also ended ones, to the nanosecond, once it has been brought up to date (`scheduling`).
* The waited-for children of a live process stand in ``/proc/<pid>/stat`` (cutime, cstime; proc(5)),
  rounded down to clock ticks of 10 ms.
* Lost is what nobody waits for: children of a process that ignores SIGCHLD vanish without leaving
  their time to anyone. The sum then falls by what they had when last seen, and that fall is booked.

A process is always read before its children. One that ends in between is at worst missed in that
reading, never counted twice, so no run is stopped early. Sources: prctl(2), wait4(2), proc(5),
clock_getcpuclockid(3).
"""

# Importing pathlib would slow every supervisor's start, and using it every reading.
# ruff: noqa: PTH110, PTH208

from __future__ import annotations

import ctypes
import os
import signal
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from utilitune.execution.scheduling import book_running_time

if TYPE_CHECKING:
    import resource
    from collections.abc import Callable, Iterable

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PR_SET_CHILD_SUBREAPER = 36
_PROCESS_CPU_CLOCK = 2


class Process(NamedTuple):
    """One live process (or zombie) of a tree, as read at one moment."""

    pid: int
    group: int
    threads: int
    running: bool
    cpu_s: float
    resident_bytes: int


class TreeReading(NamedTuple):
    """A whole tree at one moment."""

    cpu_s: float
    processes: list[Process]

    @property
    def threads(self) -> int:
        """How many threads could be running."""
        return sum(process.threads for process in self.processes)

    @property
    def running(self) -> bool:
        """Whether some process has a processor or waits for one."""
        return any(process.running for process in self.processes)

    @property
    def resident_bytes(self) -> int:
        """Sum of resident memory; pages that processes share count for each of them."""
        return sum(process.resident_bytes for process in self.processes)


class Meter(Protocol):
    """Follows the processes of one run."""

    def book(self, usage: resource.struct_rusage) -> None:
        """Add the consumption of a process that the supervisor has waited for."""

    def read(self) -> TreeReading:
        """What the run has consumed and which of its processes are left."""


class TreeMeter:
    """Follows everything below the supervisor: Linux.

    Args:
        supervisor: Process id of the subreaper.
        ignore: Process ids below it that are no part of the run; their children are none either.
    """

    def __init__(self, supervisor: int, ignore: Iterable[int] = ()) -> None:
        self._supervisor = supervisor
        self._ignore = frozenset(ignore)
        self._reaped_s = 0.0
        self._lost_s = 0.0
        self._highest_s = 0.0

    def book(self, usage: resource.struct_rusage) -> None:
        """Add the consumption of a process that the supervisor has waited for."""
        self._reaped_s += usage.ru_utime + usage.ru_stime

    def read(self) -> TreeReading:
        """What the tree has consumed and which of its processes are left."""
        reading = self._read_once()
        if reading.cpu_s < self._fallen_below(reading):
            # A process that ended during the reading looks like lost time; a second look tells.
            again = self._read_once()
            if again.cpu_s < self._fallen_below(again):
                self._lost_s += self._highest_s - again.cpu_s
                again = TreeReading(self._highest_s, again.processes)
            reading = again
        self._highest_s = max(self._highest_s, reading.cpu_s)
        return reading

    def _fallen_below(self, reading: TreeReading) -> float:
        """Below this the sum cannot have fallen by the rounding of cutime and cstime alone."""
        return self._highest_s - 2 * _TICK_S * (len(reading.processes) + 1)

    def _read_once(self) -> TreeReading:
        processes = descendants(self._supervisor, self._ignore)
        alive_s = sum(process.cpu_s for process in processes)
        return TreeReading(self._reaped_s + self._lost_s + alive_s, processes)


class GroupMeter:
    """Follows one process group: where there is no ``/proc``; knows CPU time only after the end.

    Args:
        group: Process group of the run.
    """

    def __init__(self, group: int) -> None:
        self._group = group
        self._reaped_s = 0.0

    def book(self, usage: resource.struct_rusage) -> None:
        """Add the consumption of a process that the supervisor has waited for."""
        self._reaped_s += usage.ru_utime + usage.ru_stime

    def read(self) -> TreeReading:
        """What is known of the group."""
        try:
            os.killpg(self._group, 0)
        except (ProcessLookupError, PermissionError):
            return TreeReading(self._reaped_s, [])
        leader = Process(self._group, self._group, threads=1, running=True, cpu_s=0.0, resident_bytes=0)
        return TreeReading(self._reaped_s, [leader])


def become_subreaper() -> None:
    """Make this process the parent of every descendant whose own parent dies (Linux)."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot become a child subreaper")


def descendants(root: int, ignore: frozenset[int] = frozenset()) -> list[Process]:
    """Everything below `root`, parents before children."""
    children = _listed_children if _CHILDREN_ARE_LISTED else _scan_for_children()
    seen = set(ignore)
    found = []
    pending = list(children(root, 1))
    while pending:
        pid = pending.pop()
        if pid in seen:
            continue
        seen.add(pid)
        try:
            process = read_process(pid)
            found.append(process)
            pending.extend(children(pid, process.threads))
        except OSError:
            continue  # it ended while we looked
    return found


def read_process(pid: int) -> Process:
    """Read one process; raises `OSError` if it has gone."""
    fields = _stat_fields(pid)
    waited_s = (int(fields[13]) + int(fields[14])) * _TICK_S
    threads = 0 if fields[0] == b"Z" and fields[17] == b"1" else int(fields[17])
    running = fields[0] == b"R"
    if running or threads > 1:
        book_running_time(pid, threads)
    own_s = time.clock_gettime((~pid << 3) | _PROCESS_CPU_CLOCK)
    return Process(pid, int(fields[2]), threads, running, own_s + waited_s, int(fields[21]) * _PAGE_BYTES)


def proportional_bytes(processes: Iterable[Process]) -> int:
    """Resident memory in which a page shared by n processes counts 1/n for each; slow but fair."""
    total = 0
    for process in processes:
        try:
            lines = _read_file(f"/proc/{process.pid}/smaps_rollup").splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
    return total


def own_peak_bytes() -> int:
    """Largest resident memory of this program so far (Linux).

    The kernel passes it on to whatever is spawned from here, as the least peak that wait4 can report;
    our own peak by getrusage is in turn inherited from the coordinator and says nothing.
    """
    text = _read_file("/proc/self/status")
    return int(text[text.index(b"VmHWM:") :].split(None, 2)[1]) * 1024


def kill_marked(variable: bytes, patience_s: float) -> None:
    """Kill every process whose environment holds ``NAME=value``, until there is none or time is up (Linux).

    This finds what a supervisor left behind that was itself killed by force.
    """
    deadline_s = time.monotonic() + patience_s
    marked = True
    while marked and time.monotonic() < deadline_s:
        marked = False
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                if variable in _read_file(f"/proc/{name}/environ").split(b"\0"):
                    os.kill(int(name), signal.SIGKILL)
                    marked = True
            except OSError:
                continue  # gone, or not ours
        time.sleep(0.001 if marked else 0)


def _listed_children(pid: int, threads: int) -> list[int]:
    if threads <= 1:
        return [int(child) for child in _read_file(f"/proc/{pid}/task/{pid}/children").split()]
    found: list[int] = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            found.extend(int(child) for child in _read_file(f"/proc/{pid}/task/{thread}/children").split())
        except OSError:
            continue  # that thread ended while we looked
    return found


def _scan_for_children() -> Callable[[int, int], list[int]]:
    """For kernels that do not list children: the parents of all processes, read once."""
    by_parent: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                by_parent.setdefault(int(_stat_fields(int(name))[1]), []).append(int(name))
            except OSError:
                continue  # it ended while we looked
    return lambda pid, _threads: by_parent.get(pid, [])


def _stat_fields(pid: int) -> list[bytes]:
    """The fields of ``/proc/<pid>/stat`` from the third on; the second may hold spaces and brackets."""
    text = _read_file(f"/proc/{pid}/stat")
    return text[text.rindex(b")") + 2 :].split()


def _read_file(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


_CHILDREN_ARE_LISTED = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")

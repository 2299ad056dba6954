"""What a whole process tree has consumed, while it runs and after it has ended.

The supervisor is a child subreaper (prctl(2)): a process whose parent dies becomes the supervisor's
child, so everything a run starts stays below the supervisor, also after setsid or a double fork, and
ends by being waited for, by its own parent or by the supervisor. The CPU time of the tree is then

    C  =  Σ_{reaped by the supervisor} max(rusage, last seen)  +  Σ_{alive} (own clock + max(W, B))

* ``wait4`` gives the user and system time of a process and of all it waited for, to the microsecond.
* The CPU clock of a live process, ``clock_gettime`` on the clock id (~pid << 3) | 2, covers all its
  threads, also ended ones, to the nanosecond, once it has been brought up to date (`scheduling`).
* W is what a live process has waited for. It stands in ``/proc/<pid>/stat`` (cutime, cstime; proc(5)),
  rounded down to clock ticks of 10 ms.
* B is what its vanished children had consumed when they were last seen. Where a parent waits for its
  children, B cannot exceed the exact W and makes good for some of its rounding. Where it does not (it
  ignores SIGCHLD), W is 0, the children leave their time to nobody, and B is what is known of it.

Every process is remembered by its id and start time, so that one which vanishes is told from one that a
reading missed: the kernel's list of children may leave out some while others end. Neither max counts a
second twice, so no run is stopped early.

Where the kernel keeps a book of everything that the supervisor starts (`accounts`), it knows C exactly, with
every child that was never seen; the larger of the two figures counts, since a privileged program may leave
its control group. Sources: prctl(2), wait4(2), proc(5), clock_getcpuclockid(3).
"""

# Importing pathlib would slow every supervisor's start, and using it every reading.
# ruff: noqa: PTH110, PTH115, PTH116, PTH208

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from utilitune.execution.cgroups import process_clock_s
from utilitune.execution.scheduling import book_running_time

if TYPE_CHECKING:
    import resource
    from collections.abc import Callable, Iterable

    from utilitune.execution.accounts import Account

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PR_SET_CHILD_SUBREAPER = 36
_IN_MEMORY = ("/memfd:", "/dev/shm/")  # noqa: S108 (nothing is written there)
_NOTICEABLE_S = 4 * _TICK_S
"""What vanished children had beyond what was waited for, from which on their parent does not wait."""


class Process(NamedTuple):
    """One live process (or zombie) of a tree, as read at one moment."""

    pid: int
    parent: int
    started: int
    group: int
    threads: int
    running: bool
    own_s: float
    waited_s: float
    resident_bytes: int


class TreeReading(NamedTuple):
    """A whole tree at one moment.

    Attributes:
        cpu_s: What it has consumed.
        processes: Who is left of it.
        leaks: Whether time was lost with children that nobody waited for, so that more may be.
    """

    cpu_s: float
    processes: list[Process]
    leaks: bool = False

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

    def book(self, pid: int, usage: resource.struct_rusage) -> None:
        """Add the consumption of a process that the supervisor has waited for."""

    def read(self) -> TreeReading:
        """What the run has consumed and which of its processes are left."""


class _Known:
    """What is remembered of a process between two readings."""

    __slots__ = ("buried_s", "own_s", "parent", "waited_s")

    def __init__(self, process: Process, buried_s: float) -> None:
        self.parent = process.parent
        self.own_s = process.own_s
        self.waited_s = process.waited_s
        self.buried_s = buried_s

    @property
    def cpu_s(self) -> float:
        return self.own_s + max(self.waited_s, self.buried_s)

    @property
    def leaks(self) -> bool:
        return self.buried_s > self.waited_s + _NOTICEABLE_S


class TreeMeter:
    """Follows everything below the supervisor: Linux.

    Args:
        supervisor: Process id of the subreaper.
        ignore: Process ids below it that are no part of the run; their children are none either.
        account: What the kernel's own book shows of the run, where there is one.
    """

    def __init__(
        self,
        supervisor: int,
        ignore: Iterable[int] = (),
        account: Account | None = None,
    ) -> None:
        self._supervisor = supervisor
        self._ignore = frozenset(ignore)
        self._account = account
        self._known: dict[tuple[int, int], _Known] = {}
        self._booked_s: dict[int, float] = {}
        self._ended_s = 0.0
        self._highest_s = 0.0
        self._leaks = False

    def book(self, pid: int, usage: resource.struct_rusage) -> None:
        """Add the consumption of a process that the supervisor has waited for."""
        self._booked_s[pid] = self._booked_s.get(pid, 0.0) + usage.ru_utime + usage.ru_stime

    def read(self) -> TreeReading:
        """What the tree has consumed and which of its processes are left."""
        processes = descendants(self._supervisor, self._ignore)
        seen = {(process.pid, process.started) for process in processes}
        gone = [key for key in self._known if key not in seen]
        if gone:
            processes.extend(self._missed(gone))
        self._remember(processes)
        alive_s = sum(known.cpu_s for known in self._known.values())
        cpu_s = max(self._highest_s, self._ended_s + alive_s)
        if self._account is not None:
            cpu_s = self._account.consumed_s(cpu_s)
        self._highest_s = cpu_s
        return TreeReading(cpu_s, processes, self._leaks and self._account is None)

    def _missed(self, keys: Iterable[tuple[int, int]]) -> list[Process]:
        """Those among the processes not seen again that are there nevertheless."""
        found = []
        for pid, started in keys:
            if pid in self._booked_s:
                continue
            try:
                process = read_process(pid)
            except OSError:
                continue
            if process.started == started:
                found.append(process)
        return found

    def _remember(self, processes: list[Process]) -> None:
        """Take over the reading, and settle what those who have gone had consumed."""
        before = self._known
        now: dict[tuple[int, int], _Known] = {}
        for process in processes:
            key = (process.pid, process.started)
            earlier = before.pop(key, None)
            now[key] = _Known(process, earlier.buried_s if earlier is not None else 0.0)
        if before:
            heirs = {pid: known for (pid, _), known in (*before.items(), *now.items())}
            for (pid, _), known in reversed(before.items()):  # children stand behind their parents
                self._settle(known, self._booked_s.pop(pid, None), heirs.get(known.parent))
        self._ended_s += sum(self._booked_s.values())  # those who were never seen
        self._booked_s.clear()
        self._leaks = self._leaks or any(known.leaks for known in now.values())
        self._known = now

    def _settle(self, gone: _Known, booked_s: float | None, heir: _Known | None) -> None:
        self._leaks = self._leaks or gone.leaks
        if booked_s is not None:
            self._ended_s += max(booked_s, gone.cpu_s)
        elif heir is not None:
            heir.buried_s += gone.cpu_s
        else:
            self._ended_s += gone.cpu_s


class GroupMeter:
    """Follows one process group: where there is no ``/proc``; knows CPU time only after the end.

    Args:
        group: Process group of the run.
    """

    def __init__(self, group: int) -> None:
        self._group = group
        self._reaped_s = 0.0

    def book(self, pid: int, usage: resource.struct_rusage) -> None:  # noqa: ARG002 (part of the seam)
        """Add the consumption of a process that the supervisor has waited for."""
        self._reaped_s += usage.ru_utime + usage.ru_stime

    def read(self) -> TreeReading:
        """What is known of the group."""
        try:
            os.killpg(self._group, 0)
        except (ProcessLookupError, PermissionError):
            return TreeReading(self._reaped_s, [])
        leader = Process(
            pid=self._group,
            parent=0,
            started=0,
            group=self._group,
            threads=1,
            running=True,
            own_s=0.0,
            waited_s=0.0,
            resident_bytes=0,
        )
        return TreeReading(self._reaped_s, [leader])


def become_subreaper() -> None:
    """Make this process the parent of every descendant whose own parent dies (Linux)."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot become a child subreaper")


def descendants(root: int, ignore: frozenset[int] = frozenset()) -> list[Process]:
    """Everything below `root`, parents before children."""
    children = child_lister()
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
    fields = stat_fields(pid)
    waited_s = (int(fields[13]) + int(fields[14])) * _TICK_S
    threads = 0 if fields[0] == b"Z" and fields[17] == b"1" else int(fields[17])
    running = fields[0] == b"R"
    if running or threads > 1:
        book_running_time(pid, threads)
    return Process(
        pid=pid,
        parent=int(fields[1]),
        started=int(fields[19]),
        group=int(fields[2]),
        threads=threads,
        running=running,
        own_s=process_clock_s(pid),
        waited_s=waited_s,
        resident_bytes=int(fields[21]) * _PAGE_BYTES,
    )


def proportional_bytes(processes: Iterable[Process]) -> int:
    """Resident memory in which a page shared by n processes counts 1/n for each; slow but fair.

    A process may forbid others to look (it is undumpable), and only privileged users then see its shares.
    For such processes what they share with files counts once, for the one that has most of it, and the rest
    counts for each of them, also the pages that a fork has not copied yet.
    """
    total = shared = 0
    for process in processes:
        try:
            total += _named_kilobytes(f"/proc/{process.pid}/smaps_rollup", b"Pss:")
        except PermissionError:
            resident, of_files = _resident_and_shared(process.pid)
            total += resident - of_files
            shared = max(shared, of_files)
        except OSError:
            continue  # it ended while we looked
    return total + shared


def unmapped_bytes(processes: Iterable[Process]) -> int:
    """Memory in open files that live in memory (memfd, shared memory) and that no process has mapped.

    It belongs to nobody's resident memory. Only the files of processes that let us look are found.
    """
    sizes: dict[tuple[int, int], int] = {}
    mapped = 0
    for process in processes:
        try:
            found = _memory_files(process.pid)
            mapped += _named_kilobytes(f"/proc/{process.pid}/status", b"RssShmem:") if found else 0
        except OSError:
            continue  # it ended while we looked, or does not let us
        sizes.update(found)
    return max(0, sum(sizes.values()) - mapped)


def _memory_files(pid: int) -> dict[tuple[int, int], int]:
    """Bytes in each open file of a process that lives in memory, by device and inode."""
    sizes = {}
    folder = f"/proc/{pid}/fd"
    for name in os.listdir(folder):
        try:
            if os.readlink(f"{folder}/{name}").startswith(_IN_MEMORY):
                state = os.stat(f"{folder}/{name}")
                sizes[state.st_dev, state.st_ino] = state.st_blocks * 512
        except OSError:
            continue  # closed while we looked
    return sizes


def _named_kilobytes(path: str, name: bytes) -> int:
    """The sum of the lines that begin with a name, in bytes."""
    lines = read_file(path).splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _resident_and_shared(pid: int) -> tuple[int, int]:
    """Resident memory of a process, and how much of it belongs to files and shared memory."""
    try:
        _, resident, shared, *_ = read_file(f"/proc/{pid}/statm").split()
    except OSError:
        return 0, 0  # it ended while we looked
    return int(resident) * _PAGE_BYTES, int(shared) * _PAGE_BYTES


def own_peak_bytes() -> int:
    """Largest resident memory of this program so far (Linux).

    The kernel passes it on to whatever is spawned from here, as the least peak that wait4 can report;
    our own peak by getrusage is in turn inherited from the coordinator and says nothing.
    """
    text = read_file("/proc/self/status")
    return int(text[text.index(b"VmHWM:") :].split(None, 2)[1]) * 1024


def child_lister() -> Callable[[int, int], list[int]]:
    """A function of a process and the number of its threads that lists the process's children, as of now."""
    return _listed_children if _CHILDREN_ARE_LISTED else _scan_for_children()


def _listed_children(pid: int, threads: int) -> list[int]:
    if threads <= 1:
        return [int(child) for child in read_file(f"/proc/{pid}/task/{pid}/children").split()]
    found: list[int] = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            found.extend(int(child) for child in read_file(f"/proc/{pid}/task/{thread}/children").split())
        except OSError:
            continue  # that thread ended while we looked
    return found


def _scan_for_children() -> Callable[[int, int], list[int]]:
    """For kernels that do not list children: the parents of all processes, read once."""
    by_parent: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                by_parent.setdefault(int(stat_fields(int(name))[1]), []).append(int(name))
            except OSError:
                continue  # it ended while we looked
    return lambda pid, _threads: by_parent.get(pid, [])


def stat_fields(pid: int) -> list[bytes]:
    """The fields of ``/proc/<pid>/stat`` from the third on; the second may hold spaces and brackets."""
    text = read_file(f"/proc/{pid}/stat")
    return text[text.rindex(b")") + 2 :].split()


def read_file(path: str) -> bytes:
    """The content of a file of the kernel."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


_CHILDREN_ARE_LISTED = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")

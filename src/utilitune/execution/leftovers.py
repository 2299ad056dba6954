"""Finding and killing what a supervisor left behind that was itself killed by force (Linux).

Three traces lead to it, each where the one before it fails:

* the supervisor's control group (`cgroups`), which nothing it started has left;
* a mark in the environment (`MARK`), which every program inherits, unless it clears its environment or
  forbids others to read it;
* the session of the run, whose leader is noted at every start.

Before that, supervisors and their guardians (`guardian`) that are still there are asked to end: what is below
them they find better than anybody else. What has lost them is signalled as soon as it is seen, and stopped
before it is killed (`chasing`).

The traces of all supervisors of a run folder are kept in that folder, one small file each. Whoever works in
the folder next, as its only writer, follows them before anything else is started. So also a coordinator that
was killed together with all its supervisors leaves nothing alive for longer than until the next start.
"""

# Importing pathlib would slow every supervisor's start.
# ruff: noqa: PTH103, PTH108, PTH118, PTH123, PTH208

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import NamedTuple

from utilitune.execution import cgroups
from utilitune.execution.chasing import freeze, is_dead, newest_first, orphans_of_others, strike
from utilitune.execution.guardian import GUARDIAN_NAME, SUPERVISOR_NAME
from utilitune.execution.metering import read_file, stat_fields

MARK = "UTILITUNE_SUPERVISOR"
"""Names the variable that every program of a supervisor has in its environment."""

PATIENCE_S = 20.0
_SETTLING_S = 0.02
_LOOK_S = 0.002
_QUICK_LOOKS = 20
_KEEPERS = (GUARDIAN_NAME, SUPERVISOR_NAME)
_LEADER_BYTES = 48
_SESSION, _STARTED = 3, 19


class Leader(NamedTuple):
    """The first process of a run: the leader of its session."""

    pid: int
    started: int


class Traces(NamedTuple):
    """How to find what a supervisor has started.

    Attributes:
        mark: The value of `MARK` in its environment.
        group: The folder of its control group; empty where it has none.
        leader: The first process of its run, where that was noted.
    """

    mark: str
    group: str = ""
    leader: Leader | None = None


def end(traces: Traces, kept: str = "") -> bool:
    """End the supervisor and everything it has started; False if there is something when time is up.

    Args:
        traces: What is known of it.
        kept: The file that its traces stand in, where there is one: it names the leader of the latest run, by
            which also programs are found that let nobody read their environment.
    """
    traces = (read_traces(kept, traces.mark) if kept else None) or traces
    if traces.group:
        cgroups.kill(traces.group)
    _dismiss_keepers(traces)
    deadline_s = time.monotonic() + PATIENCE_S
    quiet = 0
    # A program that is just being started has no environment for a moment, hence a second look.
    while quiet < 2 and time.monotonic() < deadline_s:
        found = freeze(lambda: _strike_all(traces, signal.SIGSTOP))
        for pid in found:
            strike(pid, signal.SIGKILL)
        quiet = 0 if found else quiet + 1
        time.sleep(0.0 if found else _SETTLING_S)
    _remove_group(traces.group, deadline_s)
    return quiet > 1


def keep(folder: str, traces: Traces) -> str:
    """Keep the traces of a supervisor that is about to start; returns the file they stand in."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, traces.mark)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(f"{_boot()}\n{traces.group}\n")
    return path


class LeaderNote:
    """Notes the leader of every run beside the other traces.

    Args:
        path: The file the traces stand in.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        self._offset = os.fstat(self._descriptor).st_size

    def note(self, pid: int) -> None:
        """A run has begun with this process."""
        try:
            text = f"{pid} {int(stat_fields(pid)[_STARTED])}".ljust(_LEADER_BYTES)
            os.pwrite(self._descriptor, text.encode(), self._offset)
        except OSError:
            return  # it has ended already, or the disk is full: the mark remains


def forget(path: str) -> None:
    """Nothing is left of a supervisor: its traces are not needed any more."""
    with contextlib.suppress(OSError):
        os.unlink(path)
        os.rmdir(os.path.dirname(path))  # noqa: PTH106, PTH120 -- as above


def sweep(folder: str) -> None:
    """Follow all traces in a folder and kill what they lead to; only for whoever owns the folder."""
    try:
        marks = os.listdir(folder)
    except OSError:
        return
    for mark in marks:
        path = os.path.join(folder, mark)
        traces = read_traces(path, mark)
        if traces is None or end(traces):
            forget(path)


def read_traces(path: str, mark: str) -> Traces | None:
    """The traces in a file; None if they are from before the machine was started."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            boot, group, leader = (*stream.read().split("\n"), "", "", "")[:3]
    except OSError:
        return None
    if boot != _boot():
        return None
    numbers = leader.split()
    known = len(numbers) == len(Leader._fields) and all(number.isdecimal() for number in numbers)
    return Traces(mark, group, Leader(*map(int, numbers)) if known else None)


def _dismiss_keepers(traces: Traces) -> None:
    """Ask guardian and supervisor to end all that is below them, and wait until they have, for a while."""
    deadline_s = time.monotonic() + PATIENCE_S
    keepers = [pid for pid in newest_first() if _belongs(pid, traces) and _name(pid) in _KEEPERS]
    for number in (signal.SIGTERM, signal.SIGCONT):
        for pid in keepers:
            with contextlib.suppress(OSError):  # gone
                os.kill(pid, number)
    while not all(is_dead(pid) for pid in keepers) and time.monotonic() < deadline_s:
        time.sleep(_LOOK_S)


def _strike_all(traces: Traces, number: int) -> set[int]:
    """Signal all that can be found, each as soon as it is seen; returns who was seen.

    Orphans come first, again and again: a chain of processes that fork and end has its youngest link there.
    """
    found: set[int] = set()
    others: set[int] = {os.getpid()}
    for look in (*(orphans_of_others,) * _QUICK_LOOKS, newest_first):
        for pid in look():
            if pid in found or pid in others:
                continue
            if _belongs(pid, traces):
                strike(pid, number)
                found.add(pid)
            else:
                others.add(pid)
    return found


def _belongs(pid: int, traces: Traces) -> bool:
    """Whether a process is alive and of a supervisor, or what it has started."""
    try:
        if _marked(pid, os.fsencode(f"{MARK}={traces.mark}")):
            return True  # the dead have no environment
        fields = stat_fields(pid)
        return fields[0] not in b"ZX" and _led(fields, traces.leader)
    except OSError:
        return False  # it has ended


def _name(pid: int) -> str:
    try:
        return read_file(f"/proc/{pid}/comm").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _marked(pid: int, variable: bytes) -> bool:
    try:
        return variable in read_file(f"/proc/{pid}/environ").split(b"\0")
    except OSError:
        return False  # not ours to read


def _led(fields: list[bytes], leader: Leader | None) -> bool:
    """Whether a process belongs to the leader's session, which cannot have begun before the leader."""
    if leader is None or int(fields[_SESSION]) != leader.pid or int(fields[_STARTED]) < leader.started:
        return False
    try:
        return int(stat_fields(leader.pid)[_STARTED]) == leader.started
    except OSError:
        return True  # the leader has ended; its number is not given away while its session lasts


def _remove_group(path: str, deadline_s: float) -> None:
    """Remove a control group as soon as the dead have left it."""
    cgroups.remove(path)
    while path and os.path.exists(path) and time.monotonic() < deadline_s:  # noqa: PTH110 -- as above
        time.sleep(0.005)
        cgroups.remove(path)


def _boot() -> str:
    """Names this start of the machine: process ids mean nothing after the next one."""
    try:
        return read_file("/proc/sys/kernel/random/boot_id").decode("ascii").strip()
    except OSError:
        return ""

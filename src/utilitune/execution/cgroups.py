"""A control group for every supervisor, where the system lets us have one (Linux, cgroup v2).

What a supervisor starts is born into its group and stays there, whoever its parent is and whatever session or
environment it has. So the group knows two things that nobody else does:

* ``cpu.stat`` holds the CPU time of every process that ever was in it, also of those that nobody waited for
  and of those that lived too short to be seen.
* ``cgroup.kill`` ends all of it with one write, also when the supervisor has been killed.

No controller is needed for either. A group is made below the one we are in; privileged users may do that, and
others where their part of the tree was handed over to them (a systemd user session, ``Delegate=yes``). Where
it is refused, process trees are followed by their parents alone (`metering`), and nothing else changes.
Sources: cgroups(7), the kernel's cgroup-v2.rst.
"""

# Importing pathlib would slow every supervisor's start.
# ruff: noqa: PTH102, PTH106, PTH110, PTH118

from __future__ import annotations

import os
import time

OFF = "UTILITUNE_NO_CGROUPS"
"""If this variable is set, no control groups are made."""

_PREFIX = "utilitune-"
_PROCESS_CPU_CLOCK = 2


class ControlGroup:
    """The control group of one supervisor.

    Args:
        path: Its folder.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._usage = os.open(os.path.join(path, "cpu.stat"), os.O_RDONLY | os.O_CLOEXEC)

    def cpu_s(self) -> float:
        """CPU seconds of everything that ever was in the group."""
        return int(os.pread(self._usage, 64, 0).split(None, 2)[1]) * 1e-6

    def doubtful_s(self) -> float:
        """A group books what was consumed, and nothing else."""
        return 0.0

    def clear_s(self, followed_s: float) -> float:
        """Whatever is beyond those who were followed was consumed by others."""
        return followed_s


def process_clock_s(pid: int) -> float:
    """The CPU clock of a process; raises `OSError` if it has gone."""
    return time.clock_gettime((~pid << 3) | _PROCESS_CPU_CLOCK)


def group_path(mark: str) -> str:
    """Where the group of the supervisor with this mark lies, below our own; empty where there is none."""
    if OFF in os.environ:
        return ""
    try:
        place = _own_place()
    except (OSError, ValueError):
        return ""
    return os.path.join(place, _PREFIX + mark) if place else ""


def enter(path: str) -> ControlGroup | None:
    """Make a group and move this process into it; None where that is refused."""
    if not path:
        return None
    try:
        os.mkdir(path)
        _write(os.path.join(path, "cgroup.procs"), str(os.getpid()))
        return ControlGroup(path)
    except (OSError, ValueError):
        remove(path)
        return None


def kill(path: str) -> None:
    """End everything in a group, at once."""
    try:
        _write(os.path.join(path, "cgroup.kill"), "1")
    except OSError:
        return  # gone, or a kernel before 5.14: the marks are looked for anyway


def remove(path: str) -> None:
    """Remove a group that is empty, with the empty groups that were made below it."""
    if not (path and os.path.exists(path) and os.path.basename(path).startswith(_PREFIX)):  # noqa: PTH119
        return
    for folder, _, _ in os.walk(path, topdown=False):
        try:
            os.rmdir(folder)
        except OSError:
            return  # somebody is still in it


def _own_place() -> str:
    """The folder of the group we are in; empty without cgroup v2."""
    mounts = [line.split() for line in _lines("/proc/self/mountinfo")]
    at = next((m for m in mounts if m[m.index("-") + 1] == "cgroup2"), None)
    name = next((line[3:] for line in _lines("/proc/self/cgroup") if line.startswith("0::")), None)
    if at is None or name is None:
        return ""
    root, folder = at[3], at[4]
    below = name.removeprefix(root) if root != "/" else name
    return os.path.join(folder, below.strip("/"))


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", errors="surrogateescape") as stream:  # noqa: PTH123
        return stream.read().splitlines()


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)

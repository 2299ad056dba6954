"""Ending processes that multiply (Linux).

A process can fork and end faster than anybody reads a list of processes, and hand on to its child what it was
doing. Two things end such a chain, and both need to see only one link of it alive:

* A signal at once. A process is signalled the moment its number is read, not after all have been read, and so
  is the process group that carries its number: a child that has not left for a group of its own yet is in it.
* Stopping before killing. A process that is stopped cannot fork, keeps its place in the tree, and makes no
  room for others under a limit on processes. So everything is stopped, in rounds, until a round finds nobody
  new; only then is everything killed.

Whoever is a *child subreaper* (prctl(2)) sees all that was started below it, whatever its session, its
environment or its parents' fate: an orphan becomes its child, and having no child left means that nothing is
left.
"""

# Importing pathlib would slow every supervisor's start.
# ruff: noqa: PTH208

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

from utilitune.execution.metering import child_lister, stat_fields

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS = 200
_LONGEST_PAUSE_S = 0.02
_SEVERAL = 2
_NEWEST = 16
_STATE, _PARENT = 0, 1


def strike(pid: int, number: int) -> None:
    """Signal a process and its group, at once; one that has gone leaves at most its group."""
    with contextlib.suppress(OSError):  # gone, or beyond our rights
        os.kill(pid, number)
    for group in (_group_of(pid), pid):
        if group not in {0, 1, os.getpgrp()}:
            with contextlib.suppress(OSError):
                os.killpg(group, number)


def strike_below(root: int, number: int, ignore: frozenset[int] = frozenset()) -> set[int]:
    """Signal everything below a process, each as soon as it is seen; returns who was seen."""
    children = child_lister()
    seen: set[int] = set()
    pending = children(root, 1)
    while pending:
        pid = pending.pop()
        if pid in seen or pid in ignore:
            continue
        strike(pid, number)
        seen.add(pid)
        with contextlib.suppress(OSError):  # it has ended
            pending.extend(children(pid, _SEVERAL))
    return seen


def freeze(stop: Callable[[], set[int]]) -> set[int]:
    """Stop all that can be found, in rounds, until one finds nobody new; returns who was found."""
    found: set[int] = set()
    for _ in range(_ROUNDS):
        new = stop() - found
        if not new:
            break
        found |= new
    return found


def end_below(root: int, reap: Callable[[], object], ignore: frozenset[int] = frozenset()) -> None:
    """Stop all that is below a subreaper, then kill it.

    Args:
        root: The subreaper: this process.
        reap: Waits for children that have ended, without blocking. Done before every look, lest thousands of
            the dead hide the one that is alive.
        ignore: Children that are left alone, with all below them.
    """

    def stop() -> set[int]:
        reap()
        return strike_below(root, signal.SIGSTOP, ignore)

    for pid in freeze(stop):
        strike(pid, signal.SIGKILL)


def end_children(patience_s: float) -> bool:
    """End all that is below this process, a subreaper that expects nothing more; False if time was up."""
    deadline_s = time.monotonic() + patience_s
    ourselves, pause_s = os.getpid(), 0.0
    while _reap_all():
        end_below(ourselves, _reap_all)
        if time.monotonic() >= deadline_s:
            return False
        time.sleep(pause_s)
        pause_s = min(2 * pause_s + 0.0002, _LONGEST_PAUSE_S)
    return True


def _reap_all() -> bool:
    """Wait for every child that has ended; whether there are others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return False
    return True


def orphans_of_others() -> list[int]:
    """The newest children of those who may have taken over orphans of ours: our ancestors, up to the first.

    There may be thousands that have ended and that nobody has waited for; a link that is alive is the newest.
    """
    children = child_lister()
    found: list[int] = []
    for pid in ancestors():
        with contextlib.suppress(OSError):  # hidden from us
            found.extend(sorted(children(pid, _SEVERAL), reverse=True)[:_NEWEST])
    return found


def ancestors() -> list[int]:
    """Our parent, its parent, and so on, as far as they can be seen."""
    found = [os.getppid()]
    while found[-1] > 1:
        try:
            found.append(int(stat_fields(found[-1])[_PARENT]))
        except OSError:
            break  # hidden from us
    return [pid for pid in found if pid]


def newest_first() -> list[int]:
    """All processes; those with the largest numbers, which are mostly the newest, first."""
    return sorted((int(name) for name in os.listdir("/proc") if name.isdigit()), reverse=True)


def is_dead(pid: int) -> bool:
    """Whether a process has ended, or waits only for being waited for."""
    try:
        return stat_fields(pid)[_STATE] in b"ZX"
    except OSError:
        return True


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0

"""What a supervisor asks of the kernel's scheduler: fresh CPU clocks, and a core without delay (Linux).

**Fresh clocks.** The CPU clock of a process that is running on another core is as old as that core's last
timer tick, up to 4 ms at the usual 250 ticks per second: the kernel brings only the reader's own clock up
to date. It does book what a thread has consumed when the thread is put into its queue anew, and changing a
thread's scheduling policy does that. So a look at a run moves every thread of the ordinary policy to the
batch policy, which has the same priority, and at once back. A thread under any other policy is left alone.

**A core without delay.** A supervisor that wakes up among busy programs may wait for milliseconds until one
of them has used up its turn. It sleeps nearly all the time, so it asks to be served first when it does wake
up, by the lowest real-time priority. Only privileged users are granted that; what it starts never has it.

Both are requests: where they are refused, runs are stopped some milliseconds later and nothing else changes.
Sources: sched(7), sched_setscheduler(2).
"""

from __future__ import annotations

import os


def book_running_time(pid: int, threads: int) -> None:
    """Make the kernel book what the threads of a process have consumed up to this moment.

    Args:
        pid: The process.
        threads: How many threads it has.
    """
    for thread in [pid] if threads <= 1 else _thread_ids(pid):
        try:
            if os.sched_getscheduler(thread) == os.SCHED_OTHER:
                os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))
                os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
        except OSError:
            continue  # that thread ended while we looked, or this is not allowed here


def ask_to_be_served_first() -> bool:
    """Ask for a core as soon as this process wakes up; returns whether that was granted."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        return False
    return True


def _thread_ids(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 (pathlib would slow every reading)
    except OSError:
        return []  # it ended while we looked

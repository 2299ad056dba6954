"""How many cores there are for our runs, and whether they are all taken."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cores_text() -> str:
    """How many cores this process may use, in words."""
    count = available_cores()
    return "1 core" if count == 1 else f"{count} cores"


def oversubscribed(workers: int) -> bool:
    """Whether wall-clock figures are doubtful now: more wants to run than there are cores.

    The load average of the last minute counts the workers' own runs; what exceeds them and the
    cores together is someone else's.
    """
    cores = available_cores()
    return workers > cores or os.getloadavg()[0] > cores + 0.5

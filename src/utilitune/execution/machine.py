"""What the runs were made on, kept beside their results. Nothing here names the machine."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine_facts() -> dict[str, str | int]:
    """Processor, cores, memory, kernel and Python version."""
    return {
        "processor": _processor(),
        "cores": available_cores(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def oversubscribed(workers: int) -> bool:
    """Whether wall-clock figures are doubtful now: more wants to run than there are cores.

    The load average of the last minute counts the workers' own runs; what exceeds them and the
    cores together is someone else's.
    """
    cores = available_cores()
    return workers > cores or os.getloadavg()[0] > cores + 0.5


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())

"""What computed a result: versions of the software and facts about the machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sqlite3
from pathlib import Path

from utilitune.domain import Machine


def versions() -> dict[str, str]:
    """Versions of Utilitune and of what it computes with."""
    return {
        "utilitune": _distribution_version("utilitune"),
        "python": platform.python_version(),
        "numpy": _distribution_version("numpy"),
        "sqlite": sqlite3.sqlite_version,
    }


def machine() -> Machine:
    """The facts that explain runtimes: system, processor, cores, memory."""
    facts: dict[str, str | int] = {
        "system": platform.platform(),
        "processor": _processor_name(),
        "cores": os.cpu_count() or 1,
    }
    if "SC_PHYS_PAGES" in os.sysconf_names:
        facts["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(facts)


def _distribution_version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

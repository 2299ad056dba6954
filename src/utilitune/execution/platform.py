"""Where runs can be metered, and what is lost elsewhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from utilitune.errors import TargetError


def require_supported_platform() -> None:
    """Raise a `TargetError` where programs cannot be run and killed reliably."""
    if os.name != "posix":
        raise TargetError(
            "Utilitune cannot run programs on Windows, where it could not meter and stop them reliably; "
            "use Linux, macOS or the Windows Subsystem for Linux"
        )


def follows_process_trees() -> bool:
    """Whether whole process trees can be followed: on Linux with a readable ``/proc``."""
    return sys.platform == "linux" and Path("/proc/self/stat").exists()


def metering_loss() -> str:
    """One sentence on what is lost on this platform; empty where nothing is."""
    if follows_process_trees():
        return ""
    return (
        "On this system CPU captimes are enforced to whole seconds only, memory limits are not enforced, "
        "and children that leave their process group are neither metered nor stopped; "
        "use Linux for exact figures."
    )

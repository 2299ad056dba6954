"""How much memory a data file may take, known before any of it is taken.

A file says how large its content is, and may lie. A compressed file may hold a thousand times its own size in
zeros. So every reader asks here first. What is stored as it is cannot be larger than its file. What is packed
may unfold to at most `LARGEST_RATIO` times its size, or to `ALWAYS_FINE` if that is more. Nothing may take
more than half of the memory that is free.
"""

from __future__ import annotations

import os
from pathlib import Path

from utilitune.errors import DataError

LARGEST_RATIO = 100
"""How many times its own size a packed file may hold; measured runtimes pack to a half or a tenth."""

ALWAYS_FINE = 256 << 20
"""Bytes that a packed file of any size may hold."""

_WITHOUT_A_FIGURE = 4 << 30
_SHARE = 2


def most_unfolded(packed_bytes: int) -> int:
    """The bytes that a packed file of this size may hold."""
    return min(max(ALWAYS_FINE, LARGEST_RATIO * packed_bytes), free_bytes() // _SHARE)


def require_room(needed_bytes: int, source: str, *, most_bytes: int | None = None) -> None:
    """Refuse content that would take more memory than it may.

    Args:
        needed_bytes: What it would take.
        source: The file, for the error.
        most_bytes: What it may take; half of the free memory if left out.

    Raises:
        DataError: It would take more.
    """
    most = free_bytes() // _SHARE if most_bytes is None else most_bytes
    if needed_bytes > most:
        raise DataError(
            f"the file holds {_size(needed_bytes)}, more than the {_size(most)} that it may take here; "
            "give a smaller one",
            path=source,
        )


def free_bytes() -> int:
    """Memory that is free, as the system estimates it; 4 GiB where it does not."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii", errors="replace").splitlines()
        found = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(found.split()[1]) * 1024
    except (OSError, StopIteration, ValueError):
        pages = os.sysconf("SC_PHYS_PAGES") if "SC_PHYS_PAGES" in os.sysconf_names else 0
        return pages * os.sysconf("SC_PAGE_SIZE") // _SHARE or _WITHOUT_A_FIGURE


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 2**30:.3g} GiB" if size_bytes >= 2**30 else f"{size_bytes / 2**20:.3g} MiB"

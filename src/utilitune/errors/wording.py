"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """So many of something, such as "1 run" or "20 runs"."""
    return f"{number} {what}{'' if number == 1 else 's'}"

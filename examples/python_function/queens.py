"""The function that is configured: n queens, none attacking another."""

from __future__ import annotations

from random import Random


def clashes(rows: list[int]) -> int:
    """How many diagonals too few the queens stand on; 0 means that none attacks another."""
    rising = {row + column for column, row in enumerate(rows)}
    falling = {row - column for column, row in enumerate(rows)}
    return 2 * len(rows) - len(rising) - len(falling)


def solve(configuration: dict[str, float], instance: str, seed: int) -> bool:
    """Swap two queens, keep what is no worse (sometimes what is), start over when patience ends."""
    size, random = int(instance), Random(seed)
    while True:
        rows = random.sample(range(size), size)
        for _ in range(int(configuration["patience"])):
            if (before := clashes(rows)) == 0:
                return True
            one, other = random.sample(range(size), 2)
            rows[one], rows[other] = rows[other], rows[one]
            if clashes(rows) > before and random.random() >= configuration["noise"]:
                rows[one], rows[other] = rows[other], rows[one]

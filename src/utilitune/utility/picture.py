"""A utility as a picture for a terminal, and as a table of examples.

The picture is a row of bars, one per time or quality, the higher the more it is worth. Both need nothing but
the utility itself: the range to show is found from where its worth changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.utility.durations import format_duration
from utilitune.utility.solutions import REFERENCES, Goal, SolutionUtility, Standard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.utility.base import Utility

_WIDTH = 60
_HEIGHT = 8
_BARS = " ▁▂▃▄▅▆▇█"
_FEWEST_ROWS = 5
_LEVELS = (1.0, 0.9, 0.75, 0.5, 0.25, 0.1, 0.01)
_REFERENCE = 100.0
"""What a number that differs between instances is taken to be in a picture."""

_SHARES = (0.5, 0.8, 0.9, 0.95, 0.99, 1.0, 1.01, 1.05, 1.1, 1.25, 2.0)


@dataclass(frozen=True, slots=True)
class Picture:
    """What there is to show of a utility.

    Attributes:
        words: The utility in a sentence.
        bars: The picture, one line each, the topmost first.
        axis: What stands below it.
        head: The head of the table of examples.
        rows: Its rows.
    """

    words: str
    bars: tuple[str, ...]
    axis: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def picture_of(utility: Utility | SolutionUtility, goal: Goal = Goal.SMALLER) -> Picture:
    """Draw a utility."""
    if isinstance(utility, SolutionUtility):
        return _of_quality(utility, goal)
    return _of_time(utility)


def bars(worths: Sequence[float]) -> tuple[str, ...]:
    """Worths from 0 to 1 as bars, one column each, with a scale on the left."""
    lines = []
    for row in range(_HEIGHT, 0, -1):
        filled = ((worth * _HEIGHT - (row - 1)) * (len(_BARS) - 1) for worth in worths)
        signs = (_BARS[min(len(_BARS) - 1, max(0, round(share)))] for share in filled)
        scale = {_HEIGHT: "1 ", _HEIGHT // 2: "½ "}.get(row, "  ")
        lines.append(f"{scale}│{''.join(signs).rstrip()}")
    return (*lines, f"0 └{'─' * len(worths)}")


def _of_time(utility: Utility) -> Picture:
    top, floor = float(utility(0.0)), utility.infimum
    end_s = utility.time_to_fall_to(floor + 0.05 * (top - floor))
    shown_s = 1.2 * end_s if 0 < end_s < math.inf else 1.0
    times = np.linspace(0.0, shown_s, _WIDTH)
    marks = {utility.time_to_fall_to(floor + level * (top - floor)) for level in _LEVELS}
    if len(marks) < _FEWEST_ROWS:
        marks |= {share * shown_s for share in (0.2, 0.4, 0.6, 0.8)}
    rows = [
        (format_duration(time_s), f"{float(utility(time_s)):.3g}")
        for time_s in sorted(marks)
        if math.isfinite(time_s)
    ]
    rows.append(("never", f"{floor:.3g}"))
    return Picture(
        words=f"An answer is {utility.describe()}.",
        bars=bars(np.asarray(utility(times)).tolist()),
        axis=f"   0 s{format_duration(shown_s):>{_WIDTH - 3}}",
        head=("an answer after", "is worth"),
        rows=tuple(rows),
    )


def _of_quality(utility: SolutionUtility, goal: Goal) -> Picture:
    standard = Standard(goal, _REFERENCE, _REFERENCE, _REFERENCE)
    qualities = _qualities(utility)
    times = _times(utility)
    low, high = qualities[0], qualities[-1]
    drawn = [utility(quality, 0.0, standard) for quality in np.linspace(low, high, _WIDTH).tolist()]
    names = [REFERENCES[name] for name in REFERENCES if name in utility.references]
    assumed = f" Shown for an instance where {' and '.join(names)} is {_REFERENCE:g}." if names else ""
    rows = [
        (f"{quality:.6g}", *(f"{utility(quality, time_s, standard):.3g}" for time_s in times))
        for quality in qualities
    ]
    at = [f"worth at {format_duration(time_s)}" for time_s in times] if utility.times else ["is worth"]
    return Picture(
        words=f"A solution ({goal.value} is better) is {utility.describe()}. A run without a solution is "
        f"worth nothing.{assumed}",
        bars=bars(drawn),
        axis=f"   {low:<{_WIDTH // 2}.6g}{high:>{_WIDTH // 2}.6g}",
        head=("a quality of", *at),
        rows=(*rows, ("none", *("0" for _ in times))),
    )


def _qualities(utility: SolutionUtility) -> list[float]:
    """Qualities around the numbers that the utility names."""
    numbers = [_REFERENCE] if utility.references else []
    numbers += utility.levels
    low, high = min(numbers), max(numbers)
    if low == high:
        return [share * low for share in _SHARES] if low > 0 else [low + share - 1.0 for share in _SHARES]
    return [low + share * (high - low) for share in (-0.1, 0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1)]


def _times(utility: SolutionUtility) -> list[float]:
    """Times at which the part that judges time has lost nothing, some and most of its worth."""
    if not utility.times:
        return [0.0]
    found = {0.0}
    for part in utility.times:
        found |= {part.time_to_fall_to(level) for level in (0.75, 0.5, 0.1)}
    return sorted(time_s for time_s in found if math.isfinite(time_s))[:4]

"""A utility as something to hold: where to draw it, points to drag, and the line to paste."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from utilitune.utility.piecewise import PiecewiseLinear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.utility.base import Utility

_LEVELS = (0.95, 0.8, 0.5, 0.2, 0.05)
_ALMOST = 1e-9
_JUMP = 1.002  # a fall within this ratio of times is a jump, and gets a point before it
_NEAREST = 0.01
_SPAN = 100.0
_WIDEST = 1e7
_SHORTEST_S, _LONGEST_S = 1e-12, 1e15  # nobody waits for other times, and no drawing overflows


def line_to_paste(utility: Utility) -> str:
    """The line of a scenario file that says this utility.

    >>> from utilitune.utility import Uniform
    >>> line_to_paste(Uniform(60))
    'utility = "uniform(k0=60)"'
    """
    return f'utility = "{utility}"'


def shown_range_s(utility: Utility) -> tuple[float, float]:
    """The shortest and the longest time to draw, both above 0: where the worth changes, and some room."""
    top, floor = float(utility(0.0)), utility.infimum
    found = [utility.time_to_fall_to(floor + share * (top - floor)) for share in (0.97, 0.03)]
    if isinstance(utility, PiecewiseLinear):
        found += [time_s for time_s, _ in _above_zero(utility.points)]
    inside = [time_s for time_s in found if _SHORTEST_S < time_s < _LONGEST_S]
    if not inside or top == floor:
        return 0.1, 1000.0
    low_s, high_s = min(inside), max(inside)
    middle = math.sqrt(low_s) * math.sqrt(high_s)
    low_s, high_s = min(low_s / 3.0, middle / math.sqrt(_SPAN)), max(high_s * 3.0, middle * math.sqrt(_SPAN))
    return max(low_s, high_s / _WIDEST), high_s


def handles_of(utility: Utility) -> list[tuple[float, float]]:
    """A few points (seconds, worth) that straight lines through them come close to the utility with."""
    if isinstance(utility, PiecewiseLinear):
        return _above_zero(utility.points)
    top, floor = float(utility(0.0)), utility.infimum
    low_s, high_s = shown_range_s(utility)
    found: dict[float, float] = {}
    for level in _LEVELS:
        time_s = utility.time_to_fall_to(floor + level * (top - floor))
        if not low_s < time_s < high_s:
            continue
        before_s = float(f"{time_s / _JUMP:.4g}")
        for at_s in (before_s, float(f"{time_s:.4g}")):
            found.setdefault(at_s, float(utility(at_s)))
    for level, edge_s in (
        (1.0 - _ALMOST, low_s),
        (_ALMOST, high_s),
    ):  # no worth is gained or lost at the ends
        time_s = utility.time_to_fall_to(floor + level * (top - floor))
        at_s = float(f"{time_s if low_s < time_s < high_s else edge_s:.4g}")
        found[at_s] = top if edge_s == low_s else floor
    return _thinned(sorted(found.items()))


def _above_zero(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points with a time that a logarithmic axis can show."""
    second_s = points[1][0] if len(points) > 1 else 1.0
    return [(time_s or second_s / _SPAN, worth) for time_s, worth in points]


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Without points that a jump does not need: those right beside another one with about the same worth."""
    kept: list[tuple[float, float]] = []
    for time_s, worth in points:
        if kept and time_s <= kept[-1][0] * _JUMP**2 and kept[-1][1] - worth < _NEAREST:
            kept[-1] = (time_s, worth)
        else:
            kept.append((time_s, worth))
    lowest = itertools.accumulate((worth for _, worth in kept), min)
    return [(time_s, round(worth, 3)) for (time_s, _), worth in zip(kept, lowest, strict=True)]

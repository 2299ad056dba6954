"""How good each candidate was, apart from how easy its instances were.

Candidates are run on different instances, and few are run on many. A difference to one rival on the same
instances carries the chance of both. So every run is explained by two numbers instead,

    value of candidate c on instance i  ≈  a_c + b_i ,

where b_i, how easy the instance is, follows from all who were run on it. What remains in the merit a_c is
chance of the candidate's own runs: about half of the variance of a difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDS = 6
_PULL = 0.5
"""Merits are drawn towards 0 like by half a run, so that those with few runs hardly move the instances."""


def merits(
    row: NDArray[np.int64], place: NDArray[np.int64], value: NDArray[np.float64], most: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The merit of each row and its number of runs, by alternating least squares.

    Args:
        row: Whose run it is, per run; every row has one.
        place: On which instance, per run.
        value: What it showed, more is better; −∞ for a run that failed or would never end.
        most: A run counts as at most this far from its instance's level.
    """
    runs = np.bincount(row).astype(np.float64)
    on = np.maximum(np.bincount(place), 1)
    finite = np.isfinite(value)
    value = np.where(finite, value, value[finite].min(initial=0.0) - most)
    level = _medians(place, value, on.size)
    merit = np.zeros(runs.size)
    for _ in range(_ROUNDS):
        cut = np.clip(value, level[place] - most, level[place] + most)
        merit = np.bincount(row, cut - level[place]) / (runs + _PULL)
        level = np.bincount(place, cut - merit[row]) / on
    return merit * (runs + _PULL) / runs, runs


def _medians(place: NDArray[np.int64], value: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The median value per place; 0 where there is none."""
    found = np.zeros(count)
    for each in np.unique(place):
        found[each] = np.median(value[place == each])
    return found

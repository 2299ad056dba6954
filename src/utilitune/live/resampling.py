"""Intervals of figures by resampling: test instances are drawn again with repetition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONFIDENCE = 0.95
RESAMPLES = 10_000
_CELLS_PER_BLOCK = 2_000_000
_SEED = 20_240_601


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a figure lies with 95 % confidence."""

    low: float
    high: float


def hull(one: Interval, other: Interval) -> Interval:
    """The smallest interval that holds both."""
    return Interval(min(one.low, other.low), max(one.high, other.high))


def resampled_means(columns: NDArray[np.float64], resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """Column means of samples drawn from the rows with repetition: one row per sample, always the same."""
    generator = np.random.default_rng(_SEED)
    rows = len(columns)
    means = np.empty((resamples, columns.shape[1]))
    step = max(1, _CELLS_PER_BLOCK // (rows * columns.shape[1]))
    for start in range(0, resamples, step):
        block = means[start : start + step]
        block[:] = columns[generator.integers(rows, size=(len(block), rows))].mean(axis=1)
    return means


def tail_share(pairs: int) -> float:
    """The share of resampled figures to leave out at each end, see `evaluation`."""
    from scipy.special import ndtr, stdtrit

    tail = (1 - CONFIDENCE) / 2
    return float(ndtr(math.sqrt(pairs / (pairs - 1)) * stdtrit(pairs - 1, tail)))


def interval_of(values: NDArray[np.float64], pairs: int) -> Interval:
    """The interval of a figure from its resampled values."""
    tail = tail_share(pairs)
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high))

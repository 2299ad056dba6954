"""What a Hoeffding procedure knows of each configuration, as flat arrays.

An arm that was never run costs a few dozen bytes, so a million of them fit easily.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Arms(NamedTuple):
    """One entry per configuration in play; the paper's symbol in brackets.

    Attributes:
        runs: How many instances it was run on [m_i].
        level: Its captime level [κ_i = κ0 · 2^(level−1)].
        finished: How many of those runs finished at the current captime [m_i · F̂_i].
        finished_utility: Sum of their utilities.
        upper: Upper confidence bound [UCB_i].
        lower: Lower confidence bound [LCB_i].
        time_s: Seconds spent on it.
        alive: Whether it is still in play; only elimination clears it.
    """

    runs: NDArray[np.int32]
    level: NDArray[np.int16]
    finished: NDArray[np.int32]
    finished_utility: NDArray[np.float64]
    upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    time_s: NDArray[np.float64]
    alive: NDArray[np.bool_]


def new_arms(count: int) -> Arms:
    """Configurations nobody has run: bounds 0 and 1, first captime level (Algorithm 1 line 4)."""
    return Arms(
        runs=np.zeros(count, dtype=np.int32),
        level=np.ones(count, dtype=np.int16),
        finished=np.zeros(count, dtype=np.int32),
        finished_utility=np.zeros(count),
        upper=np.ones(count),
        lower=np.zeros(count),
        time_s=np.zeros(count),
        alive=np.ones(count, dtype=np.bool_),
    )


def extended(arms: Arms, count: int) -> Arms:
    """The same arms followed by new ones, `count` in all."""
    fresh = new_arms(count - len(arms.runs))
    return Arms(*(np.concatenate([old, new]) for old, new in zip(arms, fresh, strict=True)))

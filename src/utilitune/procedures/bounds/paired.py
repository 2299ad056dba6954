"""A time-uniform bound on the difference of two configurations that ran on the same instances.

On the instances both have run (without gaps, from the first that may count for both), let Y_j be the most
that challenger i can be worth on instance j and X_j the least that leader b is worth there. Then
Z_j = 1 − Y_j + X_j ≥ 0 is at most 1 − u(t_ij) + u(t_bj), whose mean is 1 − (U_i − U_b), and the bet of
`betting` on it,

    P(e) = Σ_c w_c · ∏_j [(1 − c) + c · Z_j/(1 − e)],

with weights w_c of its own, grows in e. So D = min{e : P(e) ≥ 1/δ} is an upper bound on U_i − U_b, for all
times and all e at once. Where the hardness of instances dominates, Z varies far less than either utility, and
D is the better test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain.compiled import compiled
from utilitune.errors import UsageError
from utilitune.procedures.bounds.betting import INFINITE, PAIRED_WEIGHTS, lower_bound, raised_bound

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@compiled
def lowered_difference(
    values: NDArray[np.float64], population: int, difference: float, threshold: float
) -> float:
    """The upper bound on U_i − U_b, lowered as far as the values Z allow.

    Args:
        values: Z_j = 1 − Y_ij + X_bj on the common instances, in their order.
        population: As for `betting.raised_bound`.
        difference: What is already proved (1 at first).
        threshold: 1/δ for the share δ of this pair.
    """
    return 1.0 - raised_bound(values, population, 1.0 - difference, threshold, PAIRED_WEIGHTS)


def difference_bound(
    challenger_most: ArrayLike, leader_least: ArrayLike, delta: float, population: int = INFINITE
) -> float:
    """An upper bound on U_challenger − U_leader that fails with probability at most δ.

    Args:
        challenger_most: Y of the challenger on the common instances 1 … m.
        leader_least: X of the leader on the same instances.
        delta: The share of δ spent on this pair.
        population: Number of instances where they are drawn without replacement from a list.
    """
    most, least = np.asarray(challenger_most, dtype=np.float64), np.asarray(leader_least, dtype=np.float64)
    if most.shape != least.shape:
        raise UsageError("a pair is compared on the same instances: give one value of each per instance")
    values = 1.0 - most + least
    return 1.0 - lower_bound(values, delta, population, weights=PAIRED_WEIGHTS)

"""How δ is shared among the bounds of `wager`.

A wrong answer needs one of three failures, where i* is the best configuration and b the answer: the lower
bound of b, the upper bound of i*, or the paired bound of (i*, b). Each kind of bound gets its part of δ.

**A fixed set of n.** Any configuration may be the answer, so lower bounds and pairs get 1/n of their part
each; but i* is *one* fixed configuration, so upper bounds are not divided at all. (The upper bounds of other
configurations are therefore not valid together, and are never reported as if they were.)

**A growing set.** Half of δ is kept for γ. Random draws and the others (given or proposed) are numbered
separately, so that no number depends on the runs, and share the lower bounds half and half. Number b of its
kind gets, with K = 100,

    w_b/2,    w_b = K/((b + K − 1)(b + K)) = K/(b + K − 1) − K/(b + K),    Σ w_b = 1.

Only a random draw that is the best so far needs a valid upper bound; the k-th is that with probability at
most 1/k, so that shares r_k with Σ r_k/k ≤ 1 suffice. With R = 1000,

    r_k = 1/((2 + ln R)·(1 + ln max(1, k/R))²).

A pair has the product of both. Nobody knows which draw will lead, so the first thousand draws have the same
r_k, and number K still gets a quarter of the first w_b. (docs/theory.md proves the sums.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

from utilitune.compiled import compiled

_LEVEL_ANSWERS = 100.0  # K: this number still gets a quarter of the first share
_LEVEL_DRAWS = 1000.0  # R


class Shares(NamedTuple):
    """The δ of the three kinds of bounds.

    Attributes:
        lower: What all lower bounds together may spend.
        upper: What the upper bounds of those who may be the best may spend.
        paired: What their pairs with all possible answers may spend.
        configurations: Size of a fixed set; 0 for a growing one.
    """

    lower: float
    upper: float
    paired: float
    configurations: int


def fixed_shares(delta: float, configurations: int) -> Shares:
    """All of δ for the bounds of a fixed set."""
    return Shares(0.3 * delta, 0.4 * delta, 0.3 * delta, configurations)


def growing_shares(delta: float) -> Shares:
    """Half of δ for the bounds of a growing set; the other half is for γ.

    Pairs pay for two numbers there, so most configurations are ruled out by their upper bounds.
    """
    return Shares(0.2 * delta / 2.0, 0.6 * delta / 2.0, 0.2 * delta / 2.0, 0)


@compiled
def _answer_weight(shares: Shares, number: int) -> float:
    """The share of the configuration `number` (from 1) of its kind in what possible answers spend.

    Over both kinds, random draws and the others, the shares sum to at most 1.
    """
    if shares.configurations > 0:
        return 1.0 / shares.configurations
    return 0.5 * _LEVEL_ANSWERS / ((number + _LEVEL_ANSWERS - 1.0) * (number + _LEVEL_ANSWERS))


@compiled
def _best_weight(shares: Shares, rank: int) -> float:
    """The share of the random draw `rank` (from 1) in what the best configuration spends."""
    if shares.configurations > 0:
        return 1.0
    late = 1.0 + math.log(max(1.0, rank / _LEVEL_DRAWS))
    return 1.0 / ((2.0 + math.log(_LEVEL_DRAWS)) * late**2)


@compiled
def lower_threshold(shares: Shares, number: int) -> float:
    """1/δ_L of the configuration `number` (from 1) of its kind."""
    return 1.0 / (shares.lower * _answer_weight(shares, number))


@compiled
def upper_threshold(shares: Shares, rank: int) -> float:
    """1/δ_U of the configuration that is number `rank` (from 1) among those ε has to cover."""
    return 1.0 / (shares.upper * _best_weight(shares, rank))


@compiled
def paired_threshold(shares: Shares, rank: int, number: int) -> float:
    """1/δ_P of the pair of challenger `rank` and leader `number`."""
    return 1.0 / (shares.paired * _best_weight(shares, rank) * _answer_weight(shares, number))

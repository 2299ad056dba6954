"""How δ is shared among the bounds of `wager`.

A wrong answer needs one of three failures, where i* is the best configuration and b the answer: the lower
bound of b, the upper bound of i*, or the paired bound of (i*, b). Three tenths of δ go to the lower bounds,
four tenths to the upper bounds and three tenths to the pairs.

**A fixed set of n.** Any configuration may be the answer, so lower bounds and pairs get δ/n each; but i* is
*one* fixed configuration, so upper bounds are not divided at all. (The upper bounds of other configurations
are therefore not valid together, and are never reported as if they were.)

**A growing set.** Half of δ is kept for γ. Random draws and the others (given or proposed) are numbered
separately, so that no number depends on the runs, and share the lower bounds half and half: number b of its
kind gets 1/(2b(b+1)). Only a random draw that is the best so far needs a valid upper bound;
the i-th is that with probability at most 1/i, so the share 1/(2(1 + ln i)²) suffices, as
Σ 1/(i(1 + ln i)²) ≤ 2. A pair has the product of both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from utilitune.compiled import compiled

LOWER, UPPER, PAIRED = 0.3, 0.4, 0.3


class Shares(NamedTuple):
    """The δ of the three kinds of bounds.

    Attributes:
        delta: What all bounds together may spend.
        configurations: Size of a fixed set; 0 for a growing one.
    """

    delta: float
    configurations: int


def fixed_shares(delta: float, configurations: int) -> Shares:
    """All of δ for the bounds of a fixed set."""
    return Shares(delta, configurations)


def growing_shares(delta: float) -> Shares:
    """Half of δ for the bounds of a growing set; the other half is for γ."""
    return Shares(delta / 2.0, 0)


@compiled
def _answer_weight(shares: Shares, number: int) -> float:
    """The share of the configuration `number` (from 1) of its kind in what possible answers spend.

    Over both kinds, random draws and the others, the shares sum to at most 1.
    """
    if shares.configurations > 0:
        return 1.0 / shares.configurations
    return 0.5 / (number * (number + 1.0))


@compiled
def _best_weight(shares: Shares, rank: int) -> float:
    """The share of the random draw `rank` (from 1) in what the best configuration spends."""
    if shares.configurations > 0:
        return 1.0
    return 0.5 / (1.0 + math.log(rank)) ** 2


@compiled
def lower_threshold(shares: Shares, number: int) -> float:
    """1/δ_L of the configuration `number` (from 1) of its kind."""
    return 1.0 / (LOWER * shares.delta * _answer_weight(shares, number))


@compiled
def upper_threshold(shares: Shares, rank: int) -> float:
    """1/δ_U of the configuration that is number `rank` (from 1) among those ε has to cover."""
    return 1.0 / (UPPER * shares.delta * _best_weight(shares, rank))


@compiled
def paired_threshold(shares: Shares, rank: int, number: int) -> float:
    """1/δ_P of the pair of challenger `rank` and leader `number`."""
    return 1.0 / (PAIRED * shares.delta * _best_weight(shares, rank) * _answer_weight(shares, number))

"""How δ is shared among the bounds of `wager`.

A wrong answer needs one of three failures, where i* is the best configuration and b the answer: the lower
bound of b, the upper bound of i*, or the paired bound of (i*, b). Each kind of bound gets its part of δ. What
is said about the gain over the default has a small part of its own, where there is a default.

**A fixed set of n.** Any configuration but i* may be a wrong answer, so lower bounds and pairs get 1/(n − 1)
of their part each; but i* is *one* fixed configuration, so upper bounds are not divided at all. (The upper
bounds of other configurations are therefore not valid together, and are never reported as if they were.) How
large the parts are depends on n, which is fixed before the first run.

**A growing set.** What γ needs is kept for it: half of δ, or what the phases of a schedule spend. Whoever may
be the answer has a weight w_b, and all weights sum to at most 1. Random draws, given configurations and the
others (proposals and nominees) are numbered separately, so that no number depends on the runs, and each kind
has its part of the weights. Where nothing is given or proposed, its part goes to the draws. Number b of its
kind gets of that part, with K = 100 for draws and K = 20 for proposals and nominees,

    K/((b + K − 1)(b + K)) = K/(b + K − 1) − K/(b + K),    which sums to 1,

and the given configuration b gets 1/(b(b + 1)): there are few of them, and the first is the default.

Only a random draw that is the best so far needs a valid upper bound; the k-th is that with probability at
most 1/k, so that shares r_k with Σ r_k/k ≤ 1 suffice. With R = 1000,

    r_k = 1/((2 + ln R)·(1 + ln max(1, k/R))²).

Under the phases of a schedule, which grow without waiting for anything, half of that is replaced by half of
k/R for k ≤ R, as Σ (k/R)/k over these k is 1, too: the last phases have most of the draws.

**An announced γ** needs a number of draws n_A that is known before the first run. So the best of the first
n_A is *one* draw that does not depend on the runs, and its bounds need not be divided: all first n_A draws
have r_k = .6 once they are in play. Before, the best so far is one of the records k < n_A, and later it may
be one of the records k > n_A. With R = max(1000, n_A),

    r_k = .3·(½/(1 + ln n_A) + ½·k/n_A)    and    r_k = .1/((1 + ln(R/n_A))·(1 + ln max(1, k/R))²).

A pair has the product of both. Nobody knows which draw will lead, so the first thousand draws have the same
r_k, and draw K still gets a quarter of the first w_b. (docs/theory.md proves the sums.)

**A listed space.** All n configurations of a small space are drawn before the first run, so that they are a
fixed set. Proposals and nominees, each equal to one of them, have a part of the weights, shared as above;
of the rest every member has 1/(n − 1).
"""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

from utilitune.domain.compiled import compiled
from utilitune.procedures.wager import tuning


class Kind(Enum):
    """The kinds of possible answers in a growing set, each numbered from 1 on its own."""

    DRAW = "draw"
    GIVEN = "given"
    CHOSEN = "chosen"
    """Proposed or nominated by somebody who looked at outcomes."""


class Shares(NamedTuple):
    """The δ of the kinds of bounds.

    Attributes:
        lower: What all lower bounds together may spend.
        upper: What the upper bounds of those who may be the best may spend.
        paired: What their pairs with all possible answers may spend.
        gain: What comparisons of all possible answers with the default may spend, for each direction.
        configurations: Size of a fixed set; 0 for a growing one.
        late: The part of r_k that grows with k, in a growing set.
        announced: How many draws the announced γ needs [n_A]; 0 where none was announced.
        reached: Whether these draws are in play, or all there can be.
    """

    lower: float
    upper: float
    paired: float
    gain: float
    configurations: int
    late: float
    announced: int = 0
    reached: bool = False


def fixed_shares(delta: float, configurations: int, *, default: bool = False) -> Shares:
    """All of δ for the bounds of a fixed set; a small part for the gain over the default, if there is one."""
    gain = tuning.GAIN if default else 0.0
    rest = (1.0 - gain) * delta
    few = configurations <= tuning.FEW
    return Shares(
        lower=(tuning.FEW_LOWER if few else tuning.FIXED_LOWER) * rest,
        upper=(tuning.FEW_UPPER if few else tuning.FIXED_UPPER) * rest,
        paired=(tuning.FEW_PAIRED if few else tuning.FIXED_PAIRED) * rest,
        gain=gain * delta / 2.0,
        configurations=configurations,
        late=0.0,
    )


def fixed_weight(configurations: int) -> float:
    """w_b in a fixed set: who is the best cannot be a wrong answer."""
    return 1.0 / max(1, configurations - 1)


def growing_shares(
    delta: float, *, spent: float | None = None, default: bool = False, announced: int = 0
) -> Shares:
    """What γ leaves of δ for the bounds of a growing set.

    Args:
        delta: Probability with which the promise may fail.
        spent: What the phases of a schedule spend on γ; None for half of δ, as adaptive growth does.
        default: Whether something is kept for the gain over the default.
        announced: How many draws the announced γ needs; 0 to share alike among all draws.
    """
    gain = tuning.GAIN if default else 0.0
    bounds = delta - (delta / 2.0 if spent is None else spent)
    rest = (1.0 - gain) * bounds
    return Shares(
        lower=tuning.GROWING_LOWER * rest,
        upper=tuning.GROWING_UPPER * rest,
        paired=tuning.GROWING_PAIRED * rest,
        gain=gain * bounds / 2.0,
        configurations=0,
        late=0.0 if spent is None else tuning.PHASES_LATE,
        announced=announced,
    )


def shares_with(shares: Shares, draws: int, *, whole: bool) -> Shares:
    """The shares with so many draws in play, which may be the whole space: once reached, always reached."""
    if not shares.announced or shares.reached:
        return shares
    return shares._replace(reached=draws >= shares.announced or whole)


def serve(shares: Shares, draws: int, have: int) -> bool:
    """Whether bounds with these shares may be used for a promise about the first draws of those in play.

    What the first n_A draws have when they are all there does not serve the best of fewer of them.
    """
    return draws == have or (draws < have and not (shares.reached and draws < shares.announced))


class Weights(NamedTuple):
    """The part of the weights w_b that each kind of possible answer has; they sum to 1.

    Attributes:
        draws: That of random draws.
        given: That of given configurations; in a listed space they are among the draws.
        chosen: That of proposals and nominees.
        listed: How many configurations a listed space has; 0 for any other.
    """

    draws: float
    given: float
    chosen: float
    listed: int = 0

    @classmethod
    def of(cls, *, given: bool, chosen: bool) -> Weights:
        """What is kept for given configurations and for proposals and nominees, where there may be any."""
        given_part = tuning.GIVEN_PART if given else 0.0
        chosen_part = tuning.CHOSEN_PART if chosen else 0.0
        return cls(1.0 - given_part - chosen_part, given_part, chosen_part)

    @classmethod
    def of_listed(cls, configurations: int, *, chosen: bool) -> Weights:
        """The weights in a listed space."""
        chosen_part = tuning.LISTED_CHOSEN_PART if chosen else 0.0
        return cls(1.0 - chosen_part, 1.0 - chosen_part, chosen_part, configurations)

    def weight(self, kind: Kind, number: int) -> float:
        """w_b of the configuration `number` (from 1) of its kind."""
        if self.listed and kind is not Kind.CHOSEN:
            return self.draws * fixed_weight(self.listed)
        if kind is Kind.GIVEN:
            return self.given / (number * (number + 1.0))
        level = tuning.LEVEL_DRAWN_ANSWERS if kind is Kind.DRAW else tuning.LEVEL_CHOSEN_ANSWERS
        part = self.draws if kind is Kind.DRAW else self.chosen
        return part * level / ((number + level - 1.0) * (number + level))


@compiled
def _best_weight(shares: Shares, rank: int) -> float:
    """The share of the random draw `rank` (from 1) in what the best configuration spends."""
    if shares.configurations > 0:
        return 1.0
    level = tuning.LEVEL_DRAWS
    if shares.announced > 0:
        known = float(shares.announced)
        if not shares.reached:
            return tuning.BEFORE_ANNOUNCED * (0.5 / (1.0 + math.log(known)) + 0.5 * rank / known)
        if rank <= known:
            return tuning.AT_ANNOUNCED
        level = max(level, known)
        behind = 1.0 - tuning.BEFORE_ANNOUNCED - tuning.AT_ANNOUNCED
        return behind / ((1.0 + math.log(level / known)) * (1.0 + math.log(max(1.0, rank / level))) ** 2)
    flat = 1.0 / ((2.0 + math.log(level)) * (1.0 + math.log(max(1.0, rank / level))) ** 2)
    growing = rank / level if rank <= level else 0.0
    return (1.0 - shares.late) * flat + shares.late * growing


@compiled
def lower_threshold(shares: Shares, weight: float) -> float:
    """1/δ_L of a possible answer with this weight."""
    return 1.0 / (shares.lower * weight)


@compiled
def upper_threshold(shares: Shares, rank: int) -> float:
    """1/δ_U of the configuration that is number `rank` (from 1) among those ε has to cover."""
    return 1.0 / (shares.upper * _best_weight(shares, rank))


@compiled
def paired_threshold(shares: Shares, rank: int, weight: float) -> float:
    """1/δ_P of the pair of challenger `rank` and a leader with this weight."""
    return 1.0 / (shares.paired * _best_weight(shares, rank) * weight)

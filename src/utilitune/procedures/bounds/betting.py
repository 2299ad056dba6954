"""Time-uniform bounds on expected utility by betting on censored observations.

A run of configuration i that was stopped at c seconds tells that its utility u(t) lies between
X = u(t)·1{t < c} and Y = u(min(t, c)). A gambler who bets the fixed fraction c of their capital that
the mean of X exceeds μ holds, after the runs 1 … m,

    L(μ) = Σ_c w_c · ∏_j [(1 − c) + c · X_j/μ],        c ∈ FRACTIONS, w_c ∈ WEIGHTS.

If μ is at least the true mean, L(μ) is pathwise below a non-negative martingale that starts at 1, for
*any* captimes, re-runs, pauses and stopping: every factor only grows when X does. Ville's inequality then
gives P(L(μ) ≥ 1/δ at any time) ≤ δ, and as L falls in μ,

    LCB = max{μ : L(μ) ≥ 1/δ after some m}

is a lower bound for all times at once; so is its running maximum. ("After some m": the capital may have been
large enough after fewer runs and lost since.) The upper bound is the same bet on
1 − Y, and `paired` bets on differences.

For N instances drawn without replacement the mean of what is left under the hypothesis takes the place
of μ in factor j:  μ_j = (N·μ − Σ_{k<j} X_k)/(N − j + 1). Hypotheses with N·μ < ΣX are refuted outright,
so that the bound is exact at m = N. (Waudby-Smith & Ramdas, "Estimating means of bounded random variables
by betting", 2024, with fixed fractions, which the argument for censored observations needs.)

`raised_bound` climbs a ladder of rungs above what is already proved, as long as they are refuted as means; in
the end the next rung is at most 1/32 of the distance to the sample mean away. Rungs lie below the exact
value, so rounding is to the safe side, and where nothing more can be proved one look tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import require_probability
from utilitune.domain.compiled import compiled, inlined
from utilitune.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_B0, _B1, _B2, _B3, _B4, _B5, _B6, _B7 = 0.95, 0.6, 0.38, 0.24, 0.15, 0.095, 0.06, 0.038
FRACTIONS = np.array([_B0, _B1, _B2, _B3, _B4, _B5, _B6, _B7])
"""The fractions of the capital that are bet."""

WEIGHTS = np.array([0.32, 0.22, 0.16, 0.11, 0.075, 0.055, 0.035, 0.025])
"""How the first capital is divided among them: most of the time, the large bets are the ones that win."""

PAIRED_WEIGHTS = np.array([0.5, 0.22, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01])
"""The same for differences of two configurations on the same instances. Where their runs are alike, the
difference hardly varies, and the largest bet wins."""

INFINITE = 0
"""The population size that stands for independent draws."""

_STEPS = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 36.0, 48.0]) / 64.0  # shares of the gap to the mean
_SMALLEST_GAP = 1e-7
_LOST = 1e-250  # capital below this is given up, which errs on the safe side and avoids slow arithmetic
_BLOCK = 16  # values between two looks at the capital: has it reached its goal, or is it lost?
_ROUNDING = 1.0 + 1e-9  # what floating-point products may be off by, and more
_ROUNDING_OF_SUMS = 1.0 + 1e-12


@compiled
def _refuted(
    values: NDArray[np.float64], hypothesis: float, goal: float, weights: NDArray[np.float64]
) -> bool:
    """Whether independent draws refute "the mean is at most `hypothesis`".

    They do if all bets together reached `goal` after any number of them; that is looked at after every block.
    """
    w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
    w4, w5, w6, w7 = weights[4], weights[5], weights[6], weights[7]
    c0, c1, c2, c3, c4, c5, c6, c7 = 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0
    for start in range(0, values.size, _BLOCK):
        for j in range(start, min(start + _BLOCK, values.size)):
            gain = values[j] / hypothesis - 1.0
            c0 *= 1.0 + _B0 * gain
            c1 *= 1.0 + _B1 * gain
            c2 *= 1.0 + _B2 * gain
            c3 *= 1.0 + _B3 * gain
            c4 *= 1.0 + _B4 * gain
            c5 *= 1.0 + _B5 * gain
            c6 *= 1.0 + _B6 * gain
            c7 *= 1.0 + _B7 * gain
        large = w0 * c0 + w1 * c1 + w2 * c2 + w3 * c3
        if large + w4 * c4 + w5 * c5 + w6 * c6 + w7 * c7 >= goal:
            return True
        c0, c1, c2, c3 = _kept(c0), _kept(c1), _kept(c2), _kept(c3)
        c4, c5, c6, c7 = _kept(c4), _kept(c5), _kept(c6), _kept(c7)
    return False


@inlined
def _kept(capital: float) -> float:
    """The capital, or nothing once it is hopelessly small."""
    return capital if capital > _LOST else 0.0


@compiled
def _refuted_finite(
    values: NDArray[np.float64],
    population: int,
    hypothesis: float,
    goal: float,
    weights: NDArray[np.float64],
) -> bool:
    """The same for values drawn without replacement from a population of this size."""
    capital = np.ones(FRACTIONS.size)
    left = population * hypothesis
    for j in range(values.size):
        if left <= 0.0:
            break
        gain = values[j] * (population - j) / left - 1.0
        total = 0.0
        for bet in range(FRACTIONS.size):
            capital[bet] = _kept(capital[bet] * (1.0 + FRACTIONS[bet] * gain))
            total += weights[bet] * capital[bet]
        if total >= goal:
            return True
        left -= values[j]
    return left < -1e-9


@compiled
def raised_bound(
    values: NDArray[np.float64],
    population: int,
    bound: float,
    threshold: float,
    weights: NDArray[np.float64],
) -> float:
    """The lower bound on the mean of non-negative values, raised as far as they allow.

    Args:
        values: Observations 1 … m, each at most the true one, in the order of the instances.
        population: Number of instances drawn from without replacement; `INFINITE` for independent draws.
        bound: What is already proved (0 at first).
        threshold: 1/δ for the share δ of this bound.
        weights: How the first capital is divided among the bets; `WEIGHTS` or `PAIRED_WEIGHTS`.
    """
    if values.size == 0:
        return bound
    total = values.sum()
    mean = total / values.size
    if population > 0:
        bound = max(bound, total / population / _ROUNDING_OF_SUMS)
    goal = threshold * _ROUNDING
    climbing = True
    while climbing and mean - bound > _SMALLEST_GAP:
        base, gap = bound, mean - bound
        for step in range(_STEPS.size):
            rung = base + gap * _STEPS[step]
            if population > 0:
                held = _refuted_finite(values, population, rung, goal, weights)
            else:
                held = _refuted(values, rung, goal, weights)
            if not held:
                climbing = step > 1  # the rungs passed were close together only at first
                break
            bound = rung
    return bound


@compiled
def raised_past_gaps(
    values: NDArray[np.float64],
    population: int,
    bound: float,
    threshold: float,
    weights: NDArray[np.float64],
) -> float:
    """The same as `raised_bound`, where some of the values stand for runs that nobody has looked at.

    The ladder ends at the mean of what it is given. Values that tell nothing lower that mean, and a bet that
    was won before them may have proved more. So the first values are tried alone, too, up to where they lie
    farthest above the mean.
    """
    if values.size == 0:
        return bound
    end = int(np.argmax(np.cumsum(values - values.mean()))) + 1
    if end < values.size:
        bound = raised_bound(values[:end], population, bound, threshold, weights)
    return raised_bound(values, population, bound, threshold, weights)


def lower_bound(
    least: ArrayLike,
    delta: float,
    population: int = INFINITE,
    *,
    weights: NDArray[np.float64] = WEIGHTS,
) -> float:
    """A lower bound on the mean utility that fails with probability at most δ, whenever it is asked for.

    Args:
        least: X of the runs 1 … m, without gaps: u(t) where finished, else 0 (or the infimum of u).
        delta: The share of δ spent on this bound.
        population: Number of instances where they are drawn without replacement from a list.
        weights: How the first capital is divided among the bets.
    """
    threshold = 1.0 / require_probability("delta", delta)
    values = np.ascontiguousarray(least, dtype=np.float64)
    if values.size and not (values.min() >= 0.0 and values.max() < np.inf):
        raise UsageError("utilities must be numbers from 0 up: correct the values the bound is asked for")
    if 0 < population < values.size:
        raise UsageError(f"{values.size} runs cannot be on different ones of only {population} instances")
    return float(raised_bound(values, population, 0.0, threshold, weights))


def upper_bound(most: ArrayLike, delta: float, population: int = INFINITE) -> float:
    """An upper bound on the mean utility; `most` holds Y = u(min(t, c)) of the runs 1 … m."""
    return 1.0 - lower_bound(1.0 - np.asarray(most, dtype=np.float64), delta, population)

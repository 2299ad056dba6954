"""Time-uniform bounds on expected utility by betting on censored observations.

A run of configuration i that was stopped at c seconds tells that its utility u(t) lies between
X = u(t)·1{t < c} and Y = u(min(t, c)). A gambler who bets the fixed fraction c of their capital that
the mean of X exceeds μ holds, after the runs 1 … m,

    L(μ) = Σ_c w · ∏_j [(1 − c) + c · X_j/μ],        c ∈ FRACTIONS, w = 1/8.

If μ is at least the true mean, L(μ) is pathwise below a non-negative martingale that starts at 1, for
*any* captimes, re-runs, pauses and stopping: every factor only grows when X does. Ville's inequality then
gives P(L(μ) ≥ 1/δ at any time) ≤ δ, and as L falls in μ,

    LCB = max{μ : L(μ) ≥ 1/δ}

is a lower bound for all times at once; so is its running maximum. The upper bound is the same bet on
1 − Y, and `paired` bets on differences.

For N instances drawn without replacement the mean of what is left under the hypothesis takes the place
of μ in factor j:  μ_j = (N·μ − Σ_{k<j} X_k)/(N − j + 1). Hypotheses with N·μ < ΣX are refuted outright,
so that the bound is exact at m = N. (Waudby-Smith & Ramdas, "Estimating means of bounded random variables
by betting", 2024, with fixed fractions, which the argument for censored observations needs.)

`raised_bound` finds the bound on a ladder of eight rungs above what is already proved, and climbs until the
lowest rung holds. Rungs lie below the exact value, so rounding is to the safe side; the last step is 1/64
of the distance between bound and sample mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.compiled import compiled
from utilitune.domain import require_probability
from utilitune.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FRACTIONS = np.array([0.95, 0.6, 0.38, 0.24, 0.15, 0.095, 0.06, 0.038])
"""The fractions of the capital that are bet, with equal weights."""

INFINITE = 0
"""The population size that stands for independent draws."""

_RUNGS = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 36.0, 48.0]) / 64.0  # shares of the gap to the mean
_BETS = FRACTIONS.size
_CELLS = _RUNGS.size * _BETS
_SMALLEST_GAP = 1e-7
_LOST = 1e-250  # capital below this is given up, which errs on the safe side and avoids slow arithmetic
_ROUNDING = 1.0 + 1e-9  # what floating-point products may be off by, and more
_ROUNDING_OF_SUMS = 1.0 + 1e-12


@compiled
def _rungs_passed_independent(values: NDArray[np.float64], rungs: NDArray[np.float64], goal: float) -> int:
    """How many rungs, from the lowest, have the capital `goal` (a sum over bets) after all values."""
    kept = np.empty(_CELLS)
    slope = np.empty(_CELLS)
    capital = np.ones(_CELLS)
    for rung in range(rungs.size):
        for bet in range(_BETS):
            cell = rung * _BETS + bet
            kept[cell] = 1.0 - FRACTIONS[bet]
            slope[cell] = FRACTIONS[bet] / rungs[rung]
    for start in range(0, values.size, 32):
        for j in range(start, min(start + 32, values.size)):
            value = values[j]
            for cell in range(_CELLS):
                capital[cell] *= kept[cell] + slope[cell] * value
        for cell in range(_CELLS):
            if capital[cell] < _LOST:
                capital[cell] = 0.0
    return _rungs_with(capital, goal)


@compiled
def _rungs_with(capital: NDArray[np.float64], goal: float) -> int:
    """How many rungs, from the lowest, hold `goal` in all their bets together."""
    for rung in range(capital.size // _BETS):
        total = 0.0
        for bet in range(_BETS):
            total += capital[rung * _BETS + bet]
        if total < goal:
            return rung
    return capital.size // _BETS


@compiled
def _rungs_passed_finite(
    values: NDArray[np.float64], population: int, rungs: NDArray[np.float64], goal: float
) -> int:
    """The same for values drawn without replacement from a population of this size."""
    passed = 0
    while passed < rungs.size and _holds_finite(values, population, rungs[passed], goal):
        passed += 1
    return passed


@compiled
def _holds_finite(values: NDArray[np.float64], population: int, rung: float, goal: float) -> bool:
    """Whether the hypothesis "the mean over the population is at most `rung`" is refuted."""
    capital = np.ones(_BETS)
    left = population * rung
    for j in range(values.size):
        if left <= 0.0:
            break
        ratio = values[j] * (population - j) / left
        for bet in range(_BETS):
            capital[bet] *= 1.0 - FRACTIONS[bet] + FRACTIONS[bet] * ratio
            if capital[bet] < _LOST:
                capital[bet] = 0.0
        left -= values[j]
    return left < -1e-9 or capital.sum() >= goal


@compiled
def raised_bound(values: NDArray[np.float64], population: int, bound: float, threshold: float) -> float:
    """The lower bound on the mean of non-negative values, raised as far as they allow.

    Args:
        values: Observations 1 … m, each at most the true one, in the order of the instances.
        population: Number of instances drawn from without replacement; `INFINITE` for independent draws.
        bound: What is already proved (0 at first).
        threshold: 1/δ for the share δ of this bound.
    """
    if values.size == 0:
        return bound
    total = values.sum()
    mean = total / values.size
    if population > 0:
        bound = max(bound, total / population / _ROUNDING_OF_SUMS)
    goal = threshold * _BETS * _ROUNDING
    while mean - bound > _SMALLEST_GAP:
        rungs = bound + (mean - bound) * _RUNGS
        if population > 0:
            passed = _rungs_passed_finite(values, population, rungs, goal)
        else:
            passed = _rungs_passed_independent(values, rungs, goal)
        if passed > 0:
            bound = rungs[passed - 1]
        if passed <= 1:
            break
    return bound


def lower_bound(least: ArrayLike, delta: float, population: int = INFINITE) -> float:
    """A lower bound on the mean utility that fails with probability at most δ, whenever it is asked for.

    Args:
        least: X of the runs 1 … m, without gaps: u(t) where finished, else 0 (or the infimum of u).
        delta: The share of δ spent on this bound.
        population: Number of instances where they are drawn without replacement from a list.
    """
    threshold = 1.0 / require_probability("delta", delta)
    values = np.ascontiguousarray(least, dtype=np.float64)
    if values.size and not (values.min() >= 0.0 and values.max() < np.inf):
        raise UsageError("utilities must be numbers from 0 up: correct the values the bound is asked for")
    if 0 < population < values.size:
        raise UsageError(f"{values.size} runs cannot be on different ones of only {population} instances")
    return float(raised_bound(values, population, 0.0, threshold))


def upper_bound(most: ArrayLike, delta: float, population: int = INFINITE) -> float:
    """An upper bound on the mean utility; `most` holds Y = u(min(t, c)) of the runs 1 … m."""
    return 1.0 - lower_bound(1.0 - np.asarray(most, dtype=np.float64), delta, population)

"""The tests of docs/theory.md, sections 3 and 7, once more: does a sample refute a mean?

A gambler bets the fixed fractions c of their capital that the mean exceeds μ. After z_1, …, z_m it is

    Σ_c w_c · ∏_j [(1 − c) + c · z_j/μ_j],    μ_j = μ,
                                              or on a list of N:  (N·μ − Σ_{k<j} z_k)/(N − j + 1).

By Ville's inequality it reaches 1/δ, after any number of values, with probability at most δ if the mean is μ
or less. So if it does, μ is refuted, and the mean is larger. This is written with sums of logarithms, over
all prefixes at once; the compiled rules of the procedure multiply instead and climb in steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRACTIONS = np.array([0.95, 0.6, 0.38, 0.24, 0.15, 0.095, 0.06, 0.038])
WEIGHTS = np.array([0.32, 0.22, 0.16, 0.11, 0.075, 0.055, 0.035, 0.025])
PAIRED_WEIGHTS = np.array([0.5, 0.22, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01])

_HALVINGS = 40
_SAFE = 1.0 + 1e-9


def refutes(
    values: NDArray[np.float64],
    population: int,
    mean: float,
    delta: float,
    *,
    weights: NDArray[np.float64] = WEIGHTS,
) -> bool:
    """Whether non-negative values, in the order of the instances, refute that their mean is at most `mean`.

    Args:
        values: Observations, each at most the true value.
        population: How many instances the list has; 0 for independent draws.
        mean: The hypothesis.
        delta: The share of δ of this test.
        weights: How the first capital is divided among the bets; `PAIRED_WEIGHTS` for differences.
    """
    if mean < 0.0:
        return True
    if values.size == 0 or delta <= 0.0 or mean == 0.0:
        return False
    hypothesis = np.full(values.size, mean)
    if population:
        left = population * mean - np.concatenate([[0.0], np.cumsum(values)[:-1]])
        spent = np.flatnonzero(left <= 0.0)
        if population * mean < values.sum() * (1.0 - 1e-12):
            return True
        if spent.size:
            values, left = values[: spent[0]], left[: spent[0]]
        hypothesis = left / (population - np.arange(values.size))
    if values.size == 0:
        return False
    growth = np.log1p(FRACTIONS[:, None] * (values / hypothesis[: values.size] - 1.0))
    capital = np.log(weights)[:, None] + np.cumsum(growth, axis=1)
    highest = capital.max(axis=0)
    total = highest + np.log(np.exp(capital - highest).sum(axis=0))
    return bool(total.max() >= math.log(_SAFE / delta))


def lower_bound(values: NDArray[np.float64], population: int, delta: float) -> float:
    """The largest mean up to 1 that the values refute, to within a millionth of a millionth."""
    return _largest_refuted(values, population, delta, 1.0, WEIGHTS)


def paired_bound(values: NDArray[np.float64], population: int, delta: float) -> float:
    """The same for 1 and a difference, which is 2 at most."""
    return _largest_refuted(values, population, delta, 2.0, PAIRED_WEIGHTS)


def _largest_refuted(
    values: NDArray[np.float64],
    population: int,
    delta: float,
    highest: float,
    weights: NDArray[np.float64],
) -> float:
    low, high = 0.0, highest
    if population and values.size:
        low = min(highest, values.sum() / population * (1.0 - 1e-12))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if refutes(values, population, middle, delta, weights=weights):
            low = middle
        else:
            high = middle
    return low

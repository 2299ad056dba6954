"""The betting bounds against their definition, and their edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import UsageError
from utilitune.procedures.bounds.betting import (
    FRACTIONS,
    INFINITE,
    PAIRED_WEIGHTS,
    WEIGHTS,
    lower_bound,
    raised_bound,
    raised_past_gaps,
    upper_bound,
)

utilities = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60)
shares = st.sampled_from([0.3, 0.05, 0.001])


def capital(values: list[float], mu: float, population: int = INFINITE) -> float:
    """Σ_c w_c ∏ [(1 − c) + c X/μ_j], straight from the definition; infinite for refuted hypotheses."""
    total = 0.0
    for fraction, weight in zip(FRACTIONS, WEIGHTS, strict=True):
        product, seen = 1.0, 0.0
        for j, value in enumerate(values):
            mean = mu if population == INFINITE else (population * mu - seen) / (population - j)
            if mean <= 0:
                return math.inf if population * mu < sum(values) else product
            product *= 1 - fraction + fraction * value / mean
            seen += value
        total += weight * product
    if population != INFINITE and population * mu < sum(values):
        return math.inf
    return total


def largest_capital(values: list[float], mu: float, population: int = INFINITE) -> float:
    """The most that the capital has ever been: after some number of the values."""
    return max(capital(values[:count], mu, population) for count in range(1, len(values) + 1))


@pytest.mark.parametrize("weights", [WEIGHTS, PAIRED_WEIGHTS], ids=["alone", "paired"])
def test_all_bets_together_start_with_no_more_than_one(weights):
    assert math.fsum(weights) <= 1.0 + 1e-15
    assert weights.min() > 0
    assert np.all((FRACTIONS > 0) & (FRACTIONS < 1))


@given(utilities, shares)
def test_the_bound_has_the_capital_and_is_tight(values, delta):
    bound = lower_bound(values, delta)
    mean = float(np.mean(values))
    assert 0 <= bound <= mean + 1e-12
    if bound > 0:
        assert largest_capital(values, bound) >= 1 / delta
    step = (mean - bound) / 32
    if step > 1e-6:
        assert capital(values, bound + step) < 1 / delta


@given(utilities, shares, st.integers(0, 200))
def test_the_finite_bound_has_the_capital_and_is_tight(values, delta, more):
    population = len(values) + more
    bound = lower_bound(values, delta, population)
    mean = float(np.mean(values))
    assert sum(values) / population * (1 - 2e-12) <= bound <= mean + 1e-12
    if bound > sum(values) / population + 1e-9:
        assert largest_capital(values, bound * (1 - 1e-12), population) >= 1 / delta * (1 - 1e-6)
    step = (mean - bound) / 32
    if step > 1e-6:
        assert capital(values, bound + step, population) < 1 / delta


@given(utilities, shares)
def test_the_finite_bounds_are_exact_once_everything_was_seen(values, delta):
    mean = float(np.mean(values))
    assert lower_bound(values, delta, len(values)) == pytest.approx(mean, abs=1e-9)
    assert upper_bound(values, delta, len(values)) == pytest.approx(mean, abs=1e-9)


@given(utilities, shares)
def test_the_finite_bound_is_never_looser(values, delta):
    slack = 0.04  # both are rounded to their own ladder
    assert lower_bound(values, delta, len(values) + 50) >= lower_bound(values, delta) - slack


@pytest.mark.parametrize("population", [INFINITE, 2000])
def test_capital_that_was_large_enough_once_is_not_lost_again(population):
    together = [1.0] * 32 + [0.0] * 48
    assert largest_capital(together, 0.3, population) >= 20 > capital(together, 0.3, population)
    assert lower_bound(together, 0.05, population) > 0.3


@given(utilities, shares, st.data())
def test_runs_behind_gaps_take_nothing_away(values, delta, data):
    threshold, population = 1.0 / delta, 2 * len(values) + 20
    alone = raised_bound(np.array(values), population, 0.0, threshold, WEIGHTS)
    scattered = data.draw(st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0]), max_size=len(values) + 20))
    together = np.array(values + scattered)
    bound = raised_past_gaps(together, population, 0.0, threshold, WEIGHTS)
    slack = 0.04  # each is rounded to its own ladder
    assert bound >= raised_bound(together, population, 0.0, threshold, WEIGHTS) - slack
    if bound > together.sum() / population + 1e-9:
        assert largest_capital(together.tolist(), bound * (1 - 1e-12), population) >= threshold * (1 - 1e-6)
    if len(set(values)) == 1 and not any(scattered):
        assert bound >= alone - slack


def test_what_a_bet_had_won_before_the_first_gap_stays_proved():
    values = np.array([1.0] * 40 + [0.0, 0.0, 0.0, 1.0] * 9)
    alone = raised_bound(values[:40], 80, 0.0, 1e5, PAIRED_WEIGHTS)
    assert raised_bound(values, 80, 0.0, 1e5, PAIRED_WEIGHTS) < alone - 0.05
    assert raised_past_gaps(values, 80, 0.0, 1e5, PAIRED_WEIGHTS) >= alone


@given(utilities, shares)
def test_the_upper_bound_mirrors_the_lower_one(values, delta):
    assert upper_bound(values, delta) == pytest.approx(1 - lower_bound(1 - np.array(values), delta))


@given(utilities, st.data())
def test_more_watching_never_lowers_the_capital(values, data):
    raised = [value + data.draw(st.floats(0, 1 - value)) for value in values]
    for mu in (0.2, 0.5, 0.9):
        assert capital(raised, mu) >= capital(values, mu) * (1 - 1e-9)


def test_nothing_seen_proves_nothing():
    assert lower_bound([], 0.1) == 0.0
    assert upper_bound([], 0.1) == 1.0


def test_a_bound_once_proved_stays():
    assert raised_bound(np.zeros(50), INFINITE, 0.4, 10.0, WEIGHTS) == 0.4


@pytest.mark.parametrize("values", [[1.0] * 2000, [0.0] * 2000, [0.5] * 20000, [1e-9] * 100])
def test_long_and_extreme_sequences_stay_finite(values):
    low, high = lower_bound(values, 1e-6), upper_bound(values, 1e-6)
    assert 0 <= low <= values[0] <= high <= 1


def test_constant_values_are_learnt_fast():
    assert lower_bound([0.5] * 500, 0.01) > 0.48
    assert upper_bound([0.5] * 500, 0.01) < 0.52


@pytest.mark.parametrize("values", [[-0.1], [math.nan], [0.2, math.inf]])
def test_values_that_are_no_utilities_are_refused(values):
    with pytest.raises(UsageError, match="utilit"):
        lower_bound(values, 0.1)


def test_more_values_than_instances_are_refused():
    with pytest.raises(UsageError, match="instances"):
        lower_bound([0.5, 0.5], 0.1, population=1)


def test_delta_must_be_a_probability():
    with pytest.raises(UsageError, match="delta"):
        lower_bound([0.5], 0.0)

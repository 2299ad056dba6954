"""The paired bound: differences on the same instances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import UsageError
from utilitune.procedures.bounds.betting import FRACTIONS, PAIRED_WEIGHTS, lower_bound, upper_bound
from utilitune.procedures.bounds.paired import difference_bound

pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=60)


@given(pairs)
def test_it_is_above_the_observed_difference_and_below_one(values):
    challenger, leader = np.array(values).T
    bound = difference_bound(challenger, leader, 0.1)
    assert (challenger - leader).mean() - 1e-9 <= bound <= 1


@given(pairs)
def test_it_is_exact_on_a_list_that_was_run_completely(values):
    challenger, leader = np.array(values).T
    bound = difference_bound(challenger, leader, 0.1, population=len(values))
    assert bound == pytest.approx((challenger - leader).mean(), abs=1e-9)


@given(pairs)
def test_it_has_the_capital_of_the_bets_for_pairs(values):
    """Σ_c w_c ∏ [(1 − c) + c·Z/(1 − e)] reaches 1/δ after some number of values."""
    challenger, leader = np.array(values).T
    bound = difference_bound(challenger, leader, 0.1)
    if bound < 1:
        gains = 1 + FRACTIONS[:, None] * ((1 - challenger + leader) / (1 - bound) - 1)
        assert (PAIRED_WEIGHTS @ np.cumprod(gains, axis=1)).max() >= 1 / 0.1


def test_it_can_prove_that_the_leader_is_better():
    assert difference_bound([0.1] * 300, [0.8] * 300, 0.01) < -0.6


def test_it_beats_two_single_bounds_where_instances_dominate():
    generator = np.random.default_rng(3)
    hardness = generator.random(300)
    challenger = np.clip(hardness - 0.02, 0, 1)
    single = upper_bound(challenger, 0.04) - lower_bound(hardness, 0.03)
    assert difference_bound(challenger, hardness, 0.03) < single / 2


def test_both_must_have_run_on_the_same_instances():
    with pytest.raises(UsageError, match="same instances"):
        difference_bound([0.5, 0.5], [0.5], 0.1)

"""The parts of `wager`: shares of δ, captimes, growth, settings."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import UsageError
from utilitune.procedures.paper import FixedSet
from utilitune.procedures.wager import Adaptive, WagerSettings
from utilitune.procedures.wager.captimes import captime_grid, half_life_s, interval_of, shrunk_finish
from utilitune.procedures.wager.growth import adaptive_draws, gamma_of, stage
from utilitune.procedures.wager.shares import (
    fixed_shares,
    growing_shares,
    lower_threshold,
    paired_threshold,
    upper_threshold,
)
from utilitune.utility import LogLaplace, Uniform


class TestShares:
    @pytest.mark.parametrize("n", [1, 7, 1000])
    def test_a_fixed_set_spends_delta(self, n):
        shares = fixed_shares(0.1, n)
        answers = sum(1 / lower_threshold(shares, b) for b in range(1, n + 1))
        pairs_of_the_best = sum(1 / paired_threshold(shares, 1, b) for b in range(1, n + 1))
        assert answers + pairs_of_the_best + 1 / upper_threshold(shares, n) == pytest.approx(0.1)

    def test_a_growing_set_spends_half_of_delta_at_most(self):
        """Beyond `many`, what is left of each series is bounded by its telescoping sum or its integral."""
        shares, many = growing_shares(0.1), 20000
        numbers, left = range(1, many + 1), 100 / (many + 100)
        answers = sum(1 / lower_threshold(shares, b) for b in numbers) * 2  # draws, and the others
        pairs_of_one = sum(1 / paired_threshold(shares, 1, b) for b in numbers) * 2
        assert answers == pytest.approx(shares.lower * (1 - left))
        records = sum(1 / upper_threshold(shares, k) / k for k in numbers) / shares.upper
        records += 1 / ((2 + math.log(1000)) * (1 + math.log(many / 1000)))
        assert 0.9 < records <= 1
        pairs = pairs_of_one / (1 - left) * upper_threshold(shares, 1) * shares.upper * records
        assert pairs == pytest.approx(shares.paired * records)
        assert shares.lower + shares.upper * records + pairs <= 0.05

    def test_draws_that_keep_coming_are_never_out_of_shares(self):
        shares = growing_shares(0.1)
        for threshold in (lower_threshold, upper_threshold):
            values = [threshold(shares, 10**power) for power in range(10)]
            assert values == sorted(values)
            assert values[-1] < 1e20


class TestCaptimes:
    def test_the_grid_ends_at_the_limit(self):
        grid = captime_grid(LogLaplace(60.0), 1.0, 500.0)
        assert grid.captime_s[0] == 1.0
        assert grid.captime_s[-1] == 500.0
        assert np.all(np.diff(grid.captime_s) > 0)
        assert np.all(grid.captime_s[1:] / grid.captime_s[:-1] <= math.sqrt(2) + 1e-9)

    def test_no_captime_is_past_the_time_when_nothing_is_worth_waiting_for(self):
        assert captime_grid(Uniform(60.0), 1.0, 5000.0).captime_s[-1] <= 60.0 + 1e-9

    def test_an_endless_grid_is_short(self):
        assert captime_grid(LogLaplace(60.0), 1.0, math.inf).captime_s.size <= 100

    def test_a_first_captime_past_the_limit_is_refused(self):
        with pytest.raises(UsageError, match="choose a smaller one"):
            captime_grid(Uniform(60.0), 10.0, 5.0)

    def test_half_life(self):
        assert half_life_s(LogLaplace(60.0)) == pytest.approx(60.0)
        assert half_life_s(Uniform(60.0)) == pytest.approx(30.0)

    @given(st.floats(0, 1000))
    def test_a_run_finishes_within_its_interval(self, runtime):
        grid = captime_grid(LogLaplace(60.0), 1.0, 500.0)
        level = interval_of(grid, runtime)
        assert level == np.searchsorted(grid.captime_s, runtime, side="right")

    @given(st.lists(st.integers(0, 50), min_size=5, max_size=5))
    def test_the_estimate_is_a_distribution(self, events):
        risk = np.cumsum(np.array(events[::-1], dtype=float))[::-1].copy()
        finish, beyond = shrunk_finish(risk, np.array(events, dtype=float), np.zeros((2, 5)))
        assert finish.sum() + beyond[-1] == pytest.approx(1.0)
        assert np.all(finish >= 0)

    def test_much_evidence_overrules_the_prior(self):
        risk, events = np.array([1000.0, 500.0]), np.array([500.0, 250.0])
        finish, beyond = shrunk_finish(risk, events, np.zeros((2, 2)))
        assert finish == pytest.approx([0.5, 0.25], abs=0.01)
        assert beyond[-1] == pytest.approx(0.25, abs=0.01)


class TestGrowth:
    def test_adaptive_draws_grow_geometrically_and_gamma_falls(self):
        draws = [adaptive_draws(p, 0.1) for p in range(1, 30)]
        gammas = [gamma_of(p, n, 0.1) for p, n in enumerate(draws, 1)]
        assert gammas[0] <= 0.5
        assert all(later < earlier for earlier, later in pairwise(gammas))
        assert draws[-1] > 1000

    def test_all_gammas_together_spend_half_of_delta(self):
        spent = sum(
            math.exp(-gamma_of(p, adaptive_draws(p, 0.1), 0.1) * adaptive_draws(p, 0.1)) for p in range(1, 40)
        )
        assert spent <= 0.05

    def test_a_fixed_set_has_one_stage(self):
        assert stage(FixedSet(5), 1, 0.1).draws == 5
        assert stage(FixedSet(5), 2, 0.1) is None

    def test_the_weight_must_be_positive(self):
        with pytest.raises(UsageError, match="weight of gamma"):
            Adaptive(0.0)


@pytest.mark.parametrize("wrong", [{"delta": 0.0}, {"epsilon": 1.5}, {"gamma": 0.0}, {"captime0_s": -1.0}])
def test_settings_are_checked(wrong):
    with pytest.raises(UsageError):
        WagerSettings(**({"delta": 0.1} | wrong))

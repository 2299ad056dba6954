"""The parts of `wager`: shares of δ, captimes, growth, settings."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import UsageError
from utilitune.procedures.growth import FixedSet
from utilitune.procedures.wager import Adaptive, WagerSettings
from utilitune.procedures.wager.captimes import captime_grid, half_life_s, interval_of, shrunk_finish
from utilitune.procedures.wager.growth import GammaGrid, stage
from utilitune.procedures.wager.shares import (
    Kind,
    Weights,
    fixed_shares,
    fixed_weight,
    growing_shares,
    lower_threshold,
    paired_threshold,
    serve,
    shares_with,
    upper_threshold,
)
from utilitune.utility import LogLaplace, Uniform


class TestShares:
    @pytest.mark.parametrize("default", [False, True])
    @pytest.mark.parametrize("n", [2, 7, 100, 101, 1000])
    def test_a_fixed_set_spends_delta(self, n, default):
        """Whoever is the best is no wrong answer, so n − 1 others share what answers spend."""
        shares, weight = fixed_shares(0.1, n, default=default), fixed_weight(n)
        answers = (n - 1) / lower_threshold(shares, weight)
        pairs_of_the_best = (n - 1) / paired_threshold(shares, 1, weight)
        gains = 2 * shares.gain  # whether better, whether worse
        assert answers + pairs_of_the_best + 1 / upper_threshold(shares, n) + gains == pytest.approx(0.1)

    def test_a_set_of_one_has_all_weight(self):
        assert fixed_weight(1) == 1.0

    @pytest.mark.parametrize("default", [False, True])
    def test_phases_spend_what_gamma_leaves_at_most(self, default):
        shares, many = growing_shares(0.1, spent=0.007, default=default), 20000
        records = sum(1 / upper_threshold(shares, k) / k for k in range(1, many + 1)) / shares.upper
        records += (1 - shares.late) / ((2 + math.log(1000)) * (1 + math.log(many / 1000)))
        assert 0.9 < records <= 1
        assert (
            shares.lower + shares.upper * records + shares.paired * records + 2 * shares.gain <= 0.1 - 0.007
        )
        late, early = upper_threshold(shares, 900), upper_threshold(shares, 9)
        assert late < early / 5

    @pytest.mark.parametrize("default", [False, True])
    def test_a_growing_set_spends_half_of_delta_at_most(self, default):
        """Beyond `many`, what is left of the series is bounded by its integral; weights sum to 1."""
        shares, many = growing_shares(0.1, default=default), 20000
        records = sum(1 / upper_threshold(shares, k) / k for k in range(1, many + 1)) / shares.upper
        records += 1 / ((2 + math.log(1000)) * (1 + math.log(many / 1000)))
        assert 0.9 < records <= 1
        pairs = shares.paired * records
        assert 1 / paired_threshold(shares, 1, 0.5) == pytest.approx(
            shares.paired * 0.5 / upper_threshold(shares, 1) / shares.upper
        )
        assert shares.lower + shares.upper * records + pairs + 2 * shares.gain <= 0.05

    @pytest.mark.parametrize("announced", [1, 2, 9, 61, 999, 1000, 1001, 4000])
    def test_an_announced_gamma_spends_no_more_than_a_growing_set(self, announced):
        """Records before and behind its draws, and the best of these, which is one draw."""
        before, many = growing_shares(0.1, announced=announced), 40000
        after = before._replace(reached=True)
        spent = sum(1 / upper_threshold(before, k) / k for k in range(1, announced))
        spent += max(1 / upper_threshold(after, k) for k in range(1, announced + 1))
        spent += sum(1 / upper_threshold(after, k) / k for k in range(announced + 1, many + 1))
        level = max(1000, announced)
        rest = 0.1 / ((1 + math.log(level / announced)) * (1 + math.log(many / level)))
        assert 0.6 * before.upper < spent + rest * before.upper <= before.upper

    @pytest.mark.parametrize("announced", [1, 2, 9, 61, 1001])
    def test_no_share_shrinks_when_the_announced_draws_are_there(self, announced):
        """Else the smallest bound of all moments could not be kept."""
        before = growing_shares(0.1, announced=announced)
        after = before._replace(reached=True)
        assert all(
            upper_threshold(after, k) <= upper_threshold(before, k)
            and paired_threshold(after, k, 0.1) <= paired_threshold(before, k, 0.1)
            for k in range(1, announced + 1)
        )

    def test_what_was_reached_stays_reached(self):
        shares = growing_shares(0.1, announced=9)
        assert not shares_with(shares, 8, whole=False).reached
        assert shares_with(shares, 8, whole=True).reached
        reached = shares_with(shares, 9, whole=False)
        assert reached.reached
        assert shares_with(reached, 1, whole=False) == reached
        plain = growing_shares(0.1)
        assert shares_with(plain, 1000, whole=True) == plain

    def test_shares_of_the_announced_draws_say_nothing_of_fewer_draws(self):
        before = growing_shares(0.1, announced=9)
        after = before._replace(reached=True)
        assert [serve(before, draws, 8) for draws in (5, 8, 9)] == [True, True, False]
        assert [serve(after, draws, 20) for draws in (5, 8, 9, 15, 20, 21)] == [
            False,
            False,
            True,
            True,
            True,
            False,
        ]
        assert serve(after, 7, 7), "the whole space is drawn"
        assert not serve(after, 6, 7)

    @pytest.mark.parametrize("given", [False, True])
    @pytest.mark.parametrize("chosen", [False, True])
    def test_the_weights_of_all_kinds_sum_to_one(self, given, chosen):
        weights, many = Weights.of(given=given, chosen=chosen), 20000
        total = sum(weights.weight(kind, b) for kind in Kind for b in range(1, many + 1))
        assert 1 - 0.006 < total <= 1

    def test_where_nobody_else_can_be_the_answer_draws_have_all_weights(self):
        alone, crowded = Weights.of(given=False, chosen=False), Weights.of(given=True, chosen=True)
        assert alone.weight(Kind.DRAW, 5) == pytest.approx(2 * crowded.weight(Kind.DRAW, 5))
        assert alone.weight(Kind.GIVEN, 1) == alone.weight(Kind.CHOSEN, 1) == 0.0

    def test_draws_that_keep_coming_are_never_out_of_shares(self):
        shares, weights = growing_shares(0.1), Weights.of(given=True, chosen=True)
        for kind in Kind:
            values = [lower_threshold(shares, weights.weight(kind, 10**power)) for power in range(9)]
            assert values == sorted(values)
            assert values[-1] < 1e24
        values = [upper_threshold(shares, 10**power) for power in range(10)]
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
        level = interval_of(grid.captime_s, runtime)
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
    @pytest.mark.parametrize("announced", [None, 0.2, 0.01])
    def test_adaptive_draws_grow_and_gamma_falls(self, announced):
        grid = GammaGrid(0.1, announced)
        draws = [grid.point(p).draws for p in range(1, 30)]
        gammas = [grid.gamma(p) for p in range(1, 30)]
        assert gammas[0] <= 0.65
        assert all(later <= earlier for earlier, later in pairwise(gammas))
        assert all(later >= earlier for earlier, later in pairwise(draws))
        assert draws[-1] > 1000

    @pytest.mark.parametrize("announced", [None, 0.2, 0.01])
    def test_all_gammas_together_spend_half_of_delta(self, announced):
        """The chance that n_p draws all miss the best γ_p is (1 − γ_p)^n_p."""
        grid = GammaGrid(0.1, announced)
        points = [grid.point(p) for p in range(1, 60)]
        spent = sum((1 - point.gamma_after(point.draws)) ** point.draws for point in points)
        assert 0.03 < spent <= 0.05

    @pytest.mark.parametrize("gamma", [0.2, 0.05, 0.01])
    def test_an_announced_gamma_needs_a_fraction_of_the_draws(self, gamma):
        def draws_for(grid: GammaGrid) -> int:
            number = next(p for p in range(1, 60) if grid.gamma(p) <= gamma)
            return grid.point(number).draws

        assert 1.8 * draws_for(GammaGrid(0.1, gamma)) < draws_for(GammaGrid(0.1))

    def test_flat_weights_prove_a_smaller_gamma_than_falling_ones(self):
        for number in range(5, 13):
            point = GammaGrid(0.1).point(number)
            falling = math.log(math.pi**2 * number**2 / 0.3) / point.draws
            assert point.gamma_after(point.draws) < 0.92 * falling

    def test_a_fixed_set_has_one_stage(self):
        assert stage(FixedSet(5), 1, GammaGrid(0.1)).draws == 5
        assert stage(FixedSet(5), 2, GammaGrid(0.1)) is None

    def test_the_weight_must_be_positive(self):
        with pytest.raises(UsageError, match="weight of gamma"):
            Adaptive(0.0)


@pytest.mark.parametrize("wrong", [{"delta": 0.0}, {"epsilon": 1.5}, {"gamma": 0.0}, {"captime0_s": -1.0}])
def test_settings_are_checked(wrong):
    with pytest.raises(UsageError):
        WagerSettings(**({"delta": 0.1} | wrong))

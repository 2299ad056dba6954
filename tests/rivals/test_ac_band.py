from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rivals.recorded_runs import constant, exponential, play, recorded
from utilitune import UtilituneError
from utilitune.rivals.ac_band import (
    ACBand,
    Elimination,
    Feedback,
    _Arena,
    epoch_count,
    epoch_divisor,
    epochs,
    needed_draws,
)
from utilitune.rivals.rival import RivalStanding


def test_sizes_for_the_settings_of_the_paper():
    # log .05 / log .95 = 58.4, log .05 / log .98 = 148.3, log .05 / log .99 = 298.1.
    assert [needed_draws(alpha, 0.05) for alpha in (0.05, 0.02, 0.01)] == [59, 149, 299]
    # E = ⌈log2 60⌉, ⌈log2 150⌉, ⌈log2 300⌉.
    assert [epoch_count(draws) for draws in (59, 149, 299)] == [6, 8, 9]
    # n_e = ⌈60 / 2^e⌉ + 1.
    assert [epoch.configurations for epoch in epochs(59, 4, 20_118)] == [31, 16, 9, 5, 3, 2]


def test_divisors_by_hand():
    # k = 4, N = 59: b = 1 + 3/6 = 1.5, ln b = .4054651; c1 = .6931472/.4054651 = 1.709511,
    # c2 = 1 + ln(300)/ln b = 15.067255, c3 = 3.419023; c1 · 6 − 63 (2 c1 − c2 − c3) = 959.4941.
    # C_1 = 2 · 959.4941 / (64 · (18.486278 − 1.709511)) = 1.787245.
    assert epoch_divisor(1, 59, 4) == pytest.approx(1.787245, abs=1e-5)
    # k = 2, N = 2, E = 2: c1 = c3 = 1.709511, c2 = 1 + ln 15/ln 1.5 = 7.678868; the whole is 21.327093.
    assert epoch_divisor(1, 2, 2) == pytest.approx(1.388687, abs=1e-5)
    assert epoch_divisor(2, 2, 2) == pytest.approx(3.572762, abs=1e-5)


@given(st.integers(1, 400), st.integers(2, 16))
def test_the_shares_of_all_epochs_sum_to_the_budget(draws: int, race_size: int):
    shares = [1 / epoch_divisor(e, draws, race_size) for e in range(1, epoch_count(draws) + 1)]
    assert sum(shares) == pytest.approx(1.0)
    assert sorted(shares, reverse=True) == shares
    assert sum(epoch.instances for epoch in epochs(draws, race_size, 5000)) <= 5000


def test_rounds_by_hand():
    # e = 1, k = 4: 2^ρ = 4; f(4) = 1; g(31) = 1·7 + 3 = 10, g(10) = 2 + 2 = 4; f(4) = 1.
    assert Elimination(4, 1).rounds(31) == (2, 1)
    # e = 3, k = 4: 2^ρ = 2; f(4) = 2; g(9) = 2·2 + 1 = 5, g(5) = 2 + 1 = 3; f(3) = 1.
    assert Elimination(4, 3).rounds(9) == (2, 1)
    # e = 6, k = 4: 2^ρ = 9/6; f(4) = 2 and f(3) = 2 and f(2) = 1.
    assert Elimination(4, 6).rounds(4) == (0, 2)
    assert Elimination(4, 6).rounds(2) == (0, 1)
    assert [Elimination(4, 6).kept(count) for count in (4, 3, 2)] == [2, 2, 1]


def test_a_race_by_hand():
    # Winners: row 0 after 1 s, row 1 after 4 s, nobody within 10 s, row 1 after 3 s.
    # All three pay the winner's time: 3 · (1 + 4 + 10 + 3) = 54 s in 12 runs.
    runs = recorded([[1, 5, 20, 12], [2, 4, 20, 3], [3, 6, 20, 9]], cutoff_s=10)
    arena = _Arena(runs, 10.0, Feedback.WINS)
    assert arena.race([0, 1, 2], 4, keep=2) == [0, 1]
    assert (arena.total_time_s, arena.runs) == (54.0, 12)


def test_feedback_can_weigh_wins_by_utility():
    # Row 0 wins once after 1 s (u = .9), row 1 twice after 8 s (u = .2 each).
    runs = recorded([[1, 9, 9], [2, 8, 8]], cutoff_s=10)
    assert _Arena(runs, 10.0, Feedback.WINS).race([0, 1], 3, keep=1) == [1]
    assert _Arena(runs, 10.0, Feedback.UTILITY).race([0, 1], 3, keep=1) == [0]


def test_played_by_hand():
    # α = ½, δ = ¼: N = 2, n0 = 3, E = 2, n = 3 and 2. k = 2 and B = 100: ⌊100/1.388687⌋ = 72 and
    # ⌊100/3.572762⌋ = 27 instances.
    # Epoch 1, rows 0 1 2, R = 2: race (0, 1) on 72/2 = 36 instances, row 2 passes on; then (1, 2) on 36.
    # Epoch 2, rows 1 3, R = 1: race on 27. Row 1 wins every race after 1 s, and both pay that.
    runs = recorded(constant([3, 1, 2, 5], 100), cutoff_s=10)
    points, stop = play(ACBand(race_size=2, alpha=0.5, delta=0.25), runs)
    assert points == [RivalStanding(1, 144.0, 144, 3, 1), RivalStanding(1, 198.0, 198, 4, 1)]
    assert stop.code == "finished"


@given(st.integers(0, 10**6), st.sampled_from([2, 4, 8]), st.floats(0.05, 0.6))
def test_no_more_instances_than_the_budget(seed: int, race_size: int, alpha: float):
    rows = np.random.default_rng(seed).exponential(3.0, (90, 4000))
    runs = recorded(rows, cutoff_s=8, seed=seed)
    arena_runs = play(ACBand(race_size=race_size, alpha=alpha, budget=4000), runs)[0][-1].runs
    assert 0 < arena_runs <= race_size * 4000


def test_a_clear_best_row_is_found():
    rows = exponential([6, 5, 7, 0.5, 6, 5, 8, 9], 3000)
    for feedback in Feedback:
        rival = ACBand(race_size=2, alpha=0.2, feedback=feedback)
        points, _ = play(rival, recorded(rows, cutoff_s=20, seed=1))
        assert points[-1].best_index == 3


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"race_size": 5}, "a race of 5 configurations needs at least as many, but there are only 4"),
        ({"race_size": 1}, "must be a whole number of at least 2"),
        ({"alpha": 1.0}, "alpha must lie strictly between 0 and 1"),
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1"),
        ({"budget": 0}, "must be a whole number of at least 1"),
        ({"budget": 300}, "more than the 200 there are"),
        ({"budget": 3}, r"the instances \(3\) are too few"),
        ({"alpha": 1e-17}, r"alpha \(1e-17\) is so small that no number of draws would do"),
        ({"feedback": "speed"}, "the feedback must be"),
        ({"captime_s": math.inf}, "the captime must be a positive number"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, float], sentence: str):
    with pytest.raises(UtilituneError, match=sentence):
        play(ACBand(**settings), recorded(constant([1, 2, 3, 4], 200), cutoff_s=10))

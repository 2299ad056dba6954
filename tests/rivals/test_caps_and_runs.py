from __future__ import annotations

import math

import numpy as np
import pytest

from rivals.recorded_runs import constant, exponential, play, recorded
from utilitune import UtilituneError
from utilitune.domain.stopping import Budget
from utilitune.rivals import bernstein_race as kernel
from utilitune.rivals.caps_and_runs import CapsAndRuns, Precision
from utilitune.rivals.rival import RecordedRuns, play_rival

TINY = kernel.RaceRules(
    slice_s=10.0,
    instances=4,
    finishing=3,
    patience=1.5,
    accuracy=0.25,
    failure=0.03,
    limit_s=math.inf,
    pause_after=-1,
)


def race_on(runs: RecordedRuns, rules: kernel.RaceRules = TINY) -> kernel.RaceState:
    return kernel.new_race(kernel.new_account(runs.evidence, runs.order), rules.instances)


def paid_s(race: kernel.RaceState) -> float:
    return float(race.account.shared[kernel.TOTAL])


def test_instances_of_the_first_phase():
    # 26 ln(2 · 972 / .05) / .1 = 26 · 10.56824 / .1 = 2747.7; ⌈2748 · .925⌉ = 2542.
    improved = Precision(delta=0.1, zeta=0.05).rules(972, 0.05, math.inf)
    assert (improved.instances, improved.finishing, improved.patience) == (2748, 2542, 1.5)
    # 48 ln(3 · 972 / .05) / .1 = 48 · 10.97370 / .1 = 5267.4.
    original = Precision(delta=0.1, zeta=0.05, original_constants=True).rules(972, 0.05, math.inf)
    assert (original.instances, original.patience) == (5268, 2.0)


def test_the_first_phase_by_hand():
    # Slices of 10 s in turns over runs of 5, 25, 8 and 40 s, until 3 of 4 are over:
    # pass 1: 5, 10, 8, 10; pass 2: the second and fourth run get 10 each; pass 3: the second ends after 5.
    race = race_on(recorded([[5, 25, 8, 40, 30, 6]]))
    works = []
    while race.status[0] == kernel.CAP:
        kernel._seek_cap(race, TINY, 0)
        works.append(float(race.work_s[0]))
    assert works == [5, 15, 23, 33, 43, 53, 58]
    assert race.status[0] == kernel.MEAN
    assert race.cap_s[0] == 25.0
    assert paid_s(race) == 58.0


def test_the_second_phase_by_hand():
    # The cap is 25 s: the fifth run (30 s) is cut there after three turns, the sixth takes 6 s.
    race = race_on(recorded([[5, 25, 8, 40, 30, 6, 7]]))
    while race.status[0] == kernel.CAP:
        kernel._seek_cap(race, TINY, 0)
    for turn, samples in enumerate([0, 0, 1, 2]):
        kernel._seek_mean(race, TINY, 0)
        assert race.samples[0] == samples, turn
    assert paid_s(race) == 58 + 25 + 6
    assert race.account.counters[kernel.RUNS] == 6
    # Two samples 25 and 6: mean 15.5, variance (9.5² + 9.5²)/2 = 90.25. Grid point 1: a = 1, and
    # x = −ln(.03 / 10.5844 / 3) = 6.96460.
    x = -math.log(0.03 / 10.5844 / 3)
    width = math.sqrt(2 * 90.25 * x / 2) + 3 * 25 * x / 2
    assert race.mean_s[0] == 15.5
    assert race.lower_s[0] == pytest.approx(15.5 - width)
    assert race.account.shared[kernel.BOUND] == pytest.approx(15.5 + width)
    assert race.account.counters[kernel.HOLDER] == 0


def test_the_grid_of_the_stopping_rule():
    # ⌊1.1^k⌋ is 1 up to k = 7 and 2 at k = 8, so that the ratio there is 2.
    assert kernel.bernstein_spread(0.1, 7) == pytest.approx(-math.log(0.1 / (10.5844 * 7**1.1) / 3))
    assert kernel.bernstein_spread(0.1, 8) == pytest.approx(-2 * math.log(0.1 / (10.5844 * 8**1.1) / 3))
    # The d of all grid points sum to the failure: Σ k^(−1.1) = 10.5844.
    terms = np.arange(1, 2_000_000, dtype=np.float64) ** -1.1
    assert terms.sum() + 10 * 2_000_000**-0.1 == pytest.approx(10.5844, abs=1e-3)


def test_a_hopeless_first_phase_is_abandoned():
    # T = 2: work of 1.5 · 4 · 2 = 12 s is the most; the first two slices are 10 s each.
    race = race_on(recorded(constant([50], 9)))
    race.account.shared[kernel.BOUND] = 2.0
    kernel._seek_cap(race, TINY, 0)
    assert race.status[0] == kernel.CAP
    kernel._seek_cap(race, TINY, 0)
    assert race.status[0] == kernel.REJECTED
    assert paid_s(race) == 20.0


def test_a_run_is_never_paid_twice():
    race = race_on(recorded([[30.0]], cutoff_s=25))
    account = race.account
    assert kernel.watch(account, 25.0, 0, 0, 10.0) == 10.0
    assert kernel.watch(account, 25.0, 0, 0, 8.0) == 8.0
    assert kernel.watch(account, 25.0, 0, 0, 20.0) == 20.0
    assert kernel.watch(account, 25.0, 0, 0, 99.0) == 25.0  # it is not known any further
    assert paid_s(race) == 25.0
    assert account.counters[kernel.RUNS] == 1


def test_a_clear_best_row_is_found_and_the_others_are_rejected():
    runs = recorded(exponential([20, 4, 20, 30], 9000), cutoff_s=500, seed=0)
    points, stop = play(CapsAndRuns(delta=0.2, epsilon=0.5), runs)
    assert points[-1].best_index == 1
    assert points[-1].alive == 1
    assert points[-1].configurations == 4
    assert stop.code == "finished"
    assert [point.total_time_s for point in points] == sorted(point.total_time_s for point in points)


def test_equally_good_rows_are_both_measured_to_accuracy():
    # Constant runtimes: no variance, so a mean is known well enough once 3 τ x / j ≤ ε/3 (2 q − c).
    points, stop = play(CapsAndRuns(delta=0.5), recorded(constant([2.0, 2.0], 5000), cutoff_s=10))
    assert points[-1].alive == 2
    assert stop.code == "finished"
    assert points[-1].total_time_s < 2 * 2.0 * 5000


def test_running_out_of_instances_is_said():
    points, stop = play(
        CapsAndRuns(delta=0.5, epsilon=0.01), recorded(constant([2.0, 2.1], 400), cutoff_s=10)
    )
    assert stop.code == "instances-exhausted"
    assert points[-1].best_index == 0
    # Each run was paid once, but for those of the first phase that were not waited for.
    assert points[-1].total_time_s <= 400 * 4.1


def test_gamma_limits_how_many_rows_are_drawn():
    # ln(.05/7) / ln(1 − .5) = 7.13: 8 draws.
    points, _ = play(CapsAndRuns(gamma=0.5, delta=0.5), recorded(constant([2.0] * 12, 2000), cutoff_s=10))
    assert points[-1].configurations == 8


def test_the_answer_is_the_one_left_whoever_set_the_bound():
    # b = ⌈26 ln(2 · 2 / .9) / .5⌉ = 78. The first row's means begin with 300 runs of no time and set a bound
    # that its later runs of 10 s exceed by far; the second row's mean stays at half a second.
    rows = [[10.0] * 78 + [0.0] * 300 + [10.0] * 1000, [10.0] * 78 + [0.5] * 1300]
    points, stop = play(CapsAndRuns(epsilon=0.1, delta=0.5, zeta=0.9), recorded(rows))
    assert stop.code == "finished"
    assert (points[-1].best_index, points[-1].alive) == (1, 1)


def test_runs_that_take_no_time_are_looks_as_well():
    points, _ = play(CapsAndRuns(epsilon=0.9, delta=0.9, zeta=0.9), recorded(constant([0.0, 0.0], 300)))
    assert (points[-1].configurations, points[-1].alive, points[-1].runs) == (2, 2, 0)


def test_the_time_allowed_ends_it():
    # In the midst of a round of a thousand turns, with the turn that uses it up.
    runs = recorded(constant([2.0] * 1000, 5000), cutoff_s=10)
    points, stop = play_rival(CapsAndRuns(delta=0.5), runs, Budget(max_time_s=301))
    assert stop.code == "time-limit"
    assert points[-1].total_time_s == 302
    points, stop = play_rival(CapsAndRuns(delta=0.5), runs, Budget(max_runs=77))
    assert stop.code == "run-limit"
    assert points[-1].runs == 77


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"delta": 1.0}, "delta must lie strictly between 0 and 1"),
        ({"zeta": 0.0}, "zeta must lie strictly between 0 and 1"),
        ({"epsilon": 0}, "epsilon must be a positive number"),
        ({"gamma": 1.5}, "gamma must lie strictly between 0 and 1"),
        ({"gamma": 0.01}, "gamma = 0.01 needs 492 random configurations, but there are only 3"),
        ({"gamma": 1e-17}, "gamma must be at least 1e-09, not 1e-17"),
        ({"delta": 5e-324}, "delta must be at least 1e-09"),
        ({"zeta": 1e-300}, "zeta must be at least 1e-09"),
        ({"slice_s": 0}, "the slice must be a positive number"),
        ({"slice_s": 1e-300}, "the slice must be at least 0.001 s"),
        ({"delta": 0.1}, "need 1247 instances, but there are only 400"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, float], sentence: str):
    # 26 ln(2 · 3 / .05) / .1 = 1244.7 → 1245, and two more for the second phase.
    with pytest.raises(UtilituneError, match=sentence):
        play(CapsAndRuns(**settings), recorded(constant([1, 2, 3], 400), cutoff_s=10))

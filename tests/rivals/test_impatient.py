from __future__ import annotations

import math

import numpy as np
import pytest

from rivals.recorded_runs import constant, exponential, play, recorded
from utilitune import UtilituneError
from utilitune.domain.stopping import Budget
from utilitune.rivals import bernstein_race as kernel
from utilitune.rivals.impatient import ImpatientCapsAndRuns, pool_sizes, precheck_instances
from utilitune.rivals.rival import play_rival


def test_pool_sizes_by_hand():
    # γ = .1: K = ⌈log2 5⌉ = 3 and ζ'/K = .01/3, ln = −5.70378.
    # k = 2: ln(1 − .4) = −.510826 → 11.17; k = 1: ln(.8) = −.223144 → 25.56; k = 0: ln(.9) → 54.14.
    assert pool_sizes(0.1, 0.01) == [12, 26, 55]
    # The paper's γ = .01 with ζ' = .05/12: K = 6, ln(ζ'/6) = −7.27240; ln(.68) → 18.86 … ln(.99) → 723.6.
    sizes = pool_sizes(0.01, 0.05 / 12)
    assert len(sizes) == 6
    assert (sizes[0], sizes[-1]) == (19, 724)
    assert sizes == sorted(sizes)


def test_instances_of_a_precheck():
    # 32.1 ln(2 · 6 / (.05/12)) = 32.1 · 7.965546 = 255.7.
    assert precheck_instances(6, 0.05 / 12) == 256


def test_parts_share_the_failure():
    assert ImpatientCapsAndRuns(zeta=0.06).part_zeta == pytest.approx(0.005)
    assert ImpatientCapsAndRuns(zeta=0.065, guess_best=True).part_zeta == pytest.approx(0.005)


def account_with_bound(rows: list[list[float]], bound_s: float) -> kernel.RaceAccount:
    runs = recorded(rows)
    account = kernel.new_account(runs.evidence, runs.order)
    account.shared[kernel.BOUND] = bound_s
    return account


def test_a_precheck_passed_by_hand():
    # T = 2, b' = 5: four runs of 1 s find the cap 1 s (4 < 1.9 · 5 · 2 = 19), then five more run at it.
    account = account_with_bound(constant([1.0], 10), 2.0)
    assert kernel.precheck(account, 0, 5, 1.0, (10.0, math.inf))
    assert account.shared[kernel.TOTAL] == 4 + 5


@pytest.mark.parametrize(("slice_s", "paid_s"), [(10.0, 24.0), (5.0, 20.0)])
def test_a_precheck_given_up_in_its_first_stage(slice_s: float, paid_s: float):
    # Runs of 8 s against at most 19 s of work: whole runs stop at 24, slices of 5 s at 20.
    account = account_with_bound(constant([8.0], 10), 2.0)
    assert not kernel.precheck(account, 0, 5, 1.0, (slice_s, math.inf))
    assert account.shared[kernel.TOTAL] == paid_s


def test_a_precheck_failed_by_the_mean():
    # T = 2, b' = 1000, constant 3 s: 800 · 3 = 2400 < 3800 in stage 1; stage 2 sees mean 3 with width
    # 3 · 3 · 5 / 1000 = .045, and 2.955 > 2.
    account = account_with_bound(constant([3.0], 2000), 2.0)
    assert not kernel.precheck(account, 0, 1000, 5.0, (10.0, math.inf))
    assert account.shared[kernel.TOTAL] == 2400 + 3000
    # The same again is free.
    assert not kernel.precheck(account, 0, 1000, 5.0, (10.0, math.inf))
    assert account.shared[kernel.TOTAL] == 5400


def test_the_second_stage_stops_when_it_takes_too_long():
    # T = 2, b' = 5: stage 1 ends after 1 + 1 + 1 + 10 = 13 < 19 s with cap 10 s. Stage 2 cuts its runs there
    # and stops with the third, as 30 > 2.99 · 10: mean 10, width 3 · 10 x / 3.
    account = account_with_bound([[1, 1, 1, 10, 40, 12, 12, 12, 12, 12]], 2.0)
    assert not kernel.precheck(account, 0, 5, 0.1, (20.0, math.inf))
    assert account.shared[kernel.TOTAL] == 13 + 30
    assert kernel.precheck(account, 0, 5, 1.0, (20.0, math.inf))  # with a width of 10 the doubt remains


@pytest.mark.parametrize("guess_best", [False, True])
@pytest.mark.parametrize("original_constants", [False, True])
def test_a_clear_best_row_is_found(guess_best: bool, original_constants: bool):
    # γ = .2 and ζ' = .5/12: K = 2, ln(ζ'/2) = −3.8712; ln(.6) → 7.58 and ln(.8) → 17.35, so the pools reach
    # to 8 and 18 draws. (With ζ' = .5/13: 7.73 and 17.71, the same.) The best row comes with the second pool.
    means = np.full(20, 30.0)
    means[11] = 3.0
    runs = recorded(exponential(means, 9000), cutoff_s=400)
    rival = ImpatientCapsAndRuns(
        gamma=0.2,
        delta=0.5,
        zeta=0.5,
        epsilon=0.5,
        guess_best=guess_best,
        original_constants=original_constants,
    )
    points, stop = play(rival, runs)
    assert points[-1].best_index == 11
    assert points[-1].configurations == 18
    assert points[-1].alive == 1
    assert stop.code == "finished"


def test_prechecks_spare_most_of_the_first_phase():
    # Pools of 8 and 18 draws. The newcomers 8 … 17 are ten times slower. A precheck has b' = 147 instances
    # per stage; the first phase would have b = 26 ln(2 · 18 / ζ') / .1 = 1758.02.
    means = np.array([3.0] * 8 + [30.0] * 10)
    runs = recorded(exponential(means, 9000), cutoff_s=400)
    rival = ImpatientCapsAndRuns(gamma=0.2, delta=0.1, zeta=0.5, epsilon=1.0)
    assert precheck_instances(2, rival.part_zeta) == 147
    assert rival.rules(18, rival.part_zeta, 400.0).instances == 1759
    sizes = pool_sizes(0.2, rival.part_zeta)
    account = kernel.new_account(runs.evidence, runs.order[: sizes[-1]])
    account.shared[kernel.BOUND] = 4.0
    spread = math.log(3 * 2 / rival.part_zeta)
    assert not any(kernel.precheck(account, i, 147, spread, (100.0, 400.0)) for i in range(8, 18))
    assert account.counters[kernel.RUNS] <= 10 * 2 * 147
    points, _ = play(rival, runs)
    assert points[-1].best_index < 8
    assert points[-1].configurations == 18


@pytest.mark.parametrize("allowed_s", [200.0, 1234.5, 2500.0, 3500.0])
def test_the_time_allowed_ends_it_even_within_prechecks(allowed_s: float):
    # Pools of 8 and 18 draws on constant runtimes of 2 s: no turn and no run takes longer.
    runs = recorded(constant([2.0] * 18, 900))
    rival = ImpatientCapsAndRuns(gamma=0.2, delta=0.9, zeta=0.5, epsilon=0.1)
    points, stop = play_rival(rival, runs, Budget(max_time_s=allowed_s))
    assert stop.code == "time-limit"
    assert allowed_s <= points[-1].total_time_s < allowed_s + 2


@pytest.mark.parametrize(
    ("positions", "settings", "sentence"),
    [
        # 2 · ⌈32.1 ln(2 / (.9/12))⌉ = 2 · ⌈105.4⌉; caps need only ⌈26 ln(2 · 6 / (.9/12)) / .95⌉ + 2 = 141.
        (211, {}, "needs 212 instances for its prechecks, but there are only 211"),
        # ⌈26 ln(2 · 6 / (.9/13/6)) / .75⌉ = ⌈240.8⌉.
        (240, {"guess_best": True}, "needs 241 instances for its guess of the best, but there are only 240"),
    ],
)
def test_instances_must_suffice_for_every_check(positions: int, settings: dict[str, bool], sentence: str):
    rival = ImpatientCapsAndRuns(gamma=0.4, delta=0.95, zeta=0.9, **settings)
    with pytest.raises(UtilituneError, match=sentence):
        play(rival, recorded(constant([1.0] * 8, positions)))
    play(rival, recorded(constant([1.0] * 8, positions + 1)))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"gamma": 0.5}, "gamma must be below 0.5"),
        ({"gamma": 0.0}, "gamma must lie strictly between 0 and 1"),
        ({"gamma": 0.05}, "gamma = 0.05 needs 134 random configurations, but there are only 20"),
        ({"zeta": 1.0}, "zeta must lie strictly between 0 and 1"),
        ({"gamma": 0.3, "delta": 0.01}, "instances, but there are only 400"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, float], sentence: str):
    # γ = .05 and ζ' = .05/12: K = 4, ln(ζ'/4) / ln(.95) = 133.8.
    with pytest.raises(UtilituneError, match=sentence):
        play(ImpatientCapsAndRuns(**settings), recorded(constant([1.0] * 20, 400), cutoff_s=10))

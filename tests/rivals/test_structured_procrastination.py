from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rivals.recorded_runs import constant, exponential, play, recorded
from utilitune import UtilituneError
from utilitune.domain.stopping import Budget
from utilitune.rivals import structured_procrastination as spc
from utilitune.rivals.rival import play_rival
from utilitune.rivals.structured_procrastination import StructuredProcrastination


def sums_of(times_s: np.ndarray) -> np.ndarray:
    """Sums of the sorted times up to the end of each band."""
    return np.array([times_s[: spc.band_end(times_s.size, k)].sum() for k in range(spc._BANDS)])


def bound_by_definition(times_s: np.ndarray, step: int) -> float:
    """The lower confidence bound, term by term as it is defined."""
    r, total, previous_s = times_s.size, 0.0, 0.0
    for time_s in np.unique(times_s):
        share = (times_s > previous_s).sum() / r if previous_s else 1.0
        k = math.floor(math.log2(1 / share) + 1e-12)
        error = math.sqrt(9 * 2**k * math.log(max(k, 1) * step) / r)
        total += (time_s - previous_s) * (share / (1 + error) if error <= 0.5 else 0.0)
        previous_s = time_s
    return total


def test_the_bound_by_hand():
    # r = 100, t = 2: 60 runs took 1 s and 40 took 2 s.
    # p = 1:  k = 0, e = sqrt(9 ln 2 / 100) = .249766, β = .800150, times 1 s;
    # p = .4: k = 1, e = sqrt(18 ln 2 / 100) = .353223, β = .4 / 1.353223 = .295591, times 1 s.
    times_s = np.array([1.0] * 60 + [2.0] * 40)
    bound = spc.lower_confidence_bound(times_s, sums_of(times_s), 2)
    assert bound == pytest.approx(0.800150 + 0.295591, abs=2e-6)
    # p = .2 would be k = 2, e = sqrt(36 ln 4 / 100) = .706 > ½: the third second of 20 runs counts nothing.
    times_s[80:] = 3.0
    assert spc.lower_confidence_bound(times_s, sums_of(times_s), 2) == pytest.approx(bound)


def test_a_bound_on_few_runs_is_zero():
    # e ≤ ½ needs r ≥ 36 ln t: 249 runs at step 1000.
    times_s = np.full(248, 5.0)
    assert spc.lower_confidence_bound(times_s, sums_of(times_s), 1000) == 0.0
    times_s = np.full(249, 5.0)
    assert spc.lower_confidence_bound(times_s, sums_of(times_s), 1000) > 3.3


@given(st.integers(0, 10**6), st.integers(1, 3000), st.integers(2, 10**7), st.booleans())
def test_the_bound_is_its_definition(seed: int, runs: int, step: int, ties: bool):
    times_s = np.sort(np.random.default_rng(seed).exponential(5.0, runs) + 0.01)
    times_s = np.ceil(times_s) if ties else times_s
    bound = spc.lower_confidence_bound(times_s, sums_of(times_s), step)
    assert bound == pytest.approx(bound_by_definition(times_s, step), rel=1e-9, abs=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.5, 1.0, 1.5, 2.0, 8.0])), max_size=60))
def test_sorted_times_and_their_sums_stay_true(changes: list[tuple[bool, float]]):
    room, sums_s, times_s = np.zeros(64), np.zeros(spc._BANDS), []
    for number, (new, value_s) in enumerate(changes):
        if new or not times_s:
            spc.insert_time(room, sums_s, len(times_s), value_s)
            times_s.append(value_s)
        else:
            old_s = times_s.pop(number % len(times_s))
            times_s.append(old_s + value_s)
            spc.raise_time(room[: len(times_s)], sums_s, (old_s, old_s + value_s))
        assert room[: len(times_s)].tolist() == sorted(times_s)
        np.testing.assert_allclose(sums_s, sums_of(room[: len(times_s)]), rtol=1e-12)


def test_queue_sizes_by_hand():
    assert spc.queue_size(1, 0) == spc.queue_size(9, 1) == 25
    assert spc.queue_size(4, 16) == 100  # 25 log2(4 · 4)
    assert spc.queue_size(1000, 4) == 275  # 25 log2(1000 · 2) = 274.1


def test_one_configuration_by_hand():
    # 40 instances of 3 s each, caps 1, 2, 4 s. At step t ≤ 40 with r = t − 1 begun, fewer than q = 25 or
    # ⌈25 log2(t log2 r)⌉ runs wait, so all 40 begin at cap 1; then each is continued to 2 s, then to its end.
    # Continued runs pay the extra second only: 40 · 3 s in 120 steps.
    points, stop = play(StructuredProcrastination(), recorded(constant([3.0], 40)))
    assert points[-1].total_time_s == pytest.approx(120.0)
    assert points[-1].runs == 120
    assert stop.code == "instances-exhausted"


def test_caps_grow_by_the_multiplier_up_to_the_cutoff():
    # Caps 1, 3, 9 and then the cutoff 10, beyond which nothing is known: a run pays 10 s in 4 steps.
    rival = StructuredProcrastination(multiplier=3.0)
    points, _ = play(rival, recorded(constant([math.inf], 20), cutoff_s=10))
    assert (points[-1].total_time_s, points[-1].runs) == (pytest.approx(200.0), 80)


def test_unstarted_configurations_come_first_and_the_most_begun_is_the_answer():
    # Steps 1, 2, 3 begin one instance of each configuration; afterwards all bounds are 0 and the first in the
    # order goes on alone, until its bound is positive or, here, the budget of 10 runs ends.
    runs = recorded(constant([0.5, 0.5, 0.5], 50))
    points, stop = play_rival(StructuredProcrastination(refresh_every=1), runs, Budget(max_runs=10))
    assert stop.code == "run-limit"
    assert (points[-1].best_index, points[-1].runs, points[-1].configurations) == (0, 10, 3)


def test_bounds_that_are_always_fresh_give_much_the_same():
    rows = exponential([4, 1, 6, 3], 6000)
    shares = []
    for refresh_every in (1, 1000):
        rival = StructuredProcrastination(refresh_every=refresh_every)
        points, _ = play_rival(rival, recorded(rows, cutoff_s=100), Budget(max_time_s=8000))
        assert points[-1].best_index == 1
        shares.append(points[-1].runs)
    assert shares[0] == pytest.approx(shares[1], rel=0.1)


@pytest.mark.parametrize("multiplier", [2.0, 3.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_clear_best_row_is_found(multiplier: float, seed: int):
    runs = recorded(exponential([9, 8, 7, 9, 0.7, 9], 8000, seed=seed), cutoff_s=60, seed=seed)
    budget = Budget(max_time_s=20_000)
    points, _ = play_rival(StructuredProcrastination(multiplier=multiplier), runs, budget)
    assert points[-1].best_index == 4


def test_the_time_allowed_is_kept_but_for_the_last_run():
    runs = recorded(exponential([9, 8, 7], 5000), cutoff_s=60)
    points, stop = play_rival(StructuredProcrastination(), runs, Budget(max_time_s=1000.0))
    assert stop.code == "time-limit"
    assert 1000.0 <= points[-1].total_time_s < 1060.0
    times = [point.total_time_s for point in points]
    assert times == sorted(times)
    assert len(times) > 40  # about 20 per decade


def test_bounds_may_never_be_refreshed():
    points, _ = play(StructuredProcrastination(refresh_every=10**30), recorded(constant([3.0], 40)))
    assert points[-1].total_time_s == pytest.approx(120.0)


def test_runs_that_take_no_time_come_to_an_end():
    _, stop = play(StructuredProcrastination(), recorded(constant([0.0, 0.0], 30)))
    assert stop.code == "instances-exhausted"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"multiplier": 1.0}, "a number of at least 1.01"),
        ({"multiplier": math.inf}, "a number of at least 1.01"),
        ({"captime0_s": 0.0}, "the first captime must be a positive number"),
        ({"captime0_s": 1e-320}, "the first captime must be at least 1e-06 s"),
        ({"captime_s": -1.0}, "the captime must be a positive number"),
        ({"refresh_every": 0}, "refresh_every must be a whole number of at least 1"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, float], sentence: str):
    with pytest.raises(UtilituneError, match=sentence):
        StructuredProcrastination(**settings)


def test_a_first_cap_above_the_captime_is_the_captime():
    runs = recorded(exponential([2.0, 4.0, 6.0], 200), 20.0)
    equal, above = (
        play(StructuredProcrastination(captime0_s=first_s, captime_s=5.0), runs)[0][-1]
        for first_s in (5.0, 50.0)
    )
    assert above == equal

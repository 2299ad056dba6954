from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rivals.recorded_runs import constant, exponential, play, recorded
from utilitune import UtilituneError
from utilitune.rivals.rival import RankedBy, RivalStanding
from utilitune.rivals.successive_halving import SuccessiveHalving, halving_rounds, largest_budget


def test_rounds_split_the_budget_evenly():
    # n = 5: L = ⌈log2 5⌉ = 3 rounds of 30 / 3 = 10 runs at most.
    # 5 survivors: ⌊10/5⌋ = 2 each; 3: ⌊10/3⌋ = 3 each; 2: 5 each.
    assert halving_rounds(5, 30) == [(5, 2), (3, 3), (2, 5)]
    assert halving_rounds(972, 186_000)[0] == (972, 19)  # ⌊186000 / 9720⌋
    assert halving_rounds(1, 10) == []


@given(st.integers(2, 200), st.integers(0, 20_000))
def test_rounds_never_exceed_the_budget_and_leave_one(configurations: int, budget: int):
    plan = halving_rounds(configurations, budget)
    assert sum(survivors * further for survivors, further in plan) <= budget
    assert len(plan) == math.ceil(math.log2(configurations))
    assert math.ceil(plan[-1][0] / 2) == 1


@given(st.integers(2, 60), st.integers(1, 400))
def test_largest_budget_is_the_largest(configurations: int, positions: int):
    budget = largest_budget(configurations, positions)
    assert sum(further for _, further in halving_rounds(configurations, budget)) <= positions
    assert sum(further for _, further in halving_rounds(configurations, budget + 1)) > positions


def test_worked_by_hand():
    # n = 4, B = 16: L = 2; round 1 gives 16/(4·2) = 2 runs each, round 2 gives 16/(2·2) = 4 further.
    # Captime 10, u(t) = 1 − t/10.
    runs = recorded(
        [
            [1, 1, 9, 9, 9, 9],  # round 1: .9 + .9; round 2: + 4 · .1 = 2.2
            [2, 2, 1, 1, 1, 1],  # round 1: .8 + .8; round 2: + 4 · .9 = 5.2
            [3, 3, 1, 1, 1, 1],  # round 1: .7 + .7
            [math.inf, 12, 1, 1, 1, 1],  # round 1: 0 + 0, paying 10 + 10
        ],
        cutoff_s=10,
    )
    points, stop = play(SuccessiveHalving(budget=16), runs)
    # Round 1 pays 2 + 4 + 6 + 20 = 32; round 2 pays 36 + 4.
    assert points == [RivalStanding(0, 32.0, 8, 4, 2), RivalStanding(1, 72.0, 16, 4, 1)]
    assert stop.code == "finished"


def test_runtime_and_utility_can_disagree():
    # Capped at 10 the runtimes are 5, 5 and 1, 10: means 5 and 5.5. A utility that falls off at 2 s
    # sees 0, 0 and ½, 0.
    runs = recorded([[5, 5], [1, 20]], cutoff_s=10, utility="uniform(k0=2)")
    assert play(SuccessiveHalving(budget=4), runs)[0][-1].best_index == 1
    assert play(SuccessiveHalving(budget=4, objective=RankedBy.RUNTIME), runs)[0][-1].best_index == 0


def test_a_captime_below_the_cutoff_is_what_runs_pay():
    points, _ = play(SuccessiveHalving(budget=4, captime_s=3), recorded(constant([1, 8], 2), cutoff_s=10))
    assert points[-1].total_time_s == 2 * 1 + 2 * 3


def test_the_order_of_draws_decides_ties_only():
    rows = exponential([5, 5, 1, 5, 5, 5, 5], 400)
    answers = {
        play(SuccessiveHalving(budget=900), recorded(rows, seed=seed))[0][-1].best_index for seed in range(5)
    }
    assert answers == {2}
    ties = {
        play(SuccessiveHalving(budget=20), recorded(constant([1] * 4, 9), seed=seed))[0][-1].best_index
        for seed in range(9)
    }
    assert len(ties) > 1


def test_one_configuration_is_the_answer_for_nothing():
    points, stop = play(SuccessiveHalving(budget=5), recorded([[1, 2]]))
    assert points == [RivalStanding(0, 0.0, 0, 1, 1)]
    assert stop.code == "finished"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"budget": 7}, "needs at least 8"),
        ({"budget": 800}, "choose a budget of at most 27"),
        ({"budget": 0}, "must be a whole number of at least 1"),
        ({"budget": 8.5}, "must be a whole number"),
        ({"budget": 8, "captime_s": -1}, "the captime must be a positive number"),
        ({"budget": 8, "captime_s": 11}, r"the captime \(11 s\) is above the cutoff"),
        ({"budget": 8, "objective": "speed"}, "the objective must be"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, float], sentence: str):
    # 4 configurations, 2 rounds: at least 8 runs; with 9 instances ⌊B/8⌋ + ⌊B/4⌋ ≤ 9 for B ≤ 27.
    runs = recorded(constant([1, 2, 3, 4], 9), cutoff_s=10)
    with pytest.raises(UtilituneError, match=sentence):
        play(SuccessiveHalving(**settings), runs)


def test_a_budget_that_would_do_is_named_only_if_there_is_one():
    # 9 configurations, 4 rounds: 36 runs at least, and these need 1 + 1 + 3 + 4 = 9 instances.
    with pytest.raises(UtilituneError, match="no budget is small enough, so bring more instances"):
        play(SuccessiveHalving(budget=36), recorded(constant([1] * 9, 8)))
    assert play(SuccessiveHalving(budget=36), recorded(constant([1] * 9, 9)))[0][-1].runs == 9 + 5 + 9 + 8


def test_ties_go_to_whoever_was_drawn_first_not_to_whoever_led():
    # n = 4, B = 16: after 2 instances row 1 leads row 0; after 4 further ones both have 8 s in all.
    rows = [[2, 2, 1, 1, 1, 1], [1, 1, 1, 1, 2, 2], [9] * 6, [9] * 6]
    points, _ = play(SuccessiveHalving(budget=16), recorded(rows))
    assert [point.best_index for point in points] == [1, 0]


def test_runs_that_never_finish_need_a_captime():
    runs = recorded([[1, math.inf], [1, 2]])
    with pytest.raises(UtilituneError, match="set a captime"):
        play(SuccessiveHalving(budget=4), runs)
    assert play(SuccessiveHalving(budget=4, captime_s=5), runs)[0][-1].best_index == 1

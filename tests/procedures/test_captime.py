from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune import ProcedureSpec, RuntimeMatrix, UtilituneError, parse_utility, replay
from utilitune.procedures.captime import Doubling, captime_levels, doubles

UTILITY = parse_utility("log-laplace(k0=60)")
shares = st.floats(0, 1)


@given(first=st.floats(1e-3, 1e3), limit=st.floats(1e3, 1e6))
def test_levels_double_and_end_at_the_limit(first: float, limit: float):
    levels = captime_levels(UTILITY, first, limit)
    captimes = levels.captime_s[1:].tolist()
    assert captimes[0] == first
    assert captimes[-1] == limit
    for level, captime in enumerate(captimes[:-1]):
        assert captime == first * 2**level < limit
    assert levels.utility.tolist() == UTILITY(levels.captime_s).tolist()


def test_a_first_captime_at_the_limit_is_the_only_one():
    assert captime_levels(UTILITY, 5.0, 5.0).captime_s[1:].tolist() == [5.0]


def test_without_a_limit_there_are_captimes_for_every_purpose():
    captimes = captime_levels(UTILITY, 1.0, math.inf).captime_s
    assert captimes[-1] > 1e18
    assert all(math.isfinite(captime) for captime in captimes)


@pytest.mark.parametrize(
    ("first", "limit", "sentence"),
    [
        (0.0, 10.0, "the first captime must be a positive number"),
        (math.nan, 10.0, "the first captime must be a positive number"),
        (20.0, 10.0, r"the first captime \(20 s\) is above the largest captime \(10 s\)"),
    ],
)
def test_impossible_captimes_are_refused(first: float, limit: float, sentence: str):
    with pytest.raises(UtilituneError, match=sentence):
        captime_levels(UTILITY, first, limit)


@given(utility=shares, share=shares, width=st.floats(0, 5))
def test_both_rules_are_the_papers(utility: float, share: float, width: float):
    assert doubles(int(Doubling.OLD), utility, share, width) == (2 * width <= utility * (1 - share))
    assert doubles(int(Doubling.NEW), utility, share, width) == (
        2 * (1 - utility) * width <= utility * (1 - share + width)
    )


@given(utility=shares, share=shares, width=st.floats(0, 5))
def test_the_new_rule_doubles_wherever_the_old_one_does(utility: float, share: float, width: float):
    if doubles(int(Doubling.OLD), utility, share, width):
        assert doubles(int(Doubling.NEW), utility, share, width)


@pytest.mark.parametrize("name", ["up", "oup"])
def test_the_recorded_cutoff_is_never_passed_and_the_result_says_what_it_costs(name: str):
    # Half of the runs last longer than the cutoff of 6 s, where an answer is still worth 0.95.
    matrix = RuntimeMatrix.from_array([[1.0, 50.0], [2.0, 50.0]], cutoff_s=6).resample(5000, seed=1)
    result = replay(matrix, ProcedureSpec(name, delta=0.1, epsilon=0.1), utility=UTILITY)
    progress = result.progress
    assert result.stop_reason.code == "instances-exhausted"
    assert "a new run with more of them, or accept ε" in result.stop_reason.advice
    assert "Runs are not known beyond 6 s, where an answer is still worth 0.95" in result.note
    assert result.note in result.stop_reason.advice
    unfinished = float((matrix.runtimes_s[progress.best_index, matrix.columns] == math.inf).mean())
    assert progress.epsilon > 0.95 * unfinished > 0.1
    # Each run is stopped at 6 s at the latest, and made at most once per captime: 1, 2, 4 and 6 s.
    assert progress.total_time_s <= 13 * 2 * 5000


def test_where_nothing_is_worth_anything_beyond_the_cutoff_no_note_is_made():
    matrix = RuntimeMatrix.from_array([[1.0, 50.0], [2.0, 50.0]], cutoff_s=6).resample(5000, seed=1)
    result = replay(matrix, ProcedureSpec("oup", delta=0.1, epsilon=0.2), utility="uniform(k0=6)")
    assert result.stop_reason.code == "epsilon-reached"
    assert result.note == ""

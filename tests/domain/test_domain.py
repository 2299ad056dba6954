from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, replace
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.domain import (
    SMALLEST_DELTA,
    PhaseRecord,
    Progress,
    Promise,
    RunOutcome,
    RunStatus,
    StopReason,
    probability_kept,
    require_delta,
    require_positive,
    require_probability,
)
from utilitune.errors import UsageError

PROGRESS = Progress(
    best_index=3,
    epsilon=0.25,
    gamma=0.5,
    delta=0.1,
    total_time_s=12.5,
    runs=7,
    rounds=6,
    configurations=9,
    alive=4,
)


def test_a_promise_about_a_fixed_set_says_so():
    sentence = Promise(epsilon=0.1, delta=0.05, gamma=None, configurations=8).sentence()
    assert sentence == (
        "With probability 95 % this configuration is within ε = 0.1 of the best of all 8 configurations, "
        "in expected utility over instances like these."
    )


def test_a_promise_about_a_space_names_the_fraction_left_out():
    assert "all but a fraction γ = 0.25" in Promise(0.1, 0.05, 0.25, 40).sentence()


def test_a_promise_over_exactly_these_instances_says_so():
    assert "over exactly these instances" in Promise(0.1, 0.05, None, 8, population="finite").sentence()


@given(st.floats(1e-12, 0.999), st.floats(1e-12, 0.999), st.floats(1e-12, 0.9))
def test_the_words_never_promise_more_than_the_figures(epsilon: float, gamma: float, delta: float):
    words = Promise(epsilon, delta, gamma, 8).sentence()
    said = [float(number) for number in re.findall(r"= ([-0-9.e]+)", words)]
    percent = Decimal(re.search(r"probability ([0-9.]+) %", words)[1])
    assert said[0] >= epsilon
    assert said[1] >= gamma
    assert said[0] <= 1.01 * epsilon
    assert percent < 100
    assert percent <= 100 * (1 - Decimal(repr(delta)))


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        (0.05, "95 %"),
        (0.1, "90 %"),
        (0.01, "99 %"),
        (0.001, "99.9 %"),
        (1e-9, "99.9999999 %"),
        (1e-28, "1 − 1e-28"),
        (1.2345e-100, "1 − 1.24e-100"),
        (0.9999, "0.01 %"),
        (1 - 1e-16, "0.00000000000001 %"),
    ],
)
def test_no_promise_holds_for_certain(delta: float, words: str):
    assert f"With probability {words} this" in Promise(0.1, delta, None, 8).sentence()


@given(st.floats(SMALLEST_DELTA, 1.0, exclude_max=True))
def test_any_delta_that_is_taken_can_be_shown_and_never_as_less(delta: float):
    words = probability_kept(delta)
    with localcontext(prec=400):
        if words.endswith(" %"):
            assert 0 < Decimal(words[:-2]) <= 100 * (1 - Decimal(repr(delta)))
        else:
            assert Decimal(words.removeprefix("1 − ")) >= Decimal(repr(delta))
    assert len(words) < 40


@pytest.mark.parametrize("delta", [1e-101, 1e-300, 5e-324])
def test_a_delta_too_small_to_be_split_is_refused(delta: float):
    with pytest.raises(UsageError, match=f"delta must be at least 1e-100, not {delta}"):
        require_delta(delta)


def test_too_few_random_configurations_promise_nothing():
    assert Promise(0.1, 0.05, 1.2, 3).sentence().startswith("No promise yet")


def test_progress_carries_its_promise():
    promise = PROGRESS.promise
    assert (promise.epsilon, promise.delta, promise.gamma, promise.configurations) == (0.25, 0.1, 0.5, 9)


def test_the_last_one_left_of_several_is_the_best_of_them():
    left = replace(PROGRESS, gamma=None, alive=1)
    assert "this configuration is the best of all 9 configurations, in" in left.promise.sentence()
    assert left.epsilon == PROGRESS.epsilon


def test_the_only_configuration_there_is_proves_nothing():
    alone = replace(PROGRESS, gamma=None, epsilon=1.0, alive=1, configurations=1)
    assert alone.promise.sentence().startswith("Nothing is proved yet")


def test_a_phase_record_is_where_progress_stood():
    record = PhaseRecord.of(2, PROGRESS)
    assert record == PhaseRecord(2, 9, 3, 0.25, 0.5, 12.5, 7)


def test_a_phase_speaks_up_only_where_it_proved_more_than_what_holds_now():
    record = PhaseRecord.of(2, PROGRESS)
    now = replace(PROGRESS.promise, epsilon=0.3, population="finite", condition="If so.")
    sentence = record.proved_more(now, "x=1")
    proved = replace(now, epsilon=0.25)
    assert sentence == f"Phase 2, the last complete one, proved more of its answer x=1: {proved.sentence()}"
    assert record.proved_more(replace(now, epsilon=0.25), "x=1") == ""
    assert replace(record, gamma=1.0).proved_more(now, "x=1") == ""


@pytest.mark.parametrize("status", list(RunStatus))
def test_only_a_finished_run_counts(status: RunStatus):
    assert RunOutcome(status, 1.0).finished == (status is RunStatus.FINISHED)
    assert RunOutcome(status, 1.0).failed == (status not in (RunStatus.FINISHED, RunStatus.TIMEOUT))


def test_values_are_frozen():
    with pytest.raises(FrozenInstanceError):
        StopReason("a", "b").code = "c"


@pytest.mark.parametrize("value", [0, 1, -1, float("nan"), float("inf"), "0.5", None])
def test_what_is_no_probability_is_refused(value: object):
    with pytest.raises(UsageError, match="p must lie strictly between 0 and 1"):
        require_probability("p", value)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "5", None])
def test_what_is_not_positive_is_refused(value: object):
    with pytest.raises(UsageError, match="x must be a positive number"):
        require_positive("x", value)


def test_good_numbers_pass_as_floats():
    assert require_probability("p", 0.5) == 0.5
    assert isinstance(require_positive("x", 3), float)

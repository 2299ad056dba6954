"""Interviews: they end, they close in on what somebody means, and choices can be taken back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utilitune.errors import UsageError
from utilitune.utility import Utility, parse_utility
from utilitune.utility.designing import Interview, fit_answers, parse_answer
from utilitune.utility.designing.gambles import GAMBLE, QUESTIONS, SAME, SURE


def interviewed(utility: Utility, best_s: float, worst_s: float) -> Interview:
    """Somebody who knows their utility exactly, and answers by it."""
    interview = Interview(best_s, worst_s)
    while (question := interview.state()[1]) is not None:
        gamble = 0.5 * utility(question.gamble.good_s) + 0.5 * utility(question.gamble.bad_s)
        interview = interview.then(SURE if utility(question.sure_s) > gamble else GAMBLE)
    return interview


@pytest.mark.parametrize(
    "text",
    [
        "uniform(k0=3600)",
        "exponential(k0=600)",
        "log-laplace(k0=60, alpha=1)",
        "polynomial(k0=3600, alpha=3)",
    ],
)
def test_an_interview_finds_the_utility_of_who_answers_by_it(text: str):
    meant = parse_utility(text)
    fit = fit_answers(interviewed(meant, 1.0, 3600.0).state()[0])
    times = [2.0, 10.0, 60.0, 300.0, 1000.0, 3000.0]
    scale = (float(meant(1.0)) - float(meant(3600.0)), float(meant(3600.0)))
    wanted = [(float(meant(time_s)) - scale[1]) / scale[0] for time_s in times]
    assert max(abs(fit.utility(times) - wanted)) < 0.12
    assert fit.inconsistency < 0.08


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(
    st.floats(1e-6, 1e5),
    st.floats(1.0, 1e6),
    st.lists(st.sampled_from([SURE, GAMBLE, SAME]), min_size=40, max_size=40),
)
def test_every_interview_ends_with_an_answer_to_each_question(
    best_s: float, ratio: float, choices: list[str]
):
    answers, question = Interview(best_s, best_s * ratio, tuple(choices)).state()
    assert question is None
    assert len(answers) == QUESTIONS
    half, three_quarters, quarter, _ = (answer.sure_s for answer in answers)
    assert best_s <= three_quarters <= half <= quarter <= best_s * ratio
    fit = fit_answers(answers)
    assert math.isfinite(fit.inconsistency)
    assert parse_utility(str(fit.utility)) == fit.utility


def test_an_interview_takes_few_choices_and_offers_round_times():
    interview, asked = Interview(1.0, 3600.0), []
    while (question := interview.state()[1]) is not None:
        asked.append(question.sure_s)
        interview = interview.then(SURE)
    assert len(asked) <= 20
    assert asked[0] == 60.0
    assert all(float(f"{time_s:.3g}") == pytest.approx(time_s) for time_s in asked)


def test_a_preference_for_the_sure_time_moves_the_question_later():
    first = Interview(1.0, 3600.0).state()[1]
    later = Interview(1.0, 3600.0, (SURE,)).state()[1]
    earlier = Interview(1.0, 3600.0, (GAMBLE,)).state()[1]
    assert earlier.sure_s < first.sure_s < later.sure_s


def test_a_time_answers_a_question_at_once():
    answers, question = Interview(1.0, 3600.0, ("5m",)).state()
    assert [answer.sure_s for answer in answers] == [300.0]
    assert question.number == 2
    with pytest.raises(UsageError, match="lies between its two times"):
        Interview(1.0, 3600.0, ("2h",)).state()


def test_answers_as_text():
    assert parse_answer("1s|1h=5m").sure_s == 300.0
    for text in ("1s|1h", "1s=5m", "5m", "", "1h|1s=5m", "1s|1h=2h", "a|b=c", "0|1h=5m"):
        with pytest.raises(UsageError):
            parse_answer(text)

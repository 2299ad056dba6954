"""Fits: exact where a family can be exact, honest about what disagrees."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from utilitune.errors import UsageError
from utilitune.utility import parse_utility
from utilitune.utility.designing import (
    fit_answers,
    fit_points,
    handles_of,
    line_to_paste,
    parse_answer,
    shown_range_s,
)
from utilitune.utility.designing.fitting import CONSISTENT, ROUGH, certain_time_s
from utility.utility_strategies import utilities

EXACT = [
    "uniform(k0=60)",
    "exponential(k0=300)",
    "log-laplace(k0=60, alpha=1)",
    "log-laplace(k0=60, alpha=2.5)",
    "pareto(k0=10, alpha=1)",
    "polynomial(k0=600, alpha=3)",
    "plateau(start=10, end=60)",
]


@pytest.mark.long
@pytest.mark.parametrize("text", EXACT)
def test_a_family_is_found_again_from_its_points(text: str):
    meant = parse_utility(text)
    times = [
        shown_range_s(meant)[0] * (shown_range_s(meant)[1] / shown_range_s(meant)[0]) ** (n / 9)
        for n in range(10)
    ]
    fit = fit_points([(time_s, float(meant(time_s))) for time_s in times])
    assert fit.inconsistency < 0.011
    assert type(fit.utility) is type(meant) or fit.inconsistency < 0.01


def test_answers_that_agree_are_called_so():
    answers = [parse_answer(text) for text in ("1s|3600s=1800s", "1s|1800s=900s", "1800s|3600s=2700s")]
    fit = fit_answers(answers)
    assert str(fit.utility).startswith("uniform")
    assert fit.inconsistency < CONSISTENT
    assert "agree with each other" in fit.words


def test_answers_that_contradict_are_called_so_and_the_worst_is_named():
    answers = [parse_answer(text) for text in ("1s|1h=5m", "1s|1h=50m", "1s|1h=2s")]
    fit = fit_answers(answers)
    assert fit.inconsistency > ROUGH
    assert "contradict" in fit.words
    assert "you said" in fit.words


def test_the_inconsistency_is_the_root_mean_square_of_what_is_shown():
    answers = [parse_answer(text) for text in ("1s|1h=5m", "1s|5m=1m", "5m|1h=20m", "1m|20m=5m")]
    fit = fit_answers(answers)
    u = fit.utility
    errors = [u(a.sure_s) - (u(a.gamble.good_s) + u(a.gamble.bad_s)) / 2 for a in answers]
    assert fit.errors == pytest.approx(errors)
    assert fit.inconsistency == pytest.approx((sum(error**2 for error in errors) / 4) ** 0.5)
    for answer in answers:
        at_s = certain_time_s(u, answer)
        assert u(at_s) == pytest.approx((u(answer.gamble.good_s) + u(answer.gamble.bad_s)) / 2, abs=0.01)


def test_nothing_to_fit_is_refused():
    with pytest.raises(UsageError, match="at least one question"):
        fit_answers([])
    with pytest.raises(UsageError, match="at least one point"):
        fit_points([(0.0, 1.0)])


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(utilities)
def test_every_utility_has_handles_inside_its_range_and_a_line(utility):
    low_s, high_s = shown_range_s(utility)
    assert 0 < low_s < high_s
    points = handles_of(utility)
    assert points
    assert all(time_s > 0 and 0 <= worth <= 1 for time_s, worth in points)
    times, worths = zip(*points, strict=True)
    assert list(times) == sorted(set(times))
    assert list(worths) == sorted(worths, reverse=True)
    text = line_to_paste(utility).removeprefix('utility = "').removesuffix('"')
    if not text.startswith("python:"):
        assert parse_utility(text) == utility


@pytest.mark.parametrize("text", ["step(10m)", "product(step(10m), uniform(20m))", *EXACT])
def test_lines_through_the_handles_come_close(text: str):
    utility = parse_utility(text)
    points = ", ".join(f"{time_s!r}s:{worth!r}" for time_s, worth in handles_of(utility))
    drawn = parse_utility(f"piecewise({points})")
    low_s, high_s = shown_range_s(utility)
    times = [low_s * (high_s / low_s) ** (n / 50) for n in range(51)]
    assert max(abs(drawn(times) - utility(times))) < 0.12

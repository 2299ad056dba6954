from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import UtilityError
from utilitune.utility import (
    CostPerHour,
    Exponential,
    GeneralisedLogLaplace,
    LogLaplace,
    Pareto,
    Plateau,
    Polynomial,
    Step,
    Uniform,
)

seconds = st.floats(0, 1e6)


@given(seconds)
def test_log_laplace_with_exponent_one_is_the_plain_formula_to_the_bit(time_s: float):
    assert LogLaplace(60)(time_s) == (1 - 0.5 * (time_s / 60) if time_s < 60 else 0.5 * (60 / time_s))


@given(seconds, st.floats(0.1, 10))
def test_log_laplace_follows_its_formula(time_s: float, alpha: float):
    expected = 1 - 0.5 * (time_s / 60) ** alpha if time_s < 60 else 0.5 * (60 / time_s) ** alpha
    assert LogLaplace(60, alpha)(time_s) == pytest.approx(expected, abs=1e-14)


@given(seconds, st.floats(0.1, 10))
def test_equal_exponents_give_log_laplace(time_s: float, alpha: float):
    general = GeneralisedLogLaplace(60, alpha, alpha)
    assert general(time_s) == pytest.approx(LogLaplace(60, alpha)(time_s), abs=1e-15)


@given(seconds, st.floats(0.1, 10), st.floats(0.1, 10))
def test_generalised_log_laplace_follows_its_formula(time_s: float, below: float, above: float):
    early = 1 - above / (below + above) * (time_s / 60) ** below
    expected = early if time_s < 60 else below / (below + above) * (60 / time_s) ** above
    assert GeneralisedLogLaplace(60, below, above)(time_s) == pytest.approx(expected, abs=1e-14)


def test_generalised_log_laplace_has_no_kink():
    utility = GeneralisedLogLaplace(60, 2, 0.5)
    step_s = 1e-4
    slopes = np.diff(utility(60 + step_s * np.array([-1.0, 0.0, 1.0])))
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-4)


@given(seconds)
def test_uniform_is_the_plain_formula_to_the_bit(time_s: float):
    assert Uniform(60)(time_s) == (1 - time_s / 60 if time_s < 60 else 0.0)


@given(seconds)
def test_exponential_follows_its_formula(time_s: float):
    assert Exponential(60)(time_s) == pytest.approx(math.exp(-time_s / 60), rel=1e-14)


@given(seconds, st.floats(0.1, 10))
def test_pareto_follows_its_formula(time_s: float, alpha: float):
    expected = 1 if time_s < 60 else (60 / time_s) ** alpha
    assert Pareto(60, alpha)(time_s) == pytest.approx(expected, abs=1e-14)


@given(seconds, st.floats(0.1, 10))
def test_polynomial_follows_its_formula(time_s: float, alpha: float):
    expected = 1 - (time_s / 60) ** alpha if time_s < 60 else 0
    assert Polynomial(60, alpha)(time_s) == pytest.approx(expected, abs=1e-14)


def test_an_answer_at_the_deadline_is_late():
    assert Step(60)([0, math.nextafter(60, 0), 60, math.inf]).tolist() == [1, 1, 0, 0]


def test_plateau_declines_between_its_times():
    assert Plateau(10, 60)([0, 10, 35, 60, 99]).tolist() == [1, 1, 0.5, 0, 0]
    assert Plateau(10, 60, 2)(35) == 0.75
    assert Plateau(0, 60)(30) == 0.5


def test_cost_per_hour_is_what_is_left_of_the_value():
    utility = CostPerHour(value=10, rate=2)
    assert utility([0, 3600, 2.5 * 3600, 5 * 3600, 1e9]).tolist() == pytest.approx([1, 0.8, 0.5, 0, 0])
    assert utility.break_even_s == 18000


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, 10**400, True, "60", None])
def test_a_scale_must_be_a_positive_number(wrong: object):
    with pytest.raises(UtilityError, match="k0 of uniform must be a positive time such as 60 or 1m, not"):
        Uniform(wrong)  # type: ignore[arg-type]


def test_numpy_numbers_are_numbers():
    assert LogLaplace(np.int64(60), np.float32(0.5)) == LogLaplace(60.0, 0.5)


def test_negative_zero_is_zero():
    assert str(Plateau(-0.0, 1)) == "plateau(start=0, end=1, power=1)"


def test_plateau_must_end_after_it_starts():
    with pytest.raises(UtilityError, match="must end after it starts"):
        Plateau(60, 60)


@pytest.mark.parametrize(("value", "rate"), [(1e300, 1e-300), (1e-300, 1e300)])
def test_cost_per_hour_refuses_amounts_that_cannot_be_compared(value: float, rate: float):
    with pytest.raises(UtilityError, match="out of range"):
        CostPerHour(value, rate)


@pytest.mark.parametrize(
    ("utility", "words"),
    [
        (LogLaplace(60), "1/2 at 60 s; every doubling of the time after that divides the worth by 2"),
        (GeneralisedLogLaplace(60, 1, 3), "0.25 at 60 s"),
        (Uniform(3600), "to 0 at 1 h"),
        (Exponential(60), "halving every 41.59 s"),
        (Pareto(10, 2), "up to 10 s; every doubling of the time after that divides the worth by 4"),
        (Polynomial(60, 1), "1/2 at 30 s and 0 from 60 s on"),
        (Step(0.5), "before 500 ms"),
        (Plateau(10, 60), "1/2 at 35 s"),
        (CostPerHour(10, 2), "valued at 10 loses 2 per hour, down to nothing at 5 h"),
    ],
)
def test_descriptions_say_what_matters(utility: LogLaplace, words: str):
    assert words in utility.describe()

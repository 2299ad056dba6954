"""What holds for every utility, whatever its formula."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import UtilityError
from utilitune.utility import FAMILIES, LogLaplace, Uniform, Utility, parse_utility
from utility.utility_strategies import times, utilities

ROUNDING = 1e-14
EXTREMES = [0.0, 5e-324, 1e-310, 1e-300, 1.0, 60.0, 1e300, 1.7976931348623157e308, math.inf]


@given(utilities)
def test_text_form_reads_back_as_the_same_utility(utility: Utility):
    assert parse_utility(str(utility)) == utility
    assert hash(parse_utility(str(utility))) == hash(utility)


@given(utilities, st.lists(times, max_size=20))
def test_worth_stays_in_bounds_and_never_rises(utility: Utility, some_times: list[float]):
    with np.errstate(all="raise"):
        worth = utility(np.array(sorted([*some_times, *EXTREMES])))
    assert worth.min() >= 0
    assert worth.max() <= 1
    assert np.all(np.diff(worth) <= ROUNDING)
    assert worth[-1] == utility.infimum


@given(utilities, times)
def test_a_single_time_gives_what_an_array_gives(utility: Utility, time_s: float):
    single = utility(time_s)
    assert isinstance(single, np.float64)
    assert abs(single - utility([[time_s, 1.0]])[0, 0]) <= ROUNDING


@given(utilities, st.floats(0, 1))
def test_time_to_fall_to_is_the_first_such_time(utility: Utility, level: float):
    time_s = utility.time_to_fall_to(level)
    assert utility(time_s) <= level or (time_s == math.inf and utility.infimum > level)
    if time_s > 0:
        assert utility(math.nextafter(time_s, 0)) > level


@given(utilities)
def test_description_is_one_line(utility: Utility):
    assert utility.describe()
    assert "\n" not in utility.describe()


def test_shapes_are_kept():
    utility = Uniform(10)
    assert utility(3).shape == ()
    assert utility([]).shape == (0,)
    assert utility(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    grid = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(utility(grid.T), utility(grid).T)


def test_whole_numbers_are_times_too():
    assert np.array_equal(Uniform(10)(np.array([0, 5, 20])), [1.0, 0.5, 0.0])


def test_long_arrays_are_the_sum_of_their_blocks():
    times_s = np.random.default_rng(1).exponential(60, 100_003)
    utility = LogLaplace(60)
    expected = np.where(times_s < 60, 1 - 0.5 * (times_s / 60), 0.5 * (60 / times_s))
    assert np.array_equal(utility(times_s), expected)


def test_the_input_is_left_alone():
    times_s = np.array([1.0, 100.0])
    for family in FAMILIES.values():
        parse_utility(family.example)(times_s)
    assert times_s.tolist() == [1.0, 100.0]


@pytest.mark.parametrize("wrong", [-1.0, math.nan, -math.inf])
def test_a_time_that_is_none_is_refused(wrong: float):
    with pytest.raises(UtilityError, match="a runtime is a number of seconds from 0 up, not"):
        Uniform(10)([1.0, wrong])


def test_infimum_need_not_be_zero():
    assert parse_utility("piecewise(0:1, 10:0.25)").infimum == 0.25
    assert parse_utility("piecewise(0:1, 10:0.25)").time_to_fall_to(0.1) == math.inf


def test_every_family_survives_pickling():
    for family in FAMILIES.values():
        utility = parse_utility(family.example)
        assert pickle.loads(pickle.dumps(utility)) == utility

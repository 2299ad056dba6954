from __future__ import annotations

import math

import pytest

from utilitune.errors import UtilityError
from utilitune.utility import PiecewiseLinear, parse_utility


def test_interpolates_between_points_and_is_level_outside():
    utility = PiecewiseLinear(((10, 0.8), (60, 0.3)))
    assert utility([0, 10, 35, 60, math.inf]).tolist() == pytest.approx([0.8, 0.8, 0.55, 0.3, 0.3])


def test_text_form_takes_units():
    assert parse_utility("piecewise(0s:1, 10s : 0.8, 1m:0)") == PiecewiseLinear(((0, 1), (10, 0.8), (60, 0)))


def test_description_lists_the_points():
    assert "1 at 0 s, 0 at 60 s" in PiecewiseLinear(((0, 1), (60, 0))).describe()


def test_lists_of_points_are_accepted_and_stay_hashable():
    assert hash(PiecewiseLinear([[0, 1], [5, 0]])) == hash(PiecewiseLinear(((0, 1), (5, 0))))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        ((), "needs at least one point"),
        (((0, 1), (5,)), "give pairs of seconds and worth"),
        (((-1, 1),), "write times from 0 up"),
        (((math.inf, 0),), "write times from 0 up"),
        (((0, 1.5),), "write worths from 0 to 1"),
        (((0, math.nan),), "write worths from 0 to 1"),
        (((5, 1), (0, 0.5)), "in order of time"),
        (((5, 1), (5, 0.5)), "in order of time"),
        (
            ((0, 0.5), (5, 0.7)),
            "worth 0.5 at 0.0 s but 0.7 at 5.0 s: a later answer must never be worth more",
        ),
    ],
)
def test_says_what_is_wrong_with_points(points: tuple[tuple[float, float], ...], sentence: str):
    with pytest.raises(UtilityError, match=sentence):
        PiecewiseLinear(points)


@pytest.mark.parametrize("text", ["piecewise(5)", "piecewise(0:1, 5:)", "piecewise(x:1)", "piecewise(0=1)"])
def test_shows_the_point_that_cannot_be_read(text: str):
    with pytest.raises(UtilityError, match=r"cannot read the point '.*': write time:worth"):
        parse_utility(text)

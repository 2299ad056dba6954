from __future__ import annotations

import pytest

from utilitune.utility import FAMILIES, QUALITY_FAMILIES, Goal, parse_any_utility
from utilitune.utility.picture import bars, picture_of


def test_bars_are_as_high_as_their_worth():
    lines = bars([1.0, 0.5, 0.0625, 0.0])
    assert [line[3:] for line in lines[:-1]] == ["█"] * 4 + ["██"] * 3 + ["██▄"]
    assert lines[-1] == "0 └────"


@pytest.mark.parametrize(
    "text", [family.example for family in (*FAMILIES.values(), *QUALITY_FAMILIES.values())]
)
@pytest.mark.parametrize("goal", Goal)
def test_everything_can_be_drawn(text: str, goal: Goal):
    picture = picture_of(parse_any_utility(text), goal)
    assert len(picture.bars) == 9
    assert len(picture.rows) >= 5
    assert all(len(row) == len(picture.head) for row in picture.rows)
    worths = [float(row[1]) for row in picture.rows]
    assert all(0 <= worth <= 1 for worth in worths)


def test_worths_are_shown_for_several_times_where_time_counts():
    picture = picture_of(parse_any_utility("product(gap(0, 10), uniform(k0=100))"))
    assert picture.head == ("a quality of", "worth at 0 s", "worth at 25 s", "worth at 50 s", "worth at 90 s")
    assert ("5", "0.5", "0.375", "0.25", "0.05") in picture.rows
    assert picture.rows[-1] == ("none", "0", "0", "0", "0")


def test_what_differs_between_instances_is_assumed_and_said():
    words = picture_of(parse_any_utility("compared(to=default)")).words
    assert (
        "Shown for an instance where the quality of the default configuration on the same instance is 100."
        in words
    )


def test_a_utility_that_never_falls_is_drawn_too():
    assert picture_of(parse_any_utility("piecewise(0:1)")).rows[-1] == ("never", "1")

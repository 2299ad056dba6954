"""Products and minima of utilities of time."""

from __future__ import annotations

import numpy as np
import pytest

from utilitune.errors import UtilityError
from utilitune.utility import CostPerHour, Minimum, Product, Step, Uniform, parse_utility


def test_useless_after_ten_minutes_and_a_price_per_hour_before():
    utility = parse_utility("product(step(10m), cost-per-hour(value=1, rate=0.05))")
    assert utility == Product((Step(600), CostPerHour(1, 0.05)))
    assert utility([0.0, 360.0, 599.9, 600.0]) == pytest.approx([1.0, 0.995, 1 - 0.05 * 599.9 / 3600, 0.0])
    assert utility.time_to_fall_to(0.5) == 600.0


def test_the_strictest_part_of_a_minimum_decides():
    utility = parse_utility("min(uniform(100s), step(50s), python:math:erfc)")
    assert isinstance(utility, Minimum)
    assert np.array_equal(utility([0.0, 49.0, 50.0]), [1.0, utility.parts[2](49.0), 0.0])


def test_parts_may_be_combinations_themselves():
    text = "product(minimum(uniform(k0=10), step(deadline=5)), piecewise(0s:1, 10s:0.5))"
    utility = parse_utility(text)
    assert str(utility) == text
    assert utility(4.0) == pytest.approx(0.6 * 0.8)
    assert "the product of: the smallest of: worth 1 at once" in utility.describe()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("product(uniform(10))", "product needs at least two utilities: write e.g. product"),
        ("minimum()", "minimum needs at least two utilities"),
        ("product(uniform(10), unifrom(3))", "there is no utility 'unifrom': did you mean 'uniform'"),
        ("product(uniform(10), 3)", "there is no utility '3'"),
        ("product(uniform(10), step(5)", "is not a utility: write a name and its values"),
        ("product(uniform(10)), step(5))", "is not a utility: write a name and its values"),
        ("product(uniform(10), gap(0, 1))", "judges the quality of a solution, but here only the time"),
    ],
)
def test_a_combination_that_is_none_is_refused(text: str, sentence: str):
    with pytest.raises(UtilityError, match=sentence):
        parse_utility(text)


def test_parts_must_be_utilities():
    with pytest.raises(UtilityError, match="product is made of utilities, not of 3"):
        Product((Uniform(1), 3))  # type: ignore[arg-type]

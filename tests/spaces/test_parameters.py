from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune.spaces import ChoiceParameter, NumberParameter, SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable


def close_to(counts: list[int], shares: list[float]):
    """Every count within five standard deviations of its expectation."""
    total = sum(counts)
    return all(
        abs(count - total * share) < 5 * math.sqrt(total * share * (1 - share)) + 1
        for count, share in zip(counts, shares, strict=True)
    )


@pytest.fixture
def generator():
    return np.random.default_rng(7)


def test_integers_are_uniform_including_both_ends(generator: np.random.Generator):
    draws = NumberParameter("n", -2, 2, 0, integer=True).draw(generator, 50_000)
    assert close_to([int((draws == k).sum()) for k in range(-2, 3)], [0.2] * 5)


def test_log_integers_follow_their_documented_law(generator: np.random.Generator):
    draws = NumberParameter("n", 1, 8, 2, integer=True, log=True).draw(generator, 50_000)
    shares = [math.log((k + 1) / k) / math.log(9) for k in range(1, 9)]
    assert close_to([int((draws == k).sum()) for k in range(1, 9)], shares)


def test_log_floats_are_uniform_on_the_log_scale(generator: np.random.Generator):
    parameter = NumberParameter("x", 0.01, 100.0, 1.0, log=True)
    unit = parameter.to_unit(parameter.draw(generator, 50_000))
    assert unit.min() >= 0
    assert unit.max() <= 1
    assert close_to(np.histogram(unit, 10, (0, 1))[0].tolist(), [0.1] * 10)


def test_choices_are_uniform_or_follow_their_weights(generator: np.random.Generator):
    plain = ChoiceParameter("c", ("a", "b", "c"), "a").draw(generator, 50_000)
    assert close_to(np.bincount(plain.astype(int)).tolist(), [1 / 3] * 3)
    weighted = ChoiceParameter("c", ("a", "b"), "a", weights=(3.0, 1.0)).draw(generator, 50_000)
    assert close_to(np.bincount(weighted.astype(int)).tolist(), [0.75, 0.25])


def test_values_keep_their_types():
    assert NumberParameter("x", 0, 1, 1).default == 1.0
    assert isinstance(NumberParameter("x", 0, 1, 1).default, float)
    mixed = ChoiceParameter("c", ("a", 3, 2.5, True), "a")
    assert [type(value) for value in mixed.values(np.arange(4.0))] == [str, int, float, bool]
    assert mixed.code(value=True) == 3
    with pytest.raises(SpaceError):
        ChoiceParameter("c", (1, 2), 1).code(value=True)


@pytest.mark.parametrize(
    ("build", "fragment"),
    [
        (lambda: NumberParameter("x", 1, 0, 1), "is empty"),
        (lambda: NumberParameter("x", 1, 1, 1), "has one value only, so there is nothing to choose"),
        (lambda: ChoiceParameter("x", ("a", "b\0"), "a"), "no text that a program can receive"),
        (lambda: ChoiceParameter("x", ("a", "\ud800"), "a"), "no text that a program can receive"),
        (lambda: NumberParameter("x", 0.0, math.inf, 1), "not a finite number"),
        (
            lambda: NumberParameter("x", 0, 1, 2),
            "the default of parameter 'x': 2 is outside its range [0, 1]",
        ),
        (lambda: NumberParameter("x", 0, 1, 0.5, integer=True), "not a whole number"),
        (lambda: NumberParameter("x", 0, 1, 1, log=True), "log scale needs a range above 0"),
        (lambda: NumberParameter("x", 0, 2**60, 1, integer=True), "largest supported integer"),
        (lambda: ChoiceParameter("c", (), "a"), "no values"),
        (lambda: ChoiceParameter("c", ("a", "a"), "a"), "listed twice"),
        (lambda: ChoiceParameter("c", (1, "1"), 1), "listed twice"),
        (lambda: ChoiceParameter("c", (1, 2, 1.0), 1), "1 and 1.0 are equal"),
        (lambda: ChoiceParameter("c", (0, False), 0), "0 and False are equal"),
        (lambda: ChoiceParameter("c", ("a", "b"), "z"), "the default of parameter 'c': 'z' is not one of"),
        (lambda: ChoiceParameter("c", ("a", "b"), "a", weights=(1.0,)), "one positive weight"),
    ],
)
def test_senseless_parameters_are_refused(build: Callable[[], object], fragment: str):
    with pytest.raises(SpaceError) as caught:
        build()
    assert fragment in str(caught.value)

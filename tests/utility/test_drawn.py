"""The curve of a user's function, kept as points."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune.utility import parse_utility, utility_from_callable
from utilitune.utility.drawn import TOLERANCE, drawing_of, drawn, is_python

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES_S = np.concatenate([[0.0, np.inf], np.geomspace(1e-7, 1e8, 50_001)])


@pytest.mark.parametrize(
    "function",
    [
        lambda t: 1 / (1 + t / 0.003),
        lambda t: float(t < 10.123456),
        lambda t: float(t < 600) * max(0.0, 1 - t / 7200),
        lambda t: np.exp(-np.asarray(t) / 60),
        lambda t: 0.5 - np.arctan(np.log10(np.asarray(t) + 1e-9) * 40) / np.pi,
        lambda _: 0.7,
    ],
)
def test_a_drawn_curve_is_the_function(function: Callable[[float], float]):
    utility = utility_from_callable(function)
    drawing = json.loads(json.dumps(drawing_of(utility)))
    again = drawn(str(utility), drawing)
    assert len(drawing["times_s"]) < 5_000
    assert all(early < late for early, late in pairwise(drawing["times_s"]))
    assert all(before >= after for before, after in pairwise(drawing["worths"]))
    assert np.abs(again(TIMES_S) - utility(TIMES_S)).max() <= TOLERANCE
    assert (str(again), again.describe()) == (str(utility), utility.describe())


def test_which_utilities_are_python():
    assert is_python("python:worth:mine")
    assert is_python("product(Python:worth:mine, step(10s))")
    assert not is_python(str(parse_utility("uniform(k0=1s)")))

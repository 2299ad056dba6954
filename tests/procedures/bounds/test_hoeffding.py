from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.procedures.bounds.hoeffding import (
    confidence_width,
    lower_bound,
    phase_width_scale,
    upper_bound,
    width_scale,
)

shares = st.floats(0, 1)


@given(
    n=st.integers(1, 10**6), m=st.integers(1, 10**6), level=st.integers(1, 64), delta=st.floats(1e-6, 0.99)
)
def test_widths_are_the_papers(n: int, m: int, level: int, delta: float):
    expected = math.sqrt(math.log(11 * n * m**2 * level**2 / delta) / (2 * m))
    assert confidence_width(width_scale(n, delta), m, level) == pytest.approx(expected, rel=1e-12)


@given(p=st.integers(1, 30), n=st.integers(1, 10**6), m=st.integers(1, 10**5), level=st.integers(1, 64))
def test_widths_of_phases_are_the_papers(p: int, n: int, m: int, level: int):
    expected = math.sqrt(math.log(36 * p**2 * n * m**2 * level**2 / 0.1) / (2 * m))
    assert confidence_width(phase_width_scale(p, n, 0.1), m, level) == pytest.approx(expected, rel=1e-12)


def test_a_width_is_never_clipped():
    assert confidence_width(width_scale(10, 0.1), 1, 1) > 1


@given(mean=shares, worth=shares, width=st.floats(0, 3), finished=shares)
def test_bounds_are_the_papers(mean: float, worth: float, width: float, finished: float):
    assert upper_bound(mean, worth, width) == mean + (1 - worth) * width
    assert lower_bound(mean, worth, width, finished) == mean - width - worth * (1 - finished)
    assert lower_bound(mean, worth, width, finished) <= mean <= upper_bound(mean, worth, width)

"""Time that has passed, as people say it."""

from __future__ import annotations

import math

import pytest

from utilitune.utility.clock import time_passed


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0 s"),
        (0.0123456, "12.3 ms"),
        (47.0, "47 s"),
        (119.4, "119 s"),
        (119.6, "2 min"),
        (140.28, "2 min 20 s"),
        (3_599.4, "59 min 59 s"),
        (3_599.6, "1 h"),
        (3_629.9, "1 h"),
        (3_660.0, "1 h 1 min"),
        (86_399.0, "24 h"),
        (86_400.0 * 1_000 + 3_600, "1,000 d 1 h"),
        (math.inf, "∞"),
    ],
)
def test_two_units_are_enough(seconds: float, said: str):
    assert time_passed(seconds) == said

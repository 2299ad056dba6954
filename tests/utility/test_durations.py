from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import UsageError
from utilitune.utility import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60", 60.0),
        ("0", 0.0),
        (" 1.5 ", 1.5),
        (".5s", 0.5),
        ("500ms", 0.5),
        ("100 ms", 0.1),
        ("1m", 60.0),
        ("2 min", 120.0),
        ("1H", 3600.0),
        ("2d", 172800.0),
        ("1h30m", 5400.0),
        ("1 h 30 min 5s", 5405.0),
        ("1e3s", 1000.0),
        ("3 seconds", 3.0),
    ],
)
def test_understands_what_people_write(text: str, seconds: float):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "m", "-1", "nan", "inf", "1x", "5 parsecs", "1h30", "1,5", "1m 2", "0x10"]
)
def test_refuses_what_is_no_duration(text: str):
    with pytest.raises(UsageError, match="is not a duration: write a number of seconds"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["1e999", "1e308d"])
def test_refuses_what_no_float_can_hold(text: str):
    with pytest.raises(UsageError, match="too long"):
        parse_duration(text)


@given(st.floats(0, allow_infinity=False))
def test_plain_seconds_are_exact(seconds: float):
    assert parse_duration(repr(seconds)) == seconds
    assert parse_duration(f"{seconds!r}s") == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.25, "250 ms"),
        (1.0, "1 s"),
        (60.0, "60 s"),
        (150.0, "2.5 min"),
        (3600.0, "1 h"),
        (86400.0 * 3, "3 d"),
        (math.inf, "∞"),
    ],
)
def test_shows_the_unit_that_reads_best(seconds: float, text: str):
    assert format_duration(seconds) == text


@given(st.floats(1e-6, 1e9))
def test_what_is_shown_reads_back_to_four_digits(seconds: float):
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds, rel=6e-4)

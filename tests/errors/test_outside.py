from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors.outside import LONGEST_MESSAGE, number_in, printable, shortened, storable

ANYTHING = st.text(st.characters(), max_size=200)  # halves of characters included


@given(ANYTHING)
def test_what_is_shown_commands_no_terminal(text):
    shown = printable(text)
    assert shown.isprintable()
    shown.encode()
    assert printable(shown) == shown
    assert text.isprintable() <= (shown == text)


@given(ANYTHING)
def test_what_is_stored_can_be_written_and_is_changed_only_where_it_must(text):
    kept = storable(text)
    kept.encode()
    assert kept == text or any("\ud800" <= sign <= "\udfff" for sign in text)


@given(st.text(max_size=3 * LONGEST_MESSAGE))
def test_messages_stay_short(text):
    assert len(shortened(text)) <= max(len(text), LONGEST_MESSAGE)
    assert shortened(text) == text or len(text) > LONGEST_MESSAGE


@pytest.mark.parametrize("text", ["1_5", "١٢", "", "1.5s", "0x10", "１"])
def test_what_only_python_reads_is_no_number(text):
    with pytest.raises(ValueError, match=r"number|could not convert"):
        number_in(text)


def test_numbers_are_read():
    assert [number_in(text) for text in ("1.5", " 2 ", "1e-3", "-4", "inf")] == [
        1.5,
        2.0,
        1e-3,
        -4.0,
        math.inf,
    ]

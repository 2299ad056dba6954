"""The R that irace scenarios are written in: literals are read, everything else is refused with its line."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import ScenarioError
from utilitune.scenario.dialects.r_literals import read_assignments

PATH = Path("scenario.txt")


def read(text: str):
    return {name: assigned.value for name, assigned in read_assignments(PATH, text).items()}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('x = "a b"', "a b"),
        ('x = "say \\"hi\\"\\n"', 'say "hi"\n'),
        ("x = 'C:\\\\dir'", "C:\\dir"),
        ("x = '\\u00e9'", "é"),
        ("x = 5000", 5000.0),
        ("x=5000L", 5000.0),
        ("x = 1e5", 1e5),
        ("x = .5", 0.5),
        ("x = -2", -2.0),
        ("x = 0x10", 16.0),
        ("x = TRUE", True),
        ("x = F", False),
        ("x = NULL", None),
        ("x = NA", None),
        ("x = Inf", math.inf),
        ('x = c("a", "b")', ["a", "b"]),
        ("x = c(1,\n      2, # two\n 3)", [1.0, 2.0, 3.0]),
        ("x = c()", []),
        ("x =\n  3", 3.0),
        ('x = "# no comment" # a comment', "# no comment"),
        ("'x' <- 1", 1.0),
    ],
)
def test_literals_are_read(text: str, value: object):
    assert read(text) == {"x": value}


def test_lines_are_kept_and_the_last_assignment_counts():
    found = read_assignments(PATH, "# first\n\na = 1\r\nb <- 'x'; c = TRUE\na = 2\n")
    assert {name: (each.value, each.line) for name, each in found.items()} == {
        "a": (2.0, 5),
        "b": ("x", 4),
        "c": (True, 4),
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = 2 + 3\n", 2),
        ("a = 1\n\nb = paste0('x', 'y')\n", 3),
        ("targetRunner = function(experiment, scenario) {\n  1\n}\n", 1),
        ("source('other.R')\n", 1),
        ("if (TRUE) a = 1\n", 1),
        ("a = b\n", 1),
        ("a = 'unclosed\n", 1),
        ("a = 'it''s'\n", 1),
        ("a = c(1, c(2))\n", 1),
        ("a = c(1, 2\nb = 3\n", 1),
        ("a == 3\n", 1),
        ("a = 1 b = 2\n", 1),
        ("a\n", 1),
        ("a = 3x\n", 1),
    ],
)
def test_other_r_is_refused_with_its_line(text: str, line: int):
    with pytest.raises(ScenarioError, match=rf"^scenario.txt:{line}: only literal values are read here"):
        read(text)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.sampled_from("\"'"))
def test_every_text_survives_in_quotes(text: str, quote: str):
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    assert read(f"before = 1\nx <- {quote}{escaped}{quote} # end\nafter = TRUE\n") == {
        "before": 1.0,
        "x": text,
        "after": True,
    }


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_survives(number: float):
    assert read(f"x = {number!r}\n") == {"x": number}

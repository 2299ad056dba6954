"""Rows of a table mean to us what they mean to R; where R is installed, it says so itself."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.scenario.dialects.r_tables import is_column_name, split_row, written_cell

if TYPE_CHECKING:
    from pathlib import Path

CELLS = {
    '"a b"': "a b",
    '""': "",
    r'"a\b"': r"a\b",
    r'"a\\b"': r"a\\b",
    r'"a\"b"': 'a"b',
    r"'a\'b'": "a'b",
    r"'a\"b'": r"a\"b",
    r'"\\\""': r"\\" + '"',
    r'"C:\new\table"': r"C:\new\table",
    "a\\": "a\\",
    'a"b': 'a"b',
    '"a#b"': "a#b",
    '"é→ü"': "é→ü",
}
NAMES = {
    **dict.fromkeys(("alpha", "a.b", "a_b", ".x_1", "..", "T", "iff", "é", "naïve", "Σx", "x2"), True),
    **dict.fromkeys(("a-b", "a b", "x#1", "x@y", "a:b", "it's", "x²", "①", "", "a\u200b"), False),
    **dict.fromkeys(("_a", "1a", ".1a", "if", "in", "TRUE", "NA", "NaN", "Inf", "NULL", "NA_real_"), False),
}
SIGNS = "a\\\"'# "
TEXTS = ["".join(signs) for length in range(5) for signs in itertools.product(SIGNS, repeat=length)]

# What irace does with a configurationsFile; the rest prints the cells of its one row.
READ = """
table <- read.table(commandArgs(TRUE)[1], header = TRUE, colClasses = "character", stringsAsFactors = FALSE)
stopifnot(nrow(table) == 1)
writeLines(as.character(table[1, ]), useBytes = TRUE)
"""


# The names that R's tables get where others were written.
RENAME = """
given <- readLines(commandArgs(TRUE)[1], encoding = "UTF-8")
writeLines(make.names(given), useBytes = TRUE)
"""


@pytest.fixture(scope="module")
def r_runs(tmp_path_factory: pytest.TempPathFactory):
    """Has R read a file by a script, and returns the lines that it writes."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed")
    place: Path = tmp_path_factory.mktemp("r")

    def run(script: str, text: str) -> list[str]:
        (place / "script.R").write_text(script)
        (place / "read.txt").write_text(text, encoding="utf-8")
        done = subprocess.run(
            [program, "--vanilla", "script.R", "read.txt"],
            cwd=place,
            env=os.environ | {"LC_ALL": "C.UTF-8"},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return done.stdout.split("\n")[:-1]

    return run


@pytest.fixture(scope="module")
def r_reads(r_runs):
    """Reads cells with R; the first column only keeps a row of one empty text from being a blank line."""

    def read(cells: list[str]) -> list[str]:
        names = " ".join(f"x{number}" for number in range(len(cells)))
        return r_runs(READ, f"first {names}\n1 {' '.join(cells)}\n")[1:]

    return read


@pytest.mark.parametrize(("cell", "text"), CELLS.items())
def test_a_cell_is_the_text_that_r_takes_it_for(cell: str, text: str):
    assert split_row(f" {cell}\t{cell} # a comment") == [text, text]


def test_r_agrees_on_every_cell(r_reads):
    assert r_reads(list(CELLS)) == list(CELLS.values())


@given(st.text(st.sampled_from(SIGNS), max_size=12))
def test_what_is_written_reads_as_it_was(text: str):
    try:
        cell = written_cell(text)
    except ValueError:
        assert "\\" in text
    else:
        assert split_row(f"x {cell} y") == ["x", text, "y"]


def test_r_reads_what_is_written(r_reads):
    cells = {}
    for text in [*TEXTS, "é→ü Σ", "naïve", "%d", "TRUE", "1e-3", "NULL", "-x 1"]:
        try:
            cells[text] = written_cell(text)
        except ValueError:
            continue
    assert len(cells) > 0.8 * len(TEXTS)
    assert r_reads(list(cells.values())) == list(cells)


@pytest.mark.parametrize("text", ["NA", "a b\\", "\"\\\" '\\'", "two\nlines"])
def test_what_no_cell_holds_is_not_written(text: str):
    with pytest.raises(ValueError, match="no way to write"):
        written_cell(text)


@pytest.mark.parametrize("line", ['"open', "'it''s", '"a"b', r'"\"'])
def test_quotation_marks_are_closed_and_a_blank_follows(line: str):
    with pytest.raises(ValueError, match="is not closed, or no blank follows"):
        split_row(line)


@pytest.mark.parametrize(("name", "kept"), NAMES.items())
def test_a_name_of_a_column_can_be_a_variable_of_r(name: str, kept: bool):
    assert is_column_name(name) == kept


def test_r_keeps_the_names_that_we_take_for_names(r_runs):
    given = list(NAMES)
    renamed = r_runs(RENAME, "".join(f"{name}\n" for name in given))
    assert {name: name == new for name, new in zip(given, renamed, strict=True)} == NAMES

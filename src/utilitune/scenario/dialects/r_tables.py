r"""Rows of a table as R's ``read.table`` takes them, which is how irace reads a ``configurationsFile``.

Cells are separated by blanks. In quotes of either kind a backslash stands for itself, except before a
quotation mark of the same kind: then that mark is meant. Two backslashes stay two, yet the second does not
escape what follows. Outside quotes nothing is escaped, and ``#`` begins a comment. R takes the word NA as a
missing value whether it is quoted or not. The names in the first line become variables: R changes those that
cannot be one, quoted or not, and then irace no longer knows them.
"""

from __future__ import annotations

import re

MISSING = "NA"

_CELL = re.compile(
    r"""\s*(?:(?P<mark>["'])(?P<quoted>(?:\\.|(?!(?P=mark))[^\\])*)(?P=mark)|(?P<bare>[^\s#"'][^\s#]*))(?=[\s#]|$)"""
)
_END = re.compile(r"\s*(?:#.*)?")
_FIRST_SIGNS = re.compile(r"[^\W\d_]|\.(?!\d)")
_RESERVED = frozenset(
    {
        *("if", "else", "repeat", "while", "function", "for", "next", "break", "in"),
        *("TRUE", "FALSE", "NULL", "Inf", "NaN"),
        *("NA", "NA_integer_", "NA_real_", "NA_character_", "NA_complex_"),
    }
)


def split_row(line: str) -> list[str]:
    """The cells of a line; none of an empty one.

    Raises:
        ValueError: A quotation mark is not closed, or is followed by something else than a blank.
    """
    cells, at = [], 0
    while not _END.fullmatch(line, at):
        cell = _CELL.match(line, at)
        if cell is None:
            raise ValueError("a quotation mark is not closed, or no blank follows")
        cells.append(cell["bare"] or _unquoted(cell["quoted"], cell["mark"]))
        at = cell.end()
    return cells


def written_cell(text: str) -> str:
    """A text as a cell that reads as exactly this text.

    Raises:
        ValueError: No cell does: a table has no way to write it.
    """
    quoted = (mark + text.replace(mark, "\\" + mark) + mark for mark in "\"'")
    for cell in (*quoted, text):
        if text != MISSING and text.isprintable() and _reads_as(cell, text):
            return cell
    raise ValueError("a table has no way to write this text")


def is_column_name(text: str) -> bool:
    """Whether R keeps a name as it is: what ``make.names`` leaves alone in a UTF-8 locale.

    Example:
        >>> is_column_name("alpha.1"), is_column_name("a-b"), is_column_name("if")
        (True, False, False)
    """
    known = all(sign in "._" or sign.isalpha() or sign.isdecimal() for sign in text)
    return known and _FIRST_SIGNS.match(text) is not None and text not in _RESERVED


def _unquoted(text: str, mark: str) -> str:
    return re.sub(r"\\.", lambda pair: mark if pair[0][1] == mark else pair[0], text)


def _reads_as(cell: str, text: str) -> bool:
    try:
        return split_row(cell) == [text]
    except ValueError:
        return False

"""Numbers in sentences."""

from __future__ import annotations

from utilitune.errors.wording import counted


def test_one_of_a_kind_is_not_told_of_in_the_plural():
    assert [counted(number, "run") for number in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]

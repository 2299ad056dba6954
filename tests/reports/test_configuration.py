"""One configuration of a stored run."""

from __future__ import annotations

from utilitune.reports.configuration import differences


def test_differences_are_short_to_look_at():
    ours = {"a": 0.123456789012345, "b": 3, "c": "0.123456789012345", "e": True}
    theirs = {"a": 0.5, "b": 3, "c": "x", "d": 1e-7 / 3, "e": False}
    assert differences(ours, theirs, ["a", "b", "c", "d", "e"]) == (
        ("a", "0.123457", "0.5"),
        ("c", "0.123456789012345", "x"),
        ("d", "–", "3.33333e-08"),
        ("e", "true", "false"),
    )


def test_numbers_that_would_look_alike_keep_their_digits():
    assert differences({"a": 0.1 + 0.2}, {"a": 0.3}, ["a"]) == (("a", "0.30000000000000004", "0.3"),)

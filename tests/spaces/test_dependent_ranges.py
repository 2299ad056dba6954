"""Ranges that depend on other parameters, decimal places, and calculations in conditions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from utilitune.spaces import ParameterSpace, SpaceError

ANTS = {"ants": {"type": "integer", "range": [5, 20], "default": 8}}


def drawn(space: ParameterSpace, count: int) -> list:
    return space.sample(np.random.default_rng(5), count)


@pytest.mark.long
def test_a_dependent_number_is_uniform_between_its_ends():
    ranks = {"ranks": {"type": "integer", "range": [1, "min(ants, 7)"]}}
    draws = drawn(ParameterSpace.from_tables({**ANTS, **ranks}), 60_000)
    for ants, top in ((5, 5), (6, 6), (20, 7)):
        counts = Counter(draw["ranks"] for draw in draws if draw["ants"] == ants)
        assert set(counts) == set(range(1, top + 1))
        expected = counts.total() / top
        assert all(abs(count - expected) < 5 * expected**0.5 for count in counts.values())
    ants = Counter(draw["ants"] for draw in draws)
    assert all(abs(count - 3750) < 5 * 3750**0.5 for count in ants.values())


def test_the_tables_give_the_same_space_again():
    tables = {
        **ANTS,
        "x": {"type": "float", "range": ["ants / 2", "ants * 2"], "digits": 2, "log": True},
        "y": {"type": "float", "range": [0, "x"], "when": "x > 5"},
    }
    space = ParameterSpace.from_tables(tables)
    again = ParameterSpace.from_tables(space.to_tables()["parameters"])
    assert again == space
    assert drawn(again, 50) == drawn(space, 50)
    assert all(round(draw["x"], 2) == draw["x"] for draw in drawn(space, 50))


def test_a_dependent_number_needs_what_its_range_mentions():
    tables = {
        "mode": {"type": "categorical", "values": ["a", "b"], "default": "a"},
        "n": {"type": "integer", "range": [1, 9], "when": "mode == 'a'"},
        "k": {"type": "integer", "range": [1, "n"]},
    }
    space = ParameterSpace.from_tables(tables)
    assert all(("k" in draw) == (draw["mode"] == "a") for draw in drawn(space, 200))
    with pytest.raises(SpaceError, match="only applies when active"):
        space.validate({"mode": "b", "k": 1})
    with pytest.raises(SpaceError, match=r"5 is outside the range of 'k', which is \[1, n\]"):
        space.validate({"mode": "a", "n": 4, "k": 5})


def test_combinations_without_a_value_do_not_exist():
    tables = {
        "a": {"type": "integer", "range": [1, 10], "default": 2},
        "b": {"type": "integer", "range": ["a", 5]},
    }
    draws = drawn(ParameterSpace.from_tables(tables), 5000)
    assert {draw["a"] for draw in draws} == set(range(1, 6))
    tables["a"]["range"] = [1, 1_000_000]
    with pytest.raises(SpaceError, match="ranges without a value exclude nearly everything"):
        drawn(ParameterSpace.from_tables(tables), 5000)


@pytest.mark.parametrize(
    ("range_", "extra", "fragment"),
    [
        ([1, "ant"], {}, "mentions 'ant', which is no parameter; did you mean 'ants'?"),
        ([1, "mode"], {}, "calculates with 'mode', which is not a number"),
        ([1, "1 / (ants - 7)"], {}, "can grow without limit"),
        ([1, "k"], {}, "the ranges go in a circle: k → k"),
        ([1, "ants +"], {}, "needs a parameter name where the text ends"),
        ([True, "ants"], {}, "True is neither a number nor a calculation"),
        (["ants - 5", "ants"], {"log": True}, "a log scale needs a range above 0"),
        ([1, "ants"], {"default": 12}, "the default 12 of 'k' is outside its range [1, ants]"),
        ([1, "ants"], {"when": "ants > k"}, "the conditions and ranges go in a circle"),
    ],
)
def test_mistakes_are_named(range_: list, extra: dict, fragment: str):
    mode = {"mode": {"type": "categorical", "values": ["a", "b"]}}
    with pytest.raises(SpaceError) as caught:
        ParameterSpace.from_tables({**ANTS, **mode, "k": {"type": "integer", "range": range_, **extra}})
    assert fragment in str(caught.value)
    assert caught.value.where[:2] == ("parameters", "k")


def test_digits():
    table = {"type": "float", "range": [0.0, 0.3], "digits": 1}
    draws = drawn(ParameterSpace.from_tables({"x": table}), 4000)
    counts = Counter(draw["x"] for draw in draws)
    assert set(counts) == {0.0, 0.1, 0.2, 0.3}
    assert counts[0.1] > 1.7 * counts[0.0]  # the ends collect half as much
    for change, fragment in (
        ({"range": [0.05, 1]}, "0.05 has more than 1 decimal places"),
        ({"digits": 16}, "digits are for floats, and between 0 and 15"),
        ({"digits": 1.5}, "digits must be a whole number"),
        ({"type": "integer"}, "has no key 'digits'"),
    ):
        with pytest.raises(SpaceError) as caught:
            ParameterSpace.from_tables({"x": {**table, **change}})
        assert fragment in str(caught.value)


def test_calculations_and_presence_in_conditions():
    tables = {
        **ANTS,
        "n": {"type": "integer", "range": [0, 9], "when": "ants % 2 == 0"},
        "a": {"type": "bool", "when": "ants + 2 * n > 20"},
        "b": {"type": "bool", "when": "not active(n)"},
    }
    space = ParameterSpace.from_tables(tables, [{"clause": "ants ^ 2 < 50 and active(a)"}])
    for draw in drawn(space, 400):
        assert ("n" in draw) == (draw["ants"] % 2 == 0)
        assert ("a" in draw) == ("n" in draw and draw["ants"] + 2 * draw["n"] > 20)
        assert ("b" in draw) == ("n" not in draw)
        assert not (draw["ants"] <= 7 and "a" in draw)
    with pytest.raises(SpaceError, match="calculates with 'a', which is not a number"):
        ParameterSpace.from_tables({**tables, "c": {"type": "bool", "when": "a + 1 > 2"}})
    with pytest.raises(SpaceError, match="'c' can never be active"):
        ParameterSpace.from_tables({**tables, "c": {"type": "bool", "when": "ants + n > 100"}})
    with pytest.raises(SpaceError, match="'c' can never be active"):
        ParameterSpace.from_tables({**tables, "c": {"type": "bool", "when": "not active(ants)"}})


def test_a_default_is_searched_where_asked():
    space = ParameterSpace.from_tables(ANTS)
    clause = ParameterSpace.from_tables(ANTS, [{"clause": "ants > 12"}]).forbidden
    assert ParameterSpace(space.parameters.values(), {}, clause, search_default=True).default() == {"ants": 8}
    clause = ParameterSpace.from_tables(ANTS, [{"clause": "ants > 5 and ants != 8"}]).forbidden
    (free,) = (parameter for parameter in space.parameters.values())
    moved = ParameterSpace([free], {}, [*clause], search_default=True)
    assert moved.default() == {"ants": 8}
    banned = ParameterSpace.from_tables({"ants": {**ANTS["ants"], "default": 5}}, [{"clause": "ants > 5"}])
    found = ParameterSpace([free], {}, banned.forbidden, search_default=True)
    assert found.default() == {"ants": 5}

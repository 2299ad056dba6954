"""Calculations: their value, their range, their text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.spaces import SpaceError
from utilitune.spaces.parser import parse_term
from utilitune.spaces.terms import FUNCTIONS, INFIX, Constant, Operation, Reference, evaluate, hull, term_text

numbers = st.integers(-20, 20) | st.floats(-20, 20)
leaves = st.builds(Constant, numbers) | st.builds(Reference, st.sampled_from(["a", "b", "x-y", "2 opt"]))


def operations(children: st.SearchStrategy):
    def with_arguments(function: str):
        count = {"-": st.integers(1, 2), "min": st.integers(1, 3), "max": st.integers(1, 3)}.get(
            function, st.just(FUNCTIONS[function].count)
        )
        return count.flatmap(
            lambda n: st.tuples(*[children] * n).map(lambda terms: Operation(function, terms))
        ).filter(
            lambda term: (
                not (
                    len(term.arguments) == 1
                    and term.function == "-"
                    and isinstance(term.arguments[0], Constant)
                )
            )
        )

    return st.sampled_from(sorted(FUNCTIONS)).flatmap(with_arguments)


terms = st.recursive(leaves, operations, max_leaves=8)


@given(terms)
def test_text_of_a_term_reads_back_as_the_same_tree(term):
    assert parse_term(term_text(term)) == term


@given(terms, st.lists(st.integers(0, 100), min_size=4, max_size=4))
def test_the_hull_holds_every_value(term, shares: list[int]):
    names = ["a", "b", "x-y", "2 opt"]
    ranges = {name: (-3.0, 5.0) if name == "a" else (1.0, 4.0) for name in names}
    columns = {
        name: np.array([low + (high - low) * share / 100])
        for (name, (low, high)), share in zip(ranges.items(), shares, strict=True)
    }
    low, high = hull(term, ranges)
    (value,) = np.broadcast_to(evaluate(term, columns), (1,))
    slack = 1e-9 * max([1.0, *(abs(end) for end in (low, high) if math.isfinite(end))])
    assert math.isnan(value) or low - slack <= value <= high + slack


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("2 - 3 - 4", -5),
        ("-2 ^ 2", -4),
        ("2 ^ 3 ^ 2", 512),
        ("2 ^ -1", 0.5),
        ("7 % 4 * 2", 6),
        ("2 * 7 % 4", 6),
        ("-7 % 3", 2),
        ("min(4, a, 9) + max(a)", 6),
        ("round(2.5) + floor(-0.5) + ceiling(0.2) + trunc(-1.9)", 1),
        ("abs(-3) + sqrt(16) + exp(0) + log(1) + log10(100)", 10),
        ("(a + 1) / 2", 2),
        ("1 / 0", math.inf),
    ],
)
def test_values(text: str, value: float):
    assert float(evaluate(parse_term(text), {"a": np.array([3.0])}).reshape(-1)[0]) == value


def test_an_inactive_parameter_makes_a_term_undefined():
    columns = {"a": np.array([np.nan, 2.0])}
    assert np.isnan(evaluate(parse_term("a ^ 0"), columns)).tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "needs a parameter name where the text ends"),
        ("a +", "needs a parameter name where the text ends"),
        ("round(a, 2)", "gives round 2 values, but it takes 1"),
        ("a > 3", "where '>' stands"),
        ("a + 'x'", "calculates with something that is not a number"),
        ("system(1)", "where '(' stands"),
    ],
)
def test_mistakes(text: str, fragment: str):
    with pytest.raises(SpaceError) as caught:
        parse_term(text)
    assert fragment in str(caught.value)


def test_every_operator_is_a_function():
    assert set(FUNCTIONS) >= INFIX

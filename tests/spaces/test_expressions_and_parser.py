from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.spaces import ChoiceParameter, NumberParameter, SpaceError
from utilitune.spaces.expressions import (
    OPERATORS,
    AllOf,
    AnyOf,
    Expression,
    Membership,
    Relation,
    ValueComparison,
    check,
    holds,
    names_of,
    negated,
    to_text,
)
from utilitune.spaces.parser import parse_expression
from utilitune.spaces.satisfiability import satisfiable

PARAMETERS = {
    "mode": ChoiceParameter("mode", ("a", "b", "c"), "a"),
    "size": ChoiceParameter("size", ("small", "medium", "large"), "small", ordered=True),
    "on": ChoiceParameter("on", (False, True), default=False),
    "n": NumberParameter("n", 0, 10, 5, integer=True),
    "x": NumberParameter("x", 0.0, 1.0, 0.5),
}
texts = st.text(min_size=1, max_size=8).filter(lambda text: "`" not in text)
literals = st.one_of(
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
operators = st.sampled_from(sorted(OPERATORS))
leaf_expressions = st.one_of(
    st.builds(ValueComparison, texts, operators, literals),
    st.builds(Relation, texts, operators, texts),
    st.builds(Membership, texts, st.lists(literals, max_size=3).map(tuple), st.booleans()),
)


def flattened(kind: type[AllOf | AnyOf], terms: list[Expression]):
    """The parser joins neighbours, so a nested term of the same kind is written flat."""
    flat = []
    for term in terms:
        flat.extend(term.terms if isinstance(term, kind) else [term])
    return kind(tuple(flat))


def joined(children: st.SearchStrategy[Expression]):
    several = st.lists(children, min_size=2, max_size=3)
    return several.map(lambda terms: flattened(AllOf, terms)) | several.map(
        lambda terms: flattened(AnyOf, terms)
    )


expressions = st.recursive(leaf_expressions, joined, max_leaves=8)


@given(expressions)
def test_text_of_an_expression_reads_back_as_the_same_tree(expression: Expression):
    assert parse_expression(to_text(expression)) == expression


@given(expressions)
def test_negating_twice_changes_nothing(expression: Expression):
    assert negated(negated(expression)) == expression


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_in_one_sentence(text: str):
    try:
        names_of(parse_expression(text))
    except SpaceError as error:
        assert error.reason  # noqa: PT017


def test_precedence_and_parentheses():
    tree = parse_expression("mode == 'a' or n > 3 and not (x <= 0.5 or on == true)")
    assert tree == AnyOf(
        (
            ValueComparison("mode", "==", "a"),
            AllOf(
                (
                    ValueComparison("n", ">", 3),
                    AllOf((ValueComparison("x", ">", 0.5), ValueComparison("on", "!=", value=True))),
                )
            ),
        )
    )


def test_names_with_dashes_dots_and_backquotes():
    assert parse_expression("restart-int.min == -3") == ValueComparison("restart-int.min", "==", -3)
    assert parse_expression("`2 opt` in [1e3, 'it\\'s', \"q\"]") == Membership("2 opt", (1000.0, "it's", "q"))


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "needs a parameter name where the text ends, at character 1"),
        ("n >", "needs a number, a quoted text, true or false"),
        ("n > 3 n", "needs 'and', 'or' or the end where 'n' stands, at character 7"),
        ("(n > 3", "needs ')'"),
        ("n in 3", "needs '['"),
        ("n in [3", "needs ',' or ']'"),
        ("n = 3", "unexpected '=' at character 3"),
        ("n not 3", "needs 'in'"),
        ("__import__('os')", "needs one of"),
        ("(" * 200 + "n > 3" + ")" * 200, "nested more than 40 levels"),
        ("not " * 200 + "n > 3", "nested more than 40 levels"),
    ],
)
def test_mistakes_are_named_with_their_place(text: str, fragment: str):
    with pytest.raises(SpaceError) as caught:
        parse_expression(text)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("mod == 'a'", "no parameter 'mod'; did you mean 'mode'?"),
        ("mode == 'z'", "'z' is not one of its values"),
        ("mode < 'b'", "have none"),
        ("size > 'huge'", "not one of its values"),
        ("n == 3.5", "not a whole number"),
        ("n == 11", "outside its range [0, 10]"),
        ("n > 'a'", "something that is not one"),
        ("n > true", "something that is not one"),
        ("on == 1", "not one of its values"),
        ("n < mode", "not both numbers"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(text: str, fragment: str):
    with pytest.raises(SpaceError) as caught:
        check(parse_expression(text), PARAMETERS)
    assert fragment in str(caught.value)


def test_a_comparison_with_an_inactive_parameter_never_holds():
    columns = {"n": np.array([np.nan, 1.0, 5.0]), "x": np.array([0.5, np.nan, 0.5])}
    for text, expected in {
        "n == 1": [False, True, False],
        "n != 1": [False, False, True],
        "not (n == 1)": [False, False, True],
        "n not in [1]": [False, False, True],
        "n > x": [False, False, True],
        "n != x": [False, False, True],
        "n == 1 or x == 0.5": [True, True, True],
    }.items():
        assert holds(parse_expression(text), PARAMETERS, columns).tolist() == expected, text


def test_ordinals_compare_by_their_place_in_the_list():
    columns = {"size": np.array([0.0, 1.0, 2.0])}
    assert holds(parse_expression("size >= 'medium'"), PARAMETERS, columns).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mode == 'a' and mode == 'b'", False),
        ("mode not in ['a', 'b', 'c']", False),
        ("n > 10", False),
        ("n > 9", True),
        ("n > 9.5 and n != 10", False),
        ("n > 4 and n < 5", False),
        ("x > 0.5 and x < 0.5", False),
        ("x >= 0.5 and x <= 0.5", True),
        ("x >= 0.5 and x <= 0.5 and x != 0.5", False),
        ("size < 'small'", False),
        ("n < 100", True),
        ("n in []", False),
        ("n > x", True),
        ("n < 1 and n > 2 or mode == 'c'", True),
    ],
)
def test_satisfiability(text: str, expected: bool):
    assert satisfiable(parse_expression(text), PARAMETERS, {}) is expected


def test_satisfiability_includes_the_conditions_of_the_parameters_it_mentions():
    conditions = {"n": parse_expression("mode == 'a'")}
    assert not satisfiable(parse_expression("n > 3 and mode == 'b'"), PARAMETERS, conditions)
    assert satisfiable(parse_expression("n > 3 or mode == 'b'"), PARAMETERS, conditions)


def brute_force(expression: Expression):
    grid = np.meshgrid([0.0, 1.0, 2.0], np.arange(11.0), indexing="ij")
    columns = {"mode": grid[0].ravel(), "n": grid[1].ravel()}
    return bool(holds(expression, PARAMETERS, columns).any())


small_leaves = st.one_of(
    st.builds(ValueComparison, st.just("n"), operators, st.integers(0, 10)),
    st.builds(ValueComparison, st.just("mode"), st.sampled_from(["==", "!="]), st.sampled_from("abc")),
    st.builds(
        Membership,
        st.just("n"),
        st.lists(st.integers(0, 10), min_size=1, max_size=3).map(tuple),
        st.booleans(),
    ),
)


@given(st.recursive(small_leaves, joined, max_leaves=8))
def test_satisfiability_agrees_with_trying_every_value(expression: Expression):
    assert satisfiable(expression, PARAMETERS, {}) == brute_force(expression)


def test_a_very_long_expression_is_no_trouble():
    text = " and ".join(f"x != 0.{number:05d}" for number in range(1, 600))
    assert satisfiable(parse_expression(text), PARAMETERS, {})
    assert not satisfiable(parse_expression(text + " and x < 0"), PARAMETERS, {})

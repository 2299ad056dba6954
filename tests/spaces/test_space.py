from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spaces.random_spaces import random_space
from utilitune.spaces import INACTIVE, Assignment, ParameterSpace, SpaceError, Value
from utilitune.spaces.expressions import AllOf, AnyOf, Expression, Membership, Relation, ValueComparison
from utilitune.spaces.parameters import NumberParameter

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLES = {
    "mode": {"type": "categorical", "values": ["a", "b"], "default": "b"},
    "n": {"type": "integer", "range": [1, 4], "default": 2, "when": "mode == 'a'"},
    "x": {"type": "float", "range": [0.1, 10.0], "log": True, "when": "n >= 3 or mode == 'b'"},
    "level": {"type": "ordinal", "values": ["low", "high"]},
}


def plain_holds(expression: Expression, assignment: Mapping[str, Value], space: ParameterSpace):
    """An evaluator on values, written independently of the columns."""
    match expression:
        case AllOf(terms):
            return all(plain_holds(term, assignment, space) for term in terms)
        case AnyOf(terms):
            return any(plain_holds(term, assignment, space) for term in terms)
        case Membership(name, values, negative):
            return name in assignment and (assignment[name] in values) != negative
        case Relation(name, symbol, other):
            both = name in assignment and other in assignment
            return both and compared(assignment[name], symbol, assignment[other])
        case ValueComparison(name, symbol, value):
            if name not in assignment:
                return False
            rank = getattr(space.parameters[name], "choices", None)
            left, right = assignment[name], value
            if rank is not None and symbol not in {"==", "!="}:
                left, right = rank.index(left), rank.index(right)
            return compared(left, symbol, right)


def compared(left: Value, symbol: str, right: Value):
    outcomes = {"==": left == right, "!=": left != right}
    if symbol in outcomes:
        return outcomes[symbol]
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[symbol]


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_draws_satisfy_every_condition_and_clause(seed: int):
    space = random_space(seed)
    try:
        draws = space.sample(np.random.default_rng(seed), 20)
    except SpaceError as error:
        assert "exclude nearly everything" in str(error)  # noqa: PT017
        return
    for draw in [space.default(), *draws]:
        for name in space.names:
            condition = space.conditions.get(name)
            assert (name in draw) == (condition is None or plain_holds(condition, draw, space))
        assert not any(plain_holds(clause, draw, space) for clause in space.forbidden)
        assert space.validate(draw) == draw
        assert Assignment.from_json(draw.to_json()) == draw


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_tables_restore_the_same_space(seed: int):
    space = random_space(seed)
    tables = json.loads(json.dumps(space.to_tables()))
    again = ParameterSpace.from_tables(**tables)
    assert again == space
    assert again.digest() == space.digest()
    assert again.names == space.names


def test_default_holds_active_parameters_in_order():
    space = ParameterSpace.from_tables(TABLES)
    assert dict(space.default()) == {"mode": "b", "x": pytest.approx(1.0), "level": "low"}
    assert list(space.default()) == ["mode", "x", "level"]


def test_conditional_draws_are_uniform():
    draws = ParameterSpace.from_tables(TABLES).sample(np.random.default_rng(3), 40_000)
    counts = Counter(draw.get("n") for draw in draws)
    assert abs(counts[None] - 20_000) < 600
    assert all(abs(counts[n] - 5_000) < 400 for n in (1, 2, 3, 4))


def test_forbidden_clauses_leave_the_rest_uniform():
    tables = {name: {"type": "integer", "range": [0, 2]} for name in "ab"}
    space = ParameterSpace.from_tables(tables, [{"clause": "a == 0 and b == 0"}, {"clause": "a > b"}])
    counts = Counter((draw["a"], draw["b"]) for draw in space.sample(np.random.default_rng(3), 30_000))
    assert set(counts) == {(0, 1), (0, 2), (1, 1), (1, 2), (2, 2)}
    assert all(abs(count - 6_000) < 400 for count in counts.values())


def test_too_small_a_share_is_an_error_not_an_endless_loop():
    tables = {"a": {"type": "integer", "range": [1, 10_000_000], "default": 1}}
    space = ParameterSpace.from_tables(tables, [{"clause": "a > 1"}])
    with pytest.raises(SpaceError, match="exclude nearly everything"):
        space.sample(np.random.default_rng(1), 5)


def test_draws_are_the_same_in_another_process():
    code = (
        "import json, numpy as np\n"
        "from utilitune.spaces import ParameterSpace\n"
        f"space = ParameterSpace.from_tables(json.loads({json.dumps(TABLES)!r}))\n"
        "print(*[draw.to_json() for draw in space.sample(np.random.default_rng(5), 10)], sep='\\n')"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    here = ParameterSpace.from_tables(TABLES).sample(np.random.default_rng(5), 10)
    assert [Assignment.from_json(line) for line in output.splitlines()] == here


def test_encoding_marks_inactive_parameters():
    space = ParameterSpace.from_tables(TABLES)
    rows = space.encode(
        [{"mode": "a", "n": 4, "x": 10.0, "level": "high"}, {"mode": "b", "x": 0.1, "level": "low"}]
    )
    assert rows.tolist() == [[0.0, 1.0, pytest.approx(1.0), 1.0], [1.0, INACTIVE, pytest.approx(0.0), 0.0]]
    assert space.encode([]).shape == (0, 4)


def test_sampling_nothing_gives_nothing():
    assert ParameterSpace.from_tables(TABLES).sample(np.random.default_rng(1), 0) == []


def test_equal_assignments_hash_alike_whatever_their_order():
    first, second = Assignment({"a": 1, "b": "x"}), Assignment({"b": "x", "a": 1})
    assert first == second == {"a": 1, "b": "x"}
    assert len({first, second}) == 1
    assert first != Assignment({"a": 2, "b": "x"})


@pytest.mark.parametrize(
    ("assignment", "fragment"),
    [
        ({"mode": "a", "n": 1}, "'level' has no value"),
        ({"mode": "b", "n": 1, "x": 1.0, "level": "low"}, "'n' is set, but it only applies when mode == 'a'"),
        ({"mode": "b", "level": "low"}, "'x' has no value, but needs one because n >= 3 or mode == 'b'"),
        ({"mode": "b", "x": 99.0, "level": "low"}, "outside its range"),
        ({"mod": "b"}, "did you mean 'mode'?"),
    ],
)
def test_validation_says_what_is_wrong(assignment: Mapping[str, Value], fragment: str):
    with pytest.raises(SpaceError) as caught:
        ParameterSpace.from_tables(TABLES).validate(assignment)
    assert fragment in str(caught.value)


def test_validation_orders_and_casts():
    checked = ParameterSpace.from_tables(TABLES).validate({"level": "low", "x": 1, "mode": "b"})
    assert list(checked) == ["mode", "x", "level"]
    assert isinstance(checked["x"], float)


@pytest.mark.parametrize(
    ("parameters", "forbidden", "where", "fragment"),
    [
        ({}, [], ("parameters",), "no parameters"),
        ({"a": {"type": "flaot"}}, [], ("parameters", "a", "type"), "did you mean 'float'?"),
        ({"a": {"range": [0, 1]}}, [], ("parameters", "a"), "needs a type"),
        ({"a": {"type": "float"}}, [], ("parameters", "a"), "needs a range"),
        (
            {"a": {"type": "float", "range": [0, 1], "vlaues": []}},
            [],
            ("parameters", "a", "vlaues"),
            "no key",
        ),
        ({"a": {"type": "bool", "when": "a == true"}}, [], ("parameters", "a", "when"), "circle: a → a"),
        (
            {"a": {"type": "bool", "when": "b == true"}, "b": {"type": "bool", "when": "a == true"}},
            [],
            ("parameters", "a", "when"),
            "circle: a → b → a",
        ),
        ({"a": {"type": "bool", "when": "b ="}}, [], ("parameters", "a", "when"), "unexpected '='"),
        (
            {"a": {"type": "bool", "when": "b > 9"}, "b": {"type": "integer", "range": [0, 5]}},
            [],
            ("parameters", "a", "when"),
            "'a' can never be active, because b > 9 never holds",
        ),
        (
            {"a": {"type": "bool"}},
            [{"clause": "a == false"}],
            ("forbidden", 0, "clause"),
            "default configuration",
        ),
        ({"a": {"type": "bool"}}, [{"clause": "c == 1"}], ("forbidden", 0, "clause"), "no parameter 'c'"),
        ({"a": {"type": "bool"}}, [{"claus": "c == 1"}], ("forbidden", 0), "exactly one key"),
    ],
)
def test_wrong_tables_name_the_key_to_blame(
    parameters: dict[str, Any], forbidden: list[Any], where: tuple[str | int, ...], fragment: str
):
    with pytest.raises(SpaceError) as caught:
        ParameterSpace.from_tables(parameters, forbidden)
    assert fragment in str(caught.value)
    assert caught.value.where == where


def test_forward_references_are_fine():
    space = ParameterSpace.from_tables(
        {"a": {"type": "bool", "when": "b == true"}, "b": {"type": "bool", "default": True}}
    )
    assert list(space.default()) == ["a", "b"]


class TestSize:
    """How many different configurations there are."""

    def test_all_combinations_count(self):
        space = ParameterSpace.from_tables(
            {"a": {"type": "integer", "range": [1, 9], "log": True}, "b": {"type": "bool"}}
        )
        assert space.size == 18

    def test_a_continuum_has_no_size_and_neither_has_what_is_too_large_to_count(self):
        number = {"type": "float", "range": [0, 1]}
        assert ParameterSpace.from_tables({"a": {"type": "bool"}, "b": number}).size is None
        assert ParameterSpace.from_tables({"a": {"type": "integer", "range": [0, 10_000]}}).size is None
        assert ParameterSpace.from_tables({"a": {"type": "integer", "range": [1, 10_000]}}).size == 10_000

    def test_rounded_numbers_count(self):
        assert ParameterSpace([NumberParameter("a", -0.2, 0.3, 0.0, digits=1)]).size == 6

    def test_what_is_inactive_makes_no_difference_and_what_is_forbidden_does_not_count(self):
        space = ParameterSpace.from_tables(
            {
                "a": {"type": "integer", "range": [1, 3]},
                "b": {"type": "integer", "range": [1, 4], "when": "a == 3"},
            },
            [{"clause": "b == 2"}],
        )
        assert space.size == 2 + 3

    @pytest.mark.long
    def test_no_more_is_ever_drawn_than_was_counted(self):
        counted = 0
        for seed in range(150):
            space = random_space(seed)
            if space.size is None or space.size > 200:
                continue
            counted += 1
            drawn = set(space.sample(np.random.default_rng(seed), 4000))
            assert len(drawn) <= space.size
            everything = space.configurations()
            assert len(everything) == len(set(everything)) == space.size
            assert drawn <= set(everything)
            if space.size <= 20:
                assert len(drawn) == space.size
        assert counted >= 3


@given(st.integers(0, 2**31))
def test_a_space_is_filled_parents_first_and_with_active_parameters_only(seed: int) -> None:
    space = random_space(seed)
    (drawn,) = space.sample(np.random.default_rng(seed + 1), 1)
    asked: list[str] = []

    def value_of(parameter: Any) -> Value:
        asked.append(parameter.name)
        return drawn[parameter.name]

    assert space.filled(value_of) == drawn
    assert sorted(asked) == sorted(drawn)


def test_what_is_filled_must_be_allowed() -> None:
    space = ParameterSpace.from_tables(
        {"x": {"type": "integer", "range": [0, 9], "default": 1}}, [{"clause": "x > 5"}]
    )
    with pytest.raises(SpaceError, match="forbidden by the clause"):
        space.filled(lambda _: 7)

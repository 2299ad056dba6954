from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import UsageError
from utilitune.procedures.engine import Observed
from utilitune.procedures.evidence import LiveEvidence
from utilitune.search.proposers.base import Runs, Turns, first_fresh_position
from utilitune.search.proposers.random import ListedDraws, RandomDraws
from utilitune.spaces import ParameterSpace
from utilitune.utility import parse_utility


def taken_turns(share: float, ready) -> list[bool]:
    turns, pattern = Turns(share), []
    for is_ready in ready:
        pattern.append(turns.proposal_is_due(runs=1000) and is_ready)
        turns.note(proposed=pattern[-1])
    return pattern


@given(share=st.floats(0, 0.9), count=st.integers(20, 200))
def test_the_share_of_proposals_is_kept(share, count):
    pattern = taken_turns(share, [True] * count)
    assert abs(sum(pattern) - share * count) <= 1


@given(ready=st.lists(st.booleans(), max_size=100))
def test_never_more_than_the_share_and_at_most_one_turn_is_kept(ready):
    pattern = taken_turns(0.5, ready)
    for start in range(len(pattern)):
        for end in range(start, len(pattern)):
            assert sum(pattern[start : end + 1]) <= (end - start + 1) / 2 + 1


def test_a_turn_that_found_no_proposal_is_kept():
    assert taken_turns(0.5, [False] * 6 + [True] * 6)[6:] == [True, True, False, True, False, True]


def test_there_are_no_more_proposals_than_runs():
    turns, proposals = Turns(0.5), 0
    for runs in [0] * 4 + [3] * 20:
        due = turns.proposal_is_due(runs)
        turns.note(proposed=due)
        proposals += due
        assert proposals <= runs
    assert proposals == 3


@pytest.mark.parametrize("share", [-0.1, 0.95, math.nan, "half"])
def test_a_share_that_leaves_too_few_random_draws_is_refused(share):
    with pytest.raises(UsageError, match=r"between 0 and 0\.9"):
        Turns(share)


def test_a_model_sees_of_a_run_what_the_procedure_has_consumed_and_nothing_else():
    """However much longer it was watched, and whatever else was run ahead of need."""
    evidence = LiveEvidence(parse_utility("uniform(k0=10)"), 100)
    evidence.record(0, 0, 3.0, 3.0)
    evidence.record(0, 1, 3.0, 3.0)
    evidence.record(0, 2, math.inf, math.inf)
    evidence.record(0, 3, math.inf, math.inf)
    evidence.record(1, 20, math.inf, 8.0)
    evidence.record(1, 21, 1.0, 1.0)
    evidence.record(2, 0, 1.0, 1.0)
    consumed = Observed(
        np.array([0, 0, 0, 0, 1]), np.array([0, 1, 2, 3, 20]), np.array([4.0, 2.0, 4.0, 2.0, 4.0])
    )
    runs = Runs.observed(consumed, evidence.arrays, {(0, 2): 3.0, (0, 3): 3.0, (1, 21): 0.1})
    assert runs.configuration.tolist() == [0, 0, 0, 0, 1]
    assert runs.position.tolist() == [0, 1, 2, 3, 20]
    assert runs.runtime_s.tolist() == [3.0, *[math.inf] * 4]
    assert runs.known_s.tolist() == [3.0, 2.0, math.inf, 2.0, 4.0]


@pytest.mark.parametrize(
    ("frontier", "positions", "finite", "first"),
    [(7, None, False, 7), (50, 100, False, 50), (51, 100, False, None), (90, 100, True, 0)],
)
def test_a_proposal_begins_where_the_procedure_ends_if_enough_is_left(frontier, positions, finite, first):
    assert first_fresh_position(frontier, positions, finite=finite) == first


def test_random_draws_follow_from_seed_and_number_alone():
    space = ParameterSpace.from_tables({"x": {"type": "float", "range": [0.0, 1.0]}})
    draws = RandomDraws(space, 7)
    values = [draws.draw(number)["x"] for number in range(200)]
    assert RandomDraws(space, 7).draw(150)["x"] == values[150]
    assert RandomDraws(space, 8).draw(0)["x"] != values[0]
    assert abs(np.mean(values) - 0.5) < 0.1


def test_a_listed_space_comes_whole_and_once_in_an_order_that_follows_from_the_seed():
    """Conditions and clauses are heeded, and nothing is left out."""
    space = ParameterSpace.from_tables(
        {
            "a": {"type": "bool"},
            "b": {"type": "integer", "range": [1, 4], "when": "a == true"},
            "c": {"type": "categorical", "values": ["x", "y", "z"]},
        },
        [{"clause": "c == 'z' and a == false"}],
    )
    drawn = [ListedDraws(space, 7, 2).draw(number) for number in range(2, 2 + space.size)]
    assert len(set(drawn)) == space.size == 2 + 4 * 3
    assert set(space.sample(np.random.default_rng(0), 2000)) == set(drawn)
    assert drawn != [ListedDraws(space, 8, 2).draw(number) for number in range(2, 2 + space.size)]
    assert space.default() in drawn


def test_the_first_of_a_listed_space_is_any_of_them():
    space = ParameterSpace.from_tables({"a": {"type": "integer", "range": [1, 5]}})
    firsts = [ListedDraws(space, seed).draw(0)["a"] for seed in range(500)]
    assert min(firsts.count(value) for value in range(1, 6)) > 60

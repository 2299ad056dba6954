from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.errors import UsageError
from utilitune.proposers.base import Runs, Turns
from utilitune.proposers.random import RandomDraws
from utilitune.spaces import ParameterSpace


def taken_turns(share: float, ready) -> list[bool]:
    turns, pattern = Turns(share), []
    for is_ready in ready:
        pattern.append(turns.proposal_is_due and is_ready)
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


@pytest.mark.parametrize("share", [-0.1, 0.95, math.nan, "half"])
def test_a_share_that_leaves_too_few_random_draws_is_refused(share):
    with pytest.raises(UsageError, match=r"between 0 and 0\.9"):
        Turns(share)


def test_a_repeated_run_replaces_the_earlier_one():
    runs = Runs.of([(0, 0, math.inf, 1.0), (1, 0, 0.5, 0.5), (0, 0, 3.0, 3.0), (0, 1, 2.0, 2.0)]).latest()
    assert runs.configuration.tolist() == [1, 0, 0]
    assert runs.position.tolist() == [0, 0, 1]
    assert runs.runtime_s.tolist() == [0.5, 3.0, 2.0]
    assert len(Runs.of([]).latest().configuration) == 0


def test_random_draws_follow_from_seed_and_number_alone():
    space = ParameterSpace.from_tables({"x": {"type": "float", "range": [0.0, 1.0]}})
    draws = RandomDraws(space, 7)
    values = [draws.draw(number)["x"] for number in range(200)]
    assert RandomDraws(space, 7).draw(150)["x"] == values[150]
    assert RandomDraws(space, 8).draw(0)["x"] != values[0]
    assert abs(np.mean(values) - 0.5) < 0.1

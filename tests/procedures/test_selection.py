from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from utilitune.procedures.selection import build_tournament, runner_up, update_tournament

keys = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=40)


def largest(values: np.ndarray, but: int = -1) -> int:
    """The lowest index of the largest value, leaving one out; −1 if nothing is left."""
    rest = [i for i in range(len(values)) if i != but]
    return min(rest, key=lambda i: (-values[i], i), default=-1)


@given(keys=keys)
def test_the_winner_has_the_largest_key_and_the_lowest_index(keys: list[float]):
    values = np.array(keys)
    assert build_tournament(values, len(values))[1] == largest(values)


@settings(max_examples=60)
@given(keys=keys, changes=st.lists(st.tuples(st.integers(0, 39), st.floats(-1, 1)), max_size=30))
def test_changes_keep_winner_and_runner_up_right(keys: list[float], changes: list[tuple[int, float]]):
    values = np.array(keys)
    tree = build_tournament(values, len(values))
    for index, value in changes:
        values[index % len(values)] = value
        update_tournament(tree, values, index % len(values))
        assert tree[1] == largest(values)
        second = runner_up(tree, values)
        expected = largest(values, but=int(tree[1]))
        assert (second < 0) == (expected < 0)
        if expected >= 0:
            assert values[second] == values[expected]


def test_a_single_key_has_no_runner_up():
    values = np.array([0.5])
    assert runner_up(build_tournament(values, 1), values) == -1

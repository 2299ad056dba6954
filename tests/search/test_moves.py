"""Neighbours and crossings are configurations of the space, and differ as little as they should."""

from __future__ import annotations

import numpy as np
import pytest

from utilitune.search.moves import Moves
from utilitune.search.settings import SuggestionSettings
from utilitune.spaces import ParameterSpace

SPACE = ParameterSpace.from_tables(
    {
        "level": {"type": "integer", "range": [-3, 9], "default": 2},
        "size": {"type": "integer", "range": [1, 1000], "log": True, "default": 30},
        "rate": {"type": "float", "range": [1e-6, 1.0], "log": True, "default": 0.01},
        "share": {"type": "float", "range": [0.0, 1.0], "digits": 2, "default": 0.5},
        "way": {"type": "categorical", "values": ["a", "b", "c"], "default": "a"},
        "single": {"type": "categorical", "values": ["only"], "default": "only"},
        "grade": {"type": "ordinal", "values": ["low", "middle", "high"], "default": "low"},
        "extra": {"type": "float", "range": [0.0, 5.0], "default": 1.0, "when": "way == 'b'"},
    },
    [{"clause": "grade == 'high' and level > 5"}],
)
MOVES = Moves(SPACE, SuggestionSettings())


def parents(count: int) -> np.ndarray:
    return SPACE.sample_codes(np.random.default_rng(3), count)


def test_neighbours_are_valid_and_change_few_parameters():
    before = parents(600)
    after = MOVES.neighbours(before, np.random.default_rng(4))
    for assignment in SPACE.assignments(after):
        assert SPACE.validate(assignment) == assignment
    assert after.shape[1] > 500
    alike = MOVES.neighbours(np.repeat(before[:, :1], 300, axis=1), np.random.default_rng(5))
    changed = (alike != before[:, :1]) & ~(np.isnan(alike) & np.isnan(before[:, :1]))
    assert changed.sum(axis=0).max() <= 4  # three, and one that a condition switches on or off
    assert (changed.sum(axis=0) > 0).mean() > 0.8
    assert set(np.flatnonzero(changed.any(axis=1))) >= {0, 1, 2, 3, 4, 6}


def test_a_whole_number_never_steps_onto_itself_inside_its_range():
    space = ParameterSpace.from_tables({"n": {"type": "integer", "range": [0, 1000], "default": 500}})
    settings = SuggestionSettings(changes=(1.0,), steps=(1e-9,), uniform_share=0.0)
    start = space.codes([space.default()])
    after = Moves(space, settings).neighbours(np.repeat(start, 50, axis=1), np.random.default_rng(1))
    assert set(after[0]) == {499.0, 501.0}


def test_a_choice_becomes_another_choice():
    space = ParameterSpace.from_tables(
        {"way": {"type": "categorical", "values": ["a", "b", "c"], "default": "b"}}
    )
    start = space.codes([space.default()])
    settings = SuggestionSettings(changes=(1.0,))
    after = Moves(space, settings).neighbours(np.repeat(start, 100, axis=1), np.random.default_rng(1))
    assert set(after[0]) == {0.0, 2.0}


def test_crossings_take_every_value_from_a_parent():
    first, second = parents(200), SPACE.sample_codes(np.random.default_rng(9), 200)
    after = MOVES.crossings(first, second, np.random.default_rng(4))
    for assignment in SPACE.assignments(after):
        assert SPACE.validate(assignment) == assignment
    pair = MOVES.crossings(
        np.repeat(first[:, :1], 50, axis=1), np.repeat(second[:, :1], 50, axis=1), np.random.default_rng(2)
    )
    for row in range(4):  # parameters without conditions
        assert set(pair[row]) <= {first[row, 0], second[row, 0]}


def test_features_lie_on_the_scale_of_each_parameter():
    features = MOVES.features(parents(300))
    assert features.shape == (300, 8)
    inactive = features < 0
    assert inactive[:, 7].any()
    assert not inactive[:, :7].any()
    assert features.max() <= 1.0
    middle = MOVES.features(SPACE.codes([{**SPACE.default(), "rate": 1e-3}]))
    assert middle[0, 2] == pytest.approx(0.5)


def test_the_generator_decides():
    same = [MOVES.neighbours(parents(50), np.random.default_rng(7)) for _ in range(2)]
    assert np.array_equal(*same, equal_nan=True)


def test_leaps_take_the_best_values_of_those_that_gain_and_stay_valid():
    before = parents(300)
    best = np.full(len(SPACE.names), 1.0)
    gain = np.zeros((300, len(SPACE.names)))
    gain[:, [0, 4]] = np.where(np.isnan(before[[0, 4]].T), 0.0, 1.0)
    after = MOVES.leaps(before, best, gain, np.random.default_rng(6))
    assert after.shape[1] > 200
    for assignment in SPACE.assignments(after):
        assert SPACE.validate(assignment) == assignment
    start = SPACE.codes([SPACE.default()])
    some = np.zeros((100, len(SPACE.names)))
    some[:, [0, 4]] = 1.0
    leapt = MOVES.leaps(np.repeat(start, 100, axis=1), best, some, np.random.default_rng(7))
    assert set(leapt[0]) == {2.0, 9.0}
    assert set(leapt[4]) == {0.0, 2.0}
    assert np.array_equal(leapt[1:4], np.repeat(start[1:4], 100, axis=1))


def test_a_leap_without_gain_stays_where_it_is():
    before = SPACE.codes([SPACE.default()])
    gain = np.zeros((1, len(SPACE.names)))
    after = MOVES.leaps(before, np.ones(len(SPACE.names)), gain, np.random.default_rng(8))
    assert np.array_equal(after, before, equal_nan=True)


def test_a_leap_changes_no_more_parameters_than_allowed():
    space = ParameterSpace.from_tables(
        {f"x{each}": {"type": "float", "range": [0.0, 1.0], "default": 0.0} for each in range(30)}
    )
    moves = Moves(space, SuggestionSettings(most_leaps=3))
    start = np.repeat(space.codes([space.default()]), 200, axis=1)
    after = moves.leaps(start, np.ones(30), np.ones((200, 30)), np.random.default_rng(9))
    assert set((after != start).sum(axis=0)) == {1, 2, 3}

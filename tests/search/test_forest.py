"""The compiled trees learn, follow from their seed, and cope with little."""

from __future__ import annotations

import numpy as np

from utilitune.search.forest import Growth, grow, predict

GROWTH = Growth(trees=30, leaf=2, columns=3)
GENERATOR = np.random.default_rng(1)
FEATURES = GENERATOR.random((300, 4))
TARGET = np.where(FEATURES[:, 1] > 0.5, 1.0, 0.0) + 0.5 * FEATURES[:, 2]


def test_it_learns_what_matters():
    mean, spread = predict(grow(FEATURES, TARGET, np.ones(300), GROWTH, 3), FEATURES)
    assert np.mean((mean - TARGET) ** 2) < 0.1 * TARGET.var()
    assert (spread >= 0).all()


def test_the_seed_decides():
    fresh = np.random.default_rng(2).random((50, 4))
    first, again, other = (
        predict(grow(FEATURES, TARGET, np.ones(300), GROWTH, s), fresh)[0] for s in (3, 3, 4)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_rows_without_weight_hardly_count():
    target = np.concatenate([np.zeros(150), np.ones(150)])
    weight = np.concatenate([np.ones(150), np.full(150, 1e-9)])
    mean, _ = predict(grow(FEATURES * 0.0, target, weight, GROWTH, 1), FEATURES[:1] * 0.0)
    assert mean[0] < 1e-6


def test_one_row_and_equal_rows_are_enough():
    for count in (1, 2, 7):
        trees = grow(np.ones((count, 2)), np.full(count, 0.25), np.ones(count), GROWTH, 1)
        mean, spread = predict(trees, np.array([[0.0, 5.0]]))
        assert mean[0] == 0.25
        assert spread[0] == 0.0


def test_a_leaf_has_at_least_as_many_rows_as_asked():
    target = np.arange(20.0)
    trees = grow(target[:, None], target, np.ones(20), Growth(5, 6, 1), 1)
    mean, _ = predict(trees._replace(), target[:, None])
    for tree in range(5):
        leaves = trees.value[tree][trees.column[tree] < 0]
        assert len(np.unique(leaves[leaves != 0.0])) <= 20 // 6
    assert mean[0] < mean[-1]

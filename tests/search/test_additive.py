"""What each parameter adds, learnt from rows that are mostly chance."""

from __future__ import annotations

import numpy as np
import pytest

from utilitune.search.additive import AdditiveModel
from utilitune.search.forest import Growth, grow, predict

VALUES = [0] * 12 + [4] * 8
INACTIVE = -0.5


def rows(generator: np.random.Generator, count: int) -> np.ndarray:
    """Features of twelve numbers and eight choices of four values."""
    numbers = generator.random((count, 12))
    choices = generator.integers(4, size=(count, 8)) / 3.0
    return np.hstack([numbers, choices])


def truth(features: np.ndarray) -> np.ndarray:
    """Two numbers and one choice matter."""
    table = np.array([0.0, 0.8, -0.4, 0.1])
    code = np.rint(features[:, 14] * 3).astype(int)
    return -3.0 * (features[:, 2] - 0.7) ** 2 + 0.8 * features[:, 5] + table[code]


def fitted(count: int, noise: float, seed: int = 1) -> tuple[AdditiveModel, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    features = rows(generator, count)
    target = truth(features) + noise * generator.normal(size=count)
    model = AdditiveModel(VALUES)
    for _ in range(3):
        model.fit(features, target, np.ones(count))
    return model, features, target


def test_it_learns_more_from_noisy_rows_than_trees_do():
    model, features, target = fitted(150, noise=1.0)
    trees = grow(features, target, np.ones(150), Growth(30, 2, 12), 1)
    new = rows(np.random.default_rng(2), 400)
    ours, theirs = (
        np.corrcoef(found, truth(new))[0, 1] for found in (model.predict(new), predict(trees, new)[0])
    )
    assert ours > theirs + 0.1
    assert ours > 0.75


def test_the_best_values_and_what_they_gain():
    model, _, _ = fitted(600, noise=0.3)
    here = np.full((2, 20), 1.0 / 3.0)
    here[0, 2], here[0, 14] = 0.7, 1.0 / 3.0
    here[1, 2], here[1, 14] = 0.1, 2.0 / 3.0
    best, gain = model.best_values(here)
    assert abs(best[2] - 0.7) < 0.11
    assert best[5] > 0.9
    assert best[14] == 1.0 / 3.0
    assert gain[0, 2] < 0.1
    assert gain[1, 2] > 0.6
    assert gain[0, 14] == 0.0
    assert gain[1, 14] > 0.8
    idle = [place for place in range(20) if place not in (2, 5, 14)]
    assert gain[:, idle].max() < 0.15


def test_what_is_not_active_adds_and_gains_nothing():
    model, _, _ = fitted(300, noise=0.3)
    with_all, without = np.full((1, 20), 0.5), np.full((1, 20), 0.5)
    without[0, [2, 14]] = INACTIVE
    _, gain = model.best_values(without)
    assert gain[0, 2] == gain[0, 14] == 0.0
    bare = np.full((1, 20), INACTIVE)
    moved = bare.copy()
    moved[0, 5] = 1.0
    assert model.predict(moved)[0] > model.predict(bare)[0] + 0.2
    assert np.isfinite(model.predict(with_all)[0])


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_a_choice_that_is_not_active_has_none_of_its_values(count):
    """With two values the code of an inactive one, −.5, would be rounded to that of the first value."""
    model = AdditiveModel([count, 0])
    generator = np.random.default_rng(1)
    features = np.hstack(
        [generator.integers(count, size=(400, 1)) / max(1, count - 1), np.full((400, 1), 0.5)]
    )
    features[::2, 0] = INACTIVE
    target = np.where(features[:, 0] < 0, 0.0, 1.0)  # the parameter helps wherever it is active
    target += 0.1 * generator.normal(size=400)
    for _ in range(3):
        model.fit(features, target, np.ones(400))
    for value in range(count):
        mean, _ = model.difference(np.array([[value / max(1, count - 1), 0.5], [INACTIVE, 0.5]]))
        assert 0.8 < mean < 1.1


def test_a_difference_comes_with_how_far_off_it_may_be():
    few, _, _ = fitted(40, noise=1.0)
    many, _, _ = fitted(2000, noise=1.0)
    pair = np.full((2, 20), 1.0 / 3.0)
    pair[0, 2], pair[1, 2] = 0.7, 0.0
    true = float(np.subtract(*truth(pair)))
    for model in (few, many):
        mean, variance = model.difference(pair)
        assert abs(mean - true) < 3.0 * np.sqrt(variance)
    unsure = [model.difference(pair)[1] - 2.0 * model.misfit for model in (few, many)]
    assert 0.0 < unsure[1] < unsure[0]
    same_mean, same_variance = many.difference(np.repeat(pair[:1], 2, axis=0))
    assert same_mean == 0.0
    assert same_variance > 0.0


def test_drawn_parts_scatter_around_what_is_believed_and_follow_from_the_generator():
    model, _, _ = fitted(60, noise=1.0)
    draws = np.array([model.drawn(np.random.default_rng(seed)).part for seed in range(400)])
    assert np.array_equal(draws[3], model.drawn(np.random.default_rng(3)).part)
    scatter = draws.std(axis=0)
    assert np.all(np.abs(draws.mean(axis=0) - model.part) < 5.0 * scatter / 20.0 + 1e-12)
    assert scatter.max() > 0.05


def test_rows_that_are_all_alike_teach_nothing_and_break_nothing():
    model = AdditiveModel([0, 3])
    model.fit(np.full((5, 2), 0.5), np.full(5, 2.0), np.ones(5))
    assert np.allclose(model.predict(np.array([[0.0, 1.0], [1.0, 0.0]])), 2.0)


def test_a_space_of_numbers_only_and_one_of_choices_only():
    generator = np.random.default_rng(4)
    for values in ([0, 0], [3, 2]):
        features = generator.integers(2, size=(30, 2)).astype(float)
        model = AdditiveModel(values)
        model.fit(features, features[:, 0], np.ones(30))
        _, gain = model.best_values(np.zeros((1, 2)))
        assert gain[0, 0] > 0.5 > gain[0, 1]


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1.0, 20.0, 1e6])
@pytest.mark.parametrize("count", [1, 2, 500])
def test_rows_without_any_chance_are_learnt_as_well(count, scale):
    """Where the parts explain everything, what is left unknown is too little for a factor of its own.

    Differences below 1e-8 are taken for chance.
    """
    generator = np.random.default_rng(3)
    features = rows(generator, count)
    target = scale * truth(features)
    model = AdditiveModel(VALUES)
    for _ in range(3):
        model.fit(features, target, np.ones(count))
    drawn = model.drawn(generator).predict(features)
    assert np.isfinite(drawn).all()
    assert np.abs(model.predict(features) - target).max() <= 0.05 * scale + 1e-8


def test_nothing_to_learn_about():
    model = AdditiveModel([])
    model.fit(np.empty((3, 0)), np.array([1.0, 2.0, 3.0]), np.ones(3))
    assert model.predict(np.empty((2, 0))) == pytest.approx([2.0, 2.0])

"""How good candidates were, apart from how easy their instances were."""

from __future__ import annotations

import numpy as np

from utilitune.search.merits import merits


def runs_of(generator: np.random.Generator, rows: int, places: int, share: float, noise: float):
    """Additive values of some of all pairs, and what the rows are truly worth."""
    merit, level = generator.normal(size=rows), 3.0 * generator.normal(size=places)
    row, place = np.nonzero(generator.random((rows, places)) < share)
    row, place = np.concatenate([row, np.arange(rows)]), np.concatenate([place, np.zeros(rows, dtype=int)])
    value = merit[row] + level[place] + noise * generator.normal(size=row.size)
    return merit, row, place, value


def test_easy_instances_favour_nobody():
    merit, row, place, value = runs_of(np.random.default_rng(1), 40, 20, 0.5, 0.0)
    found, runs = merits(row, place, value, 50.0)
    assert np.corrcoef(found, merit)[0, 1] > 0.98
    assert runs.sum() == row.size


def test_all_runs_on_an_instance_tell_more_than_one_rival():
    generator = np.random.default_rng(2)
    errors = []
    for _ in range(20):
        merit, row, place, value = runs_of(generator, 60, 15, 0.3, 1.0)
        found, _ = merits(row, place, value, 50.0)
        rival = dict(zip(place[row == 0].tolist(), value[row == 0].tolist(), strict=True))
        shared = np.array([each in rival for each in place])
        against = value[shared] - np.array([rival[each] for each in place[shared].tolist()])
        paired = np.bincount(row[shared], against, 60) / np.maximum(np.bincount(row[shared], minlength=60), 1)
        errors.append([np.std(found - merit), np.std((paired - merit)[1:])])
    ours, one_rival = np.mean(errors, axis=0)
    assert ours < one_rival


def test_a_failure_counts_as_far_below_its_instance():
    row, place = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 0])
    found, _ = merits(row, place, np.array([1.0, 2.0, 1.0, -np.inf, -np.inf]), 3.0)
    assert np.isfinite(found).all()
    assert found[0] > found[1] > found[2]


def test_one_run_that_failed_is_enough():
    found, runs = merits(np.array([0]), np.array([4]), np.array([-np.inf]), 3.0)
    assert found.tolist() == [0.0]
    assert runs.tolist() == [1.0]

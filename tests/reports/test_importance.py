"""Importance of parameters: found where it is, not found where there is none."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from utilitune.reports.importance import FEWEST, importance_of
from utilitune.spaces import ParameterSpace

SPACE = ParameterSpace.from_tables(
    {
        **{f"x{n}": {"type": "float", "range": [0.0, 1.0], "default": 0.5} for n in range(4)},
        "mode": {"type": "categorical", "values": ["a", "b"], "default": "a"},
        "child": {"type": "float", "range": [0.0, 1.0], "default": 0.5, "when": "mode == 'b'"},
    }
)


def drawn(count: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    return SPACE.sample(rng, count), rng


@pytest.mark.long
def test_what_matters_comes_first():
    assignments, rng = drawn(200)
    means = np.array([0.6 * each["x2"] + 0.3 * (each["mode"] == "b") for each in assignments])
    found = importance_of(SPACE, assignments, means + rng.normal(0, 0.01, 200), np.full(200, 9))
    assert [row[0] for row in found.rows[:2]] == ["x2", "mode"]
    assert found.skill > 0.8
    for _, share, low, high in found.rows:
        assert 0 <= low <= high
        assert share >= 0
    assert found.rows[-1][1] < 0.05


@pytest.mark.long
def test_noise_matters_nowhere():
    assignments, rng = drawn(120)
    found = importance_of(SPACE, assignments, rng.uniform(0, 1, 120), np.full(120, 5))
    assert found.rows == ()
    assert "cannot predict" in found.note


def test_too_few_or_all_alike_are_told():
    assignments, _ = drawn(FEWEST)
    few = importance_of(SPACE, assignments[:-1], np.linspace(0, 1, FEWEST - 1), np.ones(FEWEST - 1, int))
    assert f"{FEWEST - 1} configurations are too few" in few.note
    alike = importance_of(SPACE, assignments, np.ones(FEWEST), np.ones(FEWEST, int))
    assert "equally good" in alike.note


def test_the_absence_of_the_model_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert "pip install scikit-learn" in importance_of(SPACE, [], np.zeros(0), np.zeros(0, int)).note

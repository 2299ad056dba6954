from __future__ import annotations

from utilitune.procedures.paper.arms import extended, new_arms


def test_new_arms_know_nothing():
    arms = new_arms(3)
    assert arms.upper.tolist() == [1.0] * 3
    assert arms.lower.tolist() == [0.0] * 3
    assert arms.level.tolist() == [1] * 3
    assert arms.runs.tolist() == arms.finished.tolist() == [0] * 3
    assert arms.alive.all()


def test_extending_keeps_what_is_known():
    arms = new_arms(2)
    arms.runs[1], arms.upper[1], arms.level[1] = 7, 0.5, 3
    longer = extended(arms, 4)
    assert longer.runs.tolist() == [0, 7, 0, 0]
    assert longer.upper.tolist() == [1.0, 0.5, 1.0, 1.0]
    assert longer.level.tolist() == [1, 3, 1, 1]


def test_a_million_arms_are_small():
    assert sum(values.itemsize for values in new_arms(1)) < 64

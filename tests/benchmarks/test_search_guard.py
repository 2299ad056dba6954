"""The benchmark of the rule that keeps the default: one search tells what each rule would answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.search import guard
from benchmarks.search.guard import Search, search, table
from benchmarks.search.hostile import WORLDS

NOTHING_IS_BETTER = ["ties-20", "noisy-ties-6", "40-listed", "hard-default-15"]


@pytest.mark.long
def test_a_rule_only_puts_the_default_in_the_place_of_an_answer():
    task = WORLDS["noisy-ties-6"].task()
    found = search(task, 107, (20, 60))
    assert found.gains[20]["without"] < -0.01, "or this world misleads no more: take another seed"
    assert found.gains[20]["now"] == 0.0
    for gains in found.gains.values():
        assert set(gains.values()) <= {gains["without"], 0.0}
    assert search(task, 107, (20,)).gains == {20: found.gains[20]}, "a longer run answers the same on its way"


@pytest.mark.parametrize("name", NOTHING_IS_BETTER)
def test_nothing_but_chance_is_better_than_the_default(name):
    task = replace(WORLDS[name], noise=0.0).task()
    draws = task.space.sample(np.random.default_rng(1), 50)
    assert all(task.test_utility(draw) < task.test_utility(task.default) for draw in draws)


def test_losses_are_rare_beside_many_small_gains():
    task = replace(WORLDS["rare-30"], noise=0.0).task()
    (draw,) = task.space.sample(np.random.default_rng(1), 1)
    ratio = task.runtimes_s(draw) / task.runtimes_s(task.default)
    lost = ratio > 100
    assert 0.01 < lost.mean() < 0.3
    assert (ratio[~lost] < 1).all()


def test_a_table_counts_harm_and_pairs_scores():
    gains = [{"without": -0.2, "before": -0.2, "now": 0.0}, {"without": 0.1, "before": 0.1, "now": 0.1}]
    found = [Search(training, 0.5, {20: each}) for training, each in zip((10, 100), gains, strict=True)]
    assert table(found).splitlines()[2] == "| 20 | 2 | 1 | 1 | 0 | 0 of 1 | -0.100 | +0.200 ± 0.200 |"


def test_tasks_that_are_not_there_are_named(capsys):
    with pytest.raises(SystemExit):
        guard.main(["--hostile", "--tasks", "ties-20", "plain"])
    assert "there is no task plain" in capsys.readouterr().err

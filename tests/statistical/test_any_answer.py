"""Whoever chooses the answer, and however: what is said of it is false with probability δ at most.

`progress_of` is asked about every configuration at every moment, and one false word is a failure. That covers
every rule by which an answer may be chosen, such as the largest lower bound or the newest nominee. Two broken
versions must be found out. (A third one, nominees judged along the order that shaped them, stands in
`test_fresh_orders`.)
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.audit.choosing import Asking, any_answer_search

from utilitune.procedures.wager import WagerEngine

DELTA = 0.1
SEARCHES = 30


@pytest.mark.parametrize("fixed", [True, False], ids=["fixed set", "growing"])
@pytest.mark.parametrize("finite", [True, False], ids=["list", "endless"])
def test_nothing_false_is_said_of_any_configuration(finite, fixed):
    failed = sum(
        bool(any_answer_search(np.random.default_rng([seed, 11]), DELTA, finite=finite, fixed=fixed))
        for seed in range(SEARCHES)
    )
    assert failed <= DELTA * SEARCHES


def failures(searches: int = 40, **broken: object) -> int:
    return sum(
        bool(Asking(np.random.default_rng([seed, 12]), DELTA, **{"finite": True, **broken}).fails())
        for seed in range(searches)
    )


class LeadersPairs(WagerEngine):
    """Broken: differences to the leader are used for every configuration."""

    def progress_of(self, configuration):
        right = super().progress_of(configuration)
        arms = self._play.arms[: self.added]
        others = (arms["rank"] > 0) & (arms["row"] != configuration)
        others[self._play.standing.leader] = False
        apart = arms["apart"][others]
        return replace(right, epsilon=min(right.epsilon, float(np.clip(apart.max(initial=0.0), 0.0, 1.0))))


class LatestGamma(WagerEngine):
    """Broken: the ε of the first draws is told with a γ that only more of them give."""

    def progress_of(self, configuration):
        right = super().progress_of(configuration)
        arms = self._play.arms[: self.added]
        first = (arms["rank"] > 0) & (arms["rank"] <= 3) & (arms["row"] != configuration)
        low = max((float(each["lower"]) for each in arms[arms["row"] == configuration]), default=0.0)
        epsilon = float(np.clip((arms["upper"][first] - low).max(initial=0.0), 0.0, 1.0))
        return replace(right, epsilon=min(right.epsilon, epsilon))


def test_pairs_of_the_leader_used_for_others_are_found_out():
    assert failures(make=LeadersPairs, finite=False, fixed=True) > 2 * DELTA * 40


def test_an_early_epsilon_with_a_late_gamma_is_found_out():
    assert failures(make=LatestGamma) > 2 * DELTA * 40


def test_an_answer_that_is_not_the_last_one_left_is_not_called_the_best():
    """The leader may be the only one left; that says nothing of another one."""
    asking = Asking(np.random.default_rng([1, 5]), DELTA, finite=True, fixed=True)
    asking.fails()
    engine = asking.engine
    leader = engine.progress()
    assert leader.promise.epsilon == 0.0
    others = [engine.progress_of(row) for row in range(8) if row != leader.best_index]
    assert all(math.isclose(each.promise.epsilon, each.epsilon) for each in others)
    assert max(each.promise.epsilon for each in others) > 0.3

from __future__ import annotations

import math

import numpy as np
import pytest

from search.proposers.imagined_tasks import SPACE, UTILITY, log_median, random_runs, true_utility
from utilitune.errors import MissingExtraError
from utilitune.search.proposers.base import Runs
from utilitune.search.proposers.model_guided import ModelGuidedProposer
from utilitune.spaces import ParameterSpace


def proposals(seed: int, count: int = 3):
    assignments, runs = random_runs(seed)
    proposer = ModelGuidedProposer(SPACE, UTILITY, seed)
    proposer.learn(runs, assignments)
    known = list(assignments)
    for number in range(count):
        known.append(proposer.propose(known, np.random.default_rng([seed, number])))
    return known[-count:]


def test_proposals_are_far_better_than_random_draws_over_many_seeds():
    proposed = [np.mean([true_utility(found) for found in proposals(seed)]) for seed in range(12)]
    drawn = [np.mean([true_utility(draw) for draw in random_runs(seed)[0]]) for seed in range(12)]
    gains = np.array(proposed) - np.array(drawn)
    assert (gains > 0).mean() >= 11 / 12
    assert gains.mean() > 0.15
    assert gains.mean() > 4 * gains.std() / math.sqrt(len(gains))


def test_the_same_runs_and_seed_give_the_same_proposals():
    first, second = proposals(3), proposals(3)
    assert first == second
    assert len(set(first)) == 3
    assert proposals(4) != first


def test_proposals_are_valid_and_new():
    assignments, _ = random_runs(5)
    for found in proposals(5):
        assert SPACE.validate(found) == found
        assert found not in assignments


def test_configurations_that_were_only_ever_stopped_early_are_not_preferred():
    """Half the space (kind c, which is bad) was only run with captimes at which u is still 0.99."""
    generator = np.random.default_rng(1)
    assignments = SPACE.sample(generator, 60)
    records = []
    for index, assignment in enumerate(assignments):
        for position in range(10):
            runtime_s = math.exp(log_median(assignment) + generator.normal(0, 1))
            captime_s = 0.3 if assignment["kind"] == "c" else 1000.0
            done = runtime_s < captime_s
            records.append(
                (index, position, runtime_s if done else math.inf, runtime_s if done else captime_s)
            )
    proposer = ModelGuidedProposer(SPACE, UTILITY, 1)
    proposer.learn(Runs.of(records), assignments)
    chosen = [proposer.propose(assignments, np.random.default_rng(number)) for number in range(20)]
    assert sum(found["kind"] == "c" for found in chosen) <= 4
    assert np.mean([true_utility(found) for found in chosen]) > 0.5


def test_instance_features_teach_what_suits_which_instances():
    """x = 1 is good on a quarter of the instances, x = 0 on the others; there are three runs each."""
    space = ParameterSpace.from_tables({"x": {"type": "float", "range": [0.0, 1.0]}})
    generator = np.random.default_rng(2)
    features = np.column_stack([np.arange(200) % 4 == 0, generator.random(200)]).astype(float)
    assignments = space.sample(generator, 80)
    records = []
    for index, assignment in enumerate(assignments):
        for position in range(index, index + 3):
            good = assignment["x"] if features[position, 0] else 1 - assignment["x"]
            records.append((index, position, *[float(100 * (1 - good) + 0.1)] * 2))
    proposer = ModelGuidedProposer(space, UTILITY, 1, features)
    proposer.learn(Runs.of(records), assignments)
    chosen = [proposer.propose(assignments, np.random.default_rng(number))["x"] for number in range(10)]
    assert np.mean(chosen) < 0.3  # three instances of four want a small x


def test_a_space_with_nothing_left_has_no_proposal():
    space = ParameterSpace.from_tables({"flag": {"type": "bool"}})
    both = [space.validate({"flag": value}) for value in (False, True)]
    proposer = ModelGuidedProposer(space, UTILITY, 1)
    proposer.learn(Runs.of([(i, j, 1.0 + i, 1.0 + i) for i in range(2) for j in range(9)]), both)
    assert proposer.propose(both, np.random.default_rng(1)) is None
    assert proposer.propose(both[:1], np.random.default_rng(1)) == both[1]


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'utilitune\[model\]'"):
        ModelGuidedProposer(SPACE, UTILITY, 1)

"""Does the promise hold where an instance is run with several seeds? Many small searches, counted.

Eight instances are listed 25 times each. Were all copies of one to stand together in the order, the first 25
positions would show one instance only, and a configuration that is quick on it would be proved the best.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from utilitune import Tuner
from utilitune.scenario import instance_source

DELTA = 0.05
SEARCHES = 100
AUDIT_SEARCHES = 2000
INSTANCES = [f"i{number}" for number in range(8)]
SPACE = {"level": {"type": "integer", "range": [0, 3], "default": 0}}
SETTINGS = {
    "largest_captime": 16,
    "smallest_captime": 16,
    "procedure": "wager",
    "options": {"configurations": 4, "growth": "fixed"},
    "initial": [{"level": level} for level in (1, 2, 3)],
    "delta": DELTA,
    "max_runs": 120,
}


def _fails(seed: int) -> bool:
    """Whether a search ever names an answer that is farther from the best than it promises."""
    generator = np.random.default_rng([seed, 8])
    chances = generator.choice([0.05, 0.95], size=(4, 8))
    search = Tuner.of(
        SPACE, INSTANCES * 25, "step(deadline=8)", seed=int(generator.integers(2**31)), **SETTINGS
    )
    order = instance_source(search.scenario)
    numbers = [INSTANCES.index(order.name(position)) for position in range(order.count)]
    luck = np.random.default_rng([seed, 9]).random((4, order.count))
    solved = luck < chances[:, numbers]
    worth = solved.mean(axis=1)
    while not search.done:
        for trial in search.ask(40):
            level = trial.configuration["level"]
            search.tell(trial, 1.0 if solved[level, trial.request.position] else None)
        if worth.max() - worth[search.best["level"]] > search.promise.epsilon:
            return True
    return False


def _check(searches: int) -> None:
    failures = sum(_fails(seed) for seed in range(searches))
    sys.stdout.write(f"several seeds per instance: {failures} of {searches} promises broken\n")
    assert failures / searches <= DELTA


def test_promises_with_several_seeds_per_instance_are_kept():
    _check(SEARCHES)


@pytest.mark.audit
def test_promises_with_several_seeds_per_instance_are_kept_in_thousands_of_searches():
    _check(AUDIT_SEARCHES)

"""May a proposal be judged on the instances that shaped it? Counted: no; on fresh ones: yes.

In this world all configurations are equally good: on every instance each parameter value adds a random amount
with mean zero, so the expected utility of each configuration is exactly ½. On the instances seen so far some
values look better by luck. A forest finds them and proposes a configuration that combines them, which nobody
has run. On the old instances it then looks good by construction, and a lower bound that holds for
configurations chosen without looking fails far more often than it may. Printed intervals are 99 % ones.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from utilitune.procedures.bounds.betting import lower_bound
from utilitune.search.proposers.base import Runs
from utilitune.search.proposers.model_guided import ModelGuidedProposer
from utilitune.spaces import ParameterSpace
from utilitune.utility import parse_utility

DELTA = 0.1
TRIALS = 60
FRESH_ORDERS = 20
INSTANCES = 80
CONFIGURATIONS = 300
PARAMETERS, VALUES = 8, 3
TRUE_UTILITY = 0.5
SPACE = ParameterSpace.from_tables(
    {
        f"p{number}": {"type": "categorical", "values": [f"v{value}" for value in range(VALUES)]}
        for number in range(PARAMETERS)
    }
)
UTILITY = parse_utility("uniform(k0=1)")


def effects(generator, instances):
    """What each value of each parameter adds on each instance."""
    return generator.normal(0.0, 0.25 / np.sqrt(PARAMETERS), (instances, PARAMETERS, VALUES))


def utilities(assignments, added):
    """Configurations × instances; symmetric about ½."""
    codes = np.rint(SPACE.encode(assignments) * (VALUES - 1)).astype(int)
    return np.clip(0.5 + sum(added[:, k, codes[:, k]] for k in range(PARAMETERS)), 0.0, 1.0).T


def fails(values) -> bool:
    """Whether the lower bound exceeds the truth at any of several times."""
    return any(lower_bound(values[:count], DELTA) > TRUE_UTILITY for count in range(5, INSTANCES + 1, 5))


def proposal_after(seed, assignments, seen):
    proposer = ModelGuidedProposer(SPACE, UTILITY, seed)
    runtimes_s = 1.0 - seen
    proposer.learn(
        Runs.of((i, j, t, t) for i, row in enumerate(runtimes_s.tolist()) for j, t in enumerate(row)),
        assignments,
    )
    return proposer.propose(assignments, np.random.default_rng([seed, 1]))


def interval(failures: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's 99 % interval for the frequency of failures."""
    low = beta.ppf(0.005, failures, trials - failures + 1) if failures else 0.0
    return float(low), float(beta.ppf(0.995, failures + 1, trials - failures))


def test_old_instances_break_the_promise_and_fresh_ones_keep_it():
    old = fresh = random = 0
    for seed in range(TRIALS):
        generator = np.random.default_rng(seed)
        seen = effects(generator, INSTANCES)
        assignments = SPACE.sample(generator, CONFIGURATIONS)
        found = [proposal_after(seed, assignments, utilities(assignments, seen))]
        assert found[0] not in assignments
        old += fails(utilities(found, seen)[0])
        random += fails(utilities(assignments[:1], seen)[0])
        for _ in range(FRESH_ORDERS):
            fresh += fails(utilities(found, effects(generator, INSTANCES))[0])
    for name, failures, trials in (
        ("a proposal on the instances that shaped it", old, TRIALS),
        ("a proposal on fresh instances", fresh, TRIALS * FRESH_ORDERS),
        ("a random draw on the same old instances", random, TRIALS),
    ):
        low, high = interval(failures, trials)
        print(f"{name}: fails in {failures} of {trials}, [{low:.3f}, {high:.3f}], δ = {DELTA}")  # noqa: T201
    assert interval(old, TRIALS)[0] > DELTA
    assert interval(fresh, TRIALS * FRESH_ORDERS)[1] <= DELTA
    assert interval(random, TRIALS)[0] <= DELTA

"""A configuration task with known true utilities: log runtimes are a smooth function of the parameters."""

from __future__ import annotations

import math

import numpy as np

from utilitune.search.proposers.base import Runs
from utilitune.spaces import ParameterSpace
from utilitune.utility import parse_utility

SPACE = ParameterSpace.from_tables(
    {
        "x": {"type": "float", "range": [0.0, 1.0]},
        "rate": {"type": "float", "range": [0.001, 1.0], "log": True},
        "kind": {"type": "categorical", "values": ["a", "b", "c"]},
        "depth": {"type": "integer", "range": [1, 20], "when": "kind == 'b'"},
    }
)
UTILITY = parse_utility("log-laplace(k0=20)")
_HARDNESS = np.random.default_rng(0).normal(0.0, 1.2, 2000)


def log_median(assignment) -> float:
    """Quickest at x = 0.3, rate = 0.1, kind b, depth 7."""
    value = 1.5 + 8 * (assignment["x"] - 0.3) ** 2 + 0.3 * math.log(assignment["rate"] / 0.1) ** 2
    value += {"a": 1.0, "b": 0.0, "c": 2.0}[assignment["kind"]]
    return value + 0.01 * (assignment.get("depth", 7) - 7) ** 2


def true_utility(assignment) -> float:
    """The mean utility over very many instances."""
    return float(np.mean(UTILITY(np.exp(log_median(assignment) + _HARDNESS))))


def random_runs(seed: int, configurations: int = 40, captimes_s: tuple[float, ...] = (4, 16, 64, 1024)):
    """Random configurations and runs on the first few of 20 instances, each with a captime by chance."""
    generator = np.random.default_rng(seed)
    assignments = SPACE.sample(generator, configurations)
    hardness = generator.normal(0.0, 1.2, 20)
    records = []
    for index, assignment in enumerate(assignments):
        for position in range(generator.integers(3, 21)):
            runtime_s = math.exp(log_median(assignment) + hardness[position] + generator.normal(0, 0.4))
            captime_s = float(generator.choice(captimes_s))
            done = runtime_s < captime_s
            records.append(
                (index, position, runtime_s if done else math.inf, runtime_s if done else captime_s)
            )
    return assignments, Runs.of(records)

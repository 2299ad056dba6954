"""What the measured searches say: means, paired differences with intervals, and how often a search did harm.

Differences are paired: two tools are compared on the same task, budget and seed. Their interval is a
bootstrap that draws tasks first and then seeds within a task, as both are samples of what might have been.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmarks.search.measuring import Cell

HARM = 0.01
"""A search that ends this much utility below the default has done harm."""
DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one tool is ahead of another.

    Attributes:
        mean: Mean over tasks of the mean paired difference.
        low: Lower end of the 95 % interval.
        high: Upper end.
        searches: How many pairs there are.
        tasks: On how many tasks.
    """

    mean: float
    low: float
    high: float
    searches: int
    tasks: int


def by_task(cells: Iterable[Cell], tool: str, budget: int) -> dict[str, dict[int, Cell]]:
    """A tool's searches by task and seed."""
    found: dict[str, dict[int, Cell]] = defaultdict(dict)
    for cell in cells:
        if cell.tool == tool and cell.budget == budget:
            found[cell.task][cell.seed] = cell
    return dict(found)


def mean_score(searches: Mapping[str, Mapping[int, Cell]]) -> float:
    """Mean over tasks of the mean over seeds."""
    return float(np.mean([np.mean([cell.score for cell in seeds.values()]) for seeds in searches.values()]))


def harm_share(searches: Mapping[str, Mapping[int, Cell]]) -> tuple[int, int]:
    """How many searches ended below the default, and of how many."""
    gains = [cell.gain for seeds in searches.values() for cell in seeds.values()]
    return sum(gain < -HARM for gain in gains), len(gains)


def difference(
    one: Mapping[str, Mapping[int, Cell]], other: Mapping[str, Mapping[int, Cell]], seed: int = 0
) -> Difference | None:
    """How far `one` is ahead of `other` on what both have searched; None without a common search."""
    pairs = [
        np.array([one[name][each].score - other[name][each].score for each in sorted(common)])
        for name in sorted(set(one) & set(other))
        if (common := set(one[name]) & set(other[name]))
    ]
    if not pairs:
        return None
    generator = np.random.default_rng(seed)
    means = []
    for _ in range(DRAWS):
        tasks = generator.integers(0, len(pairs), len(pairs))
        means.append(np.mean([generator.choice(pairs[task], len(pairs[task])).mean() for task in tasks]))
    low, high = np.quantile(means, [0.025, 0.975])
    mean = float(np.mean([each.mean() for each in pairs]))
    return Difference(mean, float(low), float(high), sum(map(len, pairs)), len(pairs))

"""Find the best configurations that are known, by looking where no tool may: at the test instances.

Usage: ``python -m benchmarks.search.best_known [TASK …]``. An evolution with many restarts climbs the mean
utility on the test instances; what it finds is kept in ``best_known.json`` if it beats what is there.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.search.judging import BEST_KNOWN, NAMES, task

if TYPE_CHECKING:
    from benchmarks.search.task import Task
    from numpy.typing import NDArray

    from utilitune.spaces import Assignment

STARTS = 4
DRAWS = 600
STEPS = 200
ELITE = 8
NEIGHBOURS = 3


def best_of(task: Task, seed: int) -> Assignment:
    """Climb from the best of many draws."""
    generator = np.random.default_rng([seed, 7])
    space = task.space
    codes = np.concatenate([space.codes([space.default()]), space.sample_codes(generator, DRAWS)], axis=1)
    elite, worth = _best(task, codes, np.empty((len(codes), 0)), np.empty(0))
    for _ in range(STEPS):
        near = space.neighbour_codes(elite, generator, NEIGHBOURS)
        elite, worth = _best(
            task, np.concatenate([near, space.neighbour_codes(near, generator, 1)], axis=1), elite, worth
        )
    return space.assignments(elite[:, :1])[0]


def _best(
    task: Task, codes: NDArray[np.float64], elite: NDArray[np.float64], worth: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The best of the elite and of these, with what they are worth."""
    units = task.space.encode_codes(codes)
    worths = [float(np.mean(task.utility(task.times_at(row)[task.training :]))) for row in units]
    together, worth = np.concatenate([elite, codes], axis=1), np.concatenate([worth, worths])
    _, first = np.unique(worth, return_index=True)  # equal worths are the same configuration
    chosen = first[::-1][:ELITE]
    return together[:, chosen], worth[chosen]


def main(names: list[str]) -> None:
    kept = json.loads(BEST_KNOWN.read_text(encoding="utf-8")) if BEST_KNOWN.exists() else {}
    for name in names or NAMES:
        judged = task(name)
        candidates = [best_of(judged, seed) for seed in range(STARTS)]
        if name in kept:
            candidates.append(judged.space.validate(kept[name]))
        best = max(candidates, key=judged.test_utility)
        worths = " ".join(f"{judged.test_utility(each):.4f}" for each in candidates)
        print(f"{name}: default {judged.test_utility(judged.default):.4f}, found {worths}", flush=True)
        kept[name] = dict(best)
        BEST_KNOWN.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

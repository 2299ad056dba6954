"""Many runs in flight: the promise holds, and letting quick runs in first would break it.

Configuration 0 ends at once on half of the instances and never on the others; configuration 1 takes a second
on all of them. With many workers, the runs of 0 that are known first are all good ones.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter

import numpy as np

from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import LiveEvidence
from utilitune.procedures.growth import FixedSet
from utilitune.procedures.wager import WagerEngine, WagerSettings
from utilitune.utility import Uniform

UTILITY = Uniform(10.0)
WORTH = np.array([0.5 * 0.99, 0.9])
DELTA = 0.1
SEARCHES = 60
INSTANCES = 400
WORKERS = 48
ENDLESS = PauseAt(rounds=10**9, total_time_s=math.inf, runs=10**9)


def promises_too_much(seed: int, *, quick_first: bool) -> bool:
    """Whether a search with many workers ever promises what is not so.

    Args:
        seed: What the runtimes follow from.
        quick_first: Whether runs count in the order in which they end. This is the mistake.
    """
    generator = np.random.default_rng(seed)
    lucky = generator.random(INSTANCES) < 0.5
    times_s = np.array([np.where(lucky, 0.1, math.inf), np.ones(INSTANCES)])
    evidence = LiveEvidence(UTILITY, INSTANCES)
    settings = WagerSettings(delta=DELTA, epsilon=0.2, captime_limit_s=10.0, growth=FixedSet(2))
    engine = WagerEngine(evidence, UTILITY, settings)
    for _ in range(2):
        engine.add(Origin.RANDOM)
    begun, counted = Counter(), Counter()
    flights: list[tuple[float, int, int, float]] = []
    now_s = 0.0
    while engine.advance(ENDLESS) is Halt.NEEDS_RUNS:
        # Both configurations are run on as many instances as there are workers, whoever is needed.
        while len(flights) < WORKERS:
            row = 0 if begun[0] <= begun[1] else 1
            if begun[row] == INSTANCES:
                break
            ends_s = now_s + min(float(times_s[row, begun[row]]), 10.0)
            heapq.heappush(flights, (ends_s, row, begun[row], now_s))
            begun[row] += 1
        if not flights:
            break
        now_s, row, instance, began_s = heapq.heappop(flights)
        lasted_s = now_s - began_s
        position = counted[row] if quick_first else instance
        counted[row] += 1
        finished = lasted_s < 10.0 - 1e-9
        evidence.record(row, position, lasted_s if finished else math.inf, lasted_s if finished else 10.0)
        progress = engine.progress()
        if progress.epsilon < 1.0 and WORTH.max() - WORTH[progress.best_index] > progress.epsilon + 1e-9:
            return True
    progress = engine.progress()
    return bool(WORTH.max() - WORTH[progress.best_index] > progress.epsilon + 1e-9)


def failures(*, quick_first: bool) -> int:
    return sum(promises_too_much(seed, quick_first=quick_first) for seed in range(SEARCHES))


def test_the_promise_holds_with_many_runs_in_flight():
    assert failures(quick_first=False) <= DELTA * SEARCHES


def test_letting_quick_runs_in_first_breaks_it():
    assert failures(quick_first=True) > 0.5 * SEARCHES

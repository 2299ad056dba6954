"""What early looks at runs that are worth something while they run save, with the same promise."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

from utilitune.procedures.anytime_evidence import Looks, RecordedLooks
from utilitune.procedures.engine import Origin, PauseAt
from utilitune.procedures.growth import FixedSet
from utilitune.procedures.wager import WagerEngine, WagerSettings
from utilitune.utility import Step, parse_utility

LIMIT_S = 8.0
LAST_S = math.nextafter(LIMIT_S, 0.0)
POSITIONS = 1000

World = tuple[np.ndarray, Callable[[np.ndarray], Looks], np.ndarray]
"""What runs are worth, the looks at them, and the true means."""

FOUND_S = np.geomspace(LIMIT_S / 2000, 0.999 * LIMIT_S, 16)
ROWS = 20


def improving(seed: int) -> World:
    """Solvers whose gap to a known optimum closes like a power of time; a solution loses worth with time."""
    generator = np.random.default_rng([seed, 77])
    logs = (
        -1.0
        + generator.normal(0, 0.6, (1, POSITIONS, 1))
        + generator.normal(0, 0.8, (ROWS, 1, 1))
        + generator.normal(0, 0.4, (ROWS, POSITIONS, 1))
    )
    speed = 0.5 * np.exp(0.3 * generator.normal(size=(ROWS, 1, 1)))
    gaps = np.exp(logs) * (FOUND_S / (LIMIT_S / 100)) ** -speed
    worth = np.maximum.accumulate(np.clip(1 - gaps, 0, 1) * patience(FOUND_S), axis=2)

    def looks(captimes_s: np.ndarray) -> Looks:
        last = np.searchsorted(FOUND_S, captimes_s, side="right") - 1
        least = np.where(last >= 0, worth[:, :, np.maximum(last, 0)], 0.0)
        return least, np.maximum(least, patience(captimes_s))

    return worth[:, :, -1], looks, worth[:, :, -1].mean(axis=1)


def patience(time_s: np.ndarray) -> np.ndarray:
    return np.asarray(parse_utility(f"log-laplace(k0={LIMIT_S / 10})")(time_s))


def seconds_to_prove(world: World, smallest_captime_s: float) -> float:
    """Seconds until ε = 0.1 is proved; the answer must be right."""
    worth, looks, means = world
    ceiling = parse_utility(f"product(log-laplace(k0={LIMIT_S / 10}), step({LIMIT_S}))")
    evidence = RecordedLooks(np.full(worth.shape, LAST_S), worth, looks)
    chosen = WagerSettings(
        delta=0.1,
        epsilon=0.1,
        captime0_s=smallest_captime_s,
        captime_limit_s=LIMIT_S,
        growth=FixedSet(ROWS),
        finite_population=True,
    )
    at_the_end = smallest_captime_s == LIMIT_S
    engine = WagerEngine(evidence, Step(LIMIT_S) if at_the_end else ceiling, chosen)
    for _ in range(ROWS):
        engine.add(Origin.RANDOM)
    engine.advance(PauseAt(10**9, math.inf, 10**9))
    progress = engine.progress()
    assert progress.epsilon <= 0.1
    assert means.max() - means[progress.best_index] <= 0.1
    return progress.total_time_s


def test_discounted_worth_with_a_known_bound_needs_less_than_half_of_the_time():
    early, full = 0.0, 0.0
    for seed in range(3):
        world = improving(seed)
        early += seconds_to_prove(world, LIMIT_S / 1024)
        full += seconds_to_prove(world, LIMIT_S)
    sys.stdout.write(f"early looks need {early / full:.2f} of the time of full runs\n")
    assert early <= full / 2

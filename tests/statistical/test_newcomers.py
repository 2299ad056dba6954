"""Draws that join late are covered by ε, whoever leads and whoever has led.

The default is good, so it leads at first, is overtaken by luck, and leads again. Then the set grows, and a
few of the newcomers are much better than all before.
"""

from __future__ import annotations

import math

import numpy as np

from utilitune.data import RuntimeMatrix
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings
from utilitune.utility import parse_utility

DELTA = 0.01
SEARCHES = 100
DRAWS, POSITIONS = 100, 150
UTILITY = parse_utility("log-laplace(k0=10)")


def promises_too_much(seed: int) -> bool:
    """Whether the answer of a stage is ever farther from the best of the draws than is proved."""
    generator = np.random.default_rng(seed)
    chances = np.where(generator.random(DRAWS) < 0.015, 1.0, 0.45)
    chances[0] = 0.6
    runtimes_s = np.where(generator.random((DRAWS, POSITIONS)) < chances[:, None], 0.001, math.inf)
    worth = UTILITY(runtimes_s).mean(axis=1)
    settings = WagerSettings(
        DELTA, captime0_s=0.5, captime_limit_s=64.0, finite_population=True, growth=Adaptive()
    )
    evidence = RecordedEvidence(RuntimeMatrix.from_array(runtimes_s, 64.0), UTILITY)
    engine = WagerEngine(evidence, UTILITY, settings)
    engine.add(Origin.GIVEN)
    rounds = 0
    while rounds < 2500:
        halt = engine.advance(PauseAt(rounds, math.inf, 10**9))
        if halt is Halt.NEEDS_CONFIGURATIONS:
            if engine.added + engine.missing_configurations > DRAWS:
                return False
            for _ in range(engine.missing_configurations):
                engine.add(Origin.RANDOM)
            continue
        if halt is Halt.DONE:
            return False
        rounds += 50
        if engine._entered:
            stage = engine._progress_of_stage()
            best = worth[1 : engine.added].max()
            if stage.epsilon < best - worth[stage.best_index] - 1e-6:
                return True
    return False


def test_newcomers_are_covered():
    assert sum(promises_too_much(seed) for seed in range(SEARCHES)) <= DELTA * SEARCHES

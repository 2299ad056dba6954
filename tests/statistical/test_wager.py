"""Does the promise of `wager` hold? Many small searches with known expected utilities, counted.

A search fails if at any pause the reported answer is worse than the best by more than the reported ε.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from utilitune.data import RuntimeMatrix
from utilitune.procedures.bounds.betting import lower_bound
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import FixedSet
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings
from utilitune.procedures.wager.growth import GammaGrid
from utilitune.utility import LogLaplace, Uniform

DELTA = 0.2
SEARCHES = 60
AUDIT_SEARCHES = 3000
NEVER = math.inf


def _count(searches: int, make, utility, settings: WagerSettings) -> int:
    failures = 0
    for seed in range(searches):
        runtimes, worth = make(np.random.default_rng([seed, 5]))
        matrix = RuntimeMatrix.from_array(runtimes, 64.0)
        engine = WagerEngine(RecordedEvidence(matrix, utility), utility, settings)
        for _ in range(matrix.rows):
            engine.add(Origin.RANDOM)
        failures += _fails(engine, worth, worth.max())
    return failures


def _fails(engine: WagerEngine, worth: np.ndarray, benchmark: float) -> bool:
    for rounds in (50, 100, 200, 400, 800, 1600, 3200):
        halt = engine.advance(PauseAt(rounds, math.inf, 10**9))
        progress = engine.progress()
        if benchmark - worth[progress.best_index] > progress.epsilon:
            return True
        if halt is Halt.DONE:
            break
    return False


def coin_flips(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    chances = generator.permutation([0.6] + [0.38] * 7)
    return np.where(generator.random((8, 3000)) < chances[:, None], 0.0, NEVER), chances


def near_ties(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    chances = generator.permutation([0.5, 0.5, 0.52, 0.5, 0.48, 0.5])
    return np.where(generator.random((6, 3000)) < chances[:, None], 0.0, NEVER), chances


def hard_instances(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three kinds of instances, on which all configurations are quick, slow or hopeless together."""
    kinds = generator.integers(0, 3, 3000)
    slowness = generator.permutation([1.0, 1.5, 1.5, 2.0, 3.0])
    table = np.outer(slowness, [0.5, 8.0, 60.0])
    worth = LogLaplace(8.0)(table).mean(axis=1)
    return table[:, kinds], worth


WORLDS = {
    "coin flips": (coin_flips, Uniform(8.0)),
    "near ties": (near_ties, Uniform(8.0)),
    "hard instances": (hard_instances, LogLaplace(8.0)),
}


def _check(world: str, searches: int, epsilon: float | None) -> None:
    make, utility = WORLDS[world]
    rows = make(np.random.default_rng(0))[0].shape[0]
    settings = WagerSettings(DELTA, epsilon, captime0_s=0.5, captime_limit_s=64.0, growth=FixedSet(rows))
    failures = _count(searches, make, utility, settings)
    sys.stdout.write(f"{world}: {failures} of {searches} promises broken\n")
    assert failures / searches <= DELTA / 2  # the shares leave room: half of δ would already be suspicious


@pytest.mark.parametrize("epsilon", [0.2, None])
@pytest.mark.parametrize("world", WORLDS)
def test_promises_are_kept(world, epsilon):
    _check(world, SEARCHES, epsilon)


@pytest.mark.audit
@pytest.mark.parametrize("epsilon", [0.2, None])
@pytest.mark.parametrize("world", WORLDS)
def test_promises_are_kept_in_thousands_of_searches(world, epsilon):
    _check(world, AUDIT_SEARCHES, epsilon)


def _check_whole_space(searches: int) -> None:
    """Configurations are drawn from a space whose quality is uniform on [0, 1]: the best γ is above 1 − γ."""
    utility, failures = Uniform(8.0), 0
    for seed in range(searches):
        generator = np.random.default_rng([seed, 6])
        quality = generator.random(200)
        runtimes = np.where(generator.random((200, 1500)) < quality[:, None], 0.0, NEVER)
        matrix = RuntimeMatrix.from_array(runtimes, 64.0)
        settings = WagerSettings(DELTA, 0.3, captime0_s=0.5, captime_limit_s=64.0, growth=Adaptive())
        engine = WagerEngine(RecordedEvidence(matrix, utility), utility, settings)
        while engine.advance(PauseAt(10**6, math.inf, 10**9)) is Halt.NEEDS_CONFIGURATIONS:
            for _ in range(engine.missing_configurations):
                engine.add(Origin.RANDOM)
        progress = engine.progress()
        assert progress.gamma <= GammaGrid(DELTA).gamma(1)
        failures += (1.0 - progress.gamma) - quality[progress.best_index] > progress.epsilon
    sys.stdout.write(f"whole space: {failures} of {searches} promises broken\n")
    assert failures / searches <= DELTA


def test_promises_about_the_whole_space_are_kept():
    _check_whole_space(SEARCHES)


@pytest.mark.audit
def test_promises_about_the_whole_space_are_kept_in_thousands_of_searches():
    _check_whole_space(AUDIT_SEARCHES)


class TestProposalsShapedByInstances:
    """Of many configurations that are all alike, the luckiest on the first instances is proposed."""

    CHANCE = 0.3
    SEEN = 60
    FRESH = 200

    def _lower_bounds(self, seed: int) -> tuple[float, float]:
        generator = np.random.default_rng([seed, 7])
        worths = (generator.random((500, self.SEEN + self.FRESH)) < self.CHANCE).astype(float)
        luckiest = worths[worths[:, : self.SEEN].sum(axis=1).argmax()]
        return lower_bound(luckiest[: self.SEEN], DELTA), lower_bound(luckiest[self.SEEN :], DELTA)

    def test_judged_on_the_instances_it_was_chosen_by_it_breaks_the_promise(self):
        broken = sum(self._lower_bounds(seed)[0] > self.CHANCE for seed in range(100))
        assert broken > 60

    def test_judged_on_fresh_instances_it_keeps_it(self):
        broken = sum(self._lower_bounds(seed)[1] > self.CHANCE for seed in range(100))
        assert broken <= 100 * DELTA

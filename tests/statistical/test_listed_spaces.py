"""Do promises hold in small spaces that are drawn as a whole, with a default and with lucky nominees?

A search fails if at any pause its answer is worse than promised, or gains less over the default. The broken
version divides nothing by the number of configurations, and must be found out.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from utilitune.data import RuntimeMatrix
from utilitune.procedures.engine import Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.orders import fresh_order
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings
from utilitune.utility import Uniform

DELTA = 0.2
SEARCHES = 60
AUDIT_SEARCHES = 2000
UTILITY = Uniform(8.0)
PAUSES = (20, 40, 80, 160, 320, 640, 1280)
SIZE = 12


def _engine(succeeds: np.ndarray, *, finite: bool) -> WagerEngine:
    matrix = RuntimeMatrix.from_array(np.where(succeeds, 0.0, math.inf), 64.0)
    settings = WagerSettings(
        delta=DELTA,
        captime0_s=0.5,
        captime_limit_s=64.0,
        finite_population=finite,
        growth=Adaptive(),
        default=True,
        space_size=SIZE,
        listed=True,
    )
    return WagerEngine(RecordedEvidence(matrix, UTILITY), UTILITY, settings)


def _breaks(seed: int, *, finite: bool, broken: bool) -> bool:
    """Near ties of which one is a little better; the default is a member, nominees began luckily."""
    generator = np.random.default_rng([seed, 17])
    chances = np.full(SIZE, 0.45)
    chances[generator.integers(SIZE)] = 0.62
    positions = int(generator.choice([6, 30])) if finite else 300
    succeeds = generator.random((SIZE, positions)) < chances[:, None]
    worth = succeeds.mean(axis=1) if finite else chances
    engine = _engine(succeeds, finite=finite)
    if broken:
        shares = engine._play.shares
        spent = {"lower": shares.lower * 40, "paired": shares.paired * 40, "upper": 0.5}
        engine._play = engine._play._replace(shares=shares._replace(**spent))
    default = int(generator.integers(SIZE))
    engine.add(Origin.GIVEN, configuration=default)
    for row in generator.permutation(SIZE).tolist():
        engine.add(Origin.RANDOM, configuration=row)
    lucky = np.argsort(-succeeds[:, :5].mean(axis=1), kind="stable")
    for number, rounds in enumerate(PAUSES):
        engine.advance(PauseAt(rounds, math.inf, 10**9))
        progress = engine.progress()
        mine = worth[progress.best_index]
        if worth.max() - mine > progress.epsilon + 1e-9:
            return True
        if progress.gain is not None and mine - worth[default] < progress.gain - 1e-9:
            return True
        if finite and 0 < number < 4:
            order = fresh_order(f"search {seed}", number, positions)
            engine.add(Origin.NOMINEE, order=order, configuration=int(lucky[number - 1]))
    return False


def _share(searches: int, *, finite: bool, broken: bool = False) -> float:
    failures = sum(_breaks(seed, finite=finite, broken=broken) for seed in range(searches))
    sys.stdout.write(f"listed, finite={finite}, broken={broken}: {failures} of {searches} promises broken\n")
    return failures / searches


@pytest.mark.parametrize("finite", [False, True])
def test_promises_about_a_listed_space_are_kept(finite):
    assert _share(SEARCHES, finite=finite) <= DELTA / 2


def test_bounds_that_are_not_divided_are_found_out():
    assert _share(SEARCHES, finite=False, broken=True) > DELTA


@pytest.mark.audit
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("finite", [False, True])
def test_promises_about_a_listed_space_are_kept_in_thousands_of_searches(finite):
    assert _share(AUDIT_SEARCHES, finite=finite) <= DELTA / 2

"""Do promises hold where configurations are nominated, repeated or compared with a default?

A search fails if at any pause its answer is worse than promised. Nominees here are the worst that a search
could come up with: each succeeds exactly where the order revealed last begins, and nowhere else. Every check
has a version that is broken on purpose and must be found out.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from utilitune.data import RuntimeMatrix
from utilitune.procedures.bounds.betting import upper_bound
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.orders import fresh_order
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings
from utilitune.procedures.wager.growth import GammaGrid
from utilitune.utility import Uniform

DELTA = 0.2
SEARCHES = 40
AUDIT_SEARCHES = 2000
POSITIONS = 60
SHAPED = 30
UTILITY = Uniform(8.0)
PAUSES = (40, 80, 160, 320, 640, 1280, 2560)


def _engine(succeeds: np.ndarray, **changes: object) -> WagerEngine:
    """An engine on a list, where a run gives its answer at once or never."""
    chosen: dict[str, object] = {
        "delta": DELTA,
        "captime0_s": 0.5,
        "captime_limit_s": 64.0,
        "finite_population": True,
        "growth": Adaptive(),
    }
    matrix = RuntimeMatrix.from_array(np.where(succeeds, 0.0, math.inf), 64.0)
    settings = WagerSettings(**(chosen | changes))  # type: ignore[arg-type]
    return WagerEngine(RecordedEvidence(matrix, UTILITY), UTILITY, settings)


def _breaks(engine: WagerEngine, worth: np.ndarray, draws: slice, rounds: int) -> bool:
    """Play until so many rounds are over; whether what is promised then is wrong."""
    engine.advance(PauseAt(rounds, math.inf, 10**9))
    progress = engine.progress()
    short = worth[draws].max() - worth[progress.best_index] > progress.epsilon + 1e-9
    return short or (
        progress.gain is not None and worth[progress.best_index] - worth[0] < progress.gain - 1e-9
    )


def _report(what: str, failures: int, searches: int) -> float:
    sys.stdout.write(f"{what}: {failures} of {searches} promises broken\n")
    return failures / searches


# -- nominees ------------------------------------------------------------------------------------------


def _nominations_break(seed: int, *, broken: bool) -> bool:
    """A default, eight draws, and three nominees, each shaped by the order that was revealed last."""
    generator = np.random.default_rng([seed, 11])
    chances = generator.permutation([0.5, 0.3, 0.4, 0.8, 0.2, 0.3, 0.4, 0.5, 0.3])
    orders = [np.arange(POSITIONS, dtype=np.int32)]
    orders += [fresh_order(f"search {seed}", q, POSITIONS) for q in (1, 2, 3)]
    succeeds = np.zeros((12, POSITIONS), dtype=bool)
    succeeds[:9] = generator.random((9, POSITIONS)) < chances[:, None]
    for q in (1, 2, 3):
        succeeds[8 + q, orders[q - 1][:SHAPED]] = True
    worth = succeeds.mean(axis=1)
    engine = _engine(succeeds, default=True)
    engine.add(Origin.GIVEN)
    for _ in range(8):
        engine.add(Origin.RANDOM)
    engine.no_more()
    wrong = False
    for q in (1, 2, 3):
        wrong |= _breaks(engine, worth, slice(1, 9), PAUSES[q - 1])
        engine.add(Origin.NOMINEE, order=orders[q - 1] if broken else orders[q])
    for rounds in PAUSES[2:]:
        wrong |= _breaks(engine, worth, slice(1, 9), rounds)
    return wrong


def test_nominees_keep_the_promise_along_orders_of_their_own():
    failures = sum(_nominations_break(seed, broken=False) for seed in range(SEARCHES))
    assert _report("nominees", failures, SEARCHES) <= DELTA / 2


def test_nominees_judged_on_the_order_that_shaped_them_are_found_out():
    """The order of the draws, or orders that follow from the seed alone where the find is given again."""
    failures = sum(_nominations_break(seed, broken=True) for seed in range(SEARCHES))
    assert _report("nominees on orders that shaped them", failures, SEARCHES) > DELTA


@pytest.mark.audit
@pytest.mark.timeout(3000)
def test_nominees_keep_the_promise_in_thousands_of_searches():
    failures = sum(_nominations_break(seed, broken=False) for seed in range(AUDIT_SEARCHES))
    assert _report("nominees", failures, AUDIT_SEARCHES) <= DELTA / 2


class TestDrawsAlongSeveralOrders:
    """An upper bound along the luckiest of several orders needs a share for each of them."""

    ORDERS = 60

    def _fails(self, seed: int, share: float) -> bool:
        generator = np.random.default_rng([seed, 12])
        values = generator.permutation(np.repeat([0.0, 1.0], POSITIONS // 2))
        seen = [values[fresh_order(f"draws {seed}", q, POSITIONS)][:25] for q in range(self.ORDERS)]
        return min(upper_bound(most, share, POSITIONS) for most in seen) < values.mean()

    def test_with_a_share_for_every_order_it_holds(self):
        failures = sum(self._fails(seed, DELTA / self.ORDERS) for seed in range(SEARCHES))
        assert failures / SEARCHES <= DELTA

    def test_an_order_chosen_without_a_share_is_found_out(self):
        failures = sum(self._fails(seed, DELTA) for seed in range(SEARCHES))
        assert failures / SEARCHES > 2 * DELTA


# -- discrete spaces -----------------------------------------------------------------------------------


def _discrete_breaks(seed: int, *, broken: bool) -> bool:
    """A space of nine configurations, drawn with replacement; γ is 0 once all were drawn."""
    generator = np.random.default_rng([seed, 13])
    succeeds = generator.random((9, POSITIONS)) < generator.random((9, 1))
    succeeds[generator.integers(9)] |= generator.random(POSITIONS) < 0.7
    worth = succeeds.mean(axis=1)
    drawn = generator.integers(0, 9, 2000)
    engine = _engine(succeeds[drawn], space_size=9, epsilon=0.02)
    firsts: dict[int, int] = {}
    wrong = False
    for rounds in (*PAUSES, 10**6):
        while engine.advance(PauseAt(rounds, math.inf, 10**9)) is Halt.NEEDS_CONFIGURATIONS:
            for _ in range(engine.missing_configurations):
                number = engine.added
                first = firsts.setdefault(int(drawn[number]), number)
                engine.add(Origin.RANDOM, configuration=None if broken else first)
        progress = engine.progress()
        if progress.gamma is not None and progress.gamma < 1:
            place = math.ceil(round(9 * progress.gamma, 9))  # OPT^γ is the best but so many
            benchmark = np.sort(worth)[::-1][max(0, place - 1)]
            wrong |= bool(benchmark - worth[drawn[progress.best_index]] > progress.epsilon + 1e-9)
    return wrong


def test_promises_about_a_whole_discrete_space_are_kept():
    failures = sum(_discrete_breaks(seed, broken=False) for seed in range(SEARCHES))
    assert _report("discrete space", failures, SEARCHES) <= DELTA / 2


def test_repeated_draws_that_count_as_new_are_found_out():
    failures = sum(_discrete_breaks(seed, broken=True) for seed in range(SEARCHES))
    assert _report("repeated draws as new ones", failures, SEARCHES) > DELTA / 2


@pytest.mark.audit
@pytest.mark.timeout(3000)
def test_promises_about_a_whole_discrete_space_are_kept_in_thousands_of_searches():
    failures = sum(_discrete_breaks(seed, broken=False) for seed in range(AUDIT_SEARCHES))
    assert _report("discrete space", failures, AUDIT_SEARCHES) <= DELTA / 2


# -- γ ---------------------------------------------------------------------------------------------------


class TestGamma:
    """The best of n_p draws from a space of uniform quality must reach 1 − γ_p, at all p at once."""

    STAGES = 14
    TRIALS = 3000

    def _misses(self, gammas: list[float], draws: list[int]) -> float:
        generator = np.random.default_rng(14)
        failures = 0
        for _ in range(self.TRIALS):
            best = np.maximum.accumulate(generator.random(draws[-1]))
            failures += any(best[n - 1] < 1 - gamma for n, gamma in zip(draws, gammas, strict=True))
        return failures / self.TRIALS

    @pytest.mark.parametrize("announced", [None, 0.1])
    def test_every_gamma_holds_with_half_of_delta(self, announced):
        grid = GammaGrid(DELTA, announced)
        draws = [grid.point(p).draws for p in range(1, self.STAGES)]
        gammas = [grid.gamma(p) for p in range(1, self.STAGES)]
        assert self._misses(gammas, draws) <= DELTA / 2 + 3 * math.sqrt(DELTA / 2 / self.TRIALS)

    def test_a_gamma_announced_after_the_draws_is_found_out(self):
        grid = GammaGrid(DELTA)
        draws = [grid.point(p).draws for p in range(1, self.STAGES)]
        gammas = [1 - (0.9 * DELTA / 2) ** (1 / n) for n in draws]
        assert self._misses(gammas, draws) > DELTA / 2 + 3 * math.sqrt(DELTA / 2 / self.TRIALS)

"""The contract of every confidence bound: it may fail, at any time, with probability at most δ.

A trial draws instances from a small pool whose mean utilities are known exactly, lets an adversary choose
captimes after having seen all runtimes, asks for the bound again and again while runs come in, go on or are
repeated, and counts as a failure if the bound was wrong at *any* of these moments. The failure rate over many
trials must not be significantly above δ; deliberately broken bounds must be.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune.procedures.bounds import hoeffding
from utilitune.procedures.bounds.betting import INFINITE, lower_bound, upper_bound
from utilitune.procedures.bounds.paired import difference_bound
from utilitune.utility import LogLaplace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

DELTA = 0.1
TRIALS = 60
AUDIT_TRIALS = 5000
MOMENTS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 120)
UTILITY = LogLaplace(8.0)
NEVER = math.inf


@dataclass(frozen=True)
class Pool:
    """Runtimes of a challenger and a leader on the same instances, all equally likely."""

    challenger_s: NDArray[np.float64]
    leader_s: NDArray[np.float64]


def _worth(value: float) -> float:
    """The runtime that is worth `value`."""
    return 16.0 * (1.0 - value) if value >= 0.5 else 4.0 / value if value > 0 else NEVER


def _pool(challenger: list[float], leader: list[float]) -> Pool:
    return Pool(np.array([_worth(v) for v in challenger]), np.array([_worth(v) for v in leader]))


def _heavy_tailed() -> Pool:
    generator = np.random.default_rng(5)
    hardness = generator.standard_cauchy(200)
    return Pool(np.exp(2 + hardness), np.exp(2 + hardness + generator.normal(0, 0.5, 200)))


POOLS = {
    "coin flips, a hair apart": _pool([1.0] * 96 + [0.0] * 104, [1.0] * 100 + [0.0] * 100),
    "ties": _pool([0.9, 0.6, 0.3, 0.0] * 40, [0.9, 0.6, 0.3, 0.0] * 40),
    "rarely good": _pool([1.0] * 4 + [0.0] * 156, [1.0] * 2 + [0.0] * 158),
    "rarely bad": _pool([1.0] * 156 + [0.0] * 4, [1.0] * 158 + [0.0] * 2),
    "nearly constant": _pool([0.5, 0.501, 0.499, 0.5] * 40, [0.5, 0.499, 0.501, 0.5] * 39 + [0.0] * 4),
    "opposite": _pool([1.0] * 80 + [0.1] * 80, [0.1] * 80 + [1.0] * 80),
    "heavy tails": _heavy_tailed(),
}


# -- adversaries: captimes for the runs 1 … m of both, chosen with full knowledge of the runtimes ------------


def _never_stops(runtimes_s: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    del generator
    return np.full(len(runtimes_s), NEVER)


def _stops_what_hurts(runtimes_s: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Waits for quick runs to the end and gives up slow ones at once."""
    del generator
    return np.where(runtimes_s <= np.median(runtimes_s), NEVER, 0.5)


def _censors_heavily(runtimes_s: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    return generator.choice([0.5, 2.0, 8.0], size=len(runtimes_s))


def _just_before_the_end(
    runtimes_s: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Stops half of the runs exactly when they would have finished (finished means t < c)."""
    return np.where(generator.random(len(runtimes_s)) < 0.5, runtimes_s, NEVER)


ADVERSARIES = {
    "never stops a run": _never_stops,
    "stops what hurts": _stops_what_hurts,
    "censors heavily": _censors_heavily,
    "stops at the last moment": _just_before_the_end,
}


@dataclass(frozen=True)
class Seen:
    """X and Y of the runs 1 … m of both configurations, as far as they were watched."""

    challenger_least: NDArray[np.float64]
    challenger_most: NDArray[np.float64]
    leader_least: NDArray[np.float64]
    leader_most: NDArray[np.float64]
    population: int


def _watched(runtimes_s: NDArray[np.float64], captimes_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """X and Y of runs that were stopped at these captimes, as two rows."""
    most = UTILITY(np.minimum(runtimes_s, captimes_s))
    return np.stack([np.where(runtimes_s < captimes_s, most, 0.0), most])


class _Watching:
    """The runs of one configuration: up to their captimes, up to a second, and again up to four captimes."""

    def __init__(self, runtimes_s: NDArray[np.float64], captimes_s: NDArray[np.float64]) -> None:
        self._stopped = _watched(runtimes_s, captimes_s)
        self._begun = _watched(runtimes_s, np.minimum(captimes_s, 1.0))
        self.rerun = _watched(runtimes_s, 4.0 * captimes_s)

    def ended(self, count: int) -> NDArray[np.float64]:
        """The first runs, all of them ended."""
        return self._stopped[:, :count]

    def in_flight(self, count: int) -> NDArray[np.float64]:
        """The first runs, the last three of them still in flight."""
        ended = max(0, count - 3)
        return np.concatenate([self._stopped[:, :ended], self._begun[:, ended:count]], axis=1)


def _moments(challenger: _Watching, leader: _Watching, runs: int, population: int) -> Iterator[Seen]:
    """What is seen at each moment; in the end everything that was capped has run once more."""
    for count in MOMENTS:
        if count <= runs:
            yield Seen(*challenger.in_flight(count), *leader.in_flight(count), population)
            yield Seen(*challenger.ended(count), *leader.ended(count), population)
    yield Seen(*challenger.rerun, *leader.rerun, population)


# -- bounds: each says whether it was wrong at one moment ----------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """Mean utilities over the pool."""

    challenger: float
    leader: float


def _lower_is_wrong(seen: Seen, truth: Truth) -> bool:
    return lower_bound(seen.leader_least, DELTA, seen.population) > truth.leader


def _upper_is_wrong(seen: Seen, truth: Truth) -> bool:
    return upper_bound(seen.challenger_most, DELTA, seen.population) < truth.challenger


def _difference_is_wrong(seen: Seen, truth: Truth) -> bool:
    bound = difference_bound(seen.challenger_most, seen.leader_least, DELTA, seen.population)
    return bound < truth.challenger - truth.leader


def _no_ville(seen: Seen, truth: Truth) -> bool:
    """Broken: a normal interval, which is valid at one moment only."""
    x = seen.leader_least
    return len(x) > 1 and x.mean() - 1.28 * x.std() / math.sqrt(len(x)) > truth.leader


def _quick_runs_first(seen: Seen, truth: Truth) -> bool:
    """Broken: the better half of the runs is let in first."""
    best = np.sort(seen.leader_least)[::-1][: (len(seen.leader_least) + 1) // 2]
    return lower_bound(best, DELTA) > truth.leader


def _capped_runs_left_out(seen: Seen, truth: Truth) -> bool:
    """Broken: runs that did not finish are not counted at all."""
    finished = seen.leader_least[seen.leader_least == seen.leader_most]
    return len(finished) > 0 and lower_bound(finished, DELTA) > truth.leader


BOUNDS = {
    "betting, lower": _lower_is_wrong,
    "betting, upper": _upper_is_wrong,
    "betting, paired": _difference_is_wrong,
}
BROKEN = {
    "no union over time": _no_ville,
    "quick runs first": _quick_runs_first,
    "capped runs left out": _capped_runs_left_out,
}


def _truth(pool: Pool) -> Truth:
    return Truth(float(UTILITY(pool.challenger_s).mean()), float(UTILITY(pool.leader_s).mean()))


def _failures(
    is_wrong: Callable[[Seen, Truth], bool], pool: Pool, adversary: str, trials: int, *, finite: bool
) -> int:
    truth, size = _truth(pool), len(pool.leader_s)
    failures = 0
    for seed in range(trials):
        generator = np.random.default_rng([seed, 77])
        drawn = generator.permutation(size) if finite else generator.integers(0, size, MOMENTS[-1])
        challenger, leader = (
            _Watching(runtimes_s, ADVERSARIES[adversary](runtimes_s, generator))
            for runtimes_s in (pool.challenger_s[drawn], pool.leader_s[drawn])
        )
        moments = _moments(challenger, leader, len(drawn), size if finite else INFINITE)
        failures += any(is_wrong(seen, truth) for seen in moments)
    return failures


def _wilson(failures: int, trials: int) -> tuple[float, float]:
    """Wilson's interval for a probability, at 99.9 % on each side."""
    z = 3.09
    rate = failures / trials
    centre = (rate + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def _report(name: str, failures: int, trials: int) -> tuple[float, float]:
    low, high = _wilson(failures, trials)
    sys.stdout.write(f"{name}: failed in {failures} of {trials} trials, rate in [{low:.4f}, {high:.4f}]\n")
    return low, high


def _least_rate(bound: str, pool: str, adversary: str, trials: int, *, finite: bool) -> float:
    """With how large a probability a bound fails at least, by Wilson's interval."""
    failures = _failures(BOUNDS[bound], POOLS[pool], adversary, trials, finite=finite)
    return _report(f"{bound}, {'finite, ' * finite}{pool}, {adversary}", failures, trials)[0]


@pytest.mark.parametrize("finite", [False, True], ids=["independent", "without replacement"])
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_fails_with_probability_delta_at_most(bound, pool, finite):
    rates = {
        adversary: _least_rate(bound, pool, adversary, TRIALS, finite=finite) for adversary in ADVERSARIES
    }
    assert max(rates.values()) <= DELTA, rates


@pytest.mark.audit
@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("finite", [False, True], ids=["independent", "without replacement"])
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_fails_with_probability_delta_at_most_over_thousands_of_trials(
    bound, pool, finite, adversary
):
    assert _least_rate(bound, pool, adversary, AUDIT_TRIALS, finite=finite) <= DELTA


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_bound_breaks_the_contract(broken):
    pool = POOLS["coin flips, a hair apart" if broken == "no union over time" else "heavy tails"]
    adversary = "censors heavily" if broken == "capped runs left out" else "never stops a run"
    failures = _failures(BROKEN[broken], pool, adversary, TRIALS, finite=False)
    low, _ = _report(broken, failures, TRIALS)
    assert low > DELTA


def _hoeffding_is_wrong(pool: Pool, seed: int) -> bool:
    """Whether one of the paper's bounds is wrong at any moment and captime level (both are united over)."""
    truth = _truth(pool).leader
    drawn = np.random.default_rng([seed, 78]).integers(0, len(pool.leader_s), MOMENTS[-1])
    runtimes = pool.leader_s[drawn]
    scale = hoeffding.width_scale(1, DELTA)
    for m in MOMENTS:
        for level in range(1, 8):
            captime = 2.0 ** (level - 1)
            worth = float(UTILITY(captime))
            mean = float(UTILITY(np.minimum(runtimes[:m], captime)).mean())
            share = float((runtimes[:m] < captime).mean())
            width = hoeffding.confidence_width(scale, m, level)
            upper = hoeffding.upper_bound(mean, worth, width)
            lower = hoeffding.lower_bound(mean, worth, width, share)
            if not lower <= truth <= upper:
                return True
    return False


@pytest.mark.parametrize("pool", POOLS)
def test_the_papers_bounds_keep_the_same_contract(pool):
    failures = sum(_hoeffding_is_wrong(POOLS[pool], seed) for seed in range(100))
    low, _ = _report(f"Hoeffding, {pool}", failures, 100)
    assert low <= DELTA


class TestParallelWorkers:
    """Workers finish quick runs first; only the prefix without gaps counts, running ones as censored."""

    WORKERS = 8

    def _bounds(self, runtimes_s: np.ndarray, now_s: float) -> tuple[float, float]:
        """Both bounds at a moment, when eight workers take the runs in order, each one after the other."""
        begun = np.zeros(self.WORKERS)
        least, most = [], []
        for runtime in runtimes_s:
            worker = int(np.argmin(begun))
            start = begun[worker]
            if start >= now_s:
                break
            begun[worker] = start + runtime
            finished = start + runtime <= now_s
            least.append(float(UTILITY(runtime)) if finished else 0.0)
            most.append(float(UTILITY(min(runtime, now_s - start))))
        return lower_bound(least, DELTA / 2), upper_bound(most, DELTA / 2)

    def test_bounds_hold_at_every_moment(self):
        pool = np.minimum(POOLS["heavy tails"].leader_s, 1e3)
        truth = float(UTILITY(pool).mean())
        failures = 0
        for seed in range(TRIALS):
            runtimes = pool[np.random.default_rng([seed, 79]).integers(0, len(pool), 150)]
            bounds = [self._bounds(runtimes, now) for now in (2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)]
            failures += any(not low <= truth <= high for low, high in bounds)
        low, _ = _report("eight workers", failures, TRIALS)
        assert low <= DELTA

    def test_more_watching_never_loosens_a_bound(self):
        runtimes = POOLS["heavy tails"].leader_s[:60]
        bounds = []
        for captime in (0.5, 1.0, 2.0, 8.0, 64.0, NEVER):
            least, most = _watched(runtimes, np.full(60, captime))
            bounds.append((lower_bound(least, DELTA), upper_bound(most, DELTA)))
        slack = 0.02  # bounds are rounded to a ladder
        assert all(b[0] >= a[0] - slack and b[1] <= a[1] + slack for a, b in pairwise(bounds))

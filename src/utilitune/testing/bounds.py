"""What every confidence bound on a mean utility keeps: it fails, at any moment, with probability δ at most.

A trial draws runs from a pool with a known mean, stops some of them early, and asks for the bounds again and
again while runs come in. It fails if a bound was wrong at *any* of these moments. Over all trials,
significantly more failures than a share δ break the contract. A bound that is valid for one moment only does
not pass.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from utilitune.testing.base import Suite, expect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

_MOMENTS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233)
_DELTA = 0.1
_SURE = 3.1  # standard deviations: a sound bound fails one check in a thousand
_POOLS = {
    "coin flips": np.repeat([1.0, 0.0], 50),
    "rarely good": np.repeat([1.0, 0.0], [3, 97]),
    "rarely bad": np.repeat([1.0, 0.0], [97, 3]),
    "nearly constant": np.tile([0.5, 0.501, 0.499, 0.5], 25),
    "all alike": np.full(100, 0.7),
    "evenly spread": np.linspace(0.0, 1.0, 100),
}


class BoundSuite(Suite):
    """The contract of a bound on the mean of values in [0, 1] that are known only partly.

    Attributes:
        trials: How many trials are made for each pool of values.
    """

    trials = 200

    @abstractmethod
    def bounds(self, least: Values, most: Values, delta: float) -> tuple[float, float]:
        """A lower and an upper bound on the mean, each wrong at any time with probability δ/2 at most.

        Args:
            least: What each run is worth at least: its utility if it finished, else that of no answer.
            most: What it is worth at most: its utility if it finished, else that at its captime.
            delta: How often the pair may fail.
        """

    def test_they_fail_with_probability_delta_at_most(self) -> None:
        """At all moments together, for runs that end and for runs that are stopped."""
        allowed = self.trials * _DELTA + _SURE * math.sqrt(self.trials * _DELTA * (1 - _DELTA))
        for name, pool in _POOLS.items():
            for stopped in (0.0, 0.4):
                failures = sum(self._fails(pool, stopped, seed) for seed in range(self.trials))
                expect(
                    failures <= allowed,
                    f"{name}, {stopped:.0%} stopped: wrong in {failures} of {self.trials} trials",
                )

    def test_the_lower_one_is_not_above_the_upper_one(self) -> None:
        """For what is known fully and partly."""
        for pool in _POOLS.values():
            least, most = _seen(pool, 0.3, np.random.default_rng(1))
            lower, upper = self.bounds(least, most, _DELTA)
            expect(lower <= upper, f"the lower bound {lower} is above the upper bound {upper}")

    def test_more_runs_prove_more(self) -> None:
        """Thousands of runs that are all alike leave little doubt."""
        values = np.full(4000, 0.7)
        lower, upper = self.bounds(values, values, _DELTA)
        expect(upper - lower < 0.2, f"4000 runs worth 0.7 leave an interval of {upper - lower:.2f}")

    def _fails(self, pool: Values, stopped: float, seed: int) -> bool:
        generator = np.random.default_rng([seed, 7])
        drawn = pool[generator.integers(0, len(pool), _MOMENTS[-1])]
        least, most = _seen(drawn, stopped, generator)
        truth = float(pool.mean())
        for count in _MOMENTS:
            lower, upper = self.bounds(least[:count], most[:count], _DELTA)
            if not lower - 1e-9 <= truth <= upper + 1e-9:
                return True
        return False


def _seen(values: Values, stopped: float, generator: np.random.Generator) -> tuple[Values, Values]:
    """What is known of runs of which a share was stopped, the bad ones sooner: an adversary's choice."""
    chance = generator.random(len(values)) < stopped * (1.5 - values)
    return np.where(chance, 0.0, values), np.where(chance, np.maximum(values, 0.8), values)

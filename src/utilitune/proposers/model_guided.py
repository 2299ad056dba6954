"""Proposals from a parameter space: configurations a forest expects to be good, or knows little about.

A proposal maximises  mean + λ · spread  of the forecast, with λ drawn anew from the exponential distribution
with mean 1: small values refine what is good, large ones explore, and proposals that are made from one
fit differ (Hutter, Hoos & Leyton-Brown, "Parallel algorithm configuration", 2012). Candidates are random
configurations and neighbours of the best ones known; from the best candidate a local search goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.proposers.forest import Forecast, UtilityForest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from utilitune.proposers.base import Runs
    from utilitune.spaces import Assignment, ParameterSpace
    from utilitune.utility import Utility

_RANDOM_CANDIDATES = 500
_PARENTS = 8
_NEIGHBOURS = 24
_LOCAL_STEPS = 8


class ModelGuidedProposer:
    """Proposes configurations of a space.

    Args:
        space: What can be set.
        utility: What an answer is worth.
        seed: What every random choice of a fit follows from.
        instance_features: One line per position of the instance order, where there are some.

    Raises:
        MissingExtraError: If scikit-learn is not installed.
    """

    def __init__(
        self,
        space: ParameterSpace,
        utility: Utility,
        seed: int,
        instance_features: NDArray[np.float64] | None = None,
    ) -> None:
        self._space = space
        self._forest = UtilityForest(utility, seed, instance_features)
        self._parents: tuple[Assignment, ...] = ()
        self._parents_forecast = Forecast(np.zeros(0), np.zeros(0))

    def learn(self, runs: Runs, configurations: Sequence[Assignment]) -> None:
        """Fit the forest, and note what it thinks of the configurations that were run."""
        features = self._space.encode(configurations)
        self._forest.fit(runs, features)
        played = np.unique(runs.configuration)
        self._parents = tuple(configurations[index] for index in played)
        self._parents_forecast = self._forest.predict(features[played])

    def propose(self, known: Sequence[Assignment], generator: np.random.Generator) -> Assignment | None:
        """The best candidate found that is not known yet; None in a space with nothing left to find."""
        exploration = float(generator.exponential())
        taken = set(known)
        candidates = self._space.sample(generator, _RANDOM_CANDIDATES)
        for parent in _best(self._parents, self._parents_forecast, exploration, _PARENTS):
            candidates += self._space.neighbours(parent, generator, _NEIGHBOURS)
        found: Assignment | None = None
        for _ in range(1 + _LOCAL_STEPS):
            pool = [found] if found is not None else []
            pool += [candidate for candidate in candidates if candidate not in taken]
            if not pool:
                return None
            (best,) = _best(pool, self._forest.predict(self._space.encode(pool)), exploration, 1)
            if best is found:
                break
            found = best
            candidates = self._space.neighbours(found, generator, _NEIGHBOURS)
        return found


def _best(pool: Sequence[Assignment], forecast: Forecast, exploration: float, count: int) -> list[Assignment]:
    """The `count` most promising configurations, the best first; ties go to the earlier one."""
    worth = forecast.mean + exploration * forecast.spread
    return [pool[index] for index in np.argsort(-worth, kind="stable")[:count]]

"""Proposals from a parameter space: configurations a forest expects to be good, or knows little about.

A proposal maximises  mean + λ · spread  of the forecast, with λ drawn anew from the exponential distribution
with mean 1: small values refine what is good, large ones explore, and proposals that are made from one
fit differ (Hutter, Hoos & Leyton-Brown, "Parallel algorithm configuration", 2012). Candidates are random
configurations and neighbours of the best ones known; from the best candidate a local search goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.proposers.forest import UtilityForest

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

    def learn(self, runs: Runs, configurations: Sequence[Assignment]) -> None:
        """Fit the forest, and note which configurations were run."""
        self._forest.fit(runs, self._space.encode(configurations))
        self._parents = tuple(configurations[index] for index in np.unique(runs.configuration))

    def propose(self, known: Sequence[Assignment], generator: np.random.Generator) -> Assignment | None:
        """The best candidate found that is not known yet; None in a space with nothing left to find."""
        exploration = float(generator.exponential())
        taken = set(known)
        parents = self._best(list(self._parents), exploration, _PARENTS)
        candidates = self._space.sample(generator, _RANDOM_CANDIDATES)
        for parent in parents:
            candidates += self._space.neighbours(parent, generator, _NEIGHBOURS)
        found: Assignment | None = None
        for _ in range(1 + _LOCAL_STEPS):
            pool = [found] if found is not None else []
            pool += [candidate for candidate in candidates if candidate not in taken]
            if not pool:
                return None
            (best,) = self._best(pool, exploration, 1)
            if best is found:
                break
            found = best
            candidates = self._space.neighbours(found, generator, _NEIGHBOURS)
        return found

    def _best(self, pool: list[Assignment], exploration: float, count: int) -> list[Assignment]:
        """The `count` most promising configurations, the best first; ties go to the earlier one."""
        forecast = self._forest.predict(self._space.encode(pool))
        worth = forecast.mean + exploration * forecast.spread
        return [pool[index] for index in np.argsort(-worth, kind="stable")[:count]]

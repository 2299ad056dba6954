"""Proposals from a parameter space: configurations a forest expects to be good, or knows little about.

A proposal maximises  mean + λ · spread  of the forecast, with λ drawn anew from the exponential distribution
with mean 1: small values refine what is good, large ones explore, and proposals that are made from one
fit differ (Hutter, Hoos & Leyton-Brown, "Parallel algorithm configuration", 2012). Candidates are random
configurations and neighbours of the best ones known; from the best candidate a local search goes on.

All of this works on codes, one column per candidate: only what is found becomes an assignment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.search.proposers.forest import Forecast, UtilityForest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from utilitune.search.proposers.base import Runs
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
        self._parents = np.empty((len(space.parameters), 0))
        self._parents_forecast = Forecast(np.zeros(0), np.zeros(0))

    def learn(self, runs: Runs, configurations: Sequence[Assignment]) -> None:
        """Fit the forest, and note what it thinks of the configurations that were run."""
        played, rows = np.unique(runs.configuration, return_inverse=True)
        self._parents = self._space.codes([configurations[index] for index in played])
        features = self._space.encode_codes(self._parents)
        self._forest.fit(runs._replace(configuration=rows), features)
        self._parents_forecast = self._forest.predict(features)

    def propose(self, known: Collection[Assignment], generator: np.random.Generator) -> Assignment | None:
        """The best candidate found that is not known yet; None in a space with nothing left to find."""
        exploration = float(generator.exponential())
        parents = self._parents[:, _order(self._parents_forecast.bound(exploration))[:_PARENTS]]
        candidates = np.hstack(
            [
                self._space.sample_codes(generator, _RANDOM_CANDIDATES),
                self._space.neighbour_codes(parents, generator, _NEIGHBOURS),
            ]
        )
        found = self._best(candidates, known, exploration)
        for _ in range(_LOCAL_STEPS):
            if found is None:
                break
            neighbours = self._space.neighbour_codes(found.codes, generator, _NEIGHBOURS)
            better = self._best(neighbours, known, exploration)
            if better is None or better.bound <= found.bound:
                break
            found = better
        return None if found is None else found.assignment

    def _best(
        self, candidates: NDArray[np.float64], known: Collection[Assignment], exploration: float
    ) -> _Found | None:
        """The most promising of the candidates, one per column, that is not known; ties go to the earlier."""
        bounds = self._forest.predict(self._space.encode_codes(candidates)).bound(exploration)
        for place in _order(bounds):
            codes = candidates[:, [place]]
            (assignment,) = self._space.assignments(codes)
            if assignment not in known:
                return _Found(assignment, codes, float(bounds[place]))
        return None


class _Found(NamedTuple):
    """A candidate: the configuration, its codes, and the upper confidence bound of its utility."""

    assignment: Assignment
    codes: NDArray[np.float64]
    bound: float


def _order(bounds: NDArray[np.float64]) -> NDArray[np.intp]:
    """The places of these values, the largest first; of equal ones the earlier first."""
    return np.argsort(-bounds, kind="stable")

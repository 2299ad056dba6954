"""A regression forest that predicts the utility of configurations, learnt from capped runs.

Random forests are the usual model of algorithm configuration: they need no tuning, take conditional and
categorical parameters as they come, and the disagreement of their trees says where they know little
(Hutter, Hoos & Leyton-Brown 2011). `censoring` prepares the rows.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from utilitune.errors import MissingExtraError
from utilitune.search.proposers.censoring import Design, PerConfiguration, PerRun, Worths, thinned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.search.proposers.base import Runs
    from utilitune.utility import Utility

_TREES = 32
_LEAF = 2
_FEATURE_SHARE = 5 / 6
_IMPUTATIONS = 3
_FIRST_DEVIATION = 0.25
_LEAST_DEVIATION = 0.02


class Forecast(NamedTuple):
    """Expected utility of configurations, and how far the trees disagree (a standard deviation)."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    def bound(self, exploration: float) -> NDArray[np.float64]:
        """The upper confidence bound  mean + λ · spread,  λ being how much is to be explored."""
        return self.mean + exploration * self.spread


def load() -> None:
    """Import what fits need: a second or two that can be spent before the first one."""
    importlib.import_module("sklearn.ensemble")


class UtilityForest:
    """The forest; see the module.

    Args:
        utility: What an answer is worth.
        seed: What every random choice of a fit follows from.
        instance_features: One line per position of the instance order, where there are some.

    Raises:
        MissingExtraError: If scikit-learn is not installed.
    """

    def __init__(
        self, utility: Utility, seed: int, instance_features: NDArray[np.float64] | None = None
    ) -> None:
        if importlib.util.find_spec("sklearn") is None:
            raise MissingExtraError("A model that proposes configurations", "model")
        self._utility = utility
        self._seed = seed
        self._instance_features = instance_features
        self._references = np.empty((1, 0))
        self._trees: list[Any] = []

    def fit(self, runs: Runs, features: NDArray[np.float64]) -> None:
        """Learn from runs of configurations that are described by one line of features each."""
        design, worths = self._design(runs, features)
        self._references = design.references
        finished = worths.least == worths.most
        middle = (worths.least + worths.most) / 2
        values = worths.imputed(np.full_like(middle, middle.mean()), _FIRST_DEVIATION)
        for _ in range(_IMPUTATIONS):
            target = design.target(values)
            if finished.all():
                continue  # nothing to impute, so trees would teach nothing
            self._grow(design, target)
            expected = design.expected(self._predictions(design.features).mean(axis=0))
            errors = (values - expected)[finished]
            deviation = float(np.sqrt(np.mean(errors**2))) if errors.size else _FIRST_DEVIATION
            values = worths.imputed(expected, max(deviation, _LEAST_DEVIATION))
        self._grow(design, design.target(values))

    def predict(self, features: NDArray[np.float64]) -> Forecast:
        """What to expect of configurations, on average over the instances seen."""
        if not len(features):
            return Forecast(np.zeros(0), np.zeros(0))
        per_instance = len(self._references)
        rows = np.hstack(
            [np.repeat(features, per_instance, axis=0), np.tile(self._references, (len(features), 1))]
        )
        by_tree = self._predictions(rows).reshape(len(self._trees), len(features), per_instance).mean(axis=2)
        return Forecast(by_tree.mean(axis=0), by_tree.std(axis=0))

    def _design(self, runs: Runs, features: NDArray[np.float64]) -> tuple[Design, Worths]:
        if self._instance_features is None:
            worths = Worths.of(runs, self._utility)
            return PerConfiguration(runs, worths.information, features), worths
        kept = thinned(runs, np.random.default_rng(self._seed))
        worths = Worths.of(kept, self._utility)
        return PerRun(kept, worths.information, features, self._instance_features), worths

    def _grow(self, design: Design, target: NDArray[np.float64]) -> None:
        from sklearn.ensemble import RandomForestRegressor

        forest = RandomForestRegressor(
            _TREES, min_samples_leaf=_LEAF, max_features=_FEATURE_SHARE, random_state=self._seed, n_jobs=1
        )
        forest.fit(design.features, target, design.weight)
        self._trees = [tree.tree_ for tree in forest.estimators_]

    def _predictions(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """One line per tree."""
        lines = np.ascontiguousarray(rows, dtype=np.float32)
        return np.stack([tree.predict(lines)[:, 0] for tree in self._trees])

"""Proposals from recorded runtimes: of the rows that were not drawn yet, the one a forest likes best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.search.proposers.forest import UtilityForest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from utilitune.search.proposers.base import Runs
    from utilitune.utility import Utility


class RowProposer:
    """Proposes rows of a recorded matrix that has features; a configuration is the number of its row.

    Args:
        features: One line per row of the matrix; NaN where a parameter is inactive.
        utility: What an answer is worth.
        seed: What every random choice of a fit follows from.

    Raises:
        MissingExtraError: If scikit-learn is not installed.
    """

    def __init__(self, features: NDArray[np.float64], utility: Utility, seed: int) -> None:
        active = np.where(np.isnan(features), np.inf, features)
        below = np.where(np.isfinite(least := active.min(axis=0)), least, 0.0) - 1.0
        self._features = np.where(np.isnan(features), below, features)
        self._forest = UtilityForest(utility, seed)

    def learn(self, runs: Runs, configurations: Sequence[int]) -> None:
        """Fit the forest to the runs of these rows."""
        self._forest.fit(runs, self._features[np.asarray(configurations, dtype=np.int64)])

    def propose(self, known: Collection[int], generator: np.random.Generator) -> int | None:
        """The best row that is not known yet, by mean + λ · spread with λ exponential; None if all are."""
        left = np.setdiff1d(np.arange(len(self._features)), np.fromiter(known, np.int64, len(known)))
        if not left.size:
            return None
        forecast = self._forest.predict(self._features[left])
        return int(left[np.argmax(forecast.bound(generator.exponential()))])

"""From a proposed point of the feature space to the recorded configuration nearest to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class NearestRow:
    """Finds rows by features scaled to [0, 1].

    The distance is the mean squared difference over the features that are active (not NaN) in the recorded
    row: what a proposal says about a parameter that is switched off there does not matter.

    Args:
        features: One row per configuration, one column per feature; NaN where inactive.
    """

    def __init__(self, features: NDArray[np.float64]) -> None:
        if features.ndim != 2 or not features.shape[1]:
            raise UsageError(
                "a peer needs features of the configurations: record them with utilitune collect"
            )
        low, high = np.nanmin(features, axis=0), np.nanmax(features, axis=0)
        width = np.where(high > low, high - low, 1.0)
        scaled = (features - low) / width
        self._active = ~np.isnan(scaled)
        self._scaled = np.where(self._active, scaled, 0.0)
        self._count = np.maximum(1, self._active.sum(axis=1))

    @property
    def dimensions(self) -> int:
        """How many numbers a point has, each between 0 and 1."""
        return int(self._scaled.shape[1])

    def row(self, point: Sequence[float]) -> int:
        """The nearest row; the first of several."""
        squared = np.where(self._active, (self._scaled - np.asarray(point)) ** 2, 0.0)
        return int(np.argmin(squared.sum(axis=1) / self._count))

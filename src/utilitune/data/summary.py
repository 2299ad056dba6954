"""What a matrix looks like at a glance: its size, how much finished, runtime quantiles, best rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.data.matrix import RuntimeMatrix
    from utilitune.utility import Utility

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class MatrixSummary:
    """A matrix in numbers; a quantile is ∞ where that share of the runs did not finish."""

    source: str
    rows: int
    columns: int
    cutoff_s: float
    finished_share: float
    quantiles_s: dict[float, float]


def summarise(matrix: RuntimeMatrix) -> MatrixSummary:
    """Describe a matrix; quantiles are over all runs, by the inverted empirical distribution."""
    levels = np.asarray(QUANTILES)
    flat = matrix.runtimes_s.reshape(-1)
    ranks = np.maximum(np.ceil(levels * flat.size).astype(np.int64) - 1, 0)
    ordered = np.partition(flat, np.unique(ranks))
    return MatrixSummary(
        source=matrix.source,
        rows=matrix.rows,
        columns=len(matrix.instances),
        cutoff_s=matrix.cutoff_s,
        finished_share=matrix.finished_share,
        quantiles_s={level: float(ordered[rank]) for level, rank in zip(QUANTILES, ranks, strict=True)},
    )


def mean_utilities(matrix: RuntimeMatrix, utility: Utility) -> NDArray[np.float64]:
    """Mean utility of every row over the instance order; an unfinished run counts as never finishing."""
    counts = np.bincount(matrix.columns, minlength=len(matrix.instances)) / matrix.positions
    return np.array([float(counts @ utility(row)) for row in matrix.runtimes_s])

"""Recorded runs laid out once, for many replays.

Laying a large matrix out for a utility function takes seconds and gigabytes; playing another procedure on
it, or the same one with configurations and instances in another order, takes neither. So a `Recording` keeps
the layout, and `Recording.shuffled` gives the same runs in another order without copying them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.baselines.rival import RecordedRuns
from utilitune.data import RuntimeMatrix, read_matrix
from utilitune.errors import UsageError
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.utility import Utility, parse_utility

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_USUAL_UTILITY = "log-laplace(k0=60)"


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A matrix of recorded runtimes with the worth of every run.

    Attributes:
        matrix: The runtimes as they are stored; its `columns` are the order of the instances.
        utility: The utility function.
        rows: The stored row of every configuration, in the order in which they are drawn.
        evidence: What procedures and rivals read.

    Example:
        >>> from utilitune import ProcedureSpec, replay
        >>> recording = Recording.of("synthetic:rows=5,columns=2000,seed=1", "uniform(k0=60)")
        >>> oup = ProcedureSpec("oup", epsilon=0.3)
        >>> len({replay(recording.shuffled(seed), oup).best for seed in (1, 2)})
        1
    """

    matrix: RuntimeMatrix
    utility: Utility
    rows: NDArray[np.int64]
    evidence: RecordedEvidence

    @classmethod
    def of(
        cls, data: Recording | RuntimeMatrix | str | Path, utility: Utility | str | None = None
    ) -> Recording:
        """Lay out recorded runtimes; what is laid out already stays as it is, with its own utility.

        Args:
            data: A matrix, or what `utilitune.read_matrix` understands: a file, a folder, a data set's name.
            utility: The utility function, or its text form; ``log-laplace(k0=60)`` if left out.

        Raises:
            UsageError: The data is laid out already, for another utility function.
        """
        worth = parse_utility(utility) if isinstance(utility, str) else utility
        if isinstance(data, Recording):
            if worth not in (None, data.utility):
                raise UsageError(
                    f"this recording is laid out for {data.utility}, not for {worth}: leave the utility "
                    "out, or lay the matrix out anew with Recording.of"
                )
            return data
        matrix = data if isinstance(data, RuntimeMatrix) else read_matrix(data)
        if worth is None:
            worth = parse_utility(_USUAL_UTILITY)
        return cls(matrix, worth, np.arange(matrix.rows), RecordedEvidence(matrix, worth))

    def shuffled(self, seed: int, positions: int | None = None) -> Recording:
        """The same runs, with configurations and instances in a random order.

        Args:
            seed: What both orders follow from, each by ``numpy.random.default_rng(seed)``.
            positions: Draw so many of the instances, with repetition; every instance once if left out.
        """
        matrix = self.matrix
        order = matrix.shuffle_columns(seed) if positions is None else matrix.resample(positions, seed)
        rows = np.random.default_rng(seed).permutation(matrix.rows)
        drawn = np.argsort(self.rows)  # when each stored row is drawn so far
        return Recording(order, self.utility, rows, self.evidence.arranged(drawn[rows], order.columns))

    def runs(self, seed: int | None = None) -> RecordedRuns:
        """What rivals play on; they draw in the recording's order, or in a random one by this seed."""
        count = self.evidence.configurations
        return RecordedRuns(
            evidence=self.evidence.arrays,
            utility=self.utility,
            configurations=count,
            positions=self.evidence.positions,
            limit_s=self.matrix.cutoff_s,
            order=np.arange(count) if seed is None else np.random.default_rng(seed).permutation(count),
            features=self.features,
        )

    @property
    def features(self) -> NDArray[np.float64] | None:
        """What is known of the configurations, in the order in which they are drawn."""
        return None if self.matrix.features is None else self.matrix.features[self.rows]

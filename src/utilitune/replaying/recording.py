"""Recorded runs laid out once, for many replays.

Laying a large matrix out for a utility function takes seconds and gigabytes; playing another procedure on
it, or the same one with configurations and instances in another order, takes neither. So a `Recording` keeps
the layout, and `Recording.shuffled` gives the same runs in another order without copying them.

A promise rests on random orders: that of the instances, and, where rows count as random draws from a larger
space, that of the configurations. Data are seldom stored in one: they are sorted by name, or by family. So a
recording knows which of its orders were drawn at random. `Recording.in_random_order` draws those that were
not, and `Recording.condition` says what a promise rests on where they were left as they are.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from utilitune.data import RuntimeMatrix, read_matrix
from utilitune.data.matrix import random_order
from utilitune.errors import UsageError
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.replaying.judging import JudgedRuns
from utilitune.rivals.rival import RecordedRuns
from utilitune.utility import SolutionUtility, Step, Utility, parse_any_utility, parse_utility

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
        random_rows: Whether the order of the configurations was drawn at random.
        judged: Where the quality of solutions counts, what judges them; `utility` is then what is left of the
            worth after a time.

    Example:
        >>> from utilitune import ProcedureSpec, replay
        >>> recording = Recording.of("synthetic:rows=5,columns=2000,seed=1", "uniform(k0=60)")
        >>> oup = ProcedureSpec("oup", delta=0.1, epsilon=0.3)
        >>> len({replay(recording.shuffled(seed), oup).best for seed in (1, 2)})
        1
    """

    matrix: RuntimeMatrix
    utility: Utility
    rows: NDArray[np.int64]
    evidence: RecordedEvidence
    random_rows: bool = False
    judged: JudgedRuns | None = None

    @classmethod
    def of(
        cls,
        data: Recording | RuntimeMatrix | str | Path,
        utility: Utility | SolutionUtility | str | None = None,
    ) -> Recording:
        """Prepare recorded runtimes for replays; a `Recording` comes back as it is, with its own utility.

        Args:
            data: A matrix, or what `utilitune.read_matrix` understands: a file, a folder, a data set's name.
            utility: The utility function, or its text form; ``log-laplace(k0=60)`` if left out, or
                for solutions that with which they were recorded.

        Raises:
            UsageError: The data is laid out already, for another utility function.
        """
        if isinstance(data, Recording):
            worth = parse_any_utility(utility) if isinstance(utility, str) else utility
            if worth not in (None, data.worth):
                raise UsageError(
                    f"this recording is laid out for {data.worth}, not for {worth}: leave the utility "
                    "out, or lay the matrix out anew with Recording.of"
                )
            return data
        matrix = data if isinstance(data, RuntimeMatrix) else read_matrix(data)
        rows = np.arange(matrix.rows)
        if matrix.solutions is not None:
            return cls._of_solutions(matrix, utility)
        if isinstance(utility, SolutionUtility):
            raise UsageError("these are recorded runtimes; they hold no solutions")
        of_time = parse_utility(utility or _USUAL_UTILITY) if not isinstance(utility, Utility) else utility
        return cls(matrix, of_time, rows, RecordedEvidence(matrix, of_time), matrix.random_rows)

    @classmethod
    def _of_solutions(
        cls, matrix: RuntimeMatrix, utility: Utility | SolutionUtility | str | None
    ) -> Recording:
        if isinstance(utility, Utility):
            utility = str(utility)  # a utility of time alone is refused by the words for it
        judged = JudgedRuns.of(matrix, utility)
        rows = np.arange(matrix.rows)
        evidence = judged.evidence().arranged(rows, matrix.columns)
        return cls(matrix, judged.ceiling, rows, evidence, matrix.random_rows, judged)

    @property
    def worth(self) -> Utility | SolutionUtility:
        """The utility that it is laid out for."""
        return self.utility if self.judged is None else self.judged.judge.utility

    def played_by(self, procedure: str) -> tuple[RecordedEvidence, Utility]:
        """What a procedure reads, and what is left of the worth after a time."""
        if self.judged is None or self.judged.looks_early(procedure):
            return copy(self.evidence), self.utility
        return self.evidence.at_the_end(), Step(self.matrix.cutoff_s)

    def shuffled(self, seed: int, positions: int | None = None) -> Recording:
        """The same runs, with configurations and instances in random orders, independent of each other.

        Args:
            seed: What both orders follow from, see `RuntimeMatrix.shuffle_rows` and `shuffle_columns`.
            positions: Draw so many of the instances, with repetition; every instance once if left out.
        """
        matrix = self.matrix
        order = matrix.shuffle_columns(seed) if positions is None else matrix.resample(positions, seed)
        return replace(self.arranged(random_order(seed, matrix.rows), order), random_rows=True)

    def in_random_order(self, seed: int) -> Recording:
        """The same runs; what was not drawn at random yet, configurations or instances, is shuffled."""
        matrix = self.matrix
        if self.random_rows and matrix.random_columns:
            return self
        columns = matrix if matrix.random_columns else matrix.shuffle_columns(seed)
        rows = self.rows if self.random_rows else random_order(seed, matrix.rows)
        return replace(self.arranged(rows, columns), random_rows=True)

    def arranged(self, rows: NDArray[np.int64], columns: RuntimeMatrix) -> Recording:
        """The same runs in an order of your own.

        Args:
            rows: The stored rows in the order in which they are drawn.
            columns: This recording's matrix with its instances in another order.
        """
        drawn = np.argsort(self.rows)  # when each stored row is drawn so far
        evidence = self.evidence.arranged(drawn[rows], columns.columns)
        return replace(self, matrix=columns, rows=rows, evidence=evidence, random_rows=False)

    @property
    def repeats(self) -> NDArray[np.int64]:
        """For every configuration, in the order in which they are drawn, the first one that is the same."""
        same = self.matrix.same_as()[self.rows]
        _, first, which = np.unique(same, return_index=True, return_inverse=True)
        return np.asarray(first[which], np.int64)

    def condition(self, *, growing: bool) -> str:
        """What a promise rests on where an order was taken as it is stored; nothing where it was not.

        Args:
            growing: Whether rows count as random draws from a larger space.
        """
        stored = [] if self.matrix.random_columns else ["instances"]
        if growing and not self.random_rows:
            stored.append("configurations")
        if not stored:
            return ""
        return f"This holds only if the data hold their {' and their '.join(stored)} in random order."

    def runs(self, seed: int | None = None) -> RecordedRuns:
        """What rivals play on; they draw in the recording's order, or in a random one by this seed."""
        if self.judged is not None:
            raise UsageError(
                "rivals play on recorded runtimes, and these are solutions: take a procedure of ours, or let "
                "SMAC3, Optuna or irace run the program itself with 'utilitune peer'"
            )
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

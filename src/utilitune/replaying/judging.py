"""Recorded solutions as evidence: each run judged once, with an interval for every captime where that helps.

The runs of the default that others are compared with are taken as known: a replay does not pay for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import Objective, RunOutcome, RunStatus, TracePoint
from utilitune.errors import DataError, UsageError
from utilitune.procedures.anytime_evidence import RecordedLooks
from utilitune.scenario.judging import AnytimeJudge, QualityJudge
from utilitune.scenario.model import DEFAULT_PROCEDURE, QualityRules
from utilitune.utility import Goal, SolutionUtility, Step, parse_solution_utility
from utilitune.utility.solutions import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from utilitune.data import RuntimeMatrix
    from utilitune.data.solutions import RecordedSolutions
    from utilitune.procedures.anytime_evidence import Looks
    from utilitune.utility import Utility


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRuns:
    """The runs of a matrix with solutions, and what judges them.

    Attributes:
        matrix: The runs.
        judge: What they are worth.
    """

    matrix: RuntimeMatrix
    judge: QualityJudge

    @classmethod
    def of(cls, matrix: RuntimeMatrix, utility: SolutionUtility | str | None = None) -> JudgedRuns:
        """Judge recorded runs by a utility; by the one they were recorded with if left out."""
        found = _solutions(matrix)
        worth = found.utility if utility is None else utility
        if isinstance(worth, str):
            worth = parse_solution_utility(worth)
        if not math.isfinite(matrix.cutoff_s):
            raise DataError("recorded solutions need the limit of their runs (cutoff_s)", path=matrix.source)
        try:
            objective, better = Objective(found.objective), Goal(found.better)
        except ValueError as error:
            raise DataError(f"of the recorded solutions, {error}", path=matrix.source) from None
        worth.check(better)
        rules = QualityRules(objective, better, _known(found.known), _known(found.limit))
        kind = AnytimeJudge if objective is Objective.ANYTIME else QualityJudge
        return cls(matrix, kind(worth, rules, _Columns(), matrix.cutoff_s))

    def looks_early(self, procedure: str) -> bool:
        """Whether a procedure looks at these runs before their end."""
        return isinstance(self.judge, AnytimeJudge) and procedure == DEFAULT_PROCEDURE

    @property
    def ceiling(self) -> Utility:
        """The most that a solution can be worth after a time; nothing from the limit on."""
        return self.judge.ceiling if isinstance(self.judge, AnytimeJudge) else Step(self.judge.limit_s)

    def evidence(self) -> RecordedLooks:
        """What procedures read; positions are the stored columns."""
        latest_s = math.nextafter(self.judge.limit_s, 0.0)
        ended_s = np.minimum(self.matrix.runtimes_s, latest_s).astype(np.float64)
        worth = np.array([[self.judge.worth(*run) for run in row] for row in self._runs()])
        return RecordedLooks(ended_s, worth, self._looks())

    def _looks(self) -> Callable[[NDArray[np.float64]], Looks] | None:
        judge = self.judge
        if not isinstance(judge, AnytimeJudge):
            return None

        def looks(captimes_s: NDArray[np.float64]) -> Looks:
            pairs = [judge.looks(*run, captimes_s) for row in self._runs() for run in row]
            shape = (*self.matrix.runtimes_s.shape, len(captimes_s))
            least, most = (np.array([pair[side] for pair in pairs]).reshape(shape) for side in (0, 1))
            return least, most

        return looks

    def _runs(self) -> list[list[tuple[int, RunOutcome, RunOutcome | None]]]:
        rows, width = self.matrix.runtimes_s.shape
        defaults = [self._default(column) for column in range(width)]
        return [
            [(column, self._outcome(row, column), defaults[column]) for column in range(width)]
            for row in range(rows)
        ]

    def _outcome(self, row: int, column: int) -> RunOutcome:
        found = _solutions(self.matrix)
        ended_s = float(self.matrix.runtimes_s[row, column])
        status = RunStatus.FINISHED if ended_s < self.judge.limit_s else RunStatus.TIMEOUT
        at = found.of_run(row, column)
        points = zip(found.time_s[at], found.quality[at], found.bound[at], strict=True)
        trace = tuple(TracePoint(float(time_s), _number(q), _number(b)) for time_s, q, b in points)
        return RunOutcome(
            RunStatus.CRASHED if found.failed[row, column] else status,
            min(ended_s, self.judge.limit_s),
            quality=trace[-1].quality if trace else None,
            bound=trace[-1].bound if trace else None,
            trace=trace,
        )

    def _default(self, column: int) -> RunOutcome | None:
        if DEFAULT not in self.judge.utility.references:
            return None
        reached = _number(_solutions(self.matrix).default[column])
        trace = () if reached is None else (TracePoint(0.0, reached),)
        return RunOutcome(RunStatus.FINISHED, 0.0, quality=reached, trace=trace)


class _Columns:
    """The instances of a matrix, by the number of their column."""

    def name(self, position: int) -> str:
        return str(position)


def _solutions(matrix: RuntimeMatrix) -> RecordedSolutions:
    if matrix.solutions is None:
        raise UsageError("these are recorded runtimes; they hold no solutions")
    return matrix.solutions


def _known(numbers: NDArray[np.float64]) -> dict[str, float]:
    return {str(column): float(each) for column, each in enumerate(numbers) if not math.isnan(each)}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

"""Recorded runtimes as a ground: a proposal is a point of the feature space, and the nearest row is run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from utilitune.errors import UsageError
from utilitune.rivals.packages.arena import Played
from utilitune.rivals.packages.nearest import NearestRow
from utilitune.rivals.rival import Scores
from utilitune.spaces import ParameterSpace
from utilitune.spaces.parameters import NumberParameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from utilitune.rivals.rival import RankedBy, RecordedRuns
    from utilitune.spaces.parameters import Value


class RecordedGround:
    """A matrix whose configurations have features; every feature is a parameter from 0 to 1.

    Args:
        runs: The recorded runs.
        objective: What a score is.
        captime_s: Where runs are stopped.
    """

    slots = 1
    features = None

    def __init__(self, runs: RecordedRuns, objective: RankedBy, captime_s: float) -> None:
        if runs.features is None:
            raise UsageError(
                "a peer needs features of the configurations: record them with utilitune collect"
            )
        if len(runs.features) != runs.configurations:
            raise UsageError(
                f"there are features of {len(runs.features)} configurations, but {runs.configurations} rows"
            )
        self._nearest = NearestRow(runs.features)
        self._scores_at = partial(Scores, runs, objective)
        self.captime_s = captime_s
        self._names = [f"x{axis}" for axis in range(self._nearest.dimensions)]
        self.space = ParameterSpace([NumberParameter(name, 0.0, 1.0, 0.5) for name in self._names])
        self.given = (self.space.default(),)
        self.positions: int | None = runs.positions

    def number(self, assignment: Mapping[str, Value]) -> int:
        """The nearest row."""
        return self._nearest.row([float(assignment[name]) for name in self._names])

    def run(
        self, configuration: int, positions: Sequence[int], captime_s: float | None = None
    ) -> Sequence[Played]:
        """Look the runs up."""
        limit_s = self.captime_s if captime_s is None else min(captime_s, self.captime_s)
        scores_at = self._scores_at(limit_s)
        found = (scores_at.of(configuration, position, position + 1) for position in positions)
        return [Played(float(scores[0]), float(paid_s[0]), limit_s) for scores, paid_s in found]

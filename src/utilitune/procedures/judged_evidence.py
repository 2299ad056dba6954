"""Evidence for runs whose worth depends on more than their time: the quality of their solution.

Every run is made up to one limit T. Until it has ended nothing is known of its worth, which may be anything
from 0 to 1; then its worth w is a number, and the interval [X, Y] of the run is [w, w]. So procedures see
what they see of a runtime under a deadline: one captime, T; every run known at it has finished; and its value
is w. A run that was stopped at T is over like any other: it is worth what its last solution is worth, or
nothing.

Where a solution is compared with that of the default configuration, which has the number 0, on the same
instance, a run is known once both have ended. `JudgedEvidence.lacking` names the runs of the default that
have to be made.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from utilitune.domain import RunRequest, RunStatus
from utilitune.procedures.evidence import Evidence, LiveEvidence
from utilitune.utility import Step, Uniform

if TYPE_CHECKING:
    from collections.abc import Iterable

    from utilitune.domain import RunOutcome
    from utilitune.utility import Utility

DEFAULT = 0
"""The number of the default configuration."""


class Judge(Protocol):
    """What the runs of a task are worth."""

    @property
    def limit_s(self) -> float:
        """The time T at which every run is stopped."""

    @property
    def compares_with_default(self) -> bool:
        """Whether the worth of a run depends on what the default configuration reached on its instance."""

    def worth(self, position: int, outcome: RunOutcome, default: RunOutcome | None) -> float:
        """What a run that is over is worth, from 0 to 1.

        Args:
            position: On which instance of the order it was made.
            outcome: What came of it.
            default: What came of the default configuration there, where that matters.
        """


def is_over(request: RunRequest, outcome: RunOutcome, limit_s: float) -> bool:
    """Whether a run is known to its end; runs of earlier folders may have had other limits.

    One that was stopped later than the limit, or failed later, may have had another solution at the limit.
    """
    if outcome.status is RunStatus.TIMEOUT:
        return request.captime_s == limit_s
    return outcome.runtime_s <= limit_s and (outcome.failed or outcome.quality is not None)


class JudgedEvidence(LiveEvidence):
    """Evidence that grows run by run, each judged when it is over.

    Args:
        judge: What runs are worth.
        positions: How many instances there are; a large number for an endless generator.
    """

    imaginable = False

    def __init__(self, judge: Judge, positions: int) -> None:
        super().__init__(Step(judge.limit_s), positions)
        self._judge = judge
        self.default_is_known = judge.compares_with_default
        self._latest_s = math.nextafter(judge.limit_s, 0.0)
        self._defaults: dict[int, RunOutcome] = {}
        self._waiting: dict[int, dict[int, RunOutcome]] = {}

    def tell(self, request: RunRequest, outcome: RunOutcome) -> None:
        """Add what came of a run; one that was stopped before the limit says nothing yet."""
        configuration, position = request.configuration, request.position
        if not self._is_over(request, outcome):
            return
        if not self._judge.compares_with_default:
            self._settle(configuration, position, outcome, None)
            return
        waiting = self._waiting.setdefault(position, {})
        waiting.setdefault(configuration, outcome)
        if configuration == DEFAULT:
            self._defaults.setdefault(position, outcome)
        default = self._defaults.get(position)
        if default is not None:
            for each, ended in self._waiting.pop(position).items():
                self._settle(each, position, ended, default)

    def lacking(self, requests: Iterable[RunRequest]) -> list[RunRequest]:
        """The runs to be made for these to be known: those that have not ended, and runs of the default."""
        found: dict[RunRequest, None] = {}
        for request in requests:
            position = request.position
            if request.configuration not in self._waiting.get(position, {}):
                found[request] = None
            if self._judge.compares_with_default and position not in self._defaults:
                found[RunRequest(DEFAULT, position, request.captime_s)] = None
        return list(found)

    @property
    def learnable(self) -> tuple[Evidence, Utility]:
        """Runs as a model of runtimes can learn from them: (1 − w)·T seconds, T being worth nothing."""
        limit_s = self._judge.limit_s
        arrays = self.arrays
        known = arrays.runtime_s < math.inf
        seconds = arrays.runtime_s.copy()
        seconds[known] = (1.0 - arrays.utility[known]) * limit_s
        return arrays._replace(runtime_s=seconds), Uniform(limit_s)

    def _is_over(self, request: RunRequest, outcome: RunOutcome) -> bool:
        return is_over(request, outcome, self._judge.limit_s)

    def _settle(
        self, configuration: int, position: int, outcome: RunOutcome, default: RunOutcome | None
    ) -> None:
        at = self._place(configuration, position)
        if math.isfinite(self._runtime_s[at]):
            return
        ended_s = min(outcome.runtime_s, self._latest_s)
        self._runtime_s[at] = self._known_s[at] = ended_s
        self._value[at] = self._judge.worth(position, outcome, default)

"""What a run has spent over every start of it, whoever makes its runs: the one account budgets look at."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utilitune.domain import RunOutcome, RunStatus


@dataclass(slots=True)
class Books:
    """What was spent; a run that was taken over from an earlier folder cost nothing here and is never noted.

    Attributes:
        runs: Runs made.
        time_s: Seconds in them by the scenario's measure, with what stopped ones ran past their captime.
        elapsed_before_s: Seconds on the clock in earlier starts.
        statuses: How the runs ended.
    """

    runs: int = 0
    time_s: float = 0.0
    elapsed_before_s: float = 0.0
    statuses: Counter[RunStatus] = field(default_factory=Counter)

    def note(self, outcome: RunOutcome) -> None:
        """Enter a run that was made."""
        self.runs += 1
        self.time_s += outcome.runtime_s + outcome.overshoot_s
        self.statuses[outcome.status] += 1

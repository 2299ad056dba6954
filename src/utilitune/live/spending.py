"""What a run has spent over every start of it, whoever makes its runs: the account that budgets look at."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.domain import RunOutcome, RunStatus
    from utilitune.store.base import StoreReader
    from utilitune.store.records import SessionRecord


@dataclass(slots=True)
class Spending:
    """What was spent. A run that was taken over from an earlier folder cost nothing here and is never noted.

    Attributes:
        runs: Runs made.
        time_s: Seconds in them by the scenario's measure, with what stopped ones ran past their captime. A
            run that continued an earlier one counts from there.
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
        self.time_s += outcome.paid_s
        self.statuses[outcome.status] += 1


def elapsed_s(store: StoreReader, sessions: Sequence[SessionRecord]) -> float:
    """Seconds on the clock in starts that are over; one that was killed lasted until its last run had ended.

    Args:
        store: Where the runs are kept.
        sessions: The starts, oldest first.
    """
    ends = [session.ended_at or session.started_at for session in sessions]
    if any(session.ended_at is None and session.elapsed_s is None for session in sessions):
        starts = [session.started_at for session in sessions]
        for run in store.runs():
            number = bisect_right(starts, run.started_at) - 1
            if number >= 0 and sessions[number].ended_at is None:
                ends[number] = max(ends[number], run.ended_at)
    return sum(
        max(0.0, end - session.started_at) if session.elapsed_s is None else session.elapsed_s
        for end, session in zip(ends, sessions, strict=True)
    )

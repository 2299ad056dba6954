"""When a target that keeps failing should stop the run: many identical failures in a row, no sooner.

A bad configuration may crash on every instance, and that is a finding, not a reason to stop. But a
target that has never worked and fails the same way again and again is broken. A wrapper that rejects
configurations works: it says so on purpose, and many in a row may deserve it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.targets.wrappers import REJECTED

if TYPE_CHECKING:
    from utilitune.domain import RunOutcome, RunStatus

NEVER_WORKED = 5
"""Identical failures in a row that end a run in which nothing has ever worked."""

STOPPED_WORKING = 200
"""The same after something has worked."""


class FailureWatch:
    """Counts identical failures in a row."""

    def __init__(self) -> None:
        self._last: tuple[RunStatus, int | None, str] | None = None
        self._streak = 0
        self._has_worked = False

    def note(self, outcome: RunOutcome) -> str | None:
        """Take in one outcome; where it is one too many of a kind, how many, in words."""
        if not outcome.failed:
            self._has_worked = True
            self._last, self._streak = None, 0
            return None
        kind = (outcome.status, outcome.exit_code, outcome.detail)
        self._streak = self._streak + 1 if kind == self._last else 1
        self._last = kind
        patient = self._has_worked or outcome.detail == REJECTED
        if self._streak < (STOPPED_WORKING if patient else NEVER_WORKED):
            return None
        return f"{self._streak} runs in a row"

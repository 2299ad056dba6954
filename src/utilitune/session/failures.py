"""When a target that keeps failing should stop the run: many identical failures in a row, no sooner.

A bad configuration may crash on every instance, and that is a finding, not a reason to stop. But a
target that has never worked and fails the same way again and again is broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.domain import RunStatus, StopReason

if TYPE_CHECKING:
    from utilitune.domain import RunOutcome

NEVER_WORKED = 5
"""Identical failures in a row that end a run in which nothing has ever worked."""

STOPPED_WORKING = 200
"""The same after something has worked."""


class FailureWatch:
    """Counts identical failures in a row."""

    def __init__(self) -> None:
        self._last: tuple[RunStatus, int | None, str] | None = None
        self._streak = 0
        self._configurations: set[int] = set()
        self._has_worked = False

    def note(self, configuration: int, outcome: RunOutcome, command: str) -> StopReason | None:
        """Take in one outcome; the reason to stop if there is one."""
        if outcome.status in (RunStatus.FINISHED, RunStatus.TIMEOUT):
            self._has_worked = True
            self._last, self._streak = None, 0
            self._configurations.clear()
            return None
        kind = (outcome.status, outcome.exit_code, outcome.detail)
        if kind != self._last:
            self._last, self._streak = kind, 0
            self._configurations.clear()
        self._streak += 1
        self._configurations.add(configuration)
        if self._streak < (STOPPED_WORKING if self._has_worked else NEVER_WORKED):
            return None
        return StopReason(
            "target-fails",
            f"{self._streak} runs in a row failed in the same way ({outcome.status.value}: "
            f"{outcome.detail or 'no detail'}); this command reproduces one of them: {command}",
        )

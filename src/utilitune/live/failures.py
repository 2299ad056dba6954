"""When a target that keeps failing should stop the run: many identical failures in a row, no sooner.

A bad configuration may crash on every instance, and that is a finding, not a reason to stop: even where it is
the default and comes first, and others that are drawn after it crash as well. But a target with which nothing
has ever worked, whatever its configuration, and that fails the same way again and again is broken. A wrapper
that rejects configurations works: it says so on purpose, and many in a row may deserve it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.targets.wrappers import REJECTED

if TYPE_CHECKING:
    from utilitune.domain import RunOutcome, RunStatus

NEVER_WORKED = 5
"""So many identical failures in a row can end a run in which nothing has ever worked..."""

DIFFERENT = 8
"""... if they come from so many configurations: where half of all crash, under 1 % end wrongly."""

STOPPED_WORKING = 200
"""So many end a run in any case."""


def last_line(text: str) -> str:
    """The line of a traceback or message that says most."""
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""


class FailureWatch:
    """Counts identical failures in a row.

    Args:
        configurations: How many configurations there are, if no more can join.
    """

    def __init__(self, configurations: int | None = None) -> None:
        self._different = DIFFERENT if configurations is None else min(DIFFERENT, configurations)
        self._last: tuple[RunStatus, int | None, str] | None = None
        self._streak = 0
        self._failed: set[int] = set()
        self._has_worked = False

    def note(self, configuration: int, outcome: RunOutcome) -> str | None:
        """Take in how a run ended; where it is one failure too many, how many there are, in words."""
        if not outcome.failed:
            self._has_worked = True
            self._last, self._streak = None, 0
            return None
        kind = (outcome.status, outcome.exit_code, outcome.detail)
        if kind != self._last:
            self._last, self._streak = kind, 0
            self._failed.clear()
        self._streak += 1
        self._failed.add(configuration)
        return f"{self._streak} runs in a row" if self._is_one_too_many(outcome) else None

    def _is_one_too_many(self, outcome: RunOutcome) -> bool:
        if self._has_worked or outcome.detail == REJECTED:
            return self._streak >= STOPPED_WORKING
        never_worked = self._streak >= NEVER_WORKED and len(self._failed) >= self._different
        return never_worked or self._streak >= STOPPED_WORKING

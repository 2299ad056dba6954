"""The seam between a run and the place where it is kept, and how much output is kept.

A `StoreReader` answers questions, also while another process writes. A `Store` also writes; it has one
owner. Every write is complete when its method returns, or when the block ends in which several are made
`together`: a process killed right after loses nothing of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from utilitune.errors.outside import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from utilitune.domain import PhaseRecord, Progress, RunOutcome, RunStatus, StopReason
    from utilitune.store.records import (
        ConfigurationRecord,
        EventRecord,
        FailedRun,
        ProgressRecord,
        RunRecord,
        SessionRecord,
        Snapshot,
    )

LONGEST_TAIL = 2_000
"""Characters of output kept of one run: its last ones."""

LONGEST_DETAIL = 500
"""Characters kept of the sentence that explains an outcome."""

ORDINARY_OUTPUT = 16_000_000
"""Characters of output kept of all runs that finished or timed out together; later ones are kept without."""

FAILURE_OUTPUT = 64_000_000
"""The same for crashed, memory-out and wrong-answer runs, whose output is what one wants to read."""


class StoreReader(Protocol):
    """Everything one can ask a stored run."""

    @property
    def snapshot(self) -> Snapshot:
        """The scenario as it was when the run began."""

    def sessions(self) -> list[SessionRecord]:
        """Every start of the run, oldest first."""

    def configurations(self) -> list[ConfigurationRecord]:
        """Every configuration, by index."""

    def runs(
        self,
        *,
        configuration: int | None = None,
        position: int | None = None,
        status: RunStatus | None = None,
        since: int = 0,
    ) -> Iterator[RunRecord]:
        """Runs in the order of storing, those that match everything given; `since` is a sequence number."""

    def counts(self) -> dict[RunStatus, int]:
        """How many runs ended in each way; every status has its entry."""

    def failed_runs(self, *, since: int = 0) -> Iterator[FailedRun]:
        """Runs that failed from a sequence number on, in that order, with no more than tells why."""

    def runs_each(self) -> dict[int, int]:
        """How many runs there are of each configuration that was run at all, by its number."""

    def trajectory(self) -> Iterator[ProgressRecord]:
        """All progress, oldest first."""

    def last_progress(self) -> ProgressRecord | None:
        """The latest progress, if there is any."""

    def phases(self) -> list[PhaseRecord]:
        """The phases that are over, for procedures with phases, the first one first."""

    def events(self) -> list[EventRecord]:
        """Every event, oldest first."""

    def facts(self) -> dict[str, str]:
        """What is kept once of the whole run, by name."""

    def nominations(self) -> list[int]:
        """The configuration of every nomination, the first one first."""

    def request_stop(self) -> None:
        """Ask the owner of this run to stop in good order; works from another process too."""

    def stop_requested(self) -> bool:
        """Whether somebody asked for a stop since the latest session began."""

    def request_pause(self, *, pause: bool) -> None:
        """Ask the owner of this run to begin no more runs, or to go on."""

    def pause_requested(self) -> bool:
        """Whether somebody asked for a pause since the latest session began, and for no end of it."""

    def request_more_time(self, seconds: float) -> None:
        """Ask the owner of this run to go on for so much longer on the clock than its budget says."""

    def more_time_s(self) -> float:
        """By how much the budget of time on the clock was extended since the latest session began."""

    def close(self) -> None:
        """Release everything; a closed store answers nothing more."""


class Store(StoreReader, Protocol):
    """A store that can be written to, by one owner from one thread."""

    def begin_session(self, settings: Mapping[str, Any]) -> None:
        """Note that the run was started with these settings, and forget an old request to stop."""

    def end_session(self, stop: StopReason | None = None) -> None:
        """Note that the current session ended, and why."""

    def add_configuration(self, *records: ConfigurationRecord) -> None:
        """Keep one configuration, or several together; every index must be new, else `ValueError`."""

    def add_run(self, record: RunRecord) -> int:
        """Keep a run and return its sequence number; its configuration must be kept, else `ValueError`."""

    def together(self) -> AbstractContextManager[None]:
        """A block for several writes: they are complete at its end, however it ends."""

    def add_progress(self, progress: Progress) -> None:
        """Add a point to the trajectory."""

    def add_phase(self, phase: PhaseRecord) -> None:
        """Keep where the procedure stood at the end of a phase; its number must be new, else `ValueError`."""

    def add_event(self, kind: str, text: str) -> None:
        """Keep a warning or a similar message."""

    def keep_fact(self, name: str, value: str) -> None:
        """Keep something about the whole run, in place of what was kept by that name before."""

    def nominate(self, configuration: int) -> int:
        """Keep that a configuration is nominated; return the nomination's number, from 1.

        The configuration must be kept, else `ValueError`. Only then is the nominee's order revealed.
        """


NOTE = "note"
"""The fact that holds what is to be said beside the latest answer."""


def note_once(store: Store, kind: str, text: str) -> None:
    """Keep a message unless the run has it already, from an earlier start say."""
    if all((event.kind, event.text) != (kind, text) for event in store.events()):
        store.add_event(kind, text)


class OutputAllowance:
    """How much output may still be kept: a share for ordinary runs and one for failures.

    Args:
        ordinary: Characters already kept of runs that finished or timed out.
        failures: Characters already kept of the others.
    """

    def __init__(self, ordinary: int = 0, failures: int = 0) -> None:
        self._left = {True: ORDINARY_OUTPUT - ordinary, False: FAILURE_OUTPUT - failures}

    def trim(self, outcome: RunOutcome) -> RunOutcome:
        """The outcome with as much of its texts as is to be kept."""
        if not outcome.output_tail and not outcome.detail:
            return outcome
        ordinary = not outcome.failed
        tail = storable(outcome.output_tail[-LONGEST_TAIL:])
        if len(tail) > self._left[ordinary]:
            tail = ""
        self._left[ordinary] -= len(tail)
        return replace(outcome, output_tail=tail, detail=storable(outcome.detail[:LONGEST_DETAIL]))

"""The same store without a folder: for tests, and for runs whose result is used at once."""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.domain import RunStatus
from utilitune.store import facts
from utilitune.store.base import OutputAllowance
from utilitune.store.records import (
    EventRecord,
    FailedRun,
    ProgressRecord,
    RunRecord,
    SessionRecord,
    Snapshot,
    to_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from utilitune.domain import PhaseRecord, Progress, StopReason
    from utilitune.store.records import ConfigurationRecord


class MemoryStore:
    """Keeps a run in lists.

    Args:
        snapshot: The scenario the run is about.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = Snapshot(_as_stored(snapshot.scenario), snapshot.digest)
        self._sessions: list[SessionRecord] = []
        self._configurations: dict[int, ConfigurationRecord] = {}
        self._runs: list[RunRecord] = []
        self._trajectory: list[ProgressRecord] = []
        self._phases: list[PhaseRecord] = []
        self._events: list[EventRecord] = []
        self._facts: dict[str, str] = {}
        self._nominations: list[int] = []
        self._allowance = OutputAllowance()
        self._stop_requested = self._paused = False
        self._more_time_s = 0.0
        self._began_s = 0.0

    def begin_session(self, settings: Mapping[str, Any]) -> None:
        """Note that the run was started with these settings, and forget an old request to stop."""
        machine = facts.machine().facts
        session = SessionRecord(time.time(), _as_stored(settings), versions=facts.versions(), machine=machine)
        self._sessions.append(session)
        self._began_s = time.monotonic()
        self._stop_requested = self._paused = False
        self._more_time_s = 0.0

    def end_session(self, stop: StopReason | None = None) -> None:
        """Note that the current session ended, and why."""
        if self._sessions and self._sessions[-1].ended_at is None:
            lasted_s = time.monotonic() - self._began_s
            ended = replace(self._sessions[-1], ended_at=time.time(), stop=stop, elapsed_s=lasted_s)
            self._sessions[-1] = ended

    def add_configuration(self, *records: ConfigurationRecord) -> None:
        """Keep one configuration, or several together; every index must be new, else `ValueError`."""
        new = {record.index: replace(record, assignment=_as_stored(record.assignment)) for record in records}
        if len(new) < len(records) or new.keys() & self._configurations.keys():
            raise ValueError("does not fit what is stored: a configuration is already there")
        self._configurations.update(new)

    def add_run(self, record: RunRecord) -> int:
        """Keep a run and return its sequence number; its configuration must be kept, else `ValueError`."""
        if record.request.configuration not in self._configurations:
            raise ValueError(f"does not fit what is stored: no configuration {record.request.configuration}")
        sequence = len(self._runs)
        self._runs.append(replace(record, outcome=self._allowance.trim(record.outcome), sequence=sequence))
        return sequence

    def together(self) -> AbstractContextManager[None]:
        """A block for several writes; here each is complete at once."""
        return contextlib.nullcontext()

    def add_progress(self, progress: Progress) -> None:
        """Add a point to the trajectory."""
        self._trajectory.append(ProgressRecord(progress, time.time(), len(self._runs)))

    def add_phase(self, phase: PhaseRecord) -> None:
        """Keep where the procedure stood at the end of a phase; its number must be new, else `ValueError`."""
        if any(kept.phase == phase.phase for kept in self._phases):
            raise ValueError(f"does not fit what is stored: phase {phase.phase} is already there")
        self._phases.append(phase)

    def add_event(self, kind: str, text: str) -> None:
        """Keep a warning or a similar message."""
        self._events.append(EventRecord(kind, text, time.time()))

    def keep_fact(self, name: str, value: str) -> None:
        """Keep something about the whole run, in place of what was kept by that name before."""
        self._facts[name] = value

    def nominate(self, configuration: int) -> int:
        """Keep that a configuration is nominated; return the nomination's number, from 1."""
        if configuration not in self._configurations:
            raise ValueError(f"does not fit what is stored: no configuration {configuration}")
        self._nominations.append(configuration)
        return len(self._nominations)

    def facts(self) -> dict[str, str]:
        """What is kept once of the whole run, by name."""
        return dict(sorted(self._facts.items()))

    def nominations(self) -> list[int]:
        """The configuration of every nomination, the first one first."""
        return list(self._nominations)

    def sessions(self) -> list[SessionRecord]:
        """Every start of the run, oldest first."""
        return list(self._sessions)

    def configurations(self) -> list[ConfigurationRecord]:
        """Every configuration, by index."""
        return [self._configurations[index] for index in sorted(self._configurations)]

    def runs(
        self,
        *,
        configuration: int | None = None,
        position: int | None = None,
        status: RunStatus | None = None,
        since: int = 0,
    ) -> Iterator[RunRecord]:
        """Runs in the order of storing, those that match everything given; `since` is a sequence number."""
        return (
            run
            for run in self._runs[max(since, 0) :]
            if (configuration is None or run.request.configuration == configuration)
            and (position is None or run.request.position == position)
            and (status is None or run.outcome.status is status)
        )

    def counts(self) -> dict[RunStatus, int]:
        """How many runs ended in each way; every status has its entry."""
        found = dict.fromkeys(RunStatus, 0)
        for run in self._runs:
            found[run.outcome.status] += 1
        return found

    def failed_runs(self, *, since: int = 0) -> Iterator[FailedRun]:
        """Runs that failed from a sequence number on, in that order, with no more than tells why."""
        return (
            FailedRun(
                run.outcome.status,
                run.request.configuration,
                run.request.position,
                run.outcome.detail,
                run.sequence,
            )
            for run in self._runs
            if run.outcome.failed and run.sequence >= since
        )

    def runs_each(self) -> dict[int, int]:
        """How many runs there are of each configuration that was run at all, by its number."""
        return dict(Counter(run.request.configuration for run in self._runs))

    def trajectory(self) -> Iterator[ProgressRecord]:
        """All progress, oldest first."""
        return iter(list(self._trajectory))

    def last_progress(self) -> ProgressRecord | None:
        """The latest progress, if there is any."""
        return self._trajectory[-1] if self._trajectory else None

    def phases(self) -> list[PhaseRecord]:
        """The phases that are over, for procedures with phases, the first one first."""
        return sorted(self._phases, key=lambda each: each.phase)

    def events(self) -> list[EventRecord]:
        """Every event, oldest first."""
        return list(self._events)

    def request_stop(self) -> None:
        """Ask the owner of this run to stop in good order."""
        self._stop_requested = True

    def stop_requested(self) -> bool:
        """Whether somebody asked for a stop since the latest session began."""
        return self._stop_requested

    def request_pause(self, *, pause: bool) -> None:
        """Ask the owner of this run to begin no more runs, or to go on."""
        self._paused = pause

    def pause_requested(self) -> bool:
        """Whether somebody asked for a pause since the latest session began, and for no end of it."""
        return self._paused

    def request_more_time(self, seconds: float) -> None:
        """Ask the owner of this run to go on for so much longer on the clock than its budget says."""
        self._more_time_s += seconds

    def more_time_s(self) -> float:
        """By how much the budget of time on the clock was extended since the latest session began."""
        return self._more_time_s

    def close(self) -> None:
        """Nothing has to be released."""


def _as_stored(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values as they would come back from a file."""
    stored: Mapping[str, Any] = json.loads(to_json(values))
    return stored

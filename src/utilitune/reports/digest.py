"""What the pages show of many runs, kept up to date run by run.

A report reads a stored run once, the live page again and again. Both use a `RunDigest`: it reads only what is
new, remembers what every configuration adds up to, and works out estimates anew only for configurations
whose runs have changed. So an update costs as much as there is new, however long the run has been at work.
"""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from utilitune.domain import RunStatus
from utilitune.live.standing.worths import Estimate, Sharing, estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from utilitune.live.task import Task
    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord, RunRecord

RECENT_RUNS = 6_000
"""How many runs the timeline remembers: the latest."""

COLUMNS = ("number", "origin", "runs", "mean", "low", "high", "seconds", "timeouts", "failures")
"""What a row of the table of configurations holds."""

_DIGITS = 5
_BATCH = 5_000
_ANY = 2**31


@dataclass(slots=True)
class Tally:
    """What the runs of one configuration add up to."""

    runs: int = 0
    seconds: float = 0.0
    timeouts: int = 0
    failures: int = 0


@dataclass(slots=True)
class CaptimeCount:
    """How the runs with one captime ended."""

    finished: int = 0
    stopped: int = 0
    failed: int = 0


@dataclass(slots=True)
class _Lanes:
    """Which worker made a run: the first that was free when it began, by clocks that differ a little."""

    workers: int = 0
    free_at: list[float] = field(default_factory=list)

    def place(self, started_at: float, ended_at: float) -> int:
        lane = next((n for n, at in enumerate(self.free_at) if at <= started_at + 1e-3), len(self.free_at))
        if lane == len(self.free_at) and lane < max(1, self.workers):
            self.free_at.append(ended_at)
        elif lane == len(self.free_at):  # nobody was free, so the clocks differ by more: who is free soonest
            lane = self.free_at.index(min(self.free_at))
        self.free_at[lane] = ended_at
        return lane


class RunDigest:
    """The runs of one stored run, added up.

    Args:
        store: The run; only asked while `read` is called.
        task: What is configured.

    Attributes:
        records: The configurations read so far.
        captimes: How runs ended, by captime in seconds, to three digits: a search has one for every run.
        recent: The latest runs: start, end, lane, configuration, status, sequence number and position.
        revision: Grows with every `read` that found something.
    """

    def __init__(self, store: StoreReader, task: Task) -> None:
        self.records: list[ConfigurationRecord] = []
        self.captimes: dict[float, CaptimeCount] = {}
        self.recent: deque[tuple[float, float, int, int, str, int, int]] = deque(maxlen=RECENT_RUNS)
        self.revision = 0
        self.evidence = task.evidence()
        self._sharing = Sharing.of(store)
        self._next_sequence = 0
        self._tallies: list[Tally] = []
        self._numbers: list[int] = []
        self._kinds = {True: 0, False: 0}
        self._estimates: dict[int, Estimate] = {}
        self._changed_in: list[int] = []
        self._lanes = _Lanes(_workers(store))

    def read(self, store: StoreReader) -> bool:
        """Take in all that is new; whether there was anything."""
        found = False
        runs = store.runs(since=self._next_sequence)
        while fresh := list(itertools.islice(runs, _BATCH)):
            found = self._begin(found=found)
            if any(run.request.configuration >= len(self.records) for run in fresh):
                self._join_all(store)
            for run in sorted(fresh, key=lambda run: run.started_at):
                self._take(run)
            self._next_sequence = fresh[-1].sequence + 1
        if len(store.configurations()) > len(self.records):
            found = self._begin(found=found)
            self._join_all(store)
        return found

    def _begin(self, *, found: bool) -> bool:
        """The first news of a `read` begin a revision."""
        self.revision += not found
        return True

    def _join_all(self, store: StoreReader) -> None:
        for record in store.configurations()[len(self.records) :]:
            self._join(record)

    def _join(self, record: ConfigurationRecord) -> None:
        is_drawn = record.origin.value == "random"
        self._kinds[is_drawn] += 1
        self._numbers.append(self._kinds[is_drawn])
        self.records.append(record)
        self._tallies.append(Tally())
        self._changed_in.append(self.revision)

    def _take(self, run: RunRecord) -> None:
        request, outcome = run.request, run.outcome
        number = request.configuration
        self.evidence.tell(request, outcome)
        tally = self._tallies[number]
        tally.runs += 1
        tally.failures += outcome.failed
        tally.timeouts += outcome.status is RunStatus.TIMEOUT
        self._changed_in[number] = self.revision
        self._estimates.pop(number, None)
        count = self.captimes.setdefault(float(f"{request.captime_s:.3g}"), CaptimeCount())
        count.finished += outcome.finished
        count.failed += outcome.failed
        count.stopped += outcome.status is RunStatus.TIMEOUT
        if run.taken_over:
            return
        tally.seconds += outcome.paid_s
        lane = self._lanes.place(run.started_at, run.ended_at)
        status = outcome.status.value
        self.recent.append(
            (run.started_at, run.ended_at, lane, number, status, run.sequence, request.position)
        )

    @property
    def count(self) -> int:
        """How many runs were read."""
        return self._next_sequence

    def estimate(self, number: int) -> Estimate:
        """The mean utility of a configuration."""
        if number not in self._estimates:
            record = self.records[number]
            self._estimates[number] = estimate(self.evidence, record, self._numbers[number], self._sharing)
        return self._estimates[number]

    def changed_since(self, revision: int) -> list[int]:
        """Numbers of the configurations that have changed after this revision."""
        return [number for number, changed in enumerate(self._changed_in) if changed > revision]

    def rows(self, numbers: Iterable[int]) -> list[list[Any]]:
        """One row per configuration, see `COLUMNS`; numbers are short, for they are only looked at."""
        return [self._row(number) for number in numbers]

    def _row(self, number: int) -> list[Any]:
        tally, found = self._tallies[number], self.estimate(number)
        return [
            number,
            self.records[number].origin.value,
            tally.runs,
            None if found.mean is None else round(found.mean, _DIGITS),
            round(found.low, _DIGITS),
            round(found.high, _DIGITS),
            float(f"{tally.seconds:.5g}"),
            tally.timeouts,
            tally.failures,
        ]

    def judged(self) -> list[tuple[ConfigurationRecord, Estimate]]:
        """The configurations with runs that count, and how good they are."""
        tried = [number for number, tally in enumerate(self._tallies) if tally.runs]
        found = [(self.records[number], self.estimate(number)) for number in tried]
        return [(record, each) for record, each in found if each.mean is not None]


def _workers(store: StoreReader) -> int:
    """How many runs were made at the same time at most; runs made by others (ask and tell) have no limit."""
    counts = [session.settings.get("workers") for session in store.sessions()]
    known = [count for count in counts if isinstance(count, int) and count > 0]
    return max(known) if known and len(known) == len(counts) else _ANY

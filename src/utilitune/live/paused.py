"""Runs that were stopped at their captime and wait for a larger one.

Procedures raise captimes: a run that was stopped after a second may be wanted again up to two. Such a run is
not killed but kept, stopped, and continued where it was; only the further seconds are paid for. What is known
of it meanwhile is what is stored: it had not ended by its captime. So nothing that is decided depends on
whether it was continued or started afresh, and losing it costs time only.

**Memory.** All runs that are kept together take at most the scenario's ``limits.pause_memory``. Where that is
too little, the least promising are ended first: those of the configuration that was run least recently, since
procedures run promising configurations most; among its runs, the one that has run for the shortest time.

**When a run is not kept.** Where its captime is below `LEAST_S`, since a supervisor of its own costs more
than that would save. Where its captime is the largest. Where the program is told the captime, so that another
captime is another command. Where it reports its runtime itself, and where solutions count, since what a
program reports when it is stopped may matter then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from utilitune.execution.backend import KeepsRuns
from utilitune.live.asker import pair_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.domain import RunOutcome
    from utilitune.execution.backend import Backend, Job
    from utilitune.live.asker import Pair, UnderWay
    from utilitune.live.task import Task
    from utilitune.targets.base import Invocation, RawResult
    from utilitune.targets.base import Task as Prepared

LEAST_S = 0.2
"""From this captime on runs are kept: a supervisor takes about 45 ms of CPU time to start, and 10 MB."""


@dataclass(frozen=True, slots=True)
class _Paused:
    """A run that is kept.

    Attributes:
        job: The number of its job.
        task: What it runs.
        paid_s: What it has cost so far, by the measure.
        held_bytes: Memory that it holds.
    """

    job: int
    task: Prepared
    paid_s: float
    held_bytes: int


class PausedRuns:
    """The runs that are kept, and which to give up.

    Args:
        memory_bytes: What all of them together may hold; 0 keeps none.
        largest_s: A run that has reached this captime is not kept: there is no larger one.
        prepare: How a run is written down; None where runs must not be kept.
        release: Ends the run that was kept of a job.
    """

    def __init__(
        self,
        memory_bytes: int,
        largest_s: float,
        prepare: Callable[[Invocation], Prepared] | None,
        release: Callable[[int], None],
    ) -> None:
        self._memory_bytes = memory_bytes
        self._largest_s = largest_s
        self._prepare = prepare
        self._release = release
        self._kept: dict[Pair, _Paused] = {}
        self._continuing: dict[Pair, _Paused] = {}
        self._tasks: dict[Pair, Prepared] = {}
        self._last_run: dict[int, int] = {}
        self._begun = 0

    @classmethod
    def none(cls) -> Self:
        """Runs are never kept."""
        return cls(0, 0.0, None, lambda _: None)

    @classmethod
    def of(cls, task: Task, backend: Backend) -> Self:
        """Those of a task: as its scenario says, where its runs can be kept at all."""
        memory_bytes = task.scenario.pause_memory_bytes
        reports = task.target.reports_runtime or task.target.reports_quality
        if not memory_bytes or not isinstance(backend, KeepsRuns) or reports or task.rules.anytime:
            return cls.none()
        largest_s = task.scenario.max_captime_s
        limit_s = float("inf") if largest_s is None else largest_s
        return cls(memory_bytes, limit_s, task.target.prepare, backend.release)

    @property
    def held_bytes(self) -> int:
        """Memory that all of them hold together."""
        return sum(paused.held_bytes for paused in self._kept.values())

    def begin(self, run: UnderWay, job: Job) -> Job:
        """The job of a run that begins, with what is kept for it, and whether it is to be kept in turn."""
        if self._prepare is None:
            return job
        pair = pair_of(run.request)
        self._begun += 1
        self._last_run[run.request.configuration] = self._begun
        self._tasks[pair] = job.task
        paused = self._kept.pop(pair, None)
        if paused is not None and paused.task != job.task:
            self._release(paused.job)
            paused = None
        if paused is not None:
            self._continuing[pair] = paused
        continues = None if paused is None else paused.job
        return replace(job, keep=self._may_grow(run.invocation, job), continues=continues)

    def ended(self, job: int, run: UnderWay, raw: RawResult, outcome: RunOutcome) -> RunOutcome:
        """A run has ended or is kept from now on; returns its outcome with what was paid for before."""
        if self._prepare is None:
            return outcome
        pair = pair_of(run.request)
        before, task = self._continuing.pop(pair, None), self._tasks.pop(pair)
        if raw.continued and before is not None:
            outcome = replace(outcome, continued_s=before.paid_s)
        if raw.kept_bytes is not None:
            self._kept[pair] = _Paused(job, task, outcome.paid_s + outcome.continued_s, raw.kept_bytes)
            self._make_room()
        return outcome

    def lost(self, run: UnderWay) -> None:
        """A run was cancelled, or has come to nothing."""
        self._continuing.pop(pair_of(run.request), None)
        self._tasks.pop(pair_of(run.request), None)

    def _may_grow(self, invocation: Invocation, job: Job) -> bool:
        """Whether the same run may be wanted with a larger captime."""
        captime_s = invocation.captime_s
        if self._prepare is None or not LEAST_S <= captime_s < self._largest_s:
            return False
        return self._prepare(replace(invocation, captime_s=2 * captime_s)) == job.task

    def _make_room(self) -> None:
        while self._kept and self.held_bytes > self._memory_bytes:
            pair = min(self._kept, key=lambda each: (self._last_run[each[0]], self._kept[each].paid_s))
            self._release(self._kept.pop(pair).job)

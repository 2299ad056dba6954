"""Runs that take no time: a virtual clock in place of processes, with the same contract.

What a run does is told by a function of its job. Runs end in the order of the virtual clock, so a whole
parallel session can be tested in milliseconds, and always the same way.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from utilitune.errors import UsageError
from utilitune.execution.backend import ClosedInBlocks
from utilitune.targets.base import Ending, RawResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.execution.backend import Job
    from utilitune.targets.base import Seen


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """What a program would do if nobody stopped it.

    Attributes:
        runtime_s: How long it would run, in CPU and wall-clock seconds alike; infinite for ever.
        exit_code: How it would exit.
        output: What it would print.
        matches: What the watched patterns would find.
        report: What a Python function would leave behind (JSON).
        trace: What it would report while it runs, as it would arrive.
    """

    runtime_s: float
    exit_code: int = 0
    output: str = ""
    matches: tuple[str | None, ...] = ()
    report: str = ""
    trace: tuple[Seen, ...] = ()


class SimulatedBackend(ClosedInBlocks):
    """Makes runs on a virtual clock.

    Args:
        workers: How many runs are in flight at the same time.
        behaviour: What the run of a job would do.

    Attributes:
        now_s: The virtual clock.
    """

    def __init__(self, workers: int, behaviour: Callable[[Job], SimulatedRun]) -> None:
        if workers < 1:
            raise UsageError(f"the number of workers must be at least 1, not {workers}")
        self.now_s = 0.0
        self._workers = workers
        self._behaviour = behaviour
        self._queue: list[tuple[float, int, int]] = []
        self._in_flight: dict[int, tuple[float, RawResult]] = {}
        self._submitted = 0
        self._kept_s: dict[int, float] = {}

    @property
    def free_slots(self) -> int:
        """How many more jobs can be submitted now."""
        return self._workers - len(self._in_flight)

    def so_far_s(self, job_id: int) -> float:
        """Seconds that a job has been running for."""
        return self.now_s - self._in_flight[job_id][0]

    def submit(self, job_id: int, job: Job) -> None:
        """Start a job in a free slot."""
        if job_id in self._in_flight:
            raise UsageError(f"job {job_id} is already running; give every job its own number")
        if self.free_slots == 0:
            raise UsageError("all workers are busy; wait for a run to end before submitting another")
        result = limited(self._behaviour(job), job)
        before_s = None if job.continues is None else self._kept_s.pop(job.continues, None)
        result = replace(result, continued=before_s is not None)
        if job.keep and result.ending is Ending.CAPTIME:
            self._kept_s[job_id] = result.wall_s
            result = replace(result, kept_bytes=0, exit_code=None)
        self._in_flight[job_id] = (self.now_s, result)
        self._submitted += 1
        heapq.heappush(self._queue, (self.now_s + result.wall_s - (before_s or 0.0), self._submitted, job_id))

    def wait(self, timeout_s: float | None = None) -> list[tuple[int, RawResult]]:
        """Move the clock to the end of the next run, or by `timeout_s`; returns all that have ended."""
        if not self._queue:
            return []
        next_s = self._queue[0][0]
        if timeout_s is not None and next_s > self.now_s + timeout_s:
            self.now_s += timeout_s
            return []
        self.now_s = max(self.now_s, next_s)
        ended = []
        while self._queue and self._queue[0][0] <= self.now_s:
            _, _, job_id = heapq.heappop(self._queue)
            ended.append((job_id, self._in_flight.pop(job_id)[1]))
        return ended

    def cancel(self, job_id: int) -> None:
        """End a job now; its result comes out of `wait`."""
        if job_id not in self._in_flight:
            return
        started_s, _ = self._in_flight[job_id]
        spent_s = self.now_s - started_s
        self._kept_s.pop(job_id, None)
        self._in_flight[job_id] = (started_s, RawResult(Ending.CANCELLED, spent_s, spent_s))
        self._queue = [(self.now_s, n, j) if j == job_id else (end_s, n, j) for end_s, n, j in self._queue]
        heapq.heapify(self._queue)

    def release(self, job_id: int) -> None:
        """Forget a run that was kept."""
        self._kept_s.pop(job_id, None)

    def close(self) -> None:
        """Forget every run."""
        self._kept_s.clear()
        self._queue.clear()
        self._in_flight.clear()


def limited(run: SimulatedRun, job: Job) -> RawResult:
    """What comes of a run within the limits of its job."""
    captime_s = math.inf if job.limits.captime_s is None else job.limits.captime_s
    if run.runtime_s > min(captime_s, job.limits.wall_limit_s):
        if captime_s <= job.limits.wall_limit_s:
            seen = tuple(point for point in run.trace if point[0] <= captime_s)
            return RawResult(Ending.CAPTIME, captime_s, captime_s, exit_code=-9, trace=seen)
        return RawResult(Ending.WALL_LIMIT, job.limits.wall_limit_s, job.limits.wall_limit_s, exit_code=-9)
    return RawResult(
        Ending.EXITED,
        run.runtime_s,
        run.runtime_s,
        exit_code=run.exit_code,
        output_tail=run.output,
        matches=run.matches,
        report=run.report,
        trace=run.trace,
    )

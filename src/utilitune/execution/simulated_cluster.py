"""A cluster on a virtual clock: workers of different speeds that fail, messages that take time.

The same contract as every backend, so whatever drives real workers drives these. Time passes by events: a run
ends, a worker is lost, a worker is back. What is modelled:

- **Messages** take `latency_s` each: a run begins that long after it was submitted, and its result is heard
  of that long after it ended. Meanwhile its worker waits.
- **Speeds** differ by worker: exp(`speed_spread` · z) with z standard normal. A run of t seconds takes
  t/speed on the clock. Its recorded time stays t: times are taken to be scaled by each worker's calibration.
- **Losses**: a worker fails after an exponential time of mean `mtbf_s` and is back after `repair_s`; a spot
  worker is taken away after a mean of `spot_s` and replaced after `replace_s`. Its run is lost and made again
  from the beginning on the next worker that is free; nobody but the account notices.
- **The coordinator** needs `handling_s` for each completion, one after the other. What arrives meanwhile
  waits.

Everything follows from the seed.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain import require_positive
from utilitune.errors import UsageError
from utilitune.execution.backend import ClosedInBlocks
from utilitune.execution.simulated import SimulatedRun, limited
from utilitune.targets.base import Ending, RawResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.execution.backend import Job

HANDLING_S = 0.0003
"""Seconds of the coordinator per completion, about what it takes on one core of a common machine."""

_MOST_LOSSES = 1_000
"""Where every worker loses so many runs and not one comes out meanwhile, none ever will."""

_LARGEST_SPREAD = 10.0


@dataclass(frozen=True, slots=True)
class Conditions:
    """What working on a cluster is like.

    Attributes:
        latency_s: Seconds that a message takes, one way.
        mtbf_s: Mean seconds until a worker fails; infinite for never.
        repair_s: Seconds until it is back.
        spot_s: Mean seconds until a spot worker is taken away; infinite for never.
        replace_s: Seconds until there is another one in its place.
        speed_spread: How much workers differ: standard deviation of the logarithm of their speeds.
        handling_s: Seconds that the coordinator needs for each completion.
        seed: What speeds and losses follow from.
    """

    latency_s: float = 0.0
    mtbf_s: float = math.inf
    repair_s: float = 60.0
    spot_s: float = math.inf
    replace_s: float = 600.0
    speed_spread: float = 0.0
    handling_s: float = HANDLING_S
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("mtbf_s", "spot_s"):
            if getattr(self, name) != math.inf:
                require_positive(name, getattr(self, name))
        for name in ("latency_s", "repair_s", "replace_s", "speed_spread", "handling_s"):
            value = getattr(self, name)
            if not 0.0 <= value < math.inf:
                raise UsageError(f"{name} must be a number of at least 0, not {value}")
        if self.speed_spread > _LARGEST_SPREAD:
            raise UsageError(f"speed_spread must be at most {_LARGEST_SPREAD:g}, not {self.speed_spread:g}")


class ClusterAccount:
    """What the cluster has spent and lost, in seconds of recorded run time unless said otherwise.

    Attributes:
        run_s: In runs that came out, cancelled ones included.
        lost_s: In runs that were lost with their workers.
        busy_clock_s: Seconds on the clock in which workers were inside runs, summed over workers.
        losses: How many runs were lost and made again.
        completions: How many runs came out.
    """

    __slots__ = ("busy_clock_s", "completions", "losses", "lost_s", "run_s")

    def __init__(self) -> None:
        self.run_s = self.lost_s = self.busy_clock_s = 0.0
        self.losses = self.completions = 0

    @property
    def all_s(self) -> float:
        """Seconds in all runs, lost ones included."""
        return self.run_s + self.lost_s


class _Event(Enum):
    ENDED = 0
    LOST = 1
    BACK = 2


class _Flight(NamedTuple):
    """A job on a worker: since when it runs, what will come of it, and which event ends it when."""

    worker: int
    began_s: float
    result: RawResult
    event: int
    until_s: float


class SimulatedCluster(ClosedInBlocks):
    """Makes runs on workers that are only imagined.

    Args:
        workers: How many there are.
        behaviour: What the run of a job would do.
        conditions: What working there is like.

    Attributes:
        now_s: The virtual clock of the coordinator.
        account: What was spent and lost.
    """

    def __init__(
        self,
        workers: int,
        behaviour: Callable[[Job], SimulatedRun],
        conditions: Conditions | None = None,
    ) -> None:
        if workers < 1:
            raise UsageError(f"the number of workers must be at least 1, not {workers}")
        self.now_s = 0.0
        self.account = ClusterAccount()
        self.conditions = conditions or Conditions()
        self._workers = workers
        self._behaviour = behaviour
        self._random = np.random.default_rng(self.conditions.seed)
        self._speed = np.exp(self.conditions.speed_spread * self._random.standard_normal(workers))
        self._lost_at = [self._next_loss(0.0) for _ in range(workers)]
        self._free = list(range(workers))[::-1]
        self._waiting: deque[int] = deque()
        self._jobs: dict[int, tuple[float, Job]] = {}
        self._flights: dict[int, _Flight] = {}
        self._events: list[tuple[float, int, _Event, int]] = []
        self._numbered = 0
        self._lost_in_a_row = 0
        self._arrived: list[tuple[float, int, RawResult]] = []

    @property
    def free_slots(self) -> int:
        """How many more jobs can be submitted now."""
        return self._workers - len(self._jobs)

    def so_far_s(self, job_id: int) -> float:
        """Seconds of recorded time that a job has been running for, as the coordinator can know."""
        flight = self._flights.get(job_id)
        if flight is None:
            return 0.0
        return max(0.0, (self.now_s - flight.began_s) * float(self._speed[flight.worker]))

    def left_s(self, job_id: int, so_far_s: float) -> float:
        """Seconds on the clock until a job will have been running for so long; infinite if it has not begun.

        Nothing where only a rounding error is left.
        """
        flight = self._flights.get(job_id)
        if flight is None:
            return math.inf
        left_s = so_far_s - self.so_far_s(job_id)
        return 0.0 if left_s <= 1e-9 * so_far_s else left_s / float(self._speed[flight.worker])

    def submit(self, job_id: int, job: Job) -> None:
        """Send a job to a free worker; while none is there, it waits."""
        if job_id in self._jobs:
            raise UsageError(f"job {job_id} is already running; give every job its own number")
        if self.free_slots == 0:
            raise UsageError("all workers are busy; wait for a run to end before submitting another")
        self._jobs[job_id] = (self.now_s, job)
        self._waiting.append(job_id)
        self._begin_waiting(self.now_s)

    def wait(self, timeout_s: float | None = None) -> list[tuple[int, RawResult]]:
        """Move the clock until a result arrives, or by `timeout_s`; returns all that have arrived.

        The clock then moves on by what the coordinator needs to handle them.
        """
        until_s = math.inf if timeout_s is None else self.now_s + timeout_s
        while self._events and self._events[0][0] <= min(until_s, self._next_arrival_s()):
            self._happen(*heapq.heappop(self._events))
        if self._next_arrival_s() > until_s:
            if self._jobs:
                self.now_s = until_s
            return []
        if not self._arrived:
            return []
        self.now_s = max(self.now_s, self._next_arrival_s())
        ended = []
        while self._arrived and self._arrived[0][0] <= self.now_s:
            _, job_id, result = heapq.heappop(self._arrived)
            del self._jobs[job_id]
            ended.append((job_id, result))
        self.account.completions += len(ended)
        self.now_s += len(ended) * self.conditions.handling_s
        return ended

    def cancel(self, job_id: int) -> None:
        """End a job now; its result comes out of `wait`. One that is over by now keeps its own result."""
        if job_id in self._waiting:
            self._waiting.remove(job_id)
            heapq.heappush(self._arrived, (self.now_s, job_id, RawResult(Ending.CANCELLED, 0.0, 0.0)))
        flight = self._flights.get(job_id)
        if flight is None or flight.until_s <= self.now_s:
            return  # it has ended, or was lost, while the coordinator was at work
        del self._flights[job_id]
        spent_s = max(0.0, (self.now_s - flight.began_s) * float(self._speed[flight.worker]))
        spent_s = min(spent_s, flight.result.wall_s)
        self._leave(flight, job_id, self.now_s, RawResult(Ending.CANCELLED, spent_s, spent_s))

    def close(self) -> None:
        """Forget every run; what those under way have spent stays in the account."""
        while self._events and self._events[0][0] <= self.now_s:
            self._happen(*heapq.heappop(self._events))
        for job_id in list(self._flights):
            self.cancel(job_id)
        self._events.clear()
        self._waiting.clear()
        self._arrived.clear()
        self._jobs.clear()

    # -- events --------------------------------------------------------------------------------------------

    def _next_arrival_s(self) -> float:
        return self._arrived[0][0] if self._arrived else math.inf

    def _next_loss(self, from_s: float) -> float:
        """When a worker that is there from some moment on is lost."""
        rate = 1.0 / self.conditions.mtbf_s + 1.0 / self.conditions.spot_s
        return math.inf if rate == 0.0 else from_s + float(self._random.exponential(1.0 / rate))

    def _away_s(self) -> float:
        """How long a lost worker is away: it has failed, or was taken away."""
        fails, taken = 1.0 / self.conditions.mtbf_s, 1.0 / self.conditions.spot_s
        failed = self._random.random() * (fails + taken) < fails
        return self.conditions.repair_s if failed else self.conditions.replace_s

    def _begin_waiting(self, now_s: float) -> None:
        """Let free workers begin the jobs that wait."""
        while self._waiting and self._free:
            worker = self._free.pop()
            if self._lost_at[worker] <= now_s:  # lost while it had nothing to do
                self._away(worker, now_s)
                continue
            job_id = self._waiting.popleft()
            submitted_s, job = self._jobs[job_id]
            result = limited(self._behaviour(job), job)
            began_s = max(now_s, submitted_s) + self.conditions.latency_s
            ends_s = began_s + result.wall_s / float(self._speed[worker])
            lost_s = self._lost_at[worker]
            kind = _Event.LOST if lost_s < ends_s else _Event.ENDED
            until_s = min(lost_s, ends_s)
            event = self._happens(until_s, kind, job_id)
            self._flights[job_id] = _Flight(worker, began_s, result, event, until_s)

    def _happens(self, at_s: float, kind: _Event, about: int) -> int:
        self._numbered += 1
        heapq.heappush(self._events, (at_s, self._numbered, kind, about))
        return self._numbered

    def _happen(self, at_s: float, number: int, kind: _Event, about: int) -> None:
        if kind is _Event.BACK:
            self._free.append(about)
            self._begin_waiting(at_s)
            return
        flight = self._flights.get(about)
        if flight is None or flight.event != number:
            return  # cancelled meanwhile
        del self._flights[about]
        if kind is _Event.ENDED:
            self._lost_in_a_row = 0
            self._leave(flight, about, at_s, flight.result)
            return
        on_clock_s = max(0.0, at_s - flight.began_s)
        self.account.losses += 1
        self._lost_in_a_row += 1
        if self._lost_in_a_row > _MOST_LOSSES * self._workers:
            raise UsageError(
                f"workers are lost before a run ends ({self._lost_in_a_row:,} times in a row): let them last "
                "longer"
            )
        self.account.lost_s += on_clock_s * float(self._speed[flight.worker])
        self.account.busy_clock_s += on_clock_s
        self._away(flight.worker, at_s)
        self._waiting.appendleft(about)
        self._begin_waiting(at_s)

    def _away(self, worker: int, at_s: float) -> None:
        """A worker is gone for a while."""
        back_s = max(at_s, self._lost_at[worker]) + self._away_s()
        self._lost_at[worker] = self._next_loss(back_s)
        self._happens(back_s, _Event.BACK, worker)

    def _leave(self, flight: _Flight, job_id: int, at_s: float, result: RawResult) -> None:
        """A run is over: its result travels, its worker waits for the next one."""
        self.account.run_s += result.wall_s
        self.account.busy_clock_s += result.wall_s / float(self._speed[flight.worker])
        heapq.heappush(self._arrived, (at_s + self.conditions.latency_s, job_id, result))
        self._free.append(flight.worker)
        self._begin_waiting(at_s)

"""Recorded runs made by many workers on a virtual clock: what a cluster would have brought.

`simulate` lets a procedure work on recorded runtimes as it would live: it asks for runs, workers make them,
and their outcomes arrive in the order of the clock. What it decides follows from outcomes alone, so the
answer and its promise are those of one worker. What differs is the time on the clock, and how many seconds
were spent on runs that turned out to be of no use.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from utilitune.domain import Guesses, Measure, Progress, RunRequest
from utilitune.domain.stopping import UNLIMITED_RUNS, Budget, LogSpacing
from utilitune.errors import UsageError, did_you_mean
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.simulated import SimulatedRun
from utilitune.execution.simulated_cluster import Conditions, SimulatedCluster
from utilitune.procedures.engine import BegunRun, Halt, PauseAt
from utilitune.procedures.evidence import LiveEvidence
from utilitune.procedures.looking_ahead import LookAhead
from utilitune.procedures.naming import ProcedureSpec, build_engine, warm_up
from utilitune.replaying.recording import Recording
from utilitune.replaying.row_supply import RowsInOrder
from utilitune.targets.base import Command, Ending

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from utilitune.data import RuntimeMatrix
    from utilitune.domain import StopReason
    from utilitune.procedures.engine import Engine
    from utilitune.targets.base import RawResult

MOST_WORKERS = 1_000_000
POINTS_PER_DECADE = 20
_ROUNDS_PER_CALL = 100_000
_NO_WALL_LIMIT_S = 1e300


@dataclass(frozen=True, slots=True)
class PromisePoint:
    """What was proved by a moment on the clock."""

    wall_s: float
    epsilon: float
    gamma: float | None


@dataclass(frozen=True, slots=True)
class CrowdResult:
    """How many workers did.

    Attributes:
        workers: How many there were.
        best: The answer.
        epsilon: What is proved of it.
        gamma: The part of the space that the promise leaves out; None for a fixed set.
        stop_reason: Why it ended.
        wall_s: Time on the clock until then.
        speed_up: Time on the clock of one worker, divided by that.
        efficiency: Speed-up per worker.
        useful: Seconds of the runs that the procedure looked at, each up to the captime it asked for, divided
            by all seconds that workers spent. The first are what one worker spends.
        busy: The part of all workers' time on the clock that was spent inside runs.
        runs: Runs that were begun.
        runs_needed: Runs that one worker makes.
        lost_s: Seconds in runs that were lost with their workers.
        losses: How many runs were lost and made again.
        completions_per_s: Completions per second on the clock.
        coordinator: The part of the clock in which the coordinator handled completions.
        own_cpu_s: CPU time that our own code really needed for each completion, in seconds.
        promise: What was proved over time.
        condition: What ε rests on, where the data was taken as it is stored.
    """

    workers: int
    best: str
    epsilon: float
    gamma: float | None
    stop_reason: str
    wall_s: float
    speed_up: float
    efficiency: float
    useful: float
    busy: float
    runs: int
    runs_needed: int
    lost_s: float
    losses: int
    completions_per_s: float
    coordinator: float
    own_cpu_s: float
    promise: tuple[PromisePoint, ...]
    condition: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Crowd:
    """Workers to try.

    Attributes:
        workers: How many, one simulation for each.
        conditions: Latency, losses, speeds; those of a perfect cluster if left out.
        guesses: Which runs are made ahead of need: "useful" ones, or "all", which keeps every worker busy.
    """

    workers: Sequence[int] = (1, 10, 100, 1000)
    conditions: Conditions = field(default_factory=Conditions)
    guesses: Guesses | str = Guesses.USEFUL

    def __post_init__(self) -> None:
        for count in self.workers:
            if not 1 <= count <= MOST_WORKERS:
                raise UsageError(
                    f"the number of workers must lie between 1 and {MOST_WORKERS:,}, not {count}"
                )
        if self.guesses not in list(Guesses):
            raise UsageError(
                f"there is no guesses {self.guesses!r}; {did_you_mean(self.guesses, list(Guesses))}"
            )


def simulate(
    data: Recording | RuntimeMatrix | str | Path,
    specification: ProcedureSpec | None = None,
    crowd: Crowd | None = None,
    *,
    budget: Budget | None = None,
    seed: int | None = 0,
    on_progress: Callable[[int, Progress], None] | None = None,
) -> list[CrowdResult]:
    """Let a procedure work on recorded runtimes with different numbers of workers.

    Args:
        data: A `Recording`, which has its utility, or a matrix or what `utilitune.read_matrix` understands,
            which get ``log-laplace(k0=60)``.
        specification: Which procedure with which settings; the default procedure if left out.
        crowd: How many workers to try, and under which conditions.
        budget: When to end although the procedure could go on; wall-clock time is that of the virtual clock.
        seed: Seed of the random orders of instances and configurations; None takes both as stored.
        on_progress: Called now and then with the number of workers and where the procedure stands.

    Example:
        >>> from utilitune import ProcedureSpec
        >>> wager = ProcedureSpec(epsilon=0.3)
        >>> one, ten = simulate("synthetic:rows=20,columns=500,seed=1,cutoff_s=600", wager, Crowd([1, 10]))
        >>> one.best == ten.best, one.useful, ten.speed_up > 2
        (True, 1.0, True)
    """
    recording = Recording.of(data)
    if recording.judged is not None:
        raise UsageError(
            "a cluster is simulated on recorded runtimes, and these are solutions: replay them with "
            "'utilitune replay'"
        )
    if seed is not None:
        recording = recording.in_random_order(seed)
    spec = _specification(specification or ProcedureSpec(), recording)
    warm_up(spec, recording.utility)
    crowd = crowd or Crowd()
    found = {}
    for count in dict.fromkeys([1, *crowd.workers]):
        place = _Place(count, crowd.conditions, Guesses(crowd.guesses))
        found[count] = _Simulation(recording, spec, place).work(budget or Budget(), on_progress)
    alone_s = found[1].wall_s
    return [_compared(found[count], alone_s) for count in crowd.workers]


def _specification(spec: ProcedureSpec, recording: Recording) -> ProcedureSpec:
    rows = recording.matrix.rows
    size = spec.configurations or rows
    if size > rows:
        raise UsageError(f"{size} configurations were asked for, but the data holds only {rows}")
    limit_s = min(recording.matrix.cutoff_s, spec.captime_limit_s)
    return replace(spec, configurations=size, captime_limit_s=limit_s, proposals=0.0)


def _compared(found: CrowdResult, alone_s: float) -> CrowdResult:
    speed_up = alone_s / found.wall_s if found.wall_s > 0 else 1.0
    return replace(found, speed_up=speed_up, efficiency=speed_up / found.workers)


class _Place(NamedTuple):
    """Where runs are made: by how many workers, under which conditions, and with which guesses."""

    workers: int
    conditions: Conditions
    guesses: Guesses


class _Simulation:
    """One simulation: a procedure, its evidence, and a cluster that makes its runs."""

    def __init__(self, recording: Recording, spec: ProcedureSpec, place: _Place) -> None:
        self._recording = recording
        self._workers = place.workers
        matrix = recording.matrix
        self._runtimes_s = matrix.runtimes_s[recording.rows] if _is_small(matrix) else matrix.runtimes_s
        self._rows = range(matrix.rows) if _is_small(matrix) else recording.rows.tolist()
        self._columns = matrix.columns
        self._evidence = LiveEvidence(recording.utility, len(matrix.columns))
        self._engine: Engine = build_engine(
            spec, self._evidence, recording.utility, configurations=spec.set_size()
        )
        self._supply = RowsInOrder(self._engine, recording.repeats)
        self._look_ahead = LookAhead(self._engine, self._evidence, place.guesses)
        self._cluster = SimulatedCluster(place.workers, self._behaves, place.conditions)
        self._begun = _BegunJobs(self._cluster)
        self._next_job = 0
        self._own_s = 0.0
        self._points: list[PromisePoint] = []
        self._spacing = LogSpacing(POINTS_PER_DECADE)

    def work(self, budget: Budget, on_progress: Callable[[int, Progress], None] | None = None) -> CrowdResult:
        """Take the procedure to its end."""
        shown_at_s = time.monotonic()
        while (stop := self._step(budget)) is None:
            if on_progress is not None and time.monotonic() - shown_at_s > 0.2:
                shown_at_s = time.monotonic()
                on_progress(self._workers, self._engine.progress())
        self._cluster.close()
        return self._result(stop)

    def _step(self, budget: Budget) -> StopReason | None:
        """Decide, begin runs and wait for the next results; the reason if that is the end."""
        began_s = time.process_time()
        halt = self._engine.advance(PauseAt(self._rounds_limit(), math.inf, UNLIMITED_RUNS))
        stop = self._outcome(halt, budget)
        if stop is not None or halt is not Halt.NEEDS_RUNS:
            self._own_s += time.process_time() - began_s
            return stop
        patience_s = self._begin()
        self._own_s += time.process_time() - began_s
        ended = self._cluster.wait(patience_s)
        began_s = time.process_time()
        for job_id, raw in ended:
            self._hear(self._begun.ended(job_id), raw)
        self._own_s += time.process_time() - began_s
        return None

    def _rounds_limit(self) -> int:
        return int(self._engine.progress().rounds) + _ROUNDS_PER_CALL

    def _outcome(self, halt: Halt, budget: Budget) -> StopReason | None:
        """What an answer of the engine asks for; the reason if that ends the simulation."""
        engine = self._engine
        if halt is Halt.DONE:
            return engine.stop_reason()
        if halt is Halt.NEEDS_CONFIGURATIONS:
            self._supply.feed()
            if engine.missing_configurations:
                engine.no_more()
            return None
        self._note_point()
        account = self._cluster.account
        return budget.spent(account.all_s, account.completions, self._cluster.now_s)

    def _begin(self) -> float | None:
        """Begin and end runs; how long to wait at the most until one has run long enough."""
        found = self._look_ahead.next_runs(self._workers, self._begun, self._cluster.now_s)
        patience_s = None
        for request in found.enough:
            job_id = self._begun.number(request)
            left_s = self._cluster.left_s(job_id, request.captime_s)
            if left_s <= 0.0:
                self._begun.shorten(job_id, request)
                self._cluster.cancel(job_id)
            elif left_s < math.inf:
                patience_s = min(left_s, patience_s or math.inf)
        for request in [*found.needed, *found.ahead][: self._cluster.free_slots]:
            limits = RunLimits(Measure.CPU, request.captime_s, _NO_WALL_LIMIT_S)
            task = Command((str(request.configuration), str(request.position)))
            self._begun.begin(self._next_job, request)
            self._cluster.submit(self._next_job, Job(task, limits))
            self._next_job += 1
        return patience_s

    def _behaves(self, job: Job) -> SimulatedRun:
        if not isinstance(job.task, Command):
            raise TypeError("recorded runs are written down as commands")
        configuration, position = map(int, job.task.argv)
        runtime_s = float(self._runtimes_s[self._rows[configuration], self._columns[position]])
        return SimulatedRun(runtime_s)

    def _hear(self, request: RunRequest, raw: RawResult) -> None:
        finished = raw.ending is Ending.EXITED and raw.wall_s < request.captime_s
        runtime_s = raw.wall_s if finished else math.inf
        known_s = raw.wall_s if finished else request.captime_s
        self._evidence.record(request.configuration, request.position, runtime_s, known_s)
        self._look_ahead.hear()

    def _note_point(self) -> None:
        now_s = self._cluster.now_s
        if not self._points or self._spacing.is_due(now_s):
            progress = self._engine.progress()
            self._points.append(PromisePoint(now_s, progress.epsilon, progress.gamma))
            self._spacing.last = now_s

    def _result(self, stop: StopReason) -> CrowdResult:
        progress, account = self._engine.progress(), self._cluster.account
        wall_s = self._cluster.now_s
        handled = max(1, account.completions)
        self._points.append(PromisePoint(wall_s, progress.epsilon, progress.gamma))
        matrix = self._recording.matrix
        return CrowdResult(
            workers=self._workers,
            best=matrix.configurations[int(self._recording.rows[progress.best_index])],
            epsilon=progress.epsilon,
            gamma=progress.gamma,
            stop_reason=stop.code,
            wall_s=wall_s,
            speed_up=1.0,
            efficiency=1.0,
            useful=progress.total_time_s / account.all_s if account.all_s > 0 else 1.0,
            busy=account.busy_clock_s / (self._workers * wall_s) if wall_s > 0 else 0.0,
            runs=self._next_job,
            runs_needed=progress.runs,
            lost_s=account.lost_s,
            losses=account.losses,
            completions_per_s=account.completions / wall_s if wall_s > 0 else 0.0,
            coordinator=min(1.0, account.completions * self._cluster.conditions.handling_s / wall_s)
            if wall_s > 0
            else 0.0,
            own_cpu_s=self._own_s / handled,
            promise=tuple(self._points),
            condition=self._recording.condition(growing=progress.gamma is not None),
        )


def _is_small(matrix: RuntimeMatrix) -> bool:
    """Whether the runs may be copied into the order in which they are drawn."""
    return bool(matrix.runtimes_s.size <= 1 << 22)


class _BegunJobs:
    """The jobs under way, by number and by pair."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster
        self._requests: dict[int, RunRequest] = {}
        self._numbers: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._requests)

    def begin(self, job_id: int, request: RunRequest) -> None:
        """A job is under way."""
        self._requests[job_id] = request
        self._numbers[request.configuration, request.position] = job_id

    def ended(self, job_id: int) -> RunRequest:
        """A job is over: what it was asked for."""
        request = self._requests.pop(job_id)
        del self._numbers[request.configuration, request.position]
        return request

    def shorten(self, job_id: int, request: RunRequest) -> None:
        """A job has run long enough for a shorter captime."""
        self._requests[job_id] = request

    def number(self, request: RunRequest) -> int:
        """The job of a run under way."""
        return self._numbers[request.configuration, request.position]

    def captime_of(self, configuration: int, position: int) -> float | None:
        """Up to which captime a run is under way; None if it is not."""
        job_id = self._numbers.get((configuration, position))
        return None if job_id is None else self._requests[job_id].captime_s

    def runs(self) -> list[BegunRun]:
        """All of them."""
        so_far_s = self._cluster.so_far_s
        return [
            BegunRun(each.configuration, each.position, each.captime_s, so_far_s(job_id))
            for job_id, each in self._requests.items()
        ]

"""The loop of a live run: procedure ↔ backend ↔ store.

Every outcome is stored before the procedure hears of it, and the procedure's state follows from the
stored outcomes alone. So a resumed run is a replay: the stored runs are put back into the evidence, the
engine walks through them to where it was, and goes on. Workers that would be idle make the runs the
procedure is most likely to need next; what they find waits in the evidence until it is asked for.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from utilitune.domain import Progress, RunStatus, StopReason
from utilitune.errors import UtilituneError
from utilitune.execution.runs import DISAGREEMENT
from utilitune.procedures.engine import Halt, PauseAt
from utilitune.session.books import Books, elapsed_s
from utilitune.session.events import (
    ConfigurationJoined,
    Event,
    LeaderChanged,
    RunBegun,
    RunEnded,
    RunStopped,
)
from utilitune.session.failures import FailureWatch
from utilitune.session.making import invocation_of
from utilitune.session.result import keep_standing, task_text
from utilitune.spaces import Assignment
from utilitune.store.records import RunRecord
from utilitune.targets.base import Ending

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping
    from typing import Any

    from utilitune.domain import RunOutcome, RunRequest
    from utilitune.execution.backend import Backend
    from utilitune.execution.runs import Judged, RunRules
    from utilitune.procedures.engine import Engine
    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.scenario.instances import InstanceSource
    from utilitune.session.reusing import EarlierRuns
    from utilitune.session.supply import ConfigurationSupply
    from utilitune.store.base import Store
    from utilitune.targets.base import Invocation, RawResult

_ROUNDS_PER_CALL = 100_000
_POINTS_PER_DECADE = 40
_UPDATE_EVERY_S = 0.1
_JOINING_TOGETHER = 32


@dataclass(frozen=True, slots=True)
class LiveBudget:
    """When a live run ends although its procedure could go on; all count over every start of the run.

    Attributes:
        max_time_s: Seconds spent in target runs, by the scenario's measure.
        max_wall_s: Seconds on the clock.
        max_runs: Runs made.
    """

    max_time_s: float = math.inf
    max_wall_s: float = math.inf
    max_runs: float = math.inf


@dataclass(frozen=True, slots=True)
class View:
    """What there is to show of a run at work."""

    progress: Progress
    best: Mapping[str, Any]
    best_command: str
    elapsed_s: float
    runs_per_s: float
    workers_busy: int
    statuses: Mapping[RunStatus, int]
    budget: LiveBudget


@dataclass(frozen=True, slots=True)
class Parts:
    """What a coordinator wires together.

    Attributes:
        engine: The procedure.
        evidence: What it reads.
        store: Where everything is kept.
        backend: What makes the runs.
        rules: How a run is made and what it counts as.
        instances: The instance order.
        supply: Where configurations come from.
        abort_on: Outcomes that end the run.
        command_of: A configuration as a command line to show.
        patience_s: How long to wait for a run before looking whether to stop; None on a virtual clock.
        earlier: Runs of an earlier run folder that count here too.
    """

    engine: Engine
    evidence: LiveEvidence
    store: Store
    backend: Backend
    rules: RunRules
    instances: InstanceSource
    supply: ConfigurationSupply
    abort_on: frozenset[RunStatus] = frozenset()
    command_of: Callable[[Mapping[str, Any]], str] = str
    patience_s: float | None = 0.25
    earlier: EarlierRuns | None = None


@dataclass(slots=True)
class _InFlight:
    request: RunRequest
    invocation: Invocation
    started_at: float
    speculative: bool


class Coordinator:
    """One live run, from start or resumption to a stop that leaves a valid answer.

    Args:
        parts: What it wires together.
        budget: When it ends although the procedure could go on.
        on_update: Called a few times a second with what there is to show.
        on_event: Called with everything that happens.
    """

    def __init__(
        self,
        parts: Parts,
        budget: LiveBudget,
        on_update: Callable[[View], None] | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        self._parts = parts
        self._budget = budget
        self._on_update = on_update
        self._on_event = on_event
        self._leader = -1
        self._assignments: list[Mapping[str, Any]] = []
        self._flights: dict[int, _InFlight] = {}
        self._under_way: dict[tuple[int, int], float] = {}
        self._books = Books()
        self._failures = FailureWatch()
        self._cross_checked = False
        self._stop: StopReason | None = None
        self._next_job = 0
        self._round_limit = _ROUNDS_PER_CALL
        self._recorded_s = 0.0
        self._shown_at = 0.0

    def stop(self, reason: StopReason | None = None) -> None:
        """Ask for a stop in good order; safe in a signal handler."""
        self._stop = reason or StopReason(
            "interrupted", "Interrupted: the answer is valid as it stands; start again to go on from here."
        )

    def run(self) -> StopReason:
        """Work until the procedure is done, a budget is spent or somebody asks for a stop."""
        self._restore()
        self._started = time.monotonic()
        self._runs_before = self._books.runs
        try:
            try:
                reason = self._work()
            finally:
                self._wind_down()
        finally:
            self._parts.supply.close()
        self._record_progress(final=True)
        self._show(final=True)
        self._announce(RunStopped(reason, self.progress))
        return reason

    @property
    def progress(self) -> Progress:
        """Where the procedure stands, with what was really spent."""
        return replace(self._parts.engine.progress(), total_time_s=self._books.time_s, runs=self._books.runs)

    def captime_note(self) -> str:
        """A sentence where the largest captime limits what can be proved, else nothing."""
        return self._parts.engine.captime_note().strip()

    # -- the loop ----------------------------------------------------------------------------------

    def _work(self) -> StopReason:
        while True:
            pause = PauseAt(self._round_limit, math.inf, self._parts.supply.learn_at)
            halt = self._parts.engine.advance(pause)
            if halt is Halt.DONE:
                return self._stop or self._parts.engine.stop_reason()
            stored = self._has_stored(halt)
            if not stored:
                self._stop = self._stop or self._spent()
                if self._stop is not None:
                    return self._stop
            if halt is Halt.PAUSED:
                self._round_limit = self._parts.engine.progress().rounds + _ROUNDS_PER_CALL
                self._parts.supply.learn()
            elif halt is Halt.NEEDS_CONFIGURATIONS:
                self._take_in_missing()
            else:
                self._submit()
                self._land_all(self._parts.patience_s)
            if not stored:
                self._record_progress()
                self._announce_leader()
                self._show()

    def _has_stored(self, halt: Halt) -> bool:
        """Whether the procedure can go on with what is stored.

        Only something new is refused when a budget is spent: the walk through what was paid for
        already always goes to its end, so that a resumed run never knows less than it did before.
        """
        if halt is Halt.NEEDS_CONFIGURATIONS:
            return self._parts.engine.added < len(self._assignments)
        return halt is Halt.PAUSED

    def _is_stopping(self) -> bool:
        return self._stop is not None or self._spent() is not None

    def _spent(self) -> StopReason | None:
        """The reason to stop if a budget is spent or somebody asked for it."""
        budget = self._budget
        if self._parts.store.stop_requested():
            return StopReason("stop-requested", "Stopped on request: start again to go on from here.")
        if self._books.time_s >= budget.max_time_s:
            return StopReason(
                "time-limit", "The time budget is spent: give more --max-time to go on from here."
            )
        if self._elapsed_s() >= budget.max_wall_s:
            return StopReason(
                "wall-limit", "The wall-clock budget is spent: give more --max-wall-time to go on."
            )
        if self._books.runs >= budget.max_runs:
            return StopReason(
                "run-limit", "The run budget is spent: give more --max-runs to go on from here."
            )
        return None

    def _elapsed_s(self) -> float:
        return self._books.elapsed_before_s + time.monotonic() - self._started

    # -- configurations ------------------------------------------------------------------------------

    def _restore(self) -> None:
        """Put everything stored back: configurations, runs, and what they cost."""
        store = self._parts.store
        records = store.configurations()
        self._assignments = [Assignment(record.assignment) for record in records]
        self._parts.supply.restore(records)
        known = set()
        for record in store.runs():
            if not record.taken_over:
                self._books.note(record.outcome)
                self._failures.note(record.outcome)
            self._tell(record.request, record.outcome)
            known.add(record.request)
        self._books.elapsed_before_s = elapsed_s(store, store.sessions()[:-1])  # the last one is this one
        for index, assignment in enumerate(self._assignments):  # a kill may have come in between
            self._take_over(index, assignment, known)
        last = store.last_progress()
        self._recorded_s = 0.0 if last is None else last.progress.total_time_s
        self._take_in(range(len(self._parts.supply.given)))

    def _take_in_missing(self) -> None:
        """Let join what the procedure lacks; beyond what is stored, only until a budget is spent."""
        engine = self._parts.engine
        end = engine.added + engine.missing_configurations
        while engine.added < end:
            self._take_in(range(engine.added, min(end, engine.added + _JOINING_TOGETHER)))
            if engine.added >= len(self._assignments) and (self._stop or self._spent()):
                return

    def _take_in(self, indices: range) -> None:
        """The configurations of these numbers join until a stop is asked for; new ones are stored first."""
        drawn = [self._parts.supply.draw(index) for index in indices]
        fresh = [pair for pair in zip(indices, drawn, strict=True) if pair[0] >= len(self._assignments)]
        if fresh:
            self._parts.store.add_configuration(*(each.record(index) for index, each in fresh))
        for index, each in fresh:
            self._take_over(index, each.assignment)
        for index, (assignment, origin, first_position) in zip(indices, drawn, strict=True):
            if index == len(self._assignments):
                self._assignments.append(assignment)
            self._parts.engine.add(origin, first_position)
            self._announce(ConfigurationJoined(index, assignment, origin.value))
            if self._stop is not None:
                return

    def _take_over(
        self, index: int, assignment: Mapping[str, Any], known: Container[RunRequest] = ()
    ) -> None:
        """Let the runs count that an earlier run folder has of a configuration, except those known."""
        if self._parts.earlier is None:
            return
        for run in self._parts.earlier.of(assignment):
            request = replace(run.request, configuration=index)
            if request in known:
                continue
            record = replace(run, request=request, started_at=0.0, ended_at=0.0, sequence=-1)
            self._parts.store.add_run(record)
            self._tell(request, run.outcome)

    # -- runs ----------------------------------------------------------------------------------------

    def _submit(self) -> None:
        """Fill the free slots: first with what is needed, then with what is likely to be."""
        backend, engine = self._parts.backend, self._parts.engine
        self._submit_all(engine.needed(), speculative=False)
        if backend.free_slots:
            self._submit_all(engine.likely(backend.free_slots + len(self._flights)), speculative=True)
        if not self._flights and not self._is_stopping():
            raise RuntimeError("the procedure waits for runs that nobody makes")

    def _submit_all(self, requests: Iterable[RunRequest], *, speculative: bool) -> None:
        begun = set(self._under_way)  # what ends while an instance is made is known, but these do not know it
        for request in requests:
            affordable = self._books.runs + len(self._flights) < self._budget.max_runs
            if not (self._parts.backend.free_slots and affordable):
                return
            key = (request.configuration, request.position)
            if key in begun or key in self._under_way:
                continue
            if not self._parts.instances.prepare(request.position, self._is_stopping_meanwhile):
                return
            invocation = invocation_of(
                request, self._assignments[request.configuration], self._parts.instances
            )
            self._parts.backend.submit(self._next_job, self._parts.rules.job(invocation))
            self._flights[self._next_job] = _InFlight(request, invocation, time.time(), speculative)
            self._under_way[key] = request.captime_s
            self._next_job += 1
            self._announce(RunBegun(request, invocation.instance, invocation.seed, speculative))

    def _is_stopping_meanwhile(self) -> bool:
        """While an instance is made: keep the runs that end, and say whether to stop."""
        if self._parts.patience_s is not None:  # no time passes on a virtual clock
            self._land_all(0.0)
            self._show()
        return self._is_stopping()

    def _land_all(self, patience_s: float | None) -> None:
        """Take in every run that has ended; an error of one waits until the others are kept."""
        failed: UtilituneError | None = None
        for job, raw in self._parts.backend.wait(patience_s):
            try:
                self._land(job, raw)
            except UtilituneError as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def _land(self, job: int, raw: RawResult) -> None:
        """One run has ended: judge it, store it, then let it count."""
        flight = self._flights.pop(job)
        del self._under_way[flight.request.configuration, flight.request.position]
        if raw.ending is Ending.CANCELLED:
            return
        judged = self._parts.rules.judge(flight.invocation, raw)
        outcome = judged.outcome
        self._parts.store.add_run(
            RunRecord(
                flight.request,
                outcome,
                seed=flight.invocation.seed,
                started_at=flight.started_at,
                ended_at=time.time(),
                speculative=flight.speculative,
            )
        )
        self._books.note(outcome)
        self._tell(flight.request, outcome)
        self._judge_failure(flight, outcome)
        self._cross_check(flight, judged)
        self._announce(RunEnded(flight.request, flight.invocation.instance, flight.invocation.seed, outcome))

    def _tell(self, request: RunRequest, outcome: RunOutcome) -> None:
        """Put an outcome into the evidence, and let the supply know of a failure."""
        if outcome.failed:
            self._parts.supply.note_failure(request.configuration, request.position, outcome.runtime_s)
        self._parts.evidence.tell(request, outcome)

    def _judge_failure(self, flight: _InFlight, outcome: RunOutcome) -> None:
        streak = self._failures.note(outcome)
        if streak is None and outcome.status not in self._parts.abort_on:
            return
        command = self._command_text(flight.invocation)
        reason = StopReason(
            "target-fails" if streak else "aborted",
            f"{streak or 'a run'} ended as {outcome.status.value} ({outcome.detail or 'no detail'}); "
            f"this command reproduces {'one of them' if streak else 'it'}: {command}",
        )
        self._stop = self._stop or reason

    def _cross_check(self, flight: _InFlight, judged: Judged) -> None:
        """Warn, once in the life of a run, where a wrapper's own figure is far from the measured one."""
        if not self._cross_checked and (text := self._parts.rules.disagreement(flight.invocation, judged)):
            self._cross_checked = True
            if not any(event.text.startswith(DISAGREEMENT) for event in self._parts.store.events()):
                self._parts.store.add_event("warning", text)

    def _command_text(self, invocation: Invocation) -> str:
        return task_text(self._parts.rules.target.prepare(invocation))

    def _wind_down(self) -> None:
        """Cancel what is under way; a run that ended by itself in the meantime still counts."""
        for job in list(self._flights):
            self._parts.backend.cancel(job)
        while self._flights:
            self._land_all(self._parts.patience_s)

    # -- what is told, shown and kept ------------------------------------------------------------------------

    def _announce(self, event: Event) -> None:
        if self._on_event is not None:
            self._on_event(event)

    def _announce_leader(self) -> None:
        if self._on_event is None or not self._assignments:
            return
        progress = self.progress
        if progress.best_index != self._leader:
            self._leader = progress.best_index
            self._announce(LeaderChanged(self._assignments[self._leader], progress))

    def _record_progress(self, *, final: bool = False) -> None:
        """Add a point to the trajectory at logarithmic spacing of the time spent, and the last one."""
        spent_s = self._books.time_s
        due = spent_s > self._recorded_s * 10 ** (1 / _POINTS_PER_DECADE)
        if (due or (final and self._has_moved())) and self._parts.engine.added:
            keep_standing(self._parts.store, self._parts.engine, self.progress)
            self._recorded_s = spent_s

    def _has_moved(self) -> bool:
        """Whether the last stored point is not where the procedure stands; it may go on without new runs."""
        last = self._parts.store.last_progress()
        return last is None or last.progress != self.progress

    def _show(self, *, final: bool = False) -> None:
        now = time.monotonic()
        if self._on_update is None or not self._assignments:
            return
        if now - self._shown_at < _UPDATE_EVERY_S and not final:
            return
        self._shown_at = now
        progress = self.progress
        best = self._assignments[progress.best_index]
        self._on_update(
            View(
                progress=progress,
                best=best,
                best_command=self._parts.command_of(best),
                elapsed_s=self._elapsed_s(),
                runs_per_s=(self._books.runs - self._runs_before) / max(1e-9, now - self._started),
                workers_busy=len(self._flights),
                statuses=dict(self._books.statuses),
                budget=self._budget,
            )
        )

"""A live run: everything that is the same whoever decides what to run.

A `LiveRun` holds the store, the account of what was spent, the failures, the budget, the runs under way and
the wish to stop. An asker (see `utilitune.live.asker`) decides; the runs are made by a
`utilitune.live.driver.Driver` on this machine, or by others who ask and tell. Three rules hold for all of
them:

- store before tell: a run or a configuration is stored before the asker hears of it. Runs that end together
  are all stored before the asker hears of the first;
- resume is replay: a start puts everything stored back, and the asker walks through it to where it was;
- a stop is in good order: nothing new is begun, what is under way does not count, the reason is stored.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from utilitune.domain import Measure
from utilitune.domain.stopping import (
    NO_LIMIT,
    Budget,
    LogSpacing,
    aborted,
    failed,
    interrupted,
    stop_requested,
    target_fails,
)
from utilitune.errors import UtilituneError
from utilitune.execution.machine import available_cores, cores_text, oversubscribed
from utilitune.live.asker import Again, Done, Ended, Join, Make, Nominate, Room, UnderWay, pair_of
from utilitune.live.events import (
    ConfigurationJoined,
    LeaderChanged,
    Listeners,
    RunBegun,
    RunEnded,
    RunStopped,
    View,
)
from utilitune.live.failures import FailureWatch, last_line
from utilitune.live.first_start import keep_first_fresh
from utilitune.live.inputs import Inputs, note_changed_instance
from utilitune.live.reusing import condition_of
from utilitune.live.spending import Spending, elapsed_s
from utilitune.live.task import task_text
from utilitune.live.use_of_time import UseOfTime
from utilitune.spaces import Assignment
from utilitune.store.base import NOTE, note_once
from utilitune.store.records import RunRecord
from utilitune.targets.base import Invocation

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from utilitune.domain import Progress, RunOutcome, RunRequest, StopReason
    from utilitune.live.asker import Asker, Instruction, Pair, Wanted
    from utilitune.live.events import Event
    from utilitune.live.reusing import EarlierRuns
    from utilitune.live.task import Task
    from utilitune.scenario.instances import InstanceSource
    from utilitune.store.base import Store
    from utilitune.store.records import ConfigurationRecord

POINTS_PER_DECADE = 40
"""How often the trajectory of a live run is kept, on the logarithmic axis of the time spent."""

_UPDATE_EVERY_S = 0.1
_PAUSE_PER_LOOK = 30.0  # a look takes milliseconds where there are many configurations


@dataclass(frozen=True, slots=True)
class Terms:
    """What one start of a run adds to its task.

    Attributes:
        budget: When it ends although the asker could go on.
        workers: How many runs are made at once; 0 if others make them.
        instances: What runs are made on; the training instances if left out.
        earlier: Runs of an earlier run folder that count here too.
        settings: What the store keeps of this start.
        configurations: How many configurations there are, if no more can join.
    """

    budget: Budget = NO_LIMIT
    workers: int = 0
    instances: InstanceSource | None = None
    earlier: EarlierRuns | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    configurations: int | None = None


class LiveRun:
    """One start of a live run.

    Args:
        task: What is run.
        store: Where everything is kept.
        asker: Who decides.
        terms: What this start adds.
        listeners: Who hears and sees what happens.
    """

    def __init__(
        self,
        task: Task,
        store: Store,
        asker: Asker,
        terms: Terms | None = None,
        listeners: Listeners | None = None,
    ) -> None:
        self.task = task
        self.store = store
        self.asker = asker
        self.terms = terms or Terms()
        self.instances = self.terms.instances or task.training
        self.inputs = Inputs(task.scenario, store)
        self.spending = Spending()
        self.under_way: dict[Pair, UnderWay] = {}
        self.assignments: dict[int, Assignment] = {}
        self.next_number = 0
        self._listeners = listeners or Listeners()
        self._failures = FailureWatch(self.terms.configurations)
        self._stop: StopReason | None = None
        self._points = LogSpacing(POINTS_PER_DECADE)
        self._leader = -1
        self._is_ready = False
        self._started = time.monotonic()
        self._runs_before = 0
        self._shows_next = 0.0

    # -- begin and end -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        """Open the run; while the block runs, this is a start of it, and an error that ends it is stored."""
        self.open()
        try:
            yield
        except UtilituneError as error:
            note_changed_instance(self.store, error)
            self.store.end_session(failed(error))
            raise
        except KeyboardInterrupt:
            self.store.end_session(interrupted())
            raise
        except BaseException:
            self.store.end_session(failed())
            raise
        finally:
            self.asker.close()

    def open(self) -> None:
        """Note that the run was started, and put back what is stored."""
        self.store.begin_session(self.inputs.settings({**self.terms.settings, **self.task.settings()}))
        if self.terms.earlier is not None:
            self.terms.earlier.note(self.store)
        warning = crowding(self.task.scenario.measure, self.terms.workers)
        if warning and not self.task.is_elsewhere:
            note_once(self.store, "warning", warning)
        self._restore()
        self._started = time.monotonic()
        self._start_clock()
        self._runs_before = self.spending.runs

    def close(self, reason: StopReason) -> None:
        """Keep where it stands and why it ended."""
        self._note_progress(final=True)
        self._show(final=True)
        progress = self.progress()
        if progress is not None:
            self._announce(RunStopped(reason, progress))
        self.store.end_session(reason)

    def stop(self, reason: StopReason | None = None) -> None:
        """Ask for a stop in good order; safe in a signal handler."""
        self._stop = self._stop or reason or interrupted()

    def spent(self) -> StopReason | None:
        """Why nothing new may be begun: a stop was asked for, or a budget is spent; None while it may."""
        if self._stop is None:
            self._stop = stop_requested() if self.store.stop_requested() else self._over_budget()
        return self._stop

    @property
    def budget(self) -> Budget:
        """The budget, with the time by which somebody has extended it meanwhile."""
        budget, more_s = self.terms.budget, self.store.more_time_s()
        return replace(budget, max_wall_s=budget.max_wall_s + more_s) if more_s else budget

    def is_paused(self) -> bool:
        """Whether somebody wants no more runs to be begun for now."""
        return self.store.pause_requested()

    def _over_budget(self) -> StopReason | None:
        over = self.terms.budget.spent(self.spending.time_s, self.spending.runs, self.elapsed_s())
        return over and self.budget.spent(self.spending.time_s, self.spending.runs, self.elapsed_s())

    def elapsed_s(self) -> float:
        """Seconds on the clock over every start."""
        now_s = time.monotonic() - self._started if self._is_ready else 0.0
        return self.spending.elapsed_before_s + now_s

    def _start_clock(self) -> None:
        """Time on the clock counts from the moment at which the asker can decide: compiling is free."""
        if not self._is_ready and getattr(self.asker, "is_ready", True):
            self._is_ready = True
            self._started = time.monotonic()

    # -- the asker's instructions --------------------------------------------------------------------------

    def next_runs(self, free: int) -> Make | StopReason:
        """Ask until there are runs to be made, or a reason to end.

        Args:
            free: How many runs can be begun now.
        """
        while True:
            step = self.asker.ask(Room(free, self.under_way, time.time()))
            self._start_clock()
            if isinstance(step, Done):
                return self._stop or step.reason
            new = self._is_new(step)
            if new and (reason := self.spent()):
                return reason
            if isinstance(step, Make):
                return step
            if isinstance(step, Join):
                self._join(step)
            if isinstance(step, Nominate):
                if new:
                    keep_first_fresh(self.store, step.number, step.first_fresh)
                    self.store.nominate(step.configuration)
                self.asker.nominated(step.number, step.configuration)
            if new:
                self.look_around()

    def _is_new(self, step: Instruction) -> bool:
        """Whether an instruction adds to what is stored; the first configurations always may."""
        if isinstance(step, Join):
            return not step.stored and bool(self.assignments)
        if isinstance(step, Nominate):
            return step.number > len(self.store.nominations())
        return not isinstance(step, Again)

    def _join(self, step: Join) -> None:
        """Let configurations join until a stop is asked for; new ones are stored first."""
        numbered = []
        first_new = self.next_number
        for drawn, number in step.configurations:
            numbered.append((first_new if number is None else number, drawn))
            first_new += number is None
        self.keep(*(drawn.record(number) for number, drawn in numbered))
        for number, drawn in numbered:
            self.asker.joined(number, drawn)
            self._announce(ConfigurationJoined(number, drawn.assignment, drawn.origin.value))
            if self._stop is not None:
                return

    # -- configurations ------------------------------------------------------------------------------------

    def keep(self, *records: ConfigurationRecord) -> None:
        """Store configurations, except those that are stored."""
        fresh = [record for record in records if record.index not in self.assignments]
        if not fresh:
            return
        self.store.add_configuration(*fresh)
        self._number(fresh)
        for record in fresh:
            self._take_over(record.index)

    def _number(self, records: Sequence[ConfigurationRecord]) -> None:
        for record in records:
            self.assignments[record.index] = Assignment(record.assignment)
            self.next_number = max(self.next_number, record.index + 1)

    def _take_over(self, number: int, known: Container[RunRequest] = ()) -> None:
        """Let the runs count that an earlier run folder has of a configuration, except those known."""
        if self.terms.earlier is None:
            return
        for run in self.terms.earlier.of(self.assignments[number]):
            request = replace(run.request, configuration=number)
            if request not in known:
                self.store.add_run(replace(run, request=request, started_at=0.0, ended_at=0.0, sequence=-1))
                self.asker.hear(Ended(request, run.outcome, taken_over=True))

    def _restore(self) -> None:
        """Put everything stored back: configurations, runs, and what they cost."""
        records = self.store.configurations()
        self._number(records)
        self.asker.restore(records)
        known = set()
        for record in self.store.runs():
            if not record.taken_over:
                self.spending.note(record.outcome)
                self._failures.note(record.request.configuration, record.outcome)
            self.asker.hear(Ended(record.request, record.outcome, record.taken_over))
            known.add(record.request)
        before = self.store.sessions()[:-1]  # the last one is this one
        self.spending.elapsed_before_s = elapsed_s(self.store, before)
        for number in self.assignments:  # a kill may have come in between
            self._take_over(number, known)
        last = self.store.last_progress()
        self._points.last = 0.0 if last is None else last.progress.total_time_s

    # -- runs ----------------------------------------------------------------------------------------------

    def may_begin(self, wanted: Wanted) -> bool:
        """Whether a run may be begun: its pair is not under way, and the budget of runs has room for it."""
        begun = self.spending.runs + len(self.under_way)
        return begun < self.terms.budget.run_limit and pair_of(wanted.request) not in self.under_way

    def written_out(self, wanted: Wanted) -> UnderWay:
        """A run that begins now, in the target's terms; its instance must be there."""
        request = wanted.request
        name, seed = self.instances.name(request.position), self.instances.seed(request.position)
        invocation = Invocation(self.assignments[request.configuration], name, seed, request.captime_s)
        return UnderWay(request, invocation, time.time(), wanted.ahead)

    def begin(self, run: UnderWay) -> None:
        """A run is under way from now on."""
        self.under_way[pair_of(run.request)] = run
        self._announce(RunBegun(run.request, run.invocation.instance, run.invocation.seed, run.ahead))

    def drop(self, run: UnderWay) -> None:
        """A run has ended without an outcome: it was cancelled, or nobody made it."""
        self.under_way.pop(pair_of(run.request), None)

    def land(self, ended: Sequence[tuple[UnderWay, RunOutcome]]) -> None:
        """Runs have ended: store all of them, then let them count."""
        with self.store.together() if len(ended) > 1 else contextlib.nullcontext():
            for run, outcome in ended:
                self.drop(run)
                record = RunRecord(
                    run.request,
                    outcome,
                    seed=run.invocation.seed,
                    started_at=run.started_at,
                    ended_at=time.time(),
                    speculative=run.ahead,
                )
                self.store.add_run(record)
                self.spending.note(outcome)
        for run, outcome in ended:
            self.asker.hear(Ended(run.request, outcome))
            self._judge_failure(run, outcome)
            self._announce(RunEnded(run.request, run.invocation.instance, run.invocation.seed, outcome))

    def _judge_failure(self, run: UnderWay, outcome: RunOutcome) -> None:
        """Stop at a target that keeps failing, and where the scenario says to."""
        how_often = self._failures.note(run.request.configuration, outcome)
        if not (how_often or outcome.status in self.task.abort_on):
            return
        outcome = replace(outcome, detail=last_line(outcome.detail))  # of a traceback; all of it is kept
        if how_often:
            self.stop(target_fails(outcome, how_often, self._reproduce(run.invocation)))
        else:
            self.stop(aborted(outcome, self._reproduce(run.invocation)))

    def _reproduce(self, invocation: Invocation) -> str:
        """How to make a run by hand."""
        if self.terms.workers:
            return task_text(self.task.target.prepare(invocation))
        return f"{dict(invocation.parameters)} on {invocation.instance!r} with seed {invocation.seed}"

    # -- what is kept and shown ----------------------------------------------------------------------------

    def progress(self) -> Progress | None:
        """Where the asker stands, with what was really spent."""
        progress = self.asker.progress()
        if progress is None:
            return None
        return replace(progress, total_time_s=self.spending.time_s, runs=self.spending.runs)

    def look_around(self) -> None:
        """Keep a point of the trajectory if one is due, and let listeners see what is new."""
        self._note_progress()
        if self._listeners.on_event is not None:
            self._announce_leader()
        self._show()

    def _note_progress(self, *, final: bool = False) -> None:
        """Add a point to the trajectory, at logarithmic spacing of the time spent, and the last one."""
        due = self._points.is_due(self.spending.time_s)
        if not (due or final) or (progress := self.progress()) is None:
            return
        note: Callable[[], str] | None = getattr(self.asker, "captime_note", None)
        if note is not None and (said := note()) != self.store.facts().get(NOTE, ""):
            self.store.keep_fact(NOTE, said)
        last = self.store.last_progress()
        if due or last is None or last.progress != progress:  # it may have gone on without new runs
            for phase in self.asker.phases[len(self.store.phases()) :]:
                self.store.add_phase(phase)
            self.store.add_progress(progress)
            self._points.last = self.spending.time_s
            useful_s: float | None = getattr(self.asker, "useful_s", None)
            if useful_s is not None and self.terms.workers > 1:
                UseOfTime(useful_s, self.spending.time_s).keep(self.store)

    def _announce(self, event: Event) -> None:
        if self._listeners.on_event is not None:
            self._listeners.on_event(event)

    def _announce_leader(self) -> None:
        progress = self.progress()
        if progress is not None and progress.best_index != self._leader:
            self._leader = progress.best_index
            self._announce(LeaderChanged(self.assignments[self._leader], progress))

    def _show(self, *, final: bool = False) -> None:
        now = time.monotonic()
        if self._listeners.on_update is None or (now < self._shows_next and not final):
            return
        progress = self.progress()
        if progress is None:
            return
        self._shows_next = now + max(_UPDATE_EVERY_S, _PAUSE_PER_LOOK * (time.monotonic() - now))
        best = self.assignments[progress.best_index]
        self._listeners.on_update(
            View(
                progress=progress,
                best=best,
                best_command=self.task.command_text(best),
                elapsed_s=self.elapsed_s(),
                runs_per_s=(self.spending.runs - self._runs_before) / max(1e-9, now - self._started),
                workers_busy=len(self.under_way),
                statuses=dict(self.spending.statuses),
                budget=self.budget,
                condition=condition_of(self.store),
                compiling=not self._is_ready,
            )
        )


def crowding(measure: Measure, workers: int) -> str:
    """A sentence where wall-clock times would be distorted by too many runs at once, else nothing."""
    if measure is not Measure.WALL or not workers or not oversubscribed(workers):
        return ""
    crowd = (
        f"{workers} workers share {cores_text()}" if workers > available_cores() else "the machine is busy"
    )
    return (
        f"Runtimes are wall-clock times, but {crowd}: runs disturb each other; use measure = 'cpu' or fewer "
        "workers."
    )

"""Ask and tell: the search for people who make the runs themselves.

`Tuner.ask` says which runs are wanted next, `Tuner.tell` takes in what came of them, in any order and from
anywhere: a cluster's scheduler, a laboratory, another program. Procedure, evidence, supply of configurations
and store are those of every other run, and so is the promise.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from utilitune.configuring import Settings, Space, scenario_around
from utilitune.domain import Promise, RunOutcome, RunStatus, StopReason
from utilitune.errors import UsageError, did_you_mean
from utilitune.procedures.engine import Halt, PauseAt
from utilitune.procedures.evidence import LiveEvidence
from utilitune.scenario import FailurePolicy, FunctionSpec, Scenario, instance_source, read_scenario
from utilitune.session.books import Books, elapsed_s
from utilitune.session.opening import settings_of
from utilitune.session.result import keep_standing
from utilitune.session.reusing import condition_of
from utilitune.session.supply import ConfigurationSupply, given_configurations, model_for
from utilitune.specification import build_engine
from utilitune.store import MemoryStore, Snapshot, open_run_folder
from utilitune.store.records import RunRecord
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from utilitune.domain import Progress, RunRequest
    from utilitune.store.base import Store
    from utilitune.utility import Utility

_ROUNDS_PER_CALL = 100_000
_ENDLESS = 2**31
_STATUSES = tuple(status.value for status in RunStatus)
_POINT_EVERY = 10 ** (1 / 40)
_MADE_OUTSIDE = FunctionSpec("utilitune.asktell:made_outside")


@dataclass(frozen=True, slots=True)
class Trial:
    """One run that is wanted.

    Attributes:
        configuration: The values of the active parameters.
        instance: What to run it on.
        seed: The seed to run it with, the same for every configuration.
        captime_s: When to stop it, in seconds.
        needed: Whether the search cannot go on without it; the others are wanted ahead of need.
        request: Which run it is, by numbers.
    """

    configuration: Mapping[str, Any]
    instance: str
    seed: int
    captime_s: float
    needed: bool
    request: RunRequest


class Tuner:
    """A search whose runs are made by others.

    Example::

        tuner = Tuner.of(
            {"level": {"type": "integer", "range": [1, 9]}},
            instances=names,
            utility="log-laplace(k0=60s)",
            largest_captime=300,
            epsilon=0.05,
        )
        while not tuner.done:
            for trial in tuner.ask(8):
                tuner.tell(trial, my_runtime(trial.configuration, trial.instance, trial.captime_s))
        print(tuner.best, tuner.promise.sentence())

    Args:
        scenario: What to configure, or the file that says so; its target is never run.
        folder: Where everything is kept, to go on later; nowhere if left out.
    """

    def __init__(self, scenario: Scenario | Path | str, folder: Path | str | None = None) -> None:
        told = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
        self.scenario = told
        settings = settings_of(told)
        utility = parse_utility(told.utility)
        self._instances = instance_source(told)
        count = self._instances.count
        self._evidence = LiveEvidence(utility, _ENDLESS if count is None else count)
        spec = settings.specification
        self._engine = build_engine(spec, self._evidence, utility, configurations=spec.set_size())
        snapshot = Snapshot(told.snapshot(), told.digest())
        afresh = "choose another folder to start afresh"
        self._store: Store = (
            MemoryStore(snapshot)
            if folder is None
            else open_run_folder(Path(folder), snapshot, afresh=afresh)
        )
        self._supply = ConfigurationSupply(
            told.space,
            told.seed,
            given_configurations(told),
            model_for(told, spec, self._store, self._engine, self._evidence, live=False),
        )
        self._assignments: list[Mapping[str, Any]] = []
        self._open: dict[tuple[int, int], Trial] = {}
        self._books = Books()
        self._recorded_s = 0.0
        self._budget = settings.budget
        self._stop: StopReason | None = None
        self._closed = False
        self._began: float | None = None  # when the first trial could be asked for: rules are compiled before
        self._condition = condition_of(self._store)
        self._restore()
        self._store.begin_session({"procedure": spec.plain(), "workers": 0})

    @classmethod
    def of(
        cls,
        space: Space,
        instances: Sequence[str],
        utility: Utility | str | Callable[[Any], Any],
        folder: Path | str | None = None,
        **settings: Unpack[Settings],
    ) -> Tuner:
        """A search over parameters, instances and a utility given as objects, see `utilitune.configure`."""
        return cls(scenario_around(_MADE_OUTSIDE, space, instances, utility, settings), folder)

    # -- asking and telling --------------------------------------------------------------------------------

    def ask(self, count: int = 1) -> list[Trial]:
        """Up to `count` runs that are wanted and that nobody was asked for yet, the most urgent first.

        The list is empty when the search is done, or when it waits for runs that were asked for.
        """
        if count < 1:
            raise UsageError(f"the number of runs to ask for must be at least 1, not {count}")
        self._require_open()
        left = self._budget.max_runs - self._books.runs - len(self._open)
        if self.done or left < 1:
            return []
        count = int(min(count, left))
        trials = self._new_trials(self._engine.needed(), needed=True)
        if len(trials) < count:
            likely = self._engine.likely(count + len(self._open) + len(trials))
            taken = {(trial.request.configuration, trial.request.position) for trial in trials}
            further = self._new_trials(likely, needed=False)
            trials += [each for each in further if _key(each.request) not in taken]
        asked = trials[:count]
        for trial in asked:
            self._instances.prepare(trial.request.position)
        self._open |= {_key(trial.request): trial for trial in asked}
        return asked

    def tell(self, trial: Trial, runtime_s: float | None = None, status: str | None = None) -> None:
        """Take in what came of a trial.

        Args:
            trial: The trial, as it was asked for.
            runtime_s: Its runtime; None if it did not finish within its captime.
            status: "finished", "timeout", "crashed", "memout" or "wrong-answer", where the runtime does not
                say it: without a status a run has finished if it has a runtime within the captime.

        Raises:
            UsageError: The trial was not asked for or was told before, or the figures make no sense.
        """
        self._require_open()
        if self._open.get(_key(trial.request)) != trial:
            raise UsageError("this trial was not asked for, or was told or forgotten before")
        outcome = _outcome(trial, runtime_s, status)
        now = time.time()
        self._store.add_run(RunRecord(trial.request, outcome, trial.seed, started_at=now, ended_at=now))
        del self._open[_key(trial.request)]
        self._books.note(outcome)
        self._take_note(trial.request, outcome)
        if not outcome.finished and self.scenario.policy(outcome.status) is FailurePolicy.ABORT:
            self._stop = StopReason(
                "aborted",
                f"A run on {trial.instance!r} ended as {outcome.status.value}, and the scenario says to stop "
                f"then: mend it, then go on (it was a run of {dict(trial.configuration)}).",
            )
        self._advance()
        if self._books.time_s > self._recorded_s * _POINT_EVERY:
            self._record_progress()

    def forget(self, trial: Trial) -> None:
        """Say that nobody will run a trial; it may be asked for again."""
        self._open.pop(_key(trial.request), None)

    # -- where it stands -----------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether the search has ended, by itself or because a budget is spent; `stop_reason` says why."""
        return self._advance() is Halt.DONE or self._spent() is not None

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the search has ended, with advice; None while it goes on."""
        return self._engine.stop_reason() if self._advance() is Halt.DONE else self._spent()

    @property
    def best(self) -> Mapping[str, Any]:
        """The answer as it stands: the values of its active parameters."""
        return self._assignments[self.progress.best_index]

    @property
    def promise(self) -> Promise:
        """What is proved about the answer."""
        return replace(
            self.progress.promise, population=self.scenario.population.value, condition=self._condition
        )

    @property
    def progress(self) -> Progress:
        """The figures: ε, γ, runs, time, configurations."""
        if not self._closed:
            self._advance()
        return replace(self._engine.progress(), total_time_s=self._books.time_s, runs=self._books.runs)

    def close(self) -> None:
        """End the search for now; with a folder, a new `Tuner` goes on from here."""
        if self._closed:
            return
        interrupted = StopReason(
            "interrupted", "Closed: the answer is valid as it stands; go on at any time."
        )
        reason = self.stop_reason or interrupted
        last = self._store.last_progress()
        if last is None or last.progress != self.progress:
            self._record_progress()
        self._closed = True
        self._supply.close()
        self._store.end_session(reason)
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- inside --------------------------------------------------------------------------------------------

    def _restore(self) -> None:
        """Put back what the store holds, and let the given configurations join."""
        records = self._store.configurations()
        self._supply.restore(records)
        self._assignments = [record.assignment for record in records]
        for run in self._store.runs():
            if not run.taken_over:
                self._books.note(run.outcome)
            self._take_note(run.request, run.outcome)
        self._books.elapsed_before_s = elapsed_s(self._store, self._store.sessions())
        last = self._store.last_progress()
        self._recorded_s = 0.0 if last is None else last.progress.total_time_s
        for index in range(len(self._supply.given)):
            self._take_in(index)

    def _require_open(self) -> None:
        if self._closed:
            raise UsageError("this search is closed: make a new Tuner on its folder to go on")

    def _spent(self) -> StopReason | None:
        """The reason to stop although the procedure could go on."""
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        passed_s = self._books.elapsed_before_s + now - self._began
        if self._stop is None and self._books.time_s >= self._budget.max_time_s:
            self._stop = _spent("time-limit", "time", "budget.cpu_time", "max_time")
        elif self._stop is None and passed_s >= self._budget.max_wall_s:
            self._stop = _spent("wall-limit", "wall-clock", "budget.wall_time", "max_wall_time")
        elif self._stop is None and self._books.runs >= self._budget.max_runs:
            self._stop = _spent("run-limit", "run", "budget.runs", "max_runs")
        return self._stop

    def _record_progress(self) -> None:
        keep_standing(self._store, self._engine, self.progress)
        self._recorded_s = self._books.time_s

    def _take_in(self, index: int) -> None:
        drawn = self._supply.draw(index)
        if index == len(self._assignments):
            self._store.add_configuration(drawn.record(index))
            self._assignments.append(drawn.assignment)
        self._engine.add(drawn.origin, drawn.first_position)

    def _advance(self) -> Halt:
        """Let the procedure go on until it needs runs or is done."""
        while True:
            limit = self._engine.progress().rounds + _ROUNDS_PER_CALL
            halt = self._engine.advance(PauseAt(limit, math.inf, self._supply.learn_at))
            if halt is Halt.NEEDS_CONFIGURATIONS:
                for _ in range(self._engine.missing_configurations):
                    self._take_in(self._engine.added)
            elif halt is Halt.PAUSED:
                self._supply.learn()
            else:
                return halt

    def _new_trials(self, requests: Iterable[RunRequest], *, needed: bool) -> list[Trial]:
        return [
            Trial(
                configuration=self._assignments[request.configuration],
                instance=self._instances.name(request.position),
                seed=self._instances.seed(request.position),
                captime_s=request.captime_s,
                needed=needed,
                request=request,
            )
            for request in requests
            if _key(request) not in self._open
        ]

    def _take_note(self, request: RunRequest, outcome: RunOutcome) -> None:
        if outcome.failed:
            self._supply.note_failure(request.configuration, request.position, outcome.runtime_s)
        self._evidence.tell(request, outcome)


def made_outside(configuration: Mapping[str, Any], instance: str, seed: int) -> None:
    """Stand for runs that Utilitune does not make itself."""
    raise UsageError(
        f"the run of {dict(configuration)} on {instance!r}, seed {seed}, is yours to make, by ask and tell"
    )


def _spent(code: str, what: str, in_file: str, in_python: str) -> StopReason:
    return StopReason(
        code, f"The {what} budget is spent: raise {in_file} ({in_python} in Python) to go on from here."
    )


def _key(request: RunRequest) -> tuple[int, int]:
    return request.configuration, request.position


def _outcome(trial: Trial, runtime_s: float | None, status: str | None) -> RunOutcome:
    if runtime_s is not None and not _is_time(runtime_s):
        raise UsageError(f"a runtime must be a number of seconds from 0 up, not {runtime_s!r}")
    runtime_s = None if runtime_s is None else float(runtime_s)
    late = runtime_s is None or runtime_s > trial.captime_s
    try:
        kind = RunStatus(status) if status else RunStatus.TIMEOUT if late else RunStatus.FINISHED
    except ValueError:
        raise UsageError(f"there is no status {status!r}; {did_you_mean(str(status), _STATUSES)}") from None
    if kind is RunStatus.FINISHED and runtime_s is None:
        raise UsageError("a finished trial needs its runtime: tell(trial, runtime_s)")
    if kind is RunStatus.TIMEOUT or (kind is RunStatus.FINISHED and late):
        return RunOutcome(RunStatus.TIMEOUT, trial.captime_s)
    return RunOutcome(kind, runtime_s or 0.0)


def _is_time(value: object) -> bool:
    number = isinstance(value, Real) and not isinstance(value, bool)
    return number and 0 <= float(value) < math.inf  # type: ignore[arg-type]

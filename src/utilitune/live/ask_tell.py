"""Ask and tell: the search for people who make the runs themselves.

`Tuner.ask` says which runs are wanted next, `Tuner.tell` takes in what came of them, in any order and from
anywhere: a cluster's scheduler, a laboratory, another program. Procedure, store, budget and stop are those of
every other run, and so is the promise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, Unpack

from utilitune.domain import Promise, RunOutcome, RunStatus, StopReason, require_whole
from utilitune.domain.stopping import interrupted
from utilitune.errors import UsageError, did_you_mean
from utilitune.errors.outside import user_path
from utilitune.live.asker import pair_of
from utilitune.live.call_settings import Settings, checked
from utilitune.live.configuring import Space, scenario_around
from utilitune.live.live_run import LiveRun
from utilitune.live.result import RunResult, load
from utilitune.live.reusing import condition_of
from utilitune.live.running import (
    check_procedure,
    check_resumed,
    check_search,
    go_on_searching,
    next_asker,
    open_store,
    settings_of,
)
from utilitune.live.task import Task
from utilitune.procedures.naming import warm_up
from utilitune.scenario import FunctionSpec, Scenario, read_scenario
from utilitune.targets.function import MADE_OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from utilitune.domain import Progress, RunRequest
    from utilitune.live.asker import Make, Pair, Wanted
    from utilitune.utility import Utility

_STATUSES = tuple(status.value for status in RunStatus)


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
        self.scenario = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
        settings = settings_of(self.scenario)
        task = Task(self.scenario)
        spec = settings.specification
        self._task = task
        self._folder = place = None if folder is None else user_path(folder)
        check_procedure(task, settings, place)
        check_search(task, settings, place)
        self._store = open_store(task, place, "choose another folder to start afresh")
        self._open: dict[Pair, Trial] = {}
        self._closed = False
        try:
            check_resumed(self._store, settings, place)
            go_on_searching(task, settings, self._store, place)
            warm_up(spec, task.evidence().utility)
            self._asker = next_asker(task, settings, self._store)()
            stored = {**settings.stored(), "workers": 0}  # others make the runs
            terms = replace(settings.terms(), workers=0, settings=stored)
            self._live = LiveRun(task, self._store, self._asker, terms)
            self._live.open()
        except BaseException:
            self._store.close()
            raise
        self._condition = condition_of(self._store)

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
        given = checked(settings, Settings.__optional_keys__, "Tuner.of")
        return cls(scenario_around(FunctionSpec(MADE_OUTSIDE), space, instances, utility, given), folder)

    # -- asking and telling --------------------------------------------------------------------------------

    def ask(self, count: int = 1) -> list[Trial]:
        """Up to `count` runs that are wanted and that nobody was asked for yet, the most urgent first.

        The list is empty when the search is done, or when it waits for runs that were asked for.
        """
        require_whole("the number of runs to ask for", count)
        self._require_open()
        step = self._live.next_runs(count)
        trials: list[Trial] = []
        for wanted in () if isinstance(step, StopReason) else step.runs:
            if len(trials) < count and self._live.may_begin(wanted):
                self._live.instances.prepare(wanted.request.position)
                trials.append(self._trial(wanted))
        return trials

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
        if not isinstance(trial, Trial) or self._open.get(pair := pair_of(trial.request)) != trial:
            raise UsageError("this trial was not asked for, or was reported or given back before")
        outcome = _outcome(trial, runtime_s, status)
        self._live.land([(self._live.under_way[pair], outcome)])
        del self._open[pair]
        self._next()
        self._live.look_around()

    def forget(self, trial: Trial) -> None:
        """Say that nobody will run a trial; it may be asked for again."""
        if not isinstance(trial, Trial):
            raise UsageError(f"only a trial that was asked for can be forgotten, not {trial!r}")
        pair = pair_of(trial.request)
        if self._open.pop(pair, None) is not None and not self._closed:
            self._live.drop(self._live.under_way[pair])

    # -- where it stands -----------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether the search has ended, by itself or because a budget is spent; `stop_reason` says why."""
        return self.stop_reason is not None

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the search has ended, with advice; None while it goes on."""
        step = self._next()
        return step if isinstance(step, StopReason) else None

    @property
    def best(self) -> Mapping[str, Any]:
        """The answer as it stands: the values of its active parameters."""
        return self._live.assignments[self.progress.best_index]

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
            self._next()
        progress = self._live.progress()
        if progress is None:
            raise UsageError("this search was stopped before it had a configuration: go on with it first")
        return progress

    def result(self) -> RunResult:
        """Everything found so far, as `utilitune.configure` returns it: numbers, runs, tables, pictures."""
        if self._closed and self._folder is not None:
            return load(self._folder)
        return RunResult.read(self._store, self._folder, task=self._task, final=self.progress)

    def to_pandas(self, what: str = "runs") -> Any:  # noqa: ANN401 -- a pandas.DataFrame
        """A table of the search so far as a data frame, see `RunResult.to_pandas`."""
        return self.result().to_pandas(what)

    def close(self) -> None:
        """End the search for now; with a folder, a new `Tuner` goes on from here."""
        if self._closed:
            return
        self._live.close(self.stop_reason or interrupted())
        self._closed = True
        self._asker.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- inside --------------------------------------------------------------------------------------------

    def _require_open(self) -> None:
        if self._closed:
            raise UsageError("this search is closed: make a new Tuner on its folder to go on")

    def _next(self) -> Make | StopReason:
        """Let the procedure go on until it needs runs or has ended."""
        return self._live.next_runs(0)

    def _trial(self, wanted: Wanted) -> Trial:
        """A run that is under way from now on."""
        run = self._live.written_out(wanted)
        self._live.begin(run)
        trial = Trial(
            configuration=run.invocation.parameters,
            instance=run.invocation.instance,
            seed=run.invocation.seed,
            captime_s=run.request.captime_s,
            needed=not run.ahead,
            request=run.request,
        )
        self._open[pair_of(run.request)] = trial
        return trial


def _outcome(trial: Trial, runtime_s: float | None, status: str | None) -> RunOutcome:
    if runtime_s is not None and not _is_time(runtime_s):
        raise UsageError(f"a runtime must be a number of seconds from 0 up, not {runtime_s!r}")
    runtime_s = None if runtime_s is None else float(runtime_s)
    late = runtime_s is None or runtime_s > trial.captime_s
    try:
        kind = RunStatus(status) if status is not None else RunStatus.TIMEOUT if late else RunStatus.FINISHED
    except ValueError:
        raise UsageError(f"there is no status {status!r}; {did_you_mean(str(status), _STATUSES)}") from None
    if kind is RunStatus.FINISHED and runtime_s is None:
        raise UsageError("a finished trial needs its runtime: tell(trial, runtime_s)")
    if kind is RunStatus.TIMEOUT or (kind is RunStatus.FINISHED and late):
        return RunOutcome(RunStatus.TIMEOUT, trial.captime_s)
    return RunOutcome(kind, runtime_s or 0.0)


def _is_time(value: object) -> bool:
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and 0 <= float(value) < math.inf
    except OverflowError:
        return False

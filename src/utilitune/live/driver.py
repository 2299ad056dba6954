"""Makes the runs that an asker wants, on a backend: the one loop of every live run on this machine.

Runs that end while an instance is still being made do not wait for that: they are stored at once. When a stop
is asked for, what is under way is ended; a run that ended by itself in the meantime still counts. Ctrl-C and
SIGTERM ask for a stop in good order; a second one ends the work at once.
"""

from __future__ import annotations

import contextlib
import math
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.domain import Measure, StopReason
from utilitune.errors import UtilituneError
from utilitune.execution.backend import CALIBRATION, TellsNews
from utilitune.execution.platform import metering_loss
from utilitune.execution.runs import DISAGREEMENT
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.asker import pair_of
from utilitune.live.paused import PausedRuns
from utilitune.store.base import note_once
from utilitune.targets.base import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from utilitune.domain import RunRequest
    from utilitune.execution.backend import Backend
    from utilitune.execution.runs import Judged
    from utilitune.live.asker import Make, UnderWay
    from utilitune.live.live_run import LiveRun
    from utilitune.targets.base import RawResult

_LOOK_EVERY_S = 0.25
_ROUNDING = 1e-9
_NOTICE_S = 0.1
"""A run is taken to have lasted this much less than the clock says: it took a moment to begin."""


class Driver:
    """Drives a live run.

    Args:
        live: The run.
        backend: What makes its runs.
        paused: Runs that are kept at their captime to be continued; none are if left out.
    """

    def __init__(self, live: LiveRun, backend: Backend, paused: PausedRuns | None = None) -> None:
        self._live = live
        self._backend = backend
        self._telling = backend if isinstance(backend, TellsNews) else None
        self._paused = paused or PausedRuns.none()
        self._rules = live.task.rules
        self._jobs: dict[int, UnderWay] = {}
        self._next_job = 0
        self._shortened: dict[int, RunRequest] = {}
        self._continued: set[int] = set()
        self._compared = False
        self._alone = False
        # How long to wait for a run before looking whether to stop: as long as it takes on a virtual clock.
        self._patience_s = None if isinstance(backend, SimulatedBackend) else _LOOK_EVERY_S
        if self._patience_s is not None and (loss := metering_loss()):
            note_once(live.store, "warning", loss)

    def work(self) -> StopReason:
        """Make runs until the asker wants no more, a budget is spent or somebody asks for a stop.

        Raises:
            UtilituneError: A run could not be made; the others are kept.
        """
        with stopping_on_signals(self._live):
            try:
                while True:
                    if self._rests():
                        continue
                    free = self._backend.free_slots
                    step = self._live.next_runs(free)
                    if isinstance(step, StopReason):
                        return step
                    if self._is_alone(free):
                        continue
                    patience_s = self._shorten(step.enough)
                    self._begin(step)
                    if self._live.spent() is None:
                        self._land(patience_s)
                        self._live.look_around()
            finally:
                self._wind_down()

    def _rests(self) -> bool:
        """Where somebody asked for a pause, wait a little; runs under way end as they would."""
        if self._patience_s is None or not self._live.is_paused() or self._live.spent():
            return False
        if self._jobs:
            self._land(self._patience_s)
        else:
            time.sleep(self._patience_s)
        self._live.look_around()
        return True

    def _is_alone(self, free: int) -> bool:
        """Where a cluster had no worker when runs were asked for, wait a little for one."""
        if self._jobs or free or self._live.spent():
            self._alone = False
            return False
        self._land(0.0)
        if not self._alone:
            self._alone = True
            self._live.store.add_event("worker", "none is there: waiting for workers")
        time.sleep(self._patience_s or 0.0)
        self._live.look_around()
        return True

    def _begin(self, step: Make) -> None:
        """Begin as many runs as there is room for."""
        for each in step.runs:
            if not self._backend.free_slots:
                return  # all are at work, or a cluster has just lost those it had
            if self._live.spent():
                break
            if not self._live.instances.prepare(each.request.position, self._is_stopping):
                break
            self._live.inputs.look()
            if self._live.may_begin(each):
                run = self._live.written_out(each)
                job = self._paused.begin(run, self._rules.job(run.invocation))
                self._backend.submit(self._next_job, job)
                self._jobs[self._next_job] = run
                if job.continues is not None:
                    self._continued.add(self._next_job)
                self._next_job += 1
                self._live.begin(run)
        if not self._jobs and not step.may_wait and not self._live.spent():
            raise RuntimeError("somebody waits for runs that nobody makes")

    def _shorten(self, enough: Sequence[RunRequest]) -> float | None:
        """End runs that have lasted longer than they are needed for; how long to wait for the next one.

        A target that reports its own runtime is not measured by us, so its runs are left alone. So are runs
        that continue a paused one: they have lasted longer than the clock says.
        """
        patience_s = self._patience_s
        if not enough or self._rules.target.reports_runtime:
            return patience_s
        wanted = {pair_of(each): each for each in enough}
        for job, run in self._jobs.items():
            request = wanted.get(pair_of(run.request))
            if request is None or job in self._shortened or job in self._continued:
                continue
            left_s = request.captime_s - self._so_far_s(job, run)
            if left_s <= _ROUNDING * request.captime_s:
                self._shortened[job] = request
                self._backend.cancel(job)
            elif self._patience_s is None:
                patience_s = min(left_s, patience_s or math.inf)
        return patience_s

    def _so_far_s(self, job: int, run: UnderWay) -> float:
        """Seconds that a run has lasted, by the clock that the backend lives on."""
        if isinstance(self._backend, SimulatedBackend):
            return self._backend.so_far_s(job)
        return time.time() - run.started_at - _NOTICE_S

    def _cut(self, job: int, run: UnderWay, raw: RawResult) -> tuple[UnderWay, RawResult] | None:
        """A cancelled run as one that was stopped at the captime it was needed for; None if it was too short.

        That it lasted so long is measured, not inferred from the clock: CPU time may lag behind.
        """
        request = self._shortened.pop(job, None)
        measured_s = raw.cpu_s if self._rules.measure is Measure.CPU else raw.wall_s
        if request is None or raw.launch_error or measured_s < request.captime_s * (1.0 - _ROUNDING):
            return None
        invocation = replace(run.invocation, captime_s=request.captime_s)
        shorter = replace(run, request=request, invocation=invocation)
        return shorter, replace(raw, ending=Ending.CAPTIME)

    def _is_stopping(self) -> bool:
        """While an instance is made: keep the runs that end, and say whether to stop."""
        self._land(0.0)
        self._live.look_around()
        return self._live.spent() is not None

    def _land(self, patience_s: float | None) -> None:
        """Take in every run that has ended; an error of one waits until the others are kept."""
        ended = []
        error: UtilituneError | None = None
        for job, raw in self._backend.wait(patience_s):
            run = self._jobs.pop(job)
            self._continued.discard(job)
            if raw.ending is Ending.CANCELLED:
                cut = self._cut(job, run, raw)
                if cut is None:
                    self._live.drop(run)
                    self._paused.lost(run)
                    continue
                run, raw = cut  # noqa: PLW2901 -- it counts as this one
            self._shortened.pop(job, None)
            try:
                self._live.instances.require_unchanged(run.request.position)
                judged = self._rules.judge(run.invocation, raw)
            except UtilituneError as problem:
                self._live.drop(run)
                self._paused.lost(run)
                error = error or problem
                continue
            ended.append((run, self._paused.ended(job, run, raw, judged.outcome)))
            self._compare(run, judged)
        self._live.land(ended)
        self._keep_news()
        if error is not None:
            raise error

    def _keep_news(self) -> None:
        """Keep what happened to a cluster."""
        for kind, text in () if self._telling is None else self._telling.news():
            if kind == CALIBRATION:
                self._live.store.keep_fact(kind, text)
            else:
                self._live.store.add_event(kind, text)

    def _compare(self, run: UnderWay, judged: Judged) -> None:
        """Warn, once in the life of a run, where a wrapper's own figure is far from the measured one."""
        if not self._compared and (text := self._rules.disagreement(run.invocation, judged)):
            self._compared = True
            if not any(event.text.startswith(DISAGREEMENT) for event in self._live.store.events()):
                self._live.store.add_event("warning", text)

    def _wind_down(self) -> None:
        """Cancel what is under way."""
        for job in list(self._jobs):
            self._backend.cancel(job)
        while self._jobs:
            self._land(self._patience_s)


@contextlib.contextmanager
def stopping_on_signals(live: LiveRun) -> Iterator[None]:
    """While the block runs, Ctrl-C and SIGTERM end a run in good order; a second one at once."""
    asked = False

    def handle(*_: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        live.stop()

    try:
        previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: the caller has its own way to stop
        previous = {}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)

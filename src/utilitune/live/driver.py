"""Makes the runs that an asker wants, on a backend: the one loop of every live run on this machine.

Runs that end while an instance is still being made do not wait for that: they are stored at once. When a stop
is asked for, what is under way is ended; a run that ended by itself in the meantime still counts. Ctrl-C and
SIGTERM ask for a stop in good order; a second one ends the work at once.
"""

from __future__ import annotations

import contextlib
import signal
import time
from typing import TYPE_CHECKING

from utilitune.domain import StopReason
from utilitune.errors import UtilituneError
from utilitune.execution.backend import CALIBRATION, TellsNews
from utilitune.execution.platform import metering_loss
from utilitune.execution.runs import DISAGREEMENT
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.paused import PausedRuns
from utilitune.store.base import note_once
from utilitune.targets.base import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from utilitune.execution.backend import Backend
    from utilitune.execution.runs import Judged
    from utilitune.live.asker import Make, UnderWay
    from utilitune.live.live_run import LiveRun

_LOOK_EVERY_S = 0.25


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
        self._paused = paused or PausedRuns.none()
        self._rules = live.task.rules
        self._jobs: dict[int, UnderWay] = {}
        self._next_job = 0
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
                    step = self._live.next_runs(self._backend.free_slots)
                    if isinstance(step, StopReason):
                        return step
                    if self._is_alone():
                        continue
                    self._begin(step)
                    if self._live.spent() is None:
                        self._land(self._patience_s)
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

    def _is_alone(self) -> bool:
        """Where a cluster has no worker at the moment, wait a little for one."""
        if self._jobs or self._backend.free_slots or self._patience_s is None or self._live.spent():
            self._alone = False
            return False
        self._land(0.0)
        if not self._alone:
            self._alone = True
            self._live.store.add_event("worker", "none is there: waiting for workers")
        time.sleep(self._patience_s)
        self._live.look_around()
        return True

    def _begin(self, step: Make) -> None:
        """Begin as many runs as there is room for."""
        for each in step.runs:
            if not self._backend.free_slots or self._live.spent():
                break
            if not self._live.instances.prepare(each.request.position, self._is_stopping):
                break
            self._live.inputs.look()
            if self._live.may_begin(each):
                run = self._live.written_out(each)
                job = self._paused.begin(run, self._rules.job(run.invocation))
                self._backend.submit(self._next_job, job)
                self._jobs[self._next_job] = run
                self._next_job += 1
                self._live.begin(run)
        if not self._jobs and not step.may_wait and not self._live.spent():
            raise RuntimeError("somebody waits for runs that nobody makes")

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
            if raw.ending is Ending.CANCELLED:
                self._live.drop(run)
                self._paused.lost(run)
                continue
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
        for kind, text in self._backend.news() if isinstance(self._backend, TellsNews) else ():
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

"""Proposals whose model is fitted in a thread of its own, while a live run goes on.

A fit takes a good part of a second and begins as soon as its runs are known, usually long before the next
proposal is asked for. Trees are grown outside the interpreter's lock, so the run's own thread is hardly held
up. Whoever asks for a proposal waits for the fit if need be: a proposal must not depend on how quick the
thread was. Nobody waits for it at the end: a program that is told to end does not finish its homework first.
"""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from utilitune.search.proposers import forest
from utilitune.search.proposers.base import Kind
from utilitune.search.proposers.fitting import ImmediateProposals

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.search.proposers.base import Proposer, Runs

    Job = tuple[Future[None], Callable[[], None]]


class BackgroundProposals(ImmediateProposals[Kind]):
    """Proposals from a model that is fitted ahead of need; all methods are called from one thread.

    Args:
        proposer: The model; the background uses it until `take` has waited for it.
        seed: What every proposal follows from.
    """

    def __init__(self, proposer: Proposer[Kind], seed: int) -> None:
        super().__init__(proposer, seed)
        self._thread = _Worker()
        self._thread.submit(forest.load)
        self._job: Future[None] | None = None

    def learn(self, runs: Runs) -> None:
        """Begin to learn from these runs; a fit under way goes on to the newest ones when it is through."""
        super().learn(runs)
        if self._waiting and (self._job is None or self._job.done()):
            self._job = self._thread.submit(self._fit)

    def take(self) -> Kind | None:
        """A proposal from what was learnt last, once the fit is through."""
        if self._job is not None:
            self._job.result()
        return super().take()

    def close(self) -> None:
        """Start nothing more; a fit under way ends by itself."""
        super().close()
        self._thread.dismiss()


class _Worker:
    """A thread that does one job after the other, and that the end of the program does not wait for.

    Those of `concurrent.futures` are waited for: after Ctrl-C that took as long as loading a library.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="utilitune-proposals", daemon=True).start()

    def submit(self, job: Callable[[], None]) -> Future[None]:
        """Have something done after what was submitted before."""
        future: Future[None] = Future()
        self._jobs.put((future, job))
        return future

    def dismiss(self) -> None:
        """Begin nothing more."""
        while not self._jobs.empty():
            waiting = self._jobs.get()
            if waiting is not None:
                waiting[0].cancel()
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, function = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001 -- it belongs to whoever asks for the result
                future.set_exception(error)

"""The backend of a cluster: what a coordinator sees of it."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING

from utilitune.errors import UsageError
from utilitune.execution import platform
from utilitune.execution.backend import ClosedInBlocks
from utilitune.execution.cluster.files import Digests, named_files
from utilitune.execution.cluster.link import Broken, EndedRun, Link, News
from utilitune.execution.cluster.places import LocalWorkers, QueuedWorkers
from utilitune.execution.cluster.starting import require_dask
from utilitune.execution.messages import as_message

if TYPE_CHECKING:
    from utilitune.execution.backend import Job
    from utilitune.execution.cluster.places import Cluster
    from utilitune.execution.wire import Message
    from utilitune.targets.base import RawResult

_CLOSING_PATIENCE_S = 30.0
_SWITCH_S = 0.0002
"""How long one thread of the coordinator may keep the others waiting: deciding must not delay messages."""


class DaskBackend(ClosedInBlocks):
    """Makes runs on the workers of a Dask cluster.

    Workers may come and go at any time, and `free_slots` follows them. The runs of a worker that has gone are
    made again by others and come out once.

    Example::

        with DaskBackend(Cluster("local:2", LocalWorkers(2))) as backend:
            backend.submit(0, job)
            [(job_id, raw)] = backend.wait()

    Args:
        cluster: Which cluster, and how it is used.
        reference_s: The calibration that times are scaled to; that of the first worker if left out.

    Raises:
        ClusterError: The cluster cannot be reached or used.
    """

    def __init__(self, cluster: Cluster, reference_s: float | None = None) -> None:
        platform.require_supported_platform()
        require_dask(queues=isinstance(cluster.workers, QueuedWorkers))
        self._cluster = cluster
        self._in_flight: set[int] = set()
        self._offered = 0
        self._out: queue.SimpleQueue[EndedRun | News | Broken] = queue.SimpleQueue()
        self._news: list[News] = []
        self._digests = Digests()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._link = Link(cluster, self._out, reference_s)
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._follow, args=(ready,), name="cluster", daemon=True)
        self._thread.start()
        try:
            ready.result()
        except BaseException:
            self.close()
            raise

    @property
    def free_slots(self) -> int:
        """How many more jobs can be submitted now; workers that go meanwhile take nothing back."""
        self._offered = self._link.roster.capacity
        return max(0, self._offered - self._working)

    @property
    def slots(self) -> int:
        """How many runs can be made at once by those who are there, or who are expected."""
        workers = self._cluster.workers
        expected = workers.cores * workers.jobs if isinstance(workers, QueuedWorkers) else 1
        return max(self._link.roster.capacity, expected)

    @property
    def _working(self) -> int:
        """How many runs take a slot, or will as soon as there is one."""
        return len(self._in_flight) - self._link.bound

    @property
    def reference_s(self) -> float | None:
        """The calibration that times are scaled to; None before there was a worker."""
        return self._link.roster.reference_s

    @property
    def local_workers(self) -> tuple[int, ...]:
        """Process ids of the workers that we started on this machine."""
        is_local = isinstance(self._cluster.workers, LocalWorkers)
        return self._link.opened.local.pids if is_local and self._link.opened.local else ()

    def submit(self, job_id: int, job: Job) -> None:
        """Start a job in a free slot."""
        if job_id in self._in_flight:
            raise UsageError(f"job {job_id} is already running; give every job its own number")
        if self._working >= max(self._offered, self._link.roster.capacity):
            raise UsageError("all workers are busy; wait for a run to end before submitting another")
        message = as_message(job)
        message["files"] = self._files(message)
        self._in_flight.add(job_id)
        self._tell(self._link.begin, job_id, message, job.continues)

    def wait(self, timeout_s: float | None = None) -> list[tuple[int, RawResult]]:
        """Wait until a run has ended or the time has passed; returns all that have ended.

        Raises:
            ClusterError: The connection to the cluster is lost.
        """
        ended: list[tuple[int, RawResult]] = []
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left_s = 0.0 if ended or not self._in_flight else _left_s(deadline_s)
            try:
                said = self._out.get(timeout=left_s) if left_s != 0.0 else self._out.get_nowait()
            except queue.Empty:
                return ended
            if isinstance(said, Broken):
                self._out.put(said)  # for whoever asks again
                if ended:
                    return ended
                raise said.error
            if isinstance(said, News):
                self._news.append(said)
            else:
                self._in_flight.discard(said.job_id)
                ended.append(said)

    def cancel(self, job_id: int) -> None:
        """Ask for a job's end; it comes out of `wait`."""
        if job_id in self._in_flight:
            self._tell(self._link.cancel, job_id)

    def release(self, job_id: int) -> None:
        """End the run that was kept of a job; nothing happens if there is none."""
        self._tell(self._link.release, job_id)

    def news(self) -> list[tuple[str, str]]:
        """What happened to the cluster since this was asked for last: kinds of events, and their texts."""
        news, self._news = self._news, []
        return [(said.kind, said.text) for said in news]

    def close(self) -> None:
        """End every run and release everything."""
        self._tell(self._link.close)
        self._thread.join(_CLOSING_PATIENCE_S)
        self._in_flight.clear()
        sys.setswitchinterval(self._switch_s)

    def _files(self, message: Message) -> tuple[str, ...] | dict[str, str]:
        """The files of a command, with their contents where they may be sent."""
        if self._cluster.is_here:
            return ()
        named = named_files(message)
        return {path: self._digests.of(path) for path in named} if self._cluster.ship else named

    def _tell(self, what: object, *arguments: object) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(what, *arguments)  # type: ignore[arg-type]

    def _follow(self, ready: Future[None]) -> None:
        """The thread of the link."""
        try:
            asyncio.run(self._serve(ready))
        except BaseException as error:  # noqa: BLE001 - it belongs to the thread that waits
            if ready.done():
                self._out.put(Broken(error))
            else:
                ready.set_exception(error)

    async def _serve(self, ready: Future[None]) -> None:
        self._loop = asyncio.get_running_loop()
        await self._link.serve(ready)


def _left_s(deadline_s: float | None) -> float | None:
    return None if deadline_s is None else max(0.0, deadline_s - time.monotonic())

"""Workers that are jobs of a queue: submitted, and submitted again where one is gone.

Dask submits a job again when its worker has been there and has gone. Two kinds of jobs it would wait for in
vain, so we look for them: one that could not be submitted (a busy queue refuses now and then), and one that
ended before its worker came, such as a job that was cancelled while it was waiting.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

from utilitune.errors import ClusterError
from utilitune.execution.cluster.places import NO_PAGES, System

if TYPE_CHECKING:
    import contextlib

    from utilitune.execution.cluster.places import QueuedWorkers

LOOK_EVERY_S = 10.0
"""How often we look for jobs that are gone, so that a queue is not asked too often."""

_OWN_JOBS = {System.SLURM: ("squeue", "--me", "--noheader", "--format=%i")}
"""How to list the numbers of a user's own jobs, waiting or running, where we know that."""


async def submitted(workers: QueuedWorkers, stack: contextlib.AsyncExitStack) -> QueuedJobs:
    """Submit workers to a job queue; the stack cancels them."""
    try:
        queue = described(workers)
        await stack.enter_async_context(queue)
        queue.scale(jobs=workers.jobs)
        await queue
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        reason = " ".join(str(error).rpartition("stderr:")[2].split()) or type(error).__name__
        raise ClusterError(f"workers cannot be submitted to {workers.system.value}: {reason}") from None
    return QueuedJobs(queue, workers)


def described(workers: QueuedWorkers) -> Any:  # noqa: ANN401 - dask-jobqueue has no types
    """The jobs of a queue as dask-jobqueue knows them; nothing is submitted yet."""
    import dask_jobqueue

    kinds = {System.SLURM: "SLURMCluster", System.PBS: "PBSCluster", System.SGE: "SGECluster"}
    options = {"scheduler_options": NO_PAGES, **workers.options}
    options["python"] = shlex.quote(options.get("python") or sys.executable)
    if workers.system is System.SGE and "account" in options:
        options["project"] = options.pop("account")
    return getattr(dask_jobqueue, kinds[workers.system])(cores=workers.cores, asynchronous=True, **options)


class QueuedJobs:
    """The jobs of a queue that our workers are.

    Args:
        queue: The same as dask-jobqueue knows them.
        workers: What was asked for.
    """

    def __init__(self, queue: Any, workers: QueuedWorkers) -> None:  # noqa: ANN401 - dask-jobqueue has no types
        self._queue = queue
        self._workers = workers
        self._looked_s = time.monotonic()
        self._looking: asyncio.Task[None] | None = None
        self._news: list[str] = []

    @property
    def address(self) -> str:
        """That of the scheduler."""
        return str(self._queue.scheduler_address)

    def renew(self) -> list[str]:
        """Submit a job for each that is gone; what a user should know of it."""
        if time.monotonic() - self._looked_s >= LOOK_EVERY_S and (
            self._looking is None or self._looking.done()
        ):
            self._looked_s = time.monotonic()
            self._looking = asyncio.ensure_future(self._forget_gone())
        self._queue.scale(jobs=self._workers.jobs)
        news, self._news = self._news, []
        return news

    async def _forget_gone(self) -> None:
        """Let Dask forget the jobs that no worker will come from, so that others are submitted for them."""
        jobs = dict(self._queue.workers)
        there = await self._numbers()
        system = self._workers.system.value
        for name, job in jobs.items():
            if self._queue.workers.get(name) is not job:
                continue
            if job.job_id is None:
                self._news.append(f"a job could not be submitted to {system}: it is tried again")
            elif there is not None and job.job_id not in there:
                self._news.append(f"job {job.job_id} of {system} has ended: another one is submitted for it")
            else:
                continue
            del self._queue.workers[name]
            self._queue.worker_spec.pop(name, None)

    async def _numbers(self) -> set[str] | None:
        """The numbers of our jobs that wait or run; None if that cannot be known now."""
        if (command := _OWN_JOBS.get(self._workers.system)) is None:
            return None
        try:
            asking = await asyncio.create_subprocess_exec(
                *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
            )
            found, _ = await asking.communicate()
        except OSError:
            return None
        return set(found.decode(errors="replace").split()) if asking.returncode == 0 else None

"""Opening a cluster: finding its scheduler, or starting one, and getting workers."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utilitune.errors import ClusterError, MissingExtraError, UsageError
from utilitune.execution.cluster.places import LOOPBACK, NO_PAGES, LocalWorkers, QueuedWorkers
from utilitune.execution.cluster.queues import submitted
from utilitune.execution.watcher import guarded

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from utilitune.execution.cluster.places import Cluster

REACH_S = 10.0
"""How long a scheduler may take to answer."""

_SHORT_LIFE_S = 20.0
_SHORT_LIVES = 3
_LOUD = ("distributed", "dask_jobqueue", "tornado", "asyncio")


def require_dask(*, queues: bool = False) -> None:
    """Raise where Dask is not installed, and keep it from writing to our terminal where it is."""
    try:
        import distributed  # noqa: F401 - is it there?

        if queues:
            interrupted = signal.getsignal(signal.SIGINT)
            import dask_jobqueue  # noqa: F401 - the same

            if signal.getsignal(signal.SIGINT) is not interrupted:  # by it Ctrl-C would end us in silence
                signal.signal(signal.SIGINT, interrupted)
    except ImportError:
        raise MissingExtraError("Running on a cluster", "cluster") from None
    for name in [*logging.root.manager.loggerDict, "asyncio"]:
        if name.partition(".")[0] in _LOUD:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _nothing() -> list[str]:
    """Workers are for others to replace."""
    return []


class Opened:
    """A cluster that has been opened.

    Attributes:
        address: Its scheduler's.
        local: Its worker processes on this machine, where we started them.
        renew: Replaces workers that have died, where that is for us to do, and says what a user should know
            of it; raises a `ClusterError` if they keep dying.
    """

    def __init__(
        self, address: str, local: LocalProcesses | None = None, renew: Callable[[], list[str]] = _nothing
    ) -> None:
        self.address = address
        self.local = local
        self.renew = renew


async def opened(cluster: Cluster, stack: contextlib.AsyncExitStack) -> Opened:
    """Open a cluster; the stack closes it."""
    workers = cluster.workers
    if isinstance(workers, LocalWorkers):
        from distributed import Scheduler

        scheduler = await stack.enter_async_context(Scheduler(host=LOOPBACK, port=0, **NO_PAGES))
        local = stack.enter_context(contextlib.closing(LocalProcesses(scheduler.address, workers.count)))
        return Opened(scheduler.address, local, local.renew)
    if isinstance(workers, QueuedWorkers):
        queue = await submitted(workers, stack)
        return Opened(queue.address, renew=queue.renew)
    return Opened(workers.address)


async def connected(address: str, stack: contextlib.AsyncExitStack) -> Any:  # noqa: ANN401 - Dask has no types
    """A client of the scheduler at an address."""
    from distributed import Client

    client = Client(address, asynchronous=True, timeout=REACH_S, set_as_default=False)
    stack.push_async_callback(_closed, client)
    try:
        return await client
    except (OSError, TimeoutError):
        raise ClusterError(
            f"no Dask scheduler answers at {address}: start one there with 'dask scheduler', or correct the "
            "address"
        ) from None
    except ValueError as error:
        raise UsageError(f"{address!r} is no address of a Dask scheduler: {error}") from None


async def _closed(client: Any) -> None:  # noqa: ANN401 - Dask has no types
    """Close a client, also one that never was connected."""
    with contextlib.suppress(OSError, TimeoutError, ValueError):
        await client.close(timeout=REACH_S)


class LocalProcesses:
    """Worker processes on this machine; one that dies is replaced, and none outlives us.

    Args:
        address: Their scheduler's.
        count: How many.
    """

    def __init__(self, address: str, count: int) -> None:
        self._address = address
        self._folder = tempfile.TemporaryDirectory(prefix="utilitune-", ignore_cleanup_errors=True)
        self._closing = contextlib.ExitStack()
        self._short_lives = 0
        self._alive: list[tuple[float, subprocess.Popen[Any]]] = []
        for _ in range(count):
            self._start()

    @property
    def pids(self) -> tuple[int, ...]:
        """Their process ids."""
        return tuple(process.pid for _, process in self._alive)

    def renew(self) -> list[str]:
        """Replace those that have died; there is nothing to say about it.

        Raises:
            ClusterError: They keep dying before they are of any use.
        """
        for began_s, process in [each for each in self._alive if each[1].poll() is not None]:
            self._alive.remove((began_s, process))
            short = time.monotonic() - began_s < _SHORT_LIFE_S and process.returncode > 0
            self._short_lives = self._short_lives + 1 if short else 0
            if self._short_lives >= _SHORT_LIVES:
                raise ClusterError(f"worker processes of this machine end at once: {self._last_words()}")
            self._start()
        return []

    def close(self) -> None:
        """End all of them."""
        self._closing.close()
        self._folder.cleanup()

    def _start(self) -> None:
        argv = [sys.executable, "-m", "distributed.cli.dask_worker", self._address, "--no-nanny"]
        argv += ["--nthreads=1", "--no-dashboard", "--memory-limit=0", "--death-timeout=60"]
        argv += [f"--host={LOOPBACK}", f"--local-directory={self._folder.name}"]
        environment = {**os.environ, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
        with self._log.open("ab") as log:
            process = self._closing.enter_context(guarded(argv, stdout=log, stderr=log, env=environment))
        self._alive.append((time.monotonic(), process))

    @property
    def _log(self) -> Path:
        return Path(self._folder.name) / "log"

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "they say nothing"

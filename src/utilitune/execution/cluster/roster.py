"""Who is there to make runs: workers as they come and go, their versions and their speed."""

from __future__ import annotations

import asyncio
import importlib.metadata
import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from utilitune.errors import ClusterError
from utilitune.execution.backend import CALIBRATION
from utilitune.execution.cluster.calibration import spread_warning
from utilitune.execution.cluster.places import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.execution.cluster.places import Cluster
    from utilitune.execution.cluster.starting import Opened

RPC_S = 60.0
"""How long a worker or the scheduler may take to answer."""

_HELD_LOOKS = 10
_HELD = (
    "begins no runs: its process has used up the memory that Dask allows it. Start workers with "
    "--memory-limit 0 (the scenario limits the memory of runs), or give their jobs more memory."
)


@dataclass(slots=True)
class Worker:
    """A worker that takes runs."""

    slots: int
    host: str
    loop_s: float
    held: int = 0
    sent: dict[tuple[str, str], asyncio.Task[None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Version:
    """Something whose version must be the same on a worker."""

    what: str
    read: Callable[..., str]
    arguments: tuple[str, ...] = ()

    def problem(self, ours: str, theirs: object) -> str:
        if isinstance(theirs, BaseException):
            return f"has no {self.what}: install version {ours} there"
        return f"has {self.what} {theirs}, and this is {ours}: install the same on both"


@dataclass(frozen=True, slots=True)
class _Sources:
    """Our own sources, whose digest must be the same on a worker."""

    read: Callable[..., str]
    arguments: tuple[()] = ()

    def problem(self, _ours: str, _theirs: object) -> str:
        return "has other sources of the same Utilitune version: install the same on both"


class Roster:
    """The workers of a cluster.

    Args:
        cluster: Which cluster, and how it is used.
        tell: Takes a kind of event and its text.
        reference_s: The calibration that times are scaled to; that of the first worker if left out.

    Attributes:
        name: Names us on the workers.
        capacity: How many slots there are.
        workers: Those that take runs, by address.
    """

    def __init__(self, cluster: Cluster, tell: Callable[[str, str], None], reference_s: float | None) -> None:
        self.name = ""
        self.capacity = 0
        self.reference_s = reference_s
        self.workers: dict[str, Worker] = {}
        self._cluster = cluster
        self._tell = tell
        self._refused: set[str] = set()
        self._warned = False
        self._client: Any = None
        self._opened: Opened

    def begin(self, opened: Opened, client: Any, name: str) -> None:  # noqa: ANN401 - Dask has no types
        """The cluster is open."""
        self._opened, self._client, self.name = opened, client, name

    async def look(self, *, first: bool) -> tuple[list[str], list[str]]:
        """See who has come, who has gone.

        Args:
            first: Whether workers that cannot be used are an error: nothing has been done yet.

        Returns:
            The addresses of those that have come, and of those that have gone.

        Raises:
            ClusterError: The connection is lost, or a worker cannot be used.
        """
        for text in self._opened.renew():
            self._tell("worker", text)
        threads = await self._threads()
        await self._warn_of_memory()
        gone = [address for address in self.workers if address not in threads]
        new = {a: n for a, n in threads.items() if a not in self.workers and a not in self._refused}
        return (await self._admit(new, first=first) if new else []), gone

    def lose(self, address: str) -> bool:
        """A worker has gone; says whether it was one of ours."""
        self._refused.discard(address)
        worker = self.workers.pop(address, None)
        if worker is None:
            return False
        self.capacity -= worker.slots
        self._tell("worker", f"{address} on {worker.host} has gone")
        return True

    def slowness(self, address: str) -> float:
        """By how much more time everything takes on a worker than on the reference, where that counts."""
        if self._cluster.clock is not Clock.SCALED or not self.reference_s or address not in self.workers:
            return 1.0
        return self.workers[address].loop_s / self.reference_s

    async def call(self, function: Any, *arguments: Any, workers: list[str]) -> dict[str, Any]:  # noqa: ANN401
        """Call a function on workers; what goes wrong comes back in place of a result."""
        try:
            async with asyncio.timeout(RPC_S):
                found: dict[str, Any] = await self._client.run(
                    function, *arguments, workers=workers, on_error="return"
                )
        except (OSError, TimeoutError, ValueError) as error:  # unknown by now
            return dict.fromkeys(workers, OSError(str(error)))
        return found

    async def _threads(self) -> dict[str, int]:
        """The slots of every worker."""
        lost = ClusterError(
            f"the connection to the cluster at {self._opened.address} is lost: start the cluster again, and "
            "then this run; everything that was stored is kept"
        )
        if self._client.status != "running":
            raise lost
        try:
            async with asyncio.timeout(RPC_S):
                threads: dict[str, int] = await self._client.nthreads()
        except (OSError, TimeoutError):
            raise lost from None
        return threads

    async def _admit(self, new: dict[str, int], *, first: bool) -> list[str]:
        """Take in workers that have come, unless they are of another version."""
        from utilitune.execution.cluster.making import arrive

        refused = await self._of_another_version(list(new))
        if refused and first:
            raise ClusterError(next(iter(refused.values())))
        for address, problem in refused.items():
            self._refused.add(address)
            if problem:
                self._tell("warning", f"{problem[0].upper()}{problem[1:]}; it gets no runs.")
        usable = [address for address in new if address not in refused]
        found = await self.call(arrive, self.name, self._client.id, workers=usable) if usable else {}
        joined = []
        for address, facts in found.items():
            if isinstance(facts, BaseException):
                continue  # it has gone again, or is looked at once more
            self._join(address, Worker(new[address], facts["host"], facts["loop_s"]))
            joined.append(address)
        self._compare_speeds()
        return joined

    def _join(self, address: str, worker: Worker) -> None:
        self.workers[address] = worker
        self.capacity += worker.slots
        if self.reference_s is None:
            self.reference_s = worker.loop_s
            self._tell(CALIBRATION, repr(worker.loop_s))
        slots = "1 slot" if worker.slots == 1 else f"{worker.slots} slots"
        loop_ms = 1000 * worker.loop_s
        self._tell("worker", f"{address} on {worker.host} joined: {slots}, calibration {loop_ms:.2f} ms")

    async def _of_another_version(self, addresses: list[str]) -> dict[str, str]:
        """Which workers have another version of something that matters, and a sentence on each."""
        from utilitune.execution.cluster.making import sources

        problems: dict[str, str] = {}
        for same in (
            _Version("Python", platform.python_version),
            _Version("Utilitune", importlib.metadata.version, ("utilitune",)),
            _Sources(sources),
        ):
            ours = same.read(*same.arguments)
            answers = await self.call(same.read, *same.arguments, workers=addresses)
            for address, theirs in answers.items():
                if theirs != ours and not isinstance(theirs, OSError):  # else the same, or gone again
                    problems.setdefault(address, f"the worker {address} {same.problem(ours, theirs)}")
        return problems

    async def _warn_of_memory(self) -> None:
        """Say of each worker once that Dask keeps it from runs, as its process has used up its memory.

        A worker that is about to go gets no runs either, but it is not there for long.
        """
        try:
            async with asyncio.timeout(RPC_S):
                running = await self._client.scheduler.ncores_running()
        except (OSError, TimeoutError):
            return  # the next look will tell
        for address, worker in self.workers.items():
            worker.held = 0 if address in running else worker.held + 1
            if worker.held == _HELD_LOOKS:
                self._tell("warning", f"The worker {address} on {worker.host} {_HELD}")

    def _compare_speeds(self) -> None:
        """Warn once where workers differ in speed and nothing is done about it."""
        if self._warned or self._cluster.is_here or self._cluster.clock is Clock.SCALED:
            return
        loops_s = {f"{address} ({worker.host})": worker.loop_s for address, worker in self.workers.items()}
        if text := spread_warning(loops_s):
            self._warned = True
            self._tell("warning", text)

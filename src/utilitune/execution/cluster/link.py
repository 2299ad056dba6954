"""The coordinator's link to a cluster: which workers there are, and which run is with whom.

Everything here happens in one event loop. Jobs come in by `begin`, `cancel`; results, news and the end of the
link come out through a queue. A run that is sent to a worker has a *ticket*, a number of its own that is used
once. Whatever comes back under a ticket that is not open any more is dropped: the run was cancelled, or its
worker was given up and the run went to another one under a new ticket.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import secrets
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from utilitune.domain import Measure
from utilitune.errors import ClusterError, UtilituneError
from utilitune.execution.cluster.calibration import reference_times, slower_limits
from utilitune.execution.cluster.files import packed
from utilitune.execution.cluster.keeping import KeptRun, KeptRuns
from utilitune.execution.cluster.places import LocalWorkers, QueuedWorkers
from utilitune.execution.cluster.roster import RPC_S, Roster
from utilitune.execution.cluster.slots import Slots
from utilitune.execution.cluster.starting import connected, opened
from utilitune.execution.killed import LAUNCHES, killed
from utilitune.execution.messages import as_result
from utilitune.targets.base import Ending, RawResult

if TYPE_CHECKING:
    import queue
    from collections.abc import Coroutine
    from concurrent.futures import Future

    from utilitune.execution.cluster.places import Cluster
    from utilitune.execution.cluster.starting import Opened
    from utilitune.execution.wire import Message

LOOK_EVERY_S = 1.0
"""How often the list of workers is fetched although nobody said that it has changed."""

FIRST_WORKER_S = 30.0
"""How long a running cluster may be without workers when we come."""

ALONE_AFTER = 2
"""A run that has lost so many workers gets one for itself: of several runs there, each may be the culprit."""

_SHIPMENTS = 3
"""How often a run has a file sent to one worker that does not have it afterwards."""

_ROOM = "make room in its folder, or put the file where all workers find it"
_LATE_S = 2.0
_BATCH_S = (
    0.001  # for which messages to the scheduler are gathered; Dask's own 10 ms are long beside short runs
)
_LEAVING_S = 15.0


class EndedRun(NamedTuple):
    """A run has come out."""

    job_id: int
    raw: RawResult


class News(NamedTuple):
    """Something to be kept with the run: a kind of event and its text."""

    kind: str
    text: str


class Broken(NamedTuple):
    """The link is of no more use."""

    error: BaseException


@dataclass(slots=True)
class Flight:
    """A run on its way: to a worker, or waiting for one; with the run that it continues, where it does."""

    job_id: int
    message: Message
    launches: int = 0
    shipments: int = 0
    slots: int = 1
    sent_s: float = 0.0
    ticket: int = -1
    address: str = ""
    task: Any = None
    kept: KeptRun | None = None
    is_cancelled: bool = False

    def start_afresh(self) -> None:
        """Nothing is there to continue."""
        self.kept = None
        self.message = {**self.message, "continues": None}


class Link:
    """The link to a cluster.

    Args:
        cluster: Which cluster, and how it is used.
        out: Where results, news and the end come out.
        reference_s: The calibration that times are scaled to; that of the first worker if left out.
    """

    def __init__(
        self,
        cluster: Cluster,
        out: queue.SimpleQueue[EndedRun | News | Broken],
        reference_s: float | None = None,
    ) -> None:
        self.roster = Roster(cluster, self._tell, reference_s)
        self.opened: Opened
        self._cluster = cluster
        self._out = out
        self._name = f"utilitune-{secrets.token_hex(6)}"
        self._client: Any = None
        self._tickets = itertools.count()
        self._open: dict[int, Flight] = {}
        self._by_job: dict[int, Flight] = {}
        self._free = Slots()
        self._past: list[Any] = []  # held for a while: a task that is let go delays the next one on the wire
        self._waiting: deque[Flight] = deque()
        self._suspected: deque[Flight] = deque()  # they wait for a worker for themselves
        self._bound: list[Flight] = []  # they wait for the worker that keeps what they continue
        self._kept = KeptRuns()
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()

    @property
    def bound(self) -> int:
        """How many runs wait for a certain worker: none of them takes a slot."""
        return len(self._bound)

    # -- the life of the link --------------------------------------------------------------------------------

    async def serve(self, ready: Future[None]) -> None:
        """Open the cluster, say so, and follow it until `close`."""
        async with contextlib.AsyncExitStack() as stack:
            self.opened = await opened(self._cluster, stack)
            self._client = await connected(self.opened.address, stack)
            self._client.scheduler_comm.interval = _BATCH_S
            self.roster.begin(self.opened, self._client, self._name)
            self._client.subscribe_topic(self._client.id, self._announced)
            self._client.subscribe_topic("all", self._heard)
            stack.push_async_callback(self._leave)
            await self._await_first_workers()
            ready.set_result(None)
            while not self._closing.is_set():
                await self._wait_for_change()
                self._past.clear()
                await self._look()

    def close(self) -> None:
        """Ask for the end."""
        self._closing.set()
        self._changed.set()

    async def _leave(self) -> None:
        """Cancel what is under way and leave every worker."""
        from utilitune.execution.cluster.making import leave

        for task in list(self._tasks):
            task.cancel()
        futures = [flight.task for flight in self._open.values()]
        self._open.clear()
        self._kept.clear()
        with contextlib.suppress(Exception):  # whoever has gone needs not be left
            async with asyncio.timeout(_LEAVING_S):
                for topic in (self._client.id, "all"):
                    self._client.unsubscribe_topic(topic)
                await self._client.cancel(futures)
                present = [
                    address for address in await self._client.nthreads() if address in self.roster.workers
                ]
                if present:
                    await self._client.run(leave, self._name, workers=present, on_error="ignore")

    async def _await_first_workers(self) -> None:
        """Wait for all workers of this machine, or for the first one of a running cluster."""
        workers = self._cluster.workers
        if isinstance(workers, QueuedWorkers):
            await self._look()
            return
        wanted = workers.count if isinstance(workers, LocalWorkers) else 1
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + FIRST_WORKER_S * (10 if self._cluster.is_here else 1)
        while len(self.roster.workers) < wanted and not self._closing.is_set():
            await self._look(first=True)
            if len(self.roster.workers) < wanted:
                if loop.time() > deadline_s:
                    raise ClusterError(
                        f"the cluster at {self.opened.address} has no worker: start some, for example with "
                        f"'dask worker {self.opened.address} --nthreads 1'"
                    )
                await self._wait_for_change()

    async def _wait_for_change(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY_S):
                await self._changed.wait()
        self._changed.clear()

    # -- workers ---------------------------------------------------------------------------------------------

    async def _look(self, *, first: bool = False) -> None:
        """See who has come and who has gone."""
        if self._closing.is_set():
            return
        joined, gone = await self.roster.look(first=first)
        for address in gone:
            self._lose(address)
        for address in joined:
            self._free.join(address, self.roster.workers[address].slots)
        self._send_waiting()

    def _lose(self, address: str) -> None:
        """A worker has gone: its runs are for others."""
        if not self.roster.lose(address):
            return
        self._free.lose(address)
        self._kept.lose(address)
        for flight in [flight for flight in self._bound if flight.kept and flight.kept.address == address]:
            self._unbind(flight)
        for flight in [flight for flight in self._open.values() if flight.address == address]:
            self._withdraw(flight)
            flight.start_afresh()
            if flight.is_cancelled:
                self._come_out(flight, RawResult(Ending.CANCELLED))
            elif flight.launches >= LAUNCHES:
                wall_s = asyncio.get_running_loop().time() - flight.sent_s
                limit_s, watched = flight.message["captime_s"], len(flight.message["watch"])
                self._come_out(flight, killed("The worker that made this run", wall_s, limit_s, watched))
            else:
                line = self._suspected if flight.launches >= ALONE_AFTER else self._waiting
                line.append(flight)
        self._send_waiting()

    # -- runs ------------------------------------------------------------------------------------------------

    def begin(self, job_id: int, message: Message, continues: int | None = None) -> None:
        """Make a run as soon as there is a worker for it; where a run is kept of a job, continue that."""
        flight = self._by_job[job_id] = Flight(job_id, message)
        kept = self._kept.take(continues)
        if kept is None:
            self._waiting.append(flight)
        else:
            flight.kept, flight.message = kept, {**message, "continues": kept.task.key}
            self._bound.append(flight)
            asyncio.get_running_loop().call_later(kept.wall_s, self._unbind, flight)
        self._send_waiting()

    def cancel(self, job_id: int) -> None:
        """End a run, wherever it is; its worker says for how long it was running."""
        flight = self._by_job.get(job_id)
        if flight is None or flight.is_cancelled:
            return
        for line in (self._waiting, self._suspected, self._bound):
            if flight in line:
                line.remove(flight)
                self._come_out(flight, RawResult(Ending.CANCELLED))
                return
        flight.is_cancelled = True
        if flight.task is not None:  # else it waits for a file
            self._spawn(self._forget(flight.task))
        asyncio.get_running_loop().call_later(_LATE_S, self._give_up, flight)

    def release(self, job_id: int) -> None:
        """End the run that is kept of a job, if there is one: its task is not held any more."""
        self._kept.take(job_id)

    def _give_up(self, flight: Flight) -> None:
        """Nothing was heard of a run that was cancelled."""
        if self._by_job.get(flight.job_id) is flight:
            self._close_ticket(flight)
            self._free.give_back(flight.address, flight.slots)
            self._come_out(flight, RawResult(Ending.CANCELLED))
            self._send_waiting()

    def _unbind(self, flight: Flight) -> None:
        """Start a run afresh that has waited for its worker long enough, or whose worker has gone."""
        if flight in self._bound:
            self._bound.remove(flight)
            flight.start_afresh()
            self._waiting.appendleft(flight)
            self._send_waiting()

    def _send_waiting(self) -> None:
        """Give waiting runs to free slots."""
        for flight in list(self._bound):
            if flight.kept is not None and self._free.take_at(flight.kept.address):
                self._bound.remove(flight)
                self._launch(flight, flight.kept.address)
        while self._suspected and (found := self._free.take_worker()):
            self._launch(self._suspected.popleft(), *found)
        if not self._suspected:
            self._free.hold_none_back()
        while self._waiting and (address := self._free.take()):
            self._launch(self._waiting.popleft(), address)

    def _launch(self, flight: Flight, address: str, slots: int = 1) -> None:
        """Give a run to a worker of which it takes so many slots."""
        flight.launches, flight.shipments, flight.slots = flight.launches + 1, 0, slots
        self._send(flight, address)

    def _send(self, flight: Flight, address: str) -> None:
        from utilitune.execution.cluster.making import make_run

        flight.ticket, flight.address = next(self._tickets), address
        flight.sent_s = asyncio.get_running_loop().time()
        self._open[flight.ticket] = flight
        factor = self.roster.slowness(address)
        message = flight.message if factor == 1.0 else slower_limits(flight.message, factor)
        key = f"{self._name}-{flight.ticket}"
        where = {"workers": [address], "allow_other_workers": False, "retries": 0, "pure": False}
        text = json.dumps(message)
        flight.task = self._client.submit(make_run, self._name, flight.ticket, text, key=key, **where)
        self._spawn(self._follow(flight.ticket, flight.task))

    async def _follow(self, ticket: int, task: Any) -> None:  # noqa: ANN401 - Dask has no types
        """Where a task ends without an announcement, see why."""
        from distributed import wait

        with contextlib.suppress(Exception):
            await wait(task)
        if ticket not in self._open:
            return
        if task.status == "finished":
            await asyncio.sleep(_LATE_S)
            if ticket in self._open:
                async with asyncio.timeout(RPC_S):
                    self._arrived(ticket, await task)
        elif task.status == "error" and ticket in self._open:
            flight = self._open[ticket]
            error = await task.exception()
            if type(error).__name__ == "KilledWorker":
                self._lose(flight.address)
            else:
                raise error
        elif ticket in self._open:
            self._changed.set()  # cancelled by others, or the connection is lost

    def _announced(self, event: tuple[float, Any]) -> None:
        """A result has arrived; the scheduler uses the same topic for its own words."""
        said = event[1]
        if isinstance(said, dict) and "ticket" in said:
            self._arrived(said["ticket"], said["reply"])

    def _arrived(self, ticket: int, reply: str) -> None:
        flight = self._open.get(ticket)
        if flight is None:
            return
        answer = json.loads(reply)
        address = flight.address
        if "left" in answer:
            self._lose(address)
            return
        task = flight.task
        self._close_ticket(flight)
        if "wanted" in answer and not flight.is_cancelled:
            self._spawn(self._ship(flight, address, answer["wanted"]))
            return
        self._free.give_back(address, flight.slots)
        if "wanted" in answer:
            self._come_out(flight, RawResult(Ending.CANCELLED))
        elif "absent" in answer:
            text = (
                f"the worker {address} does not have {answer['absent']!r}: put it where all workers find it, "
                "or let files be sent to them (ship = true in a cluster file)"
            )
            self._come_out(flight, RawResult(Ending.EXITED, launch_error=text))
        else:
            raw = self._in_reference(flight, address, as_result(answer["result"]))
            if raw.kept_bytes is not None:
                self._kept.keep(flight.job_id, KeptRun(address, task, raw.wall_s))
            self._come_out(flight, raw)
        self._send_waiting()

    async def _ship(self, flight: Flight, address: str, paths: list[str]) -> None:
        """Send a worker the files that it lacks, each once unless it loses them, and then the run."""
        worker = self.roster.workers.get(address)
        flight.shipments += 1
        if flight.shipments > _SHIPMENTS:
            raise ClusterError(
                f"the worker {address} does not keep {paths[0]!r}, which was sent to it: {_ROOM}"
            )
        if worker is not None:
            for path in paths:
                digest = flight.message["files"][path]
                known_as = digest, Path(path).name
                if flight.shipments > 1 or known_as not in worker.sent:
                    worker.sent[known_as] = self._spawn(self._ship_file(address, path, digest))
                await asyncio.shield(worker.sent[known_as])
        if self._by_job.get(flight.job_id) is not flight or flight.is_cancelled:
            return
        if worker is not None and self.roster.workers.get(address) is worker:
            self._send(flight, address)
        else:
            self._waiting.append(flight)
            self._send_waiting()

    async def _ship_file(self, address: str, path: str, digest: str) -> None:
        from utilitune.execution.cluster.making import take_file

        shipment = await asyncio.to_thread(packed, path, digest)
        found = await self.roster.call(take_file, self._name, tuple(shipment), workers=[address])
        error = found.get(address)
        if isinstance(error, OSError) and error.errno is not None and not isinstance(error, ConnectionError):
            raise ClusterError(f"the worker {address} cannot keep {path!r} ({error.strerror}): {_ROOM}")
        if isinstance(error, OSError):
            self._lose(address)

    def _in_reference(self, flight: Flight, address: str, raw: RawResult) -> RawResult:
        if raw.launch_error:
            return RawResult(raw.ending, launch_error=f"on the worker {address} {raw.launch_error}")
        factor = self.roster.slowness(address)
        measure = Measure(flight.message["measure"])
        return raw if factor == 1.0 else reference_times(raw, measure, factor)

    def _close_ticket(self, flight: Flight) -> None:
        """Whatever still comes under a run's ticket is dropped."""
        self._open.pop(flight.ticket, None)
        self._past += [flight.task, flight.kept and flight.kept.task]
        flight.task = flight.kept = None

    def _withdraw(self, flight: Flight) -> None:
        """End a run that is not to come to its end."""
        task = flight.task
        self._close_ticket(flight)
        self._spawn(self._forget(task))

    async def _forget(self, task: Any) -> None:  # noqa: ANN401 - Dask has no types
        with contextlib.suppress(Exception):
            await task.cancel()

    def _come_out(self, flight: Flight, raw: RawResult) -> None:
        del self._by_job[flight.job_id]
        self._out.put(EndedRun(flight.job_id, raw))

    def _heard(self, event: tuple[float, Any]) -> None:
        """The scheduler says what happens to its workers."""
        said = event[1]
        if not isinstance(said, dict):
            return
        if said.get("action") == "remove-worker":
            self._lose(said["worker"])
        if said.get("action") in {"add-worker", "remove-worker"}:
            self._changed.set()

    def _tell(self, kind: str, text: str) -> None:
        self._out.put(News(kind, text))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside everything else; a defect there ends the link."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._out.put(Broken(error if isinstance(error, UtilituneError) else _defect(error)))


def _defect(error: BaseException) -> RuntimeError:
    problem = RuntimeError(f"the link to the cluster failed: {error!r}")
    problem.__cause__ = error
    return problem

"""What happens on a Dask worker: runs are made by supervisors, as on any machine.

A coordinator that comes to a worker leaves a `Bench` there: the supervisors of its runs, one per run at a
time, kept for the next. The bench is a plugin of the worker. So it hears when a task is dropped, because it
was cancelled or because the coordinator has gone, and when the worker ends; in both cases it ends the runs.

A run that was stopped at its captime, to be continued later, stays on the bench with its supervisor. It is
kept for as long as the coordinator holds the task that made it: Dask tells the worker when nobody does.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import platform
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distributed import WorkerPlugin, get_worker

from utilitune.execution.cluster.calibration import loop_s
from utilitune.execution.cluster.files import Kept, Shipment, absent, renamed
from utilitune.execution.local import LocalBackend
from utilitune.execution.messages import as_job, result_message

if TYPE_CHECKING:
    from utilitune.execution.wire import Message

LOOK_EVERY_S = 0.1
"""How often a run is looked at that may have been dropped."""

IDLE_S = 60.0
"""How long a supervisor without work is kept."""

_LEAVING_S = 10.0
_THE_JOB = 0  # the number of the only job that a supervisor has


def _digest() -> str:
    room = Path(__file__).parents[1]
    found = hashlib.sha256()
    for file in sorted(room.rglob("*.py")):
        found.update(str(file.relative_to(room)).encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


_SOURCES = _digest()  # as they are loaded: a worker keeps to them even if other ones are installed meanwhile


def sources() -> str:
    """A digest of the sources that make runs here: workers of one version may still have different ones."""
    return _SOURCES


class Bench(WorkerPlugin):  # type: ignore[misc]
    """The supervisors of one coordinator on one worker.

    Args:
        name: Names the coordinator.
        topic: Where results are announced.
    """

    def __init__(self, name: str, topic: str) -> None:
        self.name = name
        self.topic = topic
        self.making: set[str] = set()
        self._dropped: set[str] = set()
        self._idle: list[tuple[float, LocalBackend]] = []
        self._stopped: dict[str, LocalBackend] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._home = ""
        self._kept = Kept("")

    def setup(self, worker: Any) -> None:  # noqa: ANN401 - Dask has no types
        """The bench has come to a worker."""
        self._home = worker.local_directory
        self._kept = Kept(self._home)
        self._look_for_idle(asyncio.get_running_loop())

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:  # noqa: ANN401, ARG002 - the same
        """A task has changed: one that nobody wants any more is dropped, and the run kept of it ended."""
        if finish not in {"cancelled", "released", "forgotten"}:
            return
        with self._lock:
            if key in self.making:
                self._dropped.add(key)
            supervisor = self._stopped.pop(key, None)
        if supervisor is not None:
            supervisor.release(_THE_JOB)
            self._put_aside(supervisor)

    async def teardown(self, worker: Any) -> None:  # noqa: ANN401, ARG002 - the same
        """The worker or the coordinator goes: end every run."""
        self._closed = True
        self._end_all()
        deadline_s = time.monotonic() + _LEAVING_S
        while self.making and time.monotonic() < deadline_s:  # noqa: ASYNC110 - runs end in threads
            await asyncio.sleep(LOOK_EVERY_S / 2)

    def make(self, key: str, message: Message) -> Message:
        """Make a run; says what came out, or what is in the way."""
        files = message.pop("files")
        if isinstance(files, dict):
            places = self._kept.places(files)
            if wanted := [path for path in files if path not in places]:
                return {"wanted": wanted}
            message = self._at_home(renamed(message, places))
        elif path := absent(files):
            return {"absent": path}
        self.making.add(key)
        try:
            return self._made(key, message)
        finally:
            self.making.discard(key)
            self._dropped.discard(key)

    def _at_home(self, message: Message) -> Message:
        """A command whose folder is not on this machine is run in the worker's own."""
        directory = message.get("directory")
        return {**message, "directory": self._home} if directory and absent([directory]) else message

    def keep(self, sent: Shipment) -> None:
        """Keep a file that was sent here."""
        self._kept.keep(sent)

    def _made(self, key: str, message: Message) -> Message:
        with self._lock:
            supervisor = self._stopped.pop(message["continues"], None)
        continues = None if supervisor is None else _THE_JOB
        supervisor = supervisor or self._supervisor()
        try:
            supervisor.submit(_THE_JOB, replace(as_job(message), continues=continues))
            while not (ended := supervisor.wait(LOOK_EVERY_S)):
                if self._closed or key in self._dropped:
                    supervisor.cancel(_THE_JOB)
        except BaseException:
            supervisor.close()
            raise
        raw = ended[0][1]
        with self._lock:
            is_kept = raw.kept_bytes is not None and key not in self._dropped
            if is_kept:
                self._stopped[key] = supervisor
        if not is_kept:
            supervisor.release(_THE_JOB)
            self._put_aside(supervisor)
        if self._closed:
            self._end_all()
            return {"left": True}
        return {"result": result_message(raw)}

    def _put_aside(self, supervisor: LocalBackend) -> None:
        """Keep a supervisor for the next run."""
        with self._lock:
            self._idle.append((time.monotonic(), supervisor))

    def _supervisor(self) -> LocalBackend:
        with self._lock:
            if self._idle:
                return self._idle.pop()[1]
        return LocalBackend(workers=1)

    def _look_for_idle(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._closed:
            self._end_idle(before_s=time.monotonic() - IDLE_S)
            loop.call_later(IDLE_S / 2, self._look_for_idle, loop)

    def _end_all(self) -> None:
        """End every supervisor that makes no run now."""
        with self._lock:
            stopped, self._stopped = list(self._stopped.values()), {}
        for supervisor in stopped:
            supervisor.close()
        self._end_idle(before_s=float("inf"))

    def _end_idle(self, before_s: float) -> None:
        with self._lock:
            ended = [supervisor for since_s, supervisor in self._idle if since_s < before_s]
            self._idle = [(since_s, one) for since_s, one in self._idle if since_s >= before_s]
        for supervisor in ended:
            supervisor.close()


async def arrive(name: str, topic: str, dask_worker: Any = None) -> dict[str, Any]:  # noqa: ANN401 - the same
    """Come to a worker; says what there is to know of it."""
    if name not in dask_worker.plugins:
        await dask_worker.plugin_add(Bench(name, topic), name=name)
    return {"host": platform.node(), "loop_s": await asyncio.to_thread(loop_s)}


async def leave(name: str, dask_worker: Any = None) -> None:  # noqa: ANN401 - the same
    """Leave a worker, with everything that was started there."""
    if name in dask_worker.plugins:
        await dask_worker.plugin_remove(name)


def take_file(name: str, sent: tuple[str, str, int, bytes], dask_worker: Any = None) -> None:  # noqa: ANN401
    """Keep a file on a worker."""
    dask_worker.plugins[name].keep(Shipment(*sent))


def make_run(name: str, ticket: int, text: str) -> str:
    """The task of a run: make it, announce what came out, and return it for those who missed that."""
    worker = get_worker()
    bench = worker.plugins.get(name)
    answer = {"left": True} if bench is None else bench.make(worker.get_current_task(), json.loads(text))
    reply = json.dumps(answer)
    if bench is not None:
        worker.log_event(bench.topic, {"ticket": ticket, "reply": reply})
    return reply

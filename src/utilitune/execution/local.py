"""Runs on this machine: one supervisor process per slot, spoken to over sockets.

The coordinator only passes messages; spawning, metering and killing happen in the supervisors. One that
dies is replaced and its job given to the new one. A run that has lost several is one that kills them, by
itself or by the memory it takes: it comes out as a program that was killed.

What a killed supervisor leaves behind is found by its traces (`leftovers`) and killed before the new one
starts; if we are killed as well, the watcher does that (`watcher`), and if that is killed too, whoever works
in the same run folder next.

A run that is kept at its captime stays with its supervisor, which gives up its slot: another supervisor,
started where there is none to spare, makes the runs after it. If it dies, what it kept is lost.
"""

from __future__ import annotations

import math
import os
import secrets
import selectors
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.errors import TargetError, UsageError
from utilitune.execution import cgroups, leftovers, platform, wire
from utilitune.execution.backend import ClosedInBlocks
from utilitune.execution.killed import LAUNCHES, killed
from utilitune.execution.leftovers import MARK, Traces
from utilitune.execution.messages import as_message, as_result
from utilitune.execution.watcher import guard_supervisor
from utilitune.targets.base import Ending, RawResult

if TYPE_CHECKING:
    from utilitune.execution.backend import Job

TRACES_NAME = "workers"
"""The folder in a run folder that holds the traces of supervisors at work."""

_BOOTSTRAP = (
    "import sys; sys.path.append(sys.argv.pop()); from utilitune.execution.worker import main; main()"
)
_SUPERVISOR = (sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOTSTRAP)
_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])
_CLOSING_PATIENCE_S = 5.0
_SPARE = 2
"""How many supervisors more than workers are kept for those who hold a run that was stopped."""
_READY = 32
"""How many supervisors are started at once; more workers get theirs with the first run that needs it."""


class LocalBackend(ClosedInBlocks):
    """Makes runs on this machine.

    Example::

        with LocalBackend(workers=2) as backend:
            backend.submit(0, job)
            [(job_id, raw)] = backend.wait()

    Args:
        workers: How many runs are made at the same time.
        folder: The run folder, held by us alone; what was left alive there by a kill is ended first.
    """

    def __init__(self, workers: int, folder: Path | None = None) -> None:
        platform.require_supported_platform()
        if workers < 1:
            raise UsageError(f"the number of workers must be at least 1, not {workers}")
        self._selector = selectors.DefaultSelector()
        self._workers = workers
        self._slots: list[_Slot] = []
        self._kept: dict[int, _Slot] = {}
        self._by_job: dict[int, _Slot] = {}
        self._submitted = 0
        self._traces = "" if folder is None else os.fspath(folder / TRACES_NAME)
        if folder is not None and platform.follows_process_trees():
            leftovers.sweep(self._traces)
        try:
            for _ in range(min(workers, _READY)):
                self._add_slot()
        except BaseException:
            self.close()
            raise

    @property
    def free_slots(self) -> int:
        """How many more jobs can be submitted now."""
        return self._workers - len(self._by_job)

    @property
    def supervisors(self) -> tuple[int, ...]:
        """Process ids of the supervisors, for whoever wants to watch what they cost."""
        return tuple(slot.pid for slot in self._slots)

    def submit(self, job_id: int, job: Job) -> None:
        """Start a job in a free slot."""
        if job_id in self._by_job:
            raise UsageError(f"job {job_id} is already running; give every job its own number")
        if not self.free_slots:
            raise UsageError("all workers are busy; wait for a run to end before submitting another")
        message = as_message(job)
        slot = None if job.continues is None else self._kept.pop(job.continues, None)
        if slot is not None:
            message["continues"] = slot.number
            self._slots.append(slot)
        else:
            slot = next((slot for slot in self._slots if slot.job_id is None), None) or self._add_slot()
        self._submitted += 1
        self._by_job[job_id] = slot
        slot.begin(job_id, {"id": self._submitted, **message})

    def wait(self, timeout_s: float | None = None) -> list[tuple[int, RawResult]]:
        """Wait until a run has ended or the time has passed; returns all that have ended."""
        ended: list[tuple[int, RawResult]] = []
        deadline_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while self._by_job and not ended:
            left_s = deadline_s - time.monotonic()
            for key, _ in self._selector.select(None if timeout_s is None else max(0.0, left_s)):
                ended.extend(self._read(key.data))
            if left_s <= 0:
                break
        return ended

    def cancel(self, job_id: int) -> None:
        """Ask for a job's end; its result still comes out of `wait`."""
        if job_id in self._by_job:
            self._by_job[job_id].cancel()

    def release(self, job_id: int) -> None:
        """End the run that was kept of a job; nothing happens if there is none."""
        slot = self._kept.pop(job_id, None)
        if slot is None:
            return
        if len(self._slots) < self._workers + _SPARE:
            slot.send(wire.encode({"release": slot.number}))
            self._slots.append(slot)
        else:
            self._dismiss([slot])

    def close(self) -> None:
        """End every run and release everything."""
        self._dismiss([*self._slots, *self._kept.values()])
        self._slots.clear()
        self._kept.clear()
        self._by_job.clear()
        self._selector.close()

    def _dismiss(self, slots: list[_Slot]) -> None:
        """Let supervisors end what they have, and themselves."""
        for slot in slots:
            self._selector.unregister(slot.connection)
            slot.connection.close()
        for slot in slots:
            slot.bury(_CLOSING_PATIENCE_S)

    def _add_slot(self) -> _Slot:
        slot = _Slot(self._traces)
        self._slots.append(slot)
        self._selector.register(slot.connection, selectors.EVENT_READ, slot)
        return slot

    def _read(self, slot: _Slot) -> list[tuple[int, RawResult]]:
        try:
            data = slot.connection.recv(1 << 20)
        except ConnectionError:
            data = b""
        if not data:
            return self._replace(slot)
        ended = []
        for message in slot.frames.feed(data):
            if "supervisor" in message:
                slot.supervisor = message["supervisor"]
                continue
            if "defect" in message:
                raise RuntimeError(f"the supervisor of a run failed:\n{message['defect']}")
            if slot.job_id is None:
                raise RuntimeError("a supervisor answered without having a job")
            raw = as_result(message["result"])
            ended.append((slot.job_id, raw))
            del self._by_job[slot.job_id]
            if raw.kept_bytes is not None:
                self._kept[slot.job_id] = slot
                self._slots.remove(slot)
            elif len(self._slots) > self._workers + _SPARE:  # others took its place while it held a run
                self._slots.remove(slot)
                self._dismiss([slot])
            slot.job_id = None
        return ended

    def _replace(self, slot: _Slot) -> list[tuple[int, RawResult]]:
        """Put a new supervisor in the place of one that died, and give it the job."""
        self._kept = {job_id: kept for job_id, kept in self._kept.items() if kept is not slot}
        self._slots = [other for other in self._slots if other is not slot]
        self._dismiss([slot])
        if slot.job_id is None:
            return []
        successor = self._add_slot()
        if slot.is_cancelled or slot.launches == LAUNCHES:
            del self._by_job[slot.job_id]
            return [(slot.job_id, RawResult(Ending.CANCELLED) if slot.is_cancelled else slot.killed())]
        self._by_job[slot.job_id] = successor
        successor.begin(slot.job_id, slot.message, slot.launches + 1)
        return []


class _Slot:
    """The coordinator's end of one supervisor.

    Jobs travel under a number of their own that is never used again, so that a request to cancel one
    that has just ended cannot hit its successor.

    Args:
        folder: Where its traces are kept; empty for nowhere.
    """

    def __init__(self, folder: str) -> None:
        self.job_id: int | None = None
        self.is_cancelled = False
        self.message: wire.Message = {}
        self.launches = 0
        self.begun_s = 0.0
        self.supervisor = 0
        self.frames = wire.FrameReader()
        mark = secrets.token_hex(8)
        follows = platform.follows_process_trees()
        self._traces = Traces(mark, cgroups.group_path(mark) if follows else "")
        self.connection, theirs = socket.socketpair()
        with theirs:
            try:
                self._kept = leftovers.keep(folder, self._traces) if folder and follows else ""
                mode = ("tree" if follows else "group", self._traces.group, self._kept)
                self._guard = guard_supervisor(self._traces if follows else None, self._kept)
                self._process = subprocess.Popen(
                    [*_SUPERVISOR, str(theirs.fileno()), *mode, _PACKAGE_PARENT],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, MARK: mark},
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                self.connection.close()
                raise TargetError(f"cannot start a supervisor process: {error.strerror}") from None

    @property
    def pid(self) -> int:
        """The supervisor's; it says so itself, before anything else."""
        if not self.supervisor:
            self.supervisor = (wire.receive(self.connection) or {}).get("supervisor", self._process.pid)
        return self.supervisor

    @property
    def number(self) -> int:
        """The number under which the latest job travels."""
        return int(self.message["id"])

    def begin(self, job_id: int, message: wire.Message, launches: int = 1) -> None:
        """Give the supervisor a job, which was begun so many times by now."""
        self.job_id, self.message, self.is_cancelled = job_id, message, False
        self.launches, self.begun_s = launches, time.monotonic()
        self.send(wire.encode(message))

    def cancel(self) -> None:
        """Ask for the job's end, whether or not the supervisor lives to hear of it."""
        self.is_cancelled = True
        self.send(wire.encode({"cancel": self.number}))

    def killed(self) -> RawResult:
        """What is known of a run that has lost every supervisor it had."""
        wall_s, message = time.monotonic() - self.begun_s, self.message
        whom = "The process that supervises this run"
        return killed(whom, wall_s, message["captime_s"], len(message["watch"]))

    def send(self, message: bytes) -> None:
        try:
            self.connection.sendall(message)
        except ConnectionError:
            return  # it has died; reading from it will say so

    def bury(self, patience_s: float) -> None:
        """Wait for the supervisor's end, force it after a while, and leave nothing of its run alive."""
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        ended = True
        if self._process.returncode != 0 and platform.follows_process_trees():
            ended = leftovers.end(self._traces, self._kept)
        cgroups.remove(self._traces.group)
        if not ended:
            return  # the traces stay for the watcher and the next start
        self._guard()
        if self._kept:
            leftovers.forget(self._kept)

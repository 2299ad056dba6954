"""The supervisor: one small process per worker slot that makes one run at a time (`single_run`).

It receives a job, starts the program, sleeps until something happens or the captime could be reached,
kills whatever is left of the process tree, and answers with what it measured. It ends itself, and before
that everything it started, when the coordinator goes away, even by SIGKILL: the connection then reads as
closed, and should someone else hold it open, the parent's process id has changed. What it leaves when it is
itself killed by force is ended by its guardian (`guardian`).

A run that was stopped at its captime to be continued later stays with its supervisor, and another supervisor
takes the slot meanwhile. It ends with its supervisor like any other run.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import sys
import traceback
from collections import deque
from typing import TYPE_CHECKING

from utilitune.execution import cgroups, wire
from utilitune.execution.accounts import Book, open_task_clock
from utilitune.execution.guardian import stand_guard
from utilitune.execution.launching import Launcher
from utilitune.execution.leftovers import LeaderNote
from utilitune.execution.scheduling import ask_to_be_served_first
from utilitune.execution.single_run import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.execution.output import OutputCollector

PARENT_LOOK_S = 2.0


class Shutdown(Exception):  # noqa: N818 (this is how a supervisor is told to end)
    """The coordinator has gone, or asks the supervisor to end."""


class Signals:
    """SIGCHLD and SIGTERM as a descriptor to wait for."""

    def __init__(self) -> None:
        self.asked_to_end = False
        self.descriptor, writing = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def clear(self) -> None:
        """Take note of the signals that came."""
        try:
            while received := os.read(self.descriptor, 4096):
                self.asked_to_end = self.asked_to_end or signal.SIGTERM in received
        except BlockingIOError:
            return


class Supervisor:
    """Makes runs for one coordinator, one at a time.

    Args:
        control: The connection to the coordinator.
        attended: Tells whether the coordinator, and whoever stands between it and us, is there.
        whole_tree: Whether process trees can be followed here.
        book: The kernel's own book of what we start, where there is one.
        note: Where the leaders of runs are noted, where somebody may have to look for them.
    """

    def __init__(
        self,
        control: socket.socket,
        attended: Callable[[], bool],
        *,
        whole_tree: bool,
        book: Book | None = None,
        note: LeaderNote | None = None,
    ) -> None:
        self.control = control
        self.whole_tree = whole_tree
        self.book = book
        self.note = note
        self.signals = Signals()
        self.launcher = Launcher(control)
        self.cores = len(os.sched_getaffinity(0)) if whole_tree else os.cpu_count() or 1
        self.jobs: deque[wire.Message] = deque()
        self.cancelled: set[int] = set()
        self._attended = attended
        self._kept: Run | None = None
        self._released: set[int] = set()
        self._frames = wire.FrameReader()

    def serve(self) -> None:
        """Take jobs until the coordinator goes away."""
        self.control.sendall(wire.encode({"supervisor": os.getpid()}))
        try:
            while True:
                while not self.jobs:
                    self.listen(PARENT_LOOK_S)
                    if self._kept is not None and self._kept.number in self._released:
                        self._release()
                job = self.jobs.popleft()
                result = self._make(job)
                self.cancelled.clear()
                self._released.clear()
                self.control.sendall(wire.encode({"id": job["id"], "result": result}))
        finally:
            self._release()

    def _make(self, job: wire.Message) -> wire.Message:
        """Make a run, or continue the one that is kept if that is wanted and nothing has happened to it."""
        run = self._kept
        if run is not None and run.number == job["continues"] and run.is_intact():
            self._kept = None
            result = run.go_on(job)
        else:
            self._release()
            run = Run(self, job)
            result = run.perform()
        self._kept = run if run.is_kept else None
        return result

    def _release(self) -> None:
        """End the run that is kept, if there is one."""
        run, self._kept = self._kept, None
        if run is not None:
            run.release()

    def listen(self, timeout_s: float, *outputs: OutputCollector) -> None:
        """Wait until something happens (a message, a signal, output) or the time has passed."""
        descriptors: list[socket.socket | int] = [self.control, self.signals.descriptor]
        descriptors += [output.descriptor for output in outputs if output.descriptor is not None]
        ready, _, _ = select.select(descriptors, [], [], min(timeout_s, PARENT_LOOK_S))
        if not ready and not self._attended():
            raise Shutdown
        if self.signals.descriptor in ready:
            self.signals.clear()
        for output in outputs:
            if output.descriptor in ready:
                output.read()
        if self.control in ready:
            self._receive()
        if self.signals.asked_to_end:
            raise Shutdown

    def _receive(self) -> None:
        data = self.control.recv(65536)
        if not data:
            raise Shutdown
        for message in self._frames.feed(data):
            if "cancel" in message:
                self.cancelled.add(message["cancel"])
            elif "release" in message:
                self._released.add(message["release"])
            else:
                self.jobs.append(message)


def main() -> None:
    """Serve a coordinator; the arguments are the connection's descriptor, the mode, our group, our traces."""
    _, descriptor, mode, group_path, traces = sys.argv
    whole_tree = mode == "tree"
    control = socket.socket(fileno=int(descriptor))
    control.set_inheritable(False)  # a program holding our end would hide our death
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    book: Book | None = None
    note = None
    parent = os.getppid()
    attended = stand_guard() if whole_tree else lambda: os.getppid() == parent
    if whole_tree:
        book = cgroups.enter(group_path)
        ask_to_be_served_first()
    if book is None:
        book = open_task_clock() if whole_tree else None
        note = LeaderNote(traces) if traces else None
    try:
        Supervisor(control, attended, whole_tree=whole_tree, book=book, note=note).serve()
    except (Shutdown, ConnectionError):
        return
    except Exception:  # noqa: BLE001 (a defect of ours must reach the coordinator, which has a terminal)
        control.sendall(wire.encode({"defect": traceback.format_exc()}))

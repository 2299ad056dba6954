"""The supervisor: one small process per worker slot that makes one run at a time.

It receives a job, starts the program, sleeps until something happens or the captime could be reached,
kills whatever is left of the process tree, and answers with what it measured. It ends itself, and before
that everything it started, when the coordinator goes away, even by SIGKILL: the connection then reads as
closed, and should someone else hold it open, the parent's process id has changed. What it leaves when it is
itself killed by force is ended by its guardian (`guardian`).

**When to look.** A tree of k threads cannot consume r more CPU seconds in less than r/k seconds, so that
is how long the supervisor sleeps. New threads may appear meanwhile; therefore it never sleeps longer than
r/cores or `LOOK_AGAIN_S`, whichever is longer. A tree that does nothing is looked at ever less often, up
to every `IDLE_LOOK_S`. Far from its captime a single process is looked at when its time has doubled; several
are looked at after every hundredth of their time, lest one vanish unseen whose time nobody inherits. A tree
in which that has happened is looked at every `LOOK_AGAIN_S`.

**How to kill.** Process groups first, since the kernel signals a whole group at one moment and a fork
cannot slip through; then every process left below the supervisor, again and again until there is none. Who is
still there after a few rounds multiplies, and is stopped before it is killed (`chasing`).
"""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import sys
import time
import traceback
from collections import deque
from typing import TYPE_CHECKING

from utilitune.execution import cgroups, wire
from utilitune.execution.accounts import Account, Book, open_task_clock
from utilitune.execution.chasing import end_below
from utilitune.execution.guardian import stand_guard
from utilitune.execution.launching import Launcher, LaunchError, LaunchInterrupted
from utilitune.execution.leftovers import LeaderNote
from utilitune.execution.metering import (
    GroupMeter,
    Meter,
    TreeMeter,
    TreeReading,
    own_peak_bytes,
    proportional_bytes,
    unmapped_bytes,
)
from utilitune.execution.output import OutputCollector, Tracer
from utilitune.execution.scheduling import ask_to_be_served_first

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_AGAIN_S = 0.01
SHORTEST_LOOK_S = 0.0002
IDLE_LOOK_S = 0.02
TREE_LOOK_SHARE = 0.01
MEMORY_LOOK_S = 0.1
FILES_LOOK_S = 0.05
"""How often open files that live in memory are looked for, where memory is limited."""

MEMORY_BYTES_PER_S = 4e9
"""No program fills memory faster than about this; with the room left it says when to look next."""

STAMP_LOOK_S = 0.001
"""How old a reading of the CPU clock may be that stamps a line of a trace."""

PARENT_LOOK_S = 2.0
KILL_PATIENCE_S = 30.0
_FREEZING_ROUND = 3
_REPORT_BYTES = 65536


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
        self._frames = wire.FrameReader()

    def serve(self) -> None:
        """Take jobs until the coordinator goes away."""
        self.control.sendall(wire.encode({"supervisor": os.getpid()}))
        while True:
            while not self.jobs:
                self.listen(PARENT_LOOK_S)
            job = self.jobs.popleft()
            result = Run(self, job).perform()
            self.cancelled.clear()
            self.control.sendall(wire.encode({"id": job["id"], "result": result}))

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
            else:
                self.jobs.append(message)


class Run:
    """One run, from the start of its program to the death of everything it started."""

    def __init__(self, supervisor: Supervisor, job: wire.Message) -> None:
        self._supervisor = supervisor
        self._job = job
        reading, self._output_end = os.pipe()
        traced = None if job.get("trace") is None else Tracer(job["trace"], self._moment_s)
        in_report = "call" in job
        self._output = OutputCollector(
            reading, job["output_bytes"], job["watch"], None if in_report else traced
        )
        report, self._report_end = os.pipe()
        self._report = OutputCollector(report, _REPORT_BYTES, [], traced if in_report else None)
        self._outputs = (self._output, self._report) if in_report and traced else (self._output,)
        self._tracer = traced
        self._stamped_s = 0.0
        self._stamp_cpu_s = 0.0
        self._pid = 0
        self._meter: Meter
        self._exit_code: int | None = None
        self._started_s = 0.0
        self._ended_s = 0.0
        self._peak_bytes = 0
        self._inherited_peak_bytes = 0
        self._unmapped_bytes = 0
        self._next_files_look_s = 0.0
        self._next_look_s = 0.0
        self._idle_s = 0.0
        self._last_cpu_s = 0.0
        self._report_text = ""

    def perform(self) -> wire.Message:
        """Make the run and say what happened."""
        try:
            self._launch()
            ending = self._watch()
            survivors = self._kill_tree(gently=ending != "exited")
            self._output.finish()
        except LaunchError as error:
            return {"ending": "exited", "launch_error": str(error)}
        except LaunchInterrupted:
            return {"ending": "cancelled"}
        except BaseException:  # told to end, or a defect of ours: nothing may survive either
            if self._pid:
                self._kill_tree(gently=False)
            raise
        finally:
            self._close()
        return self._result(ending, survivors)

    def _launch(self) -> None:
        supervisor = self._supervisor
        account = self._account()
        try:
            self._inherited_peak_bytes = own_peak_bytes() if supervisor.whole_tree else 0
            self._started_s = time.monotonic()
            self._pid = supervisor.launcher.launch(self._job, self._output_end, self._report_end)
        finally:
            os.close(self._output_end)
            os.close(self._report_end)
        if "call" in self._job:
            self._started_s = time.monotonic()  # forking is not part of the call
            account = self._account(cgroups.process_clock_s(self._pid))
        if supervisor.note is not None:
            supervisor.note.note(self._pid)
        self._meter = (
            TreeMeter(os.getpid(), supervisor.launcher.servers, account)
            if supervisor.whole_tree
            else GroupMeter(self._pid)
        )
        pause_s = self._pause_s(0.0, threads=1, resident_bytes=0)
        self._next_look_s = self._started_s + min(pause_s, LOOK_AGAIN_S)

    def _account(self, known_s: float = 0.0) -> Account | None:
        book = self._supervisor.book
        return None if book is None else Account(book, self._supervisor.launcher.servers, known_s)

    def _watch(self) -> str:
        """Wait for the end of the program or the first limit it reaches; says which."""
        job = self._job
        wall_limit_s = self._started_s + job["wall_limit_s"]
        captime_wall_s = wall_limit_s + 1
        if job["measure"] == "wall" and job["captime_s"] is not None:
            captime_wall_s = self._started_s + job["captime_s"]
        while True:
            self._reap()
            if self._exit_code is not None:
                return "exited"
            if job["id"] in self._supervisor.cancelled:
                return "cancelled"
            now_s = time.monotonic()
            if now_s >= captime_wall_s:
                return "captime"
            if now_s >= wall_limit_s:
                return "wall-limit"
            if now_s >= self._next_look_s:
                limit = self._look(now_s)
                if limit is not None:
                    return limit
            until_s = min(self._next_look_s, wall_limit_s, captime_wall_s)
            timeout_s = max(0.0, until_s - time.monotonic())
            self._supervisor.listen(timeout_s, *self._outputs)

    def _moment_s(self) -> float:
        """Where the run stands by its measure, for a line that has just arrived."""
        now_s = time.monotonic()
        if self._job["measure"] == "wall":
            return now_s - self._started_s
        if now_s - self._stamped_s >= STAMP_LOOK_S:
            self._stamped_s, self._stamp_cpu_s = now_s, max(self._stamp_cpu_s, self._meter.read().cpu_s)
        return self._stamp_cpu_s

    def _look(self, now_s: float) -> str | None:
        """Read the tree; returns the limit it has reached, or plans the next look."""
        job = self._job
        reading = self._meter.read()
        if job["measure"] == "cpu" and job["captime_s"] is not None and reading.cpu_s >= job["captime_s"]:
            return "captime"
        resident_bytes = self._resident_bytes(reading)
        self._peak_bytes = max(self._peak_bytes, resident_bytes)
        if job["memory_bytes"] is not None and resident_bytes > job["memory_bytes"]:
            return "memory"
        busy = reading.running or reading.cpu_s > self._last_cpu_s
        self._idle_s = 0.0 if busy else min(2 * self._idle_s + SHORTEST_LOOK_S, IDLE_LOOK_S)
        self._last_cpu_s = reading.cpu_s
        pause_s = self._pause_s(reading.cpu_s, reading.threads, resident_bytes)
        elapsed_s = now_s - self._started_s
        routine_s = TREE_LOOK_SHARE * elapsed_s if len(reading.processes) > 1 else elapsed_s
        if reading.leaks:
            routine_s = 0.0
        self._next_look_s = now_s + min(pause_s, max(LOOK_AGAIN_S, routine_s))
        return None

    def _pause_s(self, cpu_s: float, threads: int, resident_bytes: int) -> float:
        """How long no limit can be reached."""
        job, cores = self._job, self._supervisor.cores
        pause_s = PARENT_LOOK_S
        if job["measure"] == "cpu" and job["captime_s"] is not None:
            left_s = job["captime_s"] - cpu_s
            parallel = max(1, min(cores, threads))
            soonest_s = min(left_s / parallel, max(left_s / cores, LOOK_AGAIN_S))
            pause_s = max(soonest_s, self._idle_s, SHORTEST_LOOK_S)
        if job["memory_bytes"] is not None:
            room_s = (job["memory_bytes"] - resident_bytes) / MEMORY_BYTES_PER_S
            pause_s = min(pause_s, max(LOOK_AGAIN_S / 2, min(MEMORY_LOOK_S, room_s)))
        return pause_s

    def _resident_bytes(self, reading: TreeReading) -> int:
        """Memory of the tree; shared pages are looked at only when they could matter."""
        limit = self._job["memory_bytes"]
        if limit is None:
            return reading.resident_bytes
        now_s = time.monotonic()
        if now_s >= self._next_files_look_s:
            self._unmapped_bytes = unmapped_bytes(reading.processes)
            self._next_files_look_s = now_s + FILES_LOOK_S
        resident_bytes = reading.resident_bytes + self._unmapped_bytes
        if resident_bytes > limit and len(reading.processes) > 1:
            return proportional_bytes(reading.processes) + self._unmapped_bytes
        return resident_bytes

    def _reap(self) -> None:
        """Wait for every process that has ended, without blocking."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self._supervisor.launcher.forget_server(pid):
                continue
            self._meter.book(pid, usage)
            peak_bytes = _peak_bytes(usage)
            if peak_bytes > self._inherited_peak_bytes:
                self._peak_bytes = max(self._peak_bytes, peak_bytes)
            if pid == self._pid:
                self._exit_code = os.waitstatus_to_exitcode(status)
                self._ended_s = time.monotonic()

    def _kill_tree(self, *, gently: bool) -> int:
        """End every process of the run; returns how many could not be killed."""
        grace_s = self._job["grace_s"] if gently else 0.0
        if grace_s > 0:
            _signal_all(self._meter.read(), signal.SIGTERM)
            self._await_death(time.monotonic() + grace_s, signal.SIGCONT)  # wakes what was stopped
        elif self._exit_code is None:
            _signal_group(self._pid, signal.SIGKILL)
        return self._await_death(time.monotonic() + KILL_PATIENCE_S, signal.SIGKILL)

    def _await_death(self, deadline_s: float, number: int) -> int:
        """Send a signal to what is left until nothing is or time is up; returns how many are left."""
        pause_s = SHORTEST_LOOK_S
        rounds = 0
        while True:
            self._reap()
            left = self._meter.read()
            if not left.processes or time.monotonic() >= deadline_s:
                return len(left.processes)
            rounds += 1
            if number == signal.SIGKILL and rounds >= _FREEZING_ROUND and self._supervisor.whole_tree:
                end_below(os.getpid(), self._reap, self._supervisor.launcher.servers)
            else:
                _signal_all(left, number)
            self._output.read()
            select.select([self._supervisor.signals.descriptor], [], [], pause_s)
            self._supervisor.signals.clear()
            pause_s = min(2 * pause_s, IDLE_LOOK_S)

    def _close(self) -> None:
        self._output.abandon()
        if self._pid:
            self._report.finish()
            self._report_text = self._report.tail.rpartition("\n")[2]
        self._report.abandon()

    def _result(self, ending: str, survivors: int) -> wire.Message:
        return {
            "ending": ending,
            "cpu_s": self._meter.read().cpu_s,
            "wall_s": (self._ended_s or time.monotonic()) - self._started_s,
            "peak_memory_bytes": self._peak_bytes,
            "exit_code": self._exit_code,
            "output_tail": self._output.tail,
            "matches": self._output.matches,
            "match_problem": self._output.problem,
            "report": self._report_text,
            "launch_error": _survivor_text(survivors),
            "trace": [] if self._tracer is None else self._tracer.seen,
        }


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


def _survivor_text(survivors: int) -> str:
    return (
        f"{survivors} processes of a run could not be killed within {KILL_PATIENCE_S:g} s"
        if survivors
        else ""
    )


def _signal_all(reading: TreeReading, number: int) -> None:
    for group in {process.group for process in reading.processes}:
        _signal_group(group, number)
    for process in reading.processes:
        try:
            os.kill(process.pid, number)
        except OSError:
            continue  # gone, or beyond our rights; whoever is left is counted


def _signal_group(group: int, number: int) -> None:
    if group in {0, 1, os.getpgrp()}:
        return
    try:
        os.killpg(group, number)
    except OSError:
        return  # gone, or beyond our rights; whoever is left is counted


def _peak_bytes(usage: resource.struct_rusage) -> int:
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)

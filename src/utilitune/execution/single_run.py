"""One run under a supervisor: when to look at it, how to end it, how to keep it for later.

**When to look.** A tree of k threads cannot consume r more CPU seconds in less than r/k seconds, so that
is how long the supervisor sleeps. New threads may appear meanwhile; therefore it never sleeps longer than
r/cores or `LOOK_AGAIN_S`, whichever is longer. A tree that does nothing is looked at ever less often, up
to every `IDLE_LOOK_S`. Far from its captime a single process is looked at when its time has doubled; several
are looked at after every hundredth of their time, lest one vanish unseen whose time nobody inherits. A tree
in which that has happened is looked at every `LOOK_AGAIN_S`.

**How to kill.** Process groups first, since the kernel signals a whole group at one moment and a fork
cannot slip through; then every process left below the supervisor, again and again until there is none. Who is
still there after a few rounds multiplies, and is stopped before it is killed (`chasing`).

**How to keep it.** A run that is to be kept is stopped at its captime (`pausing`), and the supervisor waits
with it until it is continued with a larger captime or released. All figures are those of the whole run: CPU
time goes on where it stood, and the start moves on by the length of the pause.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING

from utilitune.execution import cgroups
from utilitune.execution.accounts import Account
from utilitune.execution.chasing import end_below
from utilitune.execution.launching import LaunchError, LaunchInterrupted, raise_cpu_limit
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
from utilitune.execution.pausing import StoppedTree, stop_tree

if TYPE_CHECKING:
    import resource
    from collections.abc import Callable

    from utilitune.execution import wire
    from utilitune.execution.worker import Supervisor

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

KILL_PATIENCE_S = 30.0
_FREEZING_ROUND = 3
_REPORT_BYTES = 65536
LOOK_AT_LEAST_EVERY_S = 2.0


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
        self._account: Account | None = None
        self._stopped: StoppedTree | None = None
        self._held_bytes = 0
        self._continued = False

    @property
    def number(self) -> int:
        """The number of its job; another one after every pause."""
        number: int = self._job["id"]
        return number

    @property
    def is_kept(self) -> bool:
        """Whether it is stopped and can be continued."""
        return self._stopped is not None

    def perform(self) -> wire.Message:
        """Make the run and say what happened."""
        return self._seen_through(self._launch)

    def is_intact(self) -> bool:
        """Whether a run that was kept is as it was left."""
        self._reap()
        stopped = self._stopped
        return stopped is not None and self._exit_code is None and stopped.is_intact(self._meter.read())

    def go_on(self, job: wire.Message) -> wire.Message:
        """Continue the run under a job with a larger captime and say what happened, in all."""
        return self._seen_through(lambda: self._wake(job))

    def release(self) -> None:
        """End a run that was kept."""
        self._stopped = None
        try:
            self._kill_tree(gently=True)
        finally:
            self._close()

    def _seen_through(self, begin: Callable[[], None]) -> wire.Message:
        """Begin and watch the run until it has ended or is stopped to be kept."""
        try:
            begin()
            ending = self._watch()
            survivors = 0
            if not (ending == "captime" and self._job["keep"] and self._stop()):
                survivors = self._kill_tree(gently=ending != "exited")
                self._output.finish()
        except LaunchError as error:
            return {"ending": "exited", "launch_error": str(error)}
        except LaunchInterrupted:
            return {"ending": "cancelled"}
        except BaseException:  # told to end, or a defect of ours: nothing may survive either
            self._stopped = None
            if self._pid:
                self._kill_tree(gently=False)
            raise
        finally:
            if self._stopped is None:
                self._close()
        return self._result(ending, survivors)

    def _stop(self) -> bool:
        """Stop all of the run instead of killing it; False if that cannot be."""
        supervisor = self._supervisor
        if not supervisor.whole_tree:
            return False
        stopped = stop_tree(self._meter, self._reap, supervisor.launcher.servers)
        if stopped is None or self._exit_code is not None:
            return False
        if self._account is not None:
            self._account.rest()
        while self._output.read():
            continue
        self._held_bytes = stopped.held_bytes(supervisor.launcher.servers | {os.getpid(), os.getppid()})
        self._stopped = stopped
        return True

    def _wake(self, job: wire.Message) -> None:
        """Let the run go on where it was stopped."""
        stopped, before = self._stopped, self._job
        if stopped is None:
            raise RuntimeError("a run that was not kept cannot be continued")
        self._job, self._stopped, self._continued = job, None, True
        if job["measure"] == "cpu":
            for process in stopped.reading.processes:
                raise_cpu_limit(process.pid, before["captime_s"], job["captime_s"])
        if self._account is not None:
            self._account.go_on()
        stopped.wake()
        now_s = time.monotonic()
        self._started_s += now_s - stopped.since_s
        self._idle_s = 0.0
        reading = stopped.reading
        self._next_look_s = now_s + self._pause_s(reading.cpu_s, reading.threads, reading.resident_bytes)

    def _launch(self) -> None:
        supervisor = self._supervisor
        self._account = self._opened_account()
        try:
            self._inherited_peak_bytes = own_peak_bytes() if supervisor.whole_tree else 0
            self._started_s = time.monotonic()
            self._pid = supervisor.launcher.launch(self._job, self._output_end, self._report_end)
        finally:
            os.close(self._output_end)
            os.close(self._report_end)
        if "call" in self._job:
            self._started_s = time.monotonic()  # forking is not part of the call
            self._account = self._opened_account(cgroups.process_clock_s(self._pid))
        if supervisor.note is not None:
            supervisor.note.note(self._pid)
        self._meter = (
            TreeMeter(os.getpid(), supervisor.launcher.servers, self._account)
            if supervisor.whole_tree
            else GroupMeter(self._pid)
        )
        pause_s = self._pause_s(0.0, threads=1, resident_bytes=0)
        self._next_look_s = self._started_s + min(pause_s, LOOK_AGAIN_S)

    def _opened_account(self, known_s: float = 0.0) -> Account | None:
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
        pause_s = LOOK_AT_LEAST_EVERY_S
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
            "wall_s": (self._ended_s or self._now_s()) - self._started_s,
            "peak_memory_bytes": self._peak_bytes,
            "exit_code": self._exit_code,
            "output_tail": self._output.tail,
            "matches": self._output.matches,
            "match_problem": self._output.problem,
            "report": self._report_text,
            "launch_error": _survivor_text(survivors),
            "trace": [] if self._tracer is None else self._tracer.seen,
            "kept_bytes": self._held_bytes if self.is_kept else None,
            "continued": self._continued,
        }

    def _now_s(self) -> float:
        """The time, or when the run was stopped to be kept."""
        return time.monotonic() if self._stopped is None else self._stopped.since_s


def _survivor_text(survivors: int) -> str:
    if not survivors:
        return ""
    processes = "1 process" if survivors == 1 else f"{survivors} processes"
    return f"{processes} of a run could not be killed within {KILL_PATIENCE_S:g} s"


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

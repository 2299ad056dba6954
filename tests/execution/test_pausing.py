"""Runs that are stopped at their captime and continued later, as if nothing had happened between."""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from execution import python_targets
from execution.running import NASTY, alive, alive_after_a_while, limits, nasty_command, run
from utilitune.domain import Measure
from utilitune.execution.backend import Job, KeepsRuns
from utilitune.execution.local import LocalBackend
from utilitune.execution.runs import RunRules
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.targets.base import Command, Ending, Invocation, RawResult
from utilitune.targets.function import FunctionTarget

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture
def backend():
    with LocalBackend(workers=1) as made:
        yield made


def kept(backend: LocalBackend, command: Command, captime_s: float = 0.1, **others) -> RawResult:
    """Run a command as job 0 until it is stopped and kept."""
    backend.submit(0, Job(command, limits(captime_s, **others), keep=True))
    [(_, raw)] = backend.wait(120)
    assert (raw.ending, raw.continued) == (Ending.CAPTIME, False)
    assert raw.kept_bytes > 0
    return raw


def continued(backend: LocalBackend, command: Command, captime_s: float = 30.0, **others) -> RawResult:
    """Continue job 0 as job 1."""
    backend.submit(1, Job(command, limits(captime_s, **others), continues=0))
    [(_, raw)] = backend.wait(120)
    assert raw.kept_bytes is None
    return raw


def states(mark: str) -> set[str]:
    return {Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in alive(mark)}


def test_who_can_keep_runs(backend):
    assert isinstance(backend, KeepsRuns)
    assert isinstance(SimulatedBackend(1, lambda _: SimulatedRun(1.0)), KeepsRuns)


@pytest.mark.parametrize("kind", ["single", "forks", "threads", "detaches"])
def test_cpu_time_goes_on_where_it_stood(backend, kind):
    command = nasty_command(kind)
    before = kept(backend, command)
    assert before.cpu_s >= 0.1
    assert run(backend, nasty_command("nap")).exit_code == 0  # the slot is free meanwhile
    raw = continued(backend, command)
    assert (raw.ending, raw.exit_code, raw.continued) == (Ending.EXITED, 0, True)
    told_s = sum(float(text) for text in re.findall(r"consumed (\S+)", raw.output_tail))
    assert 0.98 * told_s - 0.002 <= raw.cpu_s <= 1.1 * told_s + 0.05
    assert raw.cpu_s > before.cpu_s


@pytest.mark.parametrize("measure", list(Measure))
def test_a_run_is_kept_and_continued_again_and_again(backend, measure):
    command = nasty_command("family_forever")
    for step in range(4):
        captime_s = 0.1 * (step + 1)
        job = Job(command, limits(captime_s, measure), keep=True, continues=step - 1 if step else None)
        backend.submit(step, job)
        [(_, raw)] = backend.wait(120)
        measured_s = raw.cpu_s if measure is Measure.CPU else raw.wall_s
        assert (raw.ending, raw.continued, raw.exit_code) == (Ending.CAPTIME, step > 0, None)
        assert measured_s >= captime_s


def test_wall_clock_time_leaves_the_pause_out(backend):
    began_s = time.monotonic()
    kept(backend, nasty_command("sleeps"), measure=Measure.WALL)
    time.sleep(2)
    raw = continued(backend, nasty_command("sleeps"), 0.2, measure=Measure.WALL)
    assert (raw.ending, raw.continued) == (Ending.CAPTIME, True)
    assert 0.2 <= raw.wall_s <= time.monotonic() - began_s - 2


@pytest.mark.parametrize("kind", ["burn_forever", "family_forever", "daemon_forever", "bomb"])
def test_all_of_a_tree_stands_still_until_it_is_released(backend, kind):
    mark = secrets.token_hex(8)
    kept(backend, nasty_command(kind, mark=mark))
    assert alive(mark)
    assert states(mark) == {"T"}
    backend.release(0)
    assert alive_after_a_while(mark) == []
    backend.release(0)
    assert run(backend, nasty_command("nap")).exit_code == 0


def test_a_run_that_cannot_be_stopped_for_good_is_killed(backend):
    mark = secrets.token_hex(8)
    backend.submit(0, Job(nasty_command("escape_forever", mark=mark), limits(0.2), keep=True))
    [(_, raw)] = backend.wait(120)
    assert raw.ending is Ending.CAPTIME
    backend.release(0)
    assert alive_after_a_while(mark) == []


def test_a_process_that_had_stopped_itself_is_not_woken(backend):
    mark = secrets.token_hex(8)
    command = nasty_command("stopped_forever", mark=mark)
    kept(backend, command, 0.5)
    assert states(mark) == {"T"}
    backend.submit(1, Job(command, limits(3000.0, wall_limit_s=3000.0), continues=0))
    deadline = time.monotonic() + 120
    while states(mark) == {"T"}:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert "T" in states(mark)
    backend.cancel(1)
    assert backend.wait(120)[0][1].ending is Ending.CANCELLED


def test_the_backstop_moves_with_the_captime(backend):
    command = nasty_command("shows_cpu_limit")
    kept(backend, command)
    raw = continued(backend, command, 30.0)
    assert raw.continued
    assert "limit 35" in raw.output_tail


def test_a_function_is_kept_and_continued(backend):
    rules = RunRules(FunctionTarget.of(python_targets.burns), Measure.CPU)
    short, long = (Invocation({"seconds": 0.4}, "i", 1, captime_s) for captime_s in (0.1, 30.0))
    backend.submit(0, Job(*_parts(rules, short), keep=True))
    [(_, raw)] = backend.wait(120)
    assert raw.kept_bytes is not None
    backend.submit(1, Job(*_parts(rules, long), continues=0))
    [(_, raw)] = backend.wait(120)
    assert raw.continued
    outcome = rules.outcome(long, raw)
    assert outcome.finished
    assert outcome.runtime_s >= 0.4


def _parts(rules: RunRules, invocation: Invocation):
    job = rules.job(invocation)
    return job.task, job.limits


# -- losing it costs time only ------------------------------------------------------------------------------


def test_a_run_of_which_something_has_died_is_started_afresh(backend):
    mark = secrets.token_hex(8)
    command = nasty_command("forks", mark=mark)
    kept(backend, command)
    before = alive(mark)
    os.kill(before[-1], signal.SIGKILL)
    deadline = time.monotonic() + 60
    while alive(mark) == before:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    raw = continued(backend, command)
    assert (raw.ending, raw.exit_code, raw.continued) == (Ending.EXITED, 0, False)


def test_a_run_that_somebody_else_has_woken_is_started_afresh(backend):
    mark = secrets.token_hex(8)
    command = nasty_command("single", mark=mark)
    kept(backend, command)
    [pid] = alive(mark)
    os.kill(pid, signal.SIGCONT)
    deadline = time.monotonic() + 60
    while alive(mark):  # it ends, unseen
        assert time.monotonic() < deadline
        time.sleep(0.01)
    raw = continued(backend, command)
    assert (raw.ending, raw.exit_code, raw.continued) == (Ending.EXITED, 0, False)


def test_a_run_that_somebody_else_has_woken_to_wait_is_started_afresh(backend):
    """It consumes nothing, but it waits in time that nobody counts."""
    mark = secrets.token_hex(8)
    command = nasty_command("sleeps", mark=mark)
    kept(backend, command, measure=Measure.WALL)
    [pid] = alive(mark)
    os.kill(pid, signal.SIGCONT)
    raw = continued(backend, command, 0.2, measure=Measure.WALL)
    assert (raw.ending, raw.continued) == (Ending.CAPTIME, False)
    assert alive_after_a_while(mark) == []


def test_a_run_of_which_something_is_about_to_die_is_started_afresh(backend):
    """A process that is killed is neither stopped nor dead for a while: it closes its files first."""
    mark = secrets.token_hex(8)
    command = nasty_command("many_files", mark=mark)
    kept(backend, command, 0.5)
    os.kill(alive(mark)[-1], signal.SIGKILL)
    raw = continued(backend, command, 0.6)
    assert (raw.ending, raw.continued) == (Ending.CAPTIME, False)
    assert alive_after_a_while(mark) == []


def test_supervisors_of_runs_that_went_on_do_not_pile_up(backend):
    command = nasty_command("burn_forever")
    for job in range(6):
        backend.submit(job, Job(command, limits(0.05), keep=True))
        backend.wait(120)
    for job in range(6):
        backend.submit(10 + job, Job(command, limits(0.06), continues=job))
        [(_, raw)] = backend.wait(120)
        assert raw.continued
    assert len(backend.supervisors) <= 3
    assert run(backend, nasty_command("nap")).exit_code == 0


def test_a_run_whose_supervisor_was_killed_is_started_afresh(backend):
    mark = secrets.token_hex(8)
    command = nasty_command("single", mark=mark)
    [supervisor] = backend.supervisors
    kept(backend, command)
    os.kill(supervisor, signal.SIGKILL)
    assert alive_after_a_while(mark) == []
    raw = continued(backend, command)
    assert (raw.ending, raw.exit_code, raw.continued) == (Ending.EXITED, 0, False)


def test_a_job_that_was_never_kept_is_started(backend):
    assert continued(backend, nasty_command("single")).exit_code == 0


def test_a_run_that_goes_on_can_be_cancelled(backend):
    mark = secrets.token_hex(8)
    command = nasty_command("family_forever", mark=mark)
    kept(backend, command)
    backend.submit(1, Job(command, limits(1000.0, wall_limit_s=1000.0), continues=0))
    backend.cancel(1)
    [(_, raw)] = backend.wait(120)
    assert raw.ending is Ending.CANCELLED
    assert alive_after_a_while(mark) == []


# -- nobody is left -----------------------------------------------------------------------------------------


def test_closing_ends_what_is_kept():
    mark = secrets.token_hex(8)
    with LocalBackend(workers=1) as backend:
        kept(backend, nasty_command("family_forever", mark=mark))
    assert alive(mark) == []


COORDINATOR = """
import sys
from pathlib import Path
from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.local import LocalBackend
from utilitune.targets.base import Command
program, mark, folder = sys.argv[1:]
backend = LocalBackend(workers=1, folder=Path(folder))
for job_id in range(3):
    argv = (sys.executable, "-I", "-S", program, "daemon_forever")
    limits = RunLimits(Measure.CPU, 0.3, 3000.0)
    backend.submit(job_id, Job(Command(argv, {"NASTY_MARK": mark}), limits, keep=True))
    assert backend.wait()[0][1].kept_bytes
print("kept", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("supervisors_too", [False, True])
def test_what_is_kept_ends_with_a_killed_coordinator(tmp_path, supervisors_too):
    mark = secrets.token_hex(8)
    command = [sys.executable, "-c", COORDINATOR, NASTY, mark, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as coordinator:
        assert coordinator.stdout.readline() == b"kept\n"
        assert len(alive(mark)) >= 3
        victims = [coordinator.pid]
        if supervisors_too:
            own = Path(f"/proc/{coordinator.pid}/task/{coordinator.pid}/children").read_text().split()
            guardians = [int(pid) for pid in own if b"execution.worker" in _command_line(pid)]
            victims += [pid for guardian in guardians for pid in _children(guardian)]
            assert len(victims) == 4
        for pid in reversed(victims):
            os.kill(pid, signal.SIGKILL)
        assert alive_after_a_while(mark, 60) == []


def _command_line(pid: str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from execution.running import MARK, NASTY, alive, alive_after_a_while, limits, nasty_command, run
from utilitune.domain import Measure, RunStatus
from utilitune.errors import TargetError, UsageError
from utilitune.execution import platform
from utilitune.execution.backend import Job
from utilitune.execution.local import LocalBackend
from utilitune.execution.runs import RunRules
from utilitune.targets.base import Ending, Invocation
from utilitune.targets.command import CommandTarget
from utilitune.targets.verdict import VerdictRules

COORDINATOR = """
import sys
from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.local import LocalBackend
from utilitune.targets.base import Command
program, kind, mark = sys.argv[1:]
backend = LocalBackend(workers=2)
for job_id in range(2):
    argv = (sys.executable, "-I", "-S", program, kind)
    backend.submit(job_id, Job(Command(argv, {"NASTY_MARK": mark}), RunLimits(Measure.CPU, 60.0, 120.0)))
print("started", flush=True)
backend.wait()
"""


def wait_until_alive(mark: str, count: int) -> None:
    deadline = time.monotonic() + 30
    while len(alive(mark)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("kind", ["family_forever", "daemon_forever", "deaf_forever", "sleeps"])
def test_nothing_survives_a_coordinator_killed_by_force(kind):
    mark = secrets.token_hex(8)
    command = [sys.executable, "-c", COORDINATOR, NASTY, kind, mark]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as coordinator:
        assert coordinator.stdout.readline() == b"started\n"
        wait_until_alive(mark, 2)
        coordinator.kill()
    assert alive_after_a_while(mark) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_nothing_survives_even_if_someone_else_holds_the_connections_open():
    mark = secrets.token_hex(8)
    holder = COORDINATOR + "import os, time\nprint(os.fork() or time.sleep(30), flush=True)\nbackend.wait()\n"
    holder = holder.replace("backend.wait()\n", "", 1)
    command = [sys.executable, "-c", holder, NASTY, "family_forever", mark]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as coordinator:
        assert coordinator.stdout.readline() == b"started\n"
        child = int(coordinator.stdout.readline())
        wait_until_alive(mark, 2)
        coordinator.kill()
        assert alive_after_a_while(mark) == []
        os.kill(child, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_supervisor_that_dies_is_replaced_and_its_run_made_again():
    mark = secrets.token_hex(8)
    with LocalBackend(workers=1) as backend:
        [first] = backend.supervisors
        backend.submit(3, Job(nasty_command("daemon_forever", mark=mark), limits(captime_s=0.5)))
        wait_until_alive(mark, 2)
        os.kill(first, signal.SIGKILL)
        ended = []
        while not ended:
            ended = backend.wait(60)
        assert backend.supervisors != (first,)
        [(job_id, raw)] = ended
    assert (job_id, raw.ending) == (3, Ending.CAPTIME)
    assert alive(mark) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_run_that_is_cancelled_while_its_supervisor_dies_is_not_made_again():
    """The next supervisor once knew nothing of it, and whoever had cancelled waited for the captime."""
    mark = secrets.token_hex(8)
    with LocalBackend(workers=1) as backend:
        [first] = backend.supervisors
        backend.submit(3, Job(nasty_command("sleeps", mark=mark), limits(captime_s=3000.0)))
        wait_until_alive(mark, 1)
        os.kill(first, signal.SIGKILL)
        backend.cancel(3)
        [(job_id, raw)] = backend.wait(30)
        assert (job_id, raw.ending) == (3, Ending.CANCELLED)
        assert alive(mark) == []
        assert run(backend, nasty_command("nap")).exit_code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_run_whose_supervisors_keep_dying_counts_as_killed():
    mark = secrets.token_hex(8)
    with LocalBackend(workers=1) as backend:
        backend.submit(0, Job(nasty_command("burn_forever", mark=mark), limits()))
        ended = []
        while not ended:
            wait_until_alive(mark, 1)
            with contextlib.suppress(ProcessLookupError):  # not replaced yet
                os.kill(backend.supervisors[0], signal.SIGKILL)
            ended = backend.wait(1)
        [(_, raw)] = ended
        assert (raw.ending, raw.exit_code, raw.launch_error) == (Ending.EXITED, -signal.SIGKILL, "")
        assert "killed 4 times" in raw.output_tail
        assert alive(mark) == []
        assert run(backend, nasty_command("nap")).exit_code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("kind", ["parricide", "stops_its_supervisor_again_and_again"])
def test_a_program_that_lets_no_supervisor_live_has_crashed(kind):
    """It once ended the whole search, or hung it, and every resume of it."""
    mark = secrets.token_hex(8)
    argv = (sys.executable, "-I", "-S", NASTY, kind)
    rules = VerdictRules(exit_codes=frozenset({0}), answer_pattern="^s (.*)", answers={"some": "SAT"})
    target = CommandTarget(argv, environment={MARK: mark}, rules=rules)
    made = RunRules(target, Measure.CPU)
    invocation = Invocation({}, "some", seed=1, captime_s=20.0)
    with LocalBackend(workers=1) as backend:
        backend.submit(0, made.job(invocation))
        [(_, raw)] = backend.wait(120)
        outcome = made.outcome(invocation, raw)
        assert (outcome.status, outcome.exit_code) == (RunStatus.CRASHED, -signal.SIGKILL)
        assert "supervises this run was killed" in outcome.output_tail
        assert alive(mark) == []
        assert run(backend, nasty_command("nap")).exit_code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_many_workers_are_started_when_a_run_needs_them():
    """A thousand at once took a minute of a small machine before the first run began."""
    with LocalBackend(1000) as backend:
        assert backend.free_slots == 1000
        assert len(backend.supervisors) < 100


def test_closing_ends_every_run_and_every_supervisor():
    mark = secrets.token_hex(8)
    with LocalBackend(workers=2) as backend:
        pids = backend.supervisors
        for job_id in range(2):
            backend.submit(job_id, Job(nasty_command("family_forever", mark=mark), limits()))
        wait_until_alive(mark, 2)
    assert alive(mark) == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_sigterm_ends_a_supervisor_and_its_run():
    mark = secrets.token_hex(8)
    backend = LocalBackend(workers=1)
    backend.submit(0, Job(nasty_command("daemon_forever", mark=mark), limits()))
    wait_until_alive(mark, 2)
    os.kill(backend.supervisors[0], signal.SIGTERM)
    backend._slots[0]._process.wait(30)
    assert alive(mark) == []
    backend.close()


def test_without_proc_a_process_group_is_metered_and_killed(monkeypatch):
    monkeypatch.setattr(platform, "follows_process_trees", lambda: False)
    mark = secrets.token_hex(8)
    with LocalBackend(workers=1) as backend:
        finished = run(backend, nasty_command("forks"))
        stopped = run(backend, nasty_command("family_forever", mark=mark), limits(wall_limit_s=0.5))
    assert finished.exit_code == 0
    assert finished.cpu_s > 0.5
    assert stopped.ending is Ending.WALL_LIMIT
    assert alive(mark) == []


def test_the_environment_is_inherited(monkeypatch):
    monkeypatch.setenv("NASTY_TEXT", "inherited")
    with LocalBackend(workers=1) as backend:
        raw = run(backend, nasty_command("arguments"))
    assert raw.output_tail.startswith("inherited ")


def test_no_workers_make_no_sense():
    with pytest.raises(UsageError, match="at least 1, not 0"):
        LocalBackend(workers=0)


def test_windows_is_refused(monkeypatch):
    monkeypatch.setattr(os, "name", "nt")
    with pytest.raises(TargetError, match="cannot run programs on Windows"):
        platform.require_supported_platform()


def test_the_loss_is_stated_where_trees_cannot_be_followed(monkeypatch):
    if sys.platform == "linux":
        assert platform.metering_loss() == ""
    monkeypatch.setattr(platform, "follows_process_trees", lambda: False)
    assert "use Linux for exact figures" in platform.metering_loss()

"""Whoever is killed, and however many at once: nothing that a run started stays alive."""

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

from execution.running import NASTY, alive_after_a_while, limits, nasty_command, run
from utilitune.execution import cgroups, leftovers
from utilitune.execution.backend import Job
from utilitune.execution.leftovers import Leader, Traces
from utilitune.execution.local import TRACES_NAME, LocalBackend

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

COORDINATOR = """
import sys
from pathlib import Path
from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.local import LocalBackend
from utilitune.targets.base import Command
program, kind, mark, folder = sys.argv[1:]
backend = LocalBackend(workers=2, folder=Path(folder))
for job_id in range(2):
    argv = (sys.executable, "-I", "-S", program, kind, mark)
    backend.submit(job_id, Job(Command(argv, {"NASTY_MARK": mark}), RunLimits(Measure.CPU, 60.0, 120.0)))
print("started", flush=True)
backend.wait()
"""


def children(pid: int) -> dict[int, bytes]:
    """The children of a process, and their command lines."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                    found[int(entry.name)] = (entry / "cmdline").read_bytes()
            except OSError:
                continue
    return found


def named(mark: str) -> list[int]:
    """Processes whose command line carries the mark: an environment can be cleared."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words and COORDINATOR.encode() not in words:
                found.append(int(entry.name))
    return found


def wait_until_named(mark: str, count: int) -> None:
    deadline = time.monotonic() + 30
    while len(named(mark)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def kill_together(pids: list[int]) -> None:
    """End several processes so that none of them has time to notice the end of another."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # the watcher was faster
                os.kill(pid, number)


@pytest.fixture(params=["control groups where they can be had", "marks only"])
def no_groups(request, monkeypatch):
    if request.param == "marks only":
        monkeypatch.setenv(cgroups.OFF, "1")
    return request.param == "marks only"


def killed(kind: str, mark: str, folder: Path, *, watcher_too: bool) -> None:
    """Start a coordinator with two runs and kill it with its supervisors and their guardians."""
    command = [sys.executable, "-c", COORDINATOR, NASTY, kind, mark, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as coordinator:
        assert coordinator.stdout.readline() == b"started\n"
        wait_until_named(mark, 2)
        deadline_s = time.monotonic() + 60.0
        while len(chosen := helpers_of(coordinator.pid, watcher_too=watcher_too)) < 4 + watcher_too:
            assert time.monotonic() < deadline_s, chosen  # one run alone may have several processes
            time.sleep(0.02)
        assert len(chosen) == 4 + watcher_too
        kill_together([coordinator.pid, *chosen])


def helpers_of(coordinator: int, *, watcher_too: bool) -> list[int]:
    """Guardians and their supervisors, and the watcher where it is wanted."""
    found = children(coordinator).items()
    chosen = [pid for pid, line in found if watcher_too or b"execution.watcher" not in line]
    return chosen + [pid for guardian in chosen for pid in children(guardian)]


@pytest.mark.parametrize("kind", ["sleeps", "daemon_forever", "setsid_forever", "deaf_forever"])
def test_the_watcher_ends_what_a_coordinator_killed_with_its_supervisors_left(tmp_path, no_groups, kind):
    mark = secrets.token_hex(8)
    killed(kind, mark, tmp_path, watcher_too=False)
    assert alive_after_a_while(mark) == []


@pytest.mark.parametrize("kind", ["sleeps", "daemon_forever", "nameless_forever", "family_forever"])
def test_the_next_start_in_a_folder_ends_what_was_left_when_all_were_killed(tmp_path, no_groups, kind):
    mark = secrets.token_hex(8)
    killed(kind, mark, tmp_path, watcher_too=True)
    assert named(mark)
    with LocalBackend(workers=1, folder=tmp_path) as backend:
        assert named(mark) == []
        assert run(backend, nasty_command("nap"), limits()).exit_code == 0
        assert len(list((tmp_path / TRACES_NAME).iterdir())) == 1
    assert not (tmp_path / TRACES_NAME).exists()


def test_what_a_killed_supervisor_left_is_found_also_without_an_environment(tmp_path, no_groups):
    mark = secrets.token_hex(8)
    with LocalBackend(workers=1, folder=tmp_path) as backend:
        backend.submit(0, Job(nasty_command("nameless_forever", mark), limits()))
        wait_until_named(mark, 1)
        [first] = named(mark)
        os.kill(backend.supervisors[0], signal.SIGKILL)
        deadline = time.monotonic() + 30
        while named(mark) in ([], [first]):
            assert backend.wait(0.05) == []
            assert time.monotonic() < deadline
        assert first not in named(mark)
    assert named(mark) == []


def test_control_groups_are_removed(tmp_path, monkeypatch):
    made = []
    path_of = cgroups.group_path

    def group_path(mark: str) -> str:
        made.append(path_of(mark))
        return made[-1]

    monkeypatch.setattr(cgroups, "group_path", group_path)
    with LocalBackend(workers=1, folder=tmp_path) as backend:
        assert run(backend, nasty_command("nap"), limits()).exit_code == 0
        os.kill(backend.supervisors[0], signal.SIGKILL)
        assert run(backend, nasty_command("nap"), limits()).exit_code == 0
    assert len(made) >= 2
    assert not any(Path(path).exists() for path in made if path)


def test_traces_from_before_the_machine_was_started_are_dropped_and_nobody_is_killed(tmp_path, monkeypatch):
    with subprocess.Popen(["sleep", "60"], env={**os.environ, leftovers.MARK: "ff"}) as bystander:
        path = leftovers.keep(str(tmp_path / "traces"), Traces("ff"))
        monkeypatch.setattr(leftovers, "_boot", lambda: "another start")
        leftovers.sweep(str(tmp_path / "traces"))
        assert not Path(path).exists()
        assert bystander.poll() is None
        bystander.kill()


@pytest.mark.parametrize("text", ["", "\n\n", "x\ny\nz z z", "\0", "\n\n1 2 3", "\n/nowhere\n9999999999 1"])
def test_damaged_traces_are_dropped(tmp_path, text):
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "ff").write_text(text)
    leftovers.sweep(str(tmp_path / "traces"))
    assert not (tmp_path / "traces").exists()


def test_a_session_whose_leader_has_another_start_time_is_left_alone():
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as bystander:
        leftovers.end(Traces("no such mark", leader=Leader(bystander.pid, 1)))
        assert bystander.poll() is None
        started = int(Path(f"/proc/{bystander.pid}/stat").read_text().rpartition(")")[2].split()[19])
        leftovers.end(Traces("no such mark", leader=Leader(bystander.pid, started)))
        assert bystander.wait(10) == -signal.SIGKILL

"""Chains of processes that fork and end, faster than anybody can list them, end whoever of us is killed.

All without control groups, which make it easy. A pipe that every link of a chain holds open tells whether one
is alive, and ends all of them with the test.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from execution.ordinary import USER, become_ordinary
from execution.running import NASTY
from utilitune.execution import cgroups, chasing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

PATIENCE_S = 120.0
BEGIN = """
import sys
from pathlib import Path
from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.local import LocalBackend
from utilitune.targets.base import Command
program, kind, pipe, folder, captime = sys.argv[1:]
argv = (sys.executable, "-I", "-S", program, kind, pipe)
with LocalBackend(workers=1, folder=Path(folder)) as backend:
    backend.submit(0, Job(Command(argv), RunLimits(Measure.CPU, float(captime), 3600.0)))
    print(backend.supervisors[0], flush=True)
    print(backend.wait()[0][1].ending.value, flush=True)
"""
AGAIN = """
import sys
from pathlib import Path
from utilitune.execution.local import LocalBackend
with LocalBackend(workers=1, folder=Path(sys.argv[1])):
    print("swept", flush=True)
"""
KINDS = ["group_chain_forever", "chain_forever", "chains_forever", "nameless_chain_forever"]


class Chain:
    """A chain under a coordinator of its own, seen through a pipe."""

    def __init__(self, place: Path, kind: str, captime_s: float, become: object) -> None:
        self.place, self.become = place, become
        place.chmod(0o777)
        self.folder = place / "run"
        self.folder.mkdir()
        self.folder.chmod(0o777)
        os.mkfifo(place / "pipe")
        (place / "pipe").chmod(0o666)
        self.pipe = os.open(place / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        self.coordinator = self.start(BEGIN, NASTY, kind, place / "pipe", self.folder, captime_s)
        self.supervisor = 0

    def begins(self) -> None:
        self.supervisor = int(self.coordinator.stdout.readline())
        assert self.read(5) == b"begun"

    def start(self, code: str, *words: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, words)],
            stdout=subprocess.PIPE,
            env={**os.environ, cgroups.OFF: "1"},
            preexec_fn=self.become,  # noqa: PLW1509 -- we have no threads here
        )

    def read(self, count: int) -> bytes:
        """What was written into the pipe, at most so much; nothing if nobody holds it any more."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if select.select([self.pipe], [], [], 0.01)[0]:
                with contextlib.suppress(BlockingIOError):
                    if data := os.read(self.pipe, count):
                        return data
                    if not (self.place / "pipe").exists():
                        return b""
                    time.sleep(0.01)  # nobody has opened it yet
        raise AssertionError("nothing was heard")

    def goes_on(self) -> bool:
        return len([self.read(1) for _ in range(20)]) == 20

    def ends(self) -> bool:
        """Whether all links have gone, before long; what they wrote meanwhile is read."""
        deadline = time.monotonic() + PATIENCE_S
        while self.read(1 << 20):
            if time.monotonic() > deadline:
                return False
        return True

    def keepers(self) -> tuple[int, int, list[int]]:
        """The supervisor, its guardian, and the watcher."""
        guardian = int(Path(f"/proc/{self.supervisor}/stat").read_text().rpartition(")")[2].split()[1])
        own = Path(f"/proc/{self.coordinator.pid}/task/{self.coordinator.pid}/children").read_text().split()
        return self.supervisor, guardian, [int(pid) for pid in own if int(pid) != guardian]

    def close(self) -> None:
        os.close(self.pipe)  # no link outlives it
        self.coordinator.kill()
        self.coordinator.communicate()


def kill_together(*pids: int) -> None:
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


@pytest.fixture(params=["as we are", "as an ordinary user"])
def chain_of(request, tmp_path):
    made = []
    if request.param == "as an ordinary user":
        if os.getuid() != 0:
            pytest.skip("we are ordinary already")
        for folder in tmp_path.parents:
            if folder.stat().st_uid == 0 and folder.is_relative_to(Path("/tmp")) and folder != Path("/tmp"):
                folder.chmod(folder.stat().st_mode | 0o111)
        words = [sys.executable, "-c", "import utilitune"]
        tried = subprocess.run(words, preexec_fn=become_ordinary, check=False)
        if tried.returncode:
            pytest.skip(f"the user {USER} cannot start Python here")

    def make(kind: str, captime_s: float = 3000.0) -> Chain:
        become = become_ordinary if request.param == "as an ordinary user" else None
        made.append(Chain(tmp_path, kind, captime_s, become))
        made[-1].begins()
        return made[-1]

    yield make
    for chain in made:
        chain.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_ends_at_the_captime(chain_of, kind):
    chain = chain_of(kind, captime_s=0.5)
    assert chain.coordinator.stdout.readline() in {b"captime\n", b"exited\n"}
    assert chain.ends()


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_ends_when_its_supervisor_is_killed(chain_of, kind):
    chain = chain_of(kind)
    os.kill(chain.supervisor, signal.SIGKILL)
    assert chain.ends()


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_ends_when_the_guardian_is_killed(chain_of, kind):
    chain = chain_of(kind)
    _, guardian, _ = chain.keepers()
    os.kill(guardian, signal.SIGKILL)
    assert chain.ends()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("watcher_too", [False, True], ids=["watcher lives", "watcher killed too"])
def test_a_chain_ends_when_coordinator_and_supervisors_are_killed_together(chain_of, kind, watcher_too):
    chain = chain_of(kind)
    supervisor, _, watchers = chain.keepers()
    assert len(watchers) == 1
    kill_together(chain.coordinator.pid, supervisor, *(watchers if watcher_too else []))
    assert chain.ends()


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_the_watcher_ends_a_chain_that_has_lost_everybody_else(chain_of, kind):
    chain = chain_of(kind)
    supervisor, guardian, _ = chain.keepers()
    kill_together(chain.coordinator.pid, guardian, supervisor)
    assert chain.ends()


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_the_next_start_in_the_folder_ends_a_chain_that_has_lost_everybody(chain_of, kind):
    chain = chain_of(kind)
    supervisor, guardian, watchers = chain.keepers()
    kill_together(chain.coordinator.pid, guardian, supervisor, *watchers)
    assert chain.goes_on()
    with chain.start(AGAIN, chain.folder) as again:
        assert again.stdout.readline() == b"swept\n"
        assert chain.ends()
    assert not (chain.folder / "workers").exists()


def test_a_bystander_is_not_touched():
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as bystander:
        assert bystander.pid not in chasing.strike_below(bystander.pid, signal.SIGKILL)
        assert bystander.poll() is None
        bystander.kill()


def test_freezing_goes_on_until_nobody_new_is_found():
    seen = iter([{1}, {1, 2}, {2, 3}, {1, 2, 3}, {4}])
    assert chasing.freeze(lambda: next(seen)) == {1, 2, 3}
    assert next(seen) == {4}

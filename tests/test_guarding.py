"""Commands of ours end when we do, however we end."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from utilitune.guarding import guarded

SLEEPS = [sys.executable, "-c", "import time; time.sleep(600)"]
FORKS = (
    "import subprocess, sys, time; print(subprocess.Popen({command}).pid, flush=True); time.sleep({own_s})"
)


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent's notice does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


def ends_soon(process: int) -> bool:
    for _ in range(400):
        if not is_alive(process):
            return True
        time.sleep(0.05)
    return False


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def test_a_command_ends_with_its_block_and_so_do_its_children():
    forks = FORKS.format(command=SLEEPS, own_s=600)
    with guarded([sys.executable, "-c", forks], stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
    assert process.returncode == -9
    assert ends_soon(child)


def test_children_that_a_finished_command_left_are_killed():
    forks = FORKS.format(command=SLEEPS, own_s=0)
    with guarded([sys.executable, "-c", forks], stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
        assert process.wait() == 0
    assert ends_soon(child)


def test_a_command_is_killed_when_we_are(tmp_path):
    script = tmp_path / "ours.py"
    forks = FORKS.format(command=SLEEPS, own_s=600)
    script.write_text(
        "import sys, time\n"
        "from utilitune.guarding import guarded\n"
        f"with guarded([sys.executable, '-c', {forks!r}]) as process:\n"
        "    print(process.pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as ours:
        at_work = [int(ours.stdout.readline()) for _ in range(2)]
        assert all(is_alive(process) for process in at_work)
        ours.kill()
    assert all(ends_soon(process) for process in at_work)


def test_no_watcher_is_left_when_we_end():
    code = (
        "import os, sys; from utilitune.guarding import _watcher_of, guarded\n"
        "with guarded([sys.executable, '-c', '']): print(_watcher_of(os.getpid())._process.pid)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert not is_alive(int(done.stdout))


def test_a_command_that_cannot_be_started(tmp_path):
    with pytest.raises(OSError, match="No such file"), guarded([str(tmp_path / "no")]):
        pass

"""Commands of ours end when we do, however we end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from utilitune.execution import watcher
from utilitune.execution.watcher import guarded

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
        "from utilitune.execution.watcher import guarded\n"
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
        "import sys; from utilitune.execution.watcher import _watch, guarded\n"
        "with guarded([sys.executable, '-c', '']): print(_watch._watcher.pid)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert not is_alive(int(done.stdout))


def forking(after_fork: str) -> str:
    """A script with a command at work and a forked child that lives on; prints the pids of both."""
    return (
        "import os, sys, time\n"
        "from utilitune.execution.watcher import guarded\n"
        f"with guarded({SLEEPS!r}) as process:\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        time.sleep(600)\n"
        "        os._exit(0)\n"
        "    print(process.pid, child, flush=True)\n"
        f"    {after_fork}\n"
    )


def killed_at_work(script: str) -> tuple[int, int]:
    """Run a script that prints the pids of its command and of another process, kill it, and give both."""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as ours:
        command, other = map(int, ours.stdout.readline().split())
        ours.kill()
    return command, other


def test_a_forked_child_that_lives_on_does_not_hold_us_up_at_our_end(tmp_path):
    printed = tmp_path / "printed"
    with printed.open("w") as file:
        subprocess.run([sys.executable, "-c", forking("pass")], stdout=file, check=True, timeout=60)
    command, child = map(int, printed.read_text().split())
    assert is_alive(child)
    os.kill(child, signal.SIGKILL)
    assert ends_soon(command)


def test_a_command_is_killed_when_we_are_although_a_forked_child_lives_on():
    command, child = killed_at_work(forking("time.sleep(600)"))
    assert ends_soon(command)
    assert is_alive(child)
    os.kill(child, signal.SIGKILL)


def test_the_watcher_sees_our_end_also_where_something_keeps_the_pipe_open():
    script = (
        "import fcntl, subprocess, termios, time\n"
        "from utilitune.execution.watcher import _watch, guarded\n"
        f"with guarded({SLEEPS!r}) as process:\n"
        "    while any(fcntl.ioctl(_watch._pipe, termios.FIONREAD, bytes(4))):  # until it has listened\n"
        "        time.sleep(0.01)\n"
        f"    keeper = subprocess.Popen({SLEEPS!r}, pass_fds=[_watch._pipe])\n"
        "    print(process.pid, keeper.pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    command, keeper = killed_at_work(script)
    assert ends_soon(command)
    os.kill(keeper, signal.SIGKILL)


def test_a_forked_child_that_leaves_the_block_lets_the_command_be():
    script = (
        "import os, sys\n"
        "from utilitune.execution.watcher import guarded\n"
        f"with guarded({SLEEPS!r}) as process:\n"
        "    child = os.fork()\n"
        "    if child: os.waitpid(child, 0); print(process.poll())\n"
        "if not child:\n"
        "    with guarded([sys.executable, '-c', '']) as own: own.wait()\n"
        "    print('own', own.returncode, flush=True)\n"
    )
    command = [sys.executable, "-X", "dev", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("own 0\nNone\n", "")


def test_a_watcher_that_was_killed_is_replaced_and_knows_what_is_at_work():
    script = (
        "import time\n"
        "from utilitune.execution.watcher import _watch, guarded\n"
        "def lose_watcher():\n"
        "    _watch._watcher.kill(); _watch._watcher.wait()\n"
        f"with guarded({SLEEPS!r}) as first:\n"
        "    lose_watcher()\n"
        f"    with guarded({SLEEPS!r}):\n"
        "        lose_watcher()\n"
        "    print(first.pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as ours:
        command = int(ours.stdout.readline())
        ours.kill()
    assert ends_soon(command)


def test_ctrl_c_while_the_watcher_is_told_kills_the_command(monkeypatch):
    begun = []

    def interrupted(group):
        begun.append(group)
        raise KeyboardInterrupt

    monkeypatch.setattr(watcher._watch, "begins", interrupted)
    with pytest.raises(KeyboardInterrupt), guarded(SLEEPS):
        pass
    assert ends_soon(begun[0])


def test_a_command_that_cannot_be_started(tmp_path):
    with pytest.raises(OSError, match="No such file"), guarded([str(tmp_path / "no")]):
        pass

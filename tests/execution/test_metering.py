from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time

import pytest

from execution.running import MARK, NASTY, alive
from utilitune.execution import metering
from utilitune.execution.metering import Process, TreeMeter, TreeReading

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture
def family():
    """A process with six descendants."""
    mark = secrets.token_hex(8)
    command = [sys.executable, "-I", "-S", NASTY, "family_forever"]
    with subprocess.Popen(command, env={MARK: mark}) as process:
        deadline = time.monotonic() + 30
        while len(alive(mark)) < 7:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process, mark
        metering.kill_marked(f"{MARK}={mark}".encode(), 20)


@pytest.mark.parametrize("children_are_listed", [True, False])
def test_descendants_are_all_found(family, monkeypatch, children_are_listed):
    process, mark = family
    monkeypatch.setattr(metering, "_CHILDREN_ARE_LISTED", children_are_listed)
    found = metering.descendants(process.pid)
    assert {p.pid for p in found} == set(alive(mark)) - {process.pid}
    assert all(p.threads == 1 and p.resident_bytes > 0 for p in found)


def test_what_is_ignored_is_ignored_with_its_children(family):
    process, _ = family
    everything = metering.descendants(process.pid)
    first = metering._listed_children(process.pid, 1)[0]
    rest = metering.descendants(process.pid, frozenset({first}))
    assert len(everything) - len(rest) == 2


def test_shared_memory_counts_less_than_resident_memory(family):
    process, _ = family
    found = metering.descendants(process.pid)
    shared = metering.proportional_bytes(found)
    assert 0 < shared < TreeReading(0.0, found).resident_bytes


def test_the_marked_are_killed(family):
    process, mark = family
    metering.kill_marked(f"{MARK}={mark}".encode(), 20)
    assert process.wait(30) == -signal.SIGKILL
    assert alive(mark) == []


def test_children_of_threads_are_found():
    code = (
        "import os, threading, time\n"
        "def work():\n"
        "    if os.fork() == 0: time.sleep(9)\n"
        "    print('ready', flush=True); time.sleep(9)\n"
        "threading.Thread(target=work).start()\n"
    )
    mark = secrets.token_hex(8)
    command = [sys.executable, "-I", "-S", "-c", code]
    with subprocess.Popen(command, env={MARK: mark}, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        found = {p.pid for p in metering.descendants(os.getpid())}
        assert len(found & set(alive(mark)) - {process.pid}) == 1
        metering.kill_marked(f"{MARK}={mark}".encode(), 20)


def test_a_process_is_read_by_its_own_clock():
    before = time.process_time()
    reading = metering.read_process(os.getpid())
    waited_s = sum(os.times()[2:4])
    assert before <= reading.cpu_s - waited_s + 0.03
    assert reading.cpu_s - waited_s - 0.03 <= time.process_time()
    with pytest.raises(OSError, match="No such"):
        metering.read_process(2**22 + 1)


def process(cpu_s: float) -> Process:
    return Process(pid=2, group=2, threads=1, running=True, cpu_s=cpu_s, resident_bytes=0)


def test_time_that_nobody_inherits_is_booked_as_lost(monkeypatch):
    trees = iter([[process(3.0)], [process(0.5)], [process(0.5)], [process(1.0)]])
    monkeypatch.setattr(metering, "descendants", lambda *_: next(trees))
    meter = TreeMeter(1)
    assert [meter.read().cpu_s for _ in range(3)] == [3.0, 3.0, 3.5]


def test_a_process_missed_once_is_not_booked_as_lost(monkeypatch):
    trees = iter([[process(3.0)], [process(0.5)], [process(3.1)], [process(3.2)]])
    monkeypatch.setattr(metering, "descendants", lambda *_: next(trees))
    meter = TreeMeter(1)
    assert [meter.read().cpu_s for _ in range(3)] == [3.0, 3.1, 3.2]

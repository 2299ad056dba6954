from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.running import MARK, NASTY, alive
from utilitune.execution import leftovers, metering
from utilitune.execution.leftovers import Traces
from utilitune.execution.metering import Process, TreeMeter, TreeReading

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture
def family():
    """A process with six descendants."""
    mark = secrets.token_hex(8)
    command = [sys.executable, "-I", "-S", NASTY, "family_forever"]
    with subprocess.Popen(command, env={MARK: mark, leftovers.MARK: mark}) as process:
        deadline = time.monotonic() + 30
        while len(alive(mark)) < 7:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process, mark
        leftovers.end(Traces(mark))


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
    leftovers.end(Traces(mark))
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
    with subprocess.Popen(command, env={MARK: mark, leftovers.MARK: mark}, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        found = {p.pid for p in metering.descendants(os.getpid())}
        assert len(found & set(alive(mark)) - {process.pid}) == 1
        leftovers.end(Traces(mark))


def test_a_process_is_read_by_its_own_clock():
    before = time.process_time()
    reading = metering.read_process(os.getpid())
    waited_s = sum(os.times()[2:4])
    assert before <= reading.own_s <= time.process_time()
    assert reading.waited_s == pytest.approx(waited_s, abs=0.03)
    assert reading.parent == os.getppid()
    with pytest.raises(OSError, match="No such"):
        metering.read_process(2**22 + 1)


def process(pid: int, own_s: float, waited_s: float = 0.0, parent: int = 1, started: int = 1) -> Process:
    return Process(
        pid=pid,
        parent=parent,
        started=started,
        group=pid,
        threads=1,
        running=True,
        own_s=own_s,
        waited_s=waited_s,
        resident_bytes=0,
    )


class Usage(NamedTuple):
    ru_utime: float
    ru_stime: float = 0.0


def readings(monkeypatch, *trees: list[Process], still_there: tuple[Process, ...] = ()) -> TreeMeter:
    """A meter that finds these trees, one after the other."""
    found = iter(trees)
    there = {each.pid: each for each in still_there}

    def read_process(pid: int) -> Process:
        if pid not in there:
            raise ProcessLookupError
        return there[pid]

    monkeypatch.setattr(metering, "descendants", lambda *_: list(next(found)))
    monkeypatch.setattr(metering, "read_process", read_process)
    return TreeMeter(1)


def test_time_that_nobody_inherits_stays_with_the_parent(monkeypatch):
    parent, child = process(2, 0.5), process(3, 3.0, parent=2)
    meter = readings(monkeypatch, [parent, child], [process(2, 0.6)], [process(2, 0.7)])
    assert [meter.read().cpu_s for _ in range(3)] == pytest.approx([3.5, 3.6, 3.7])


def test_many_small_losses_add_up(monkeypatch):
    trees = [[process(2, 0.0), process(10 + number, 0.03, parent=2)] for number in range(200)]
    meter = readings(monkeypatch, *trees)
    assert [meter.read() for _ in trees][-1].cpu_s == pytest.approx(6.0)


def test_time_that_a_parent_waits_for_counts_once(monkeypatch):
    parent, child = process(2, 0.5), process(3, 3.0, parent=2)
    meter = readings(monkeypatch, [parent, child], [process(2, 0.5)], [process(2, 0.5, waited_s=3.1)])
    assert [meter.read().cpu_s for _ in range(3)] == pytest.approx([3.5, 3.5, 3.6])


def test_a_process_missed_once_is_not_booked_as_lost(monkeypatch):
    parent, child = process(2, 0.5), process(3, 3.0, parent=2)
    meter = readings(monkeypatch, [parent, child], [parent], [parent, child], still_there=(child,))
    assert [meter.read().cpu_s for _ in range(3)] == pytest.approx([3.5, 3.5, 3.5])


def test_a_number_given_away_again_is_another_process(monkeypatch):
    parent, child, other = process(2, 0.5), process(3, 3.0, parent=2), process(3, 0.1, parent=2, started=9)
    meter = readings(monkeypatch, [parent, child], [parent, other], still_there=(other,))
    assert [meter.read().cpu_s for _ in range(2)] == pytest.approx([3.5, 3.6])


def test_what_a_reaped_process_had_lost_with_its_children_is_kept(monkeypatch):
    parent, child = process(2, 0.5), process(3, 3.0, parent=2)
    meter = readings(monkeypatch, [parent, child], [], [])
    meter.read()
    meter.book(2, Usage(0.6))
    assert meter.read().cpu_s == pytest.approx(3.5)


def test_what_was_waited_for_before_its_waiter_was_reaped_counts_once(monkeypatch):
    parent, child = process(2, 0.5), process(3, 3.0, parent=2)
    meter = readings(monkeypatch, [parent, child], [], [])
    meter.read()
    meter.book(2, Usage(3.7))
    assert [meter.read().cpu_s for _ in range(2)] == pytest.approx([3.7, 3.7])


def test_a_reaped_process_that_was_never_seen_counts(monkeypatch):
    meter = readings(monkeypatch, [], [])
    meter.book(7, Usage(0.3, 0.1))
    assert [meter.read().cpu_s for _ in range(2)] == pytest.approx([0.4, 0.4])


@given(st.lists(st.tuples(st.floats(0.001, 0.2), st.booleans(), st.floats(0, 1)), max_size=30))
def test_the_sum_never_exceeds_the_truth_and_misses_only_what_was_not_seen(children):
    """Children of one parent, each seen once at some share of its time; some are waited for."""
    truth_s = seen_s = waited_s = 0.0
    trees = []
    for number, (whole_s, waited, share) in enumerate(children):
        floor_s = int(waited_s * 100) / 100
        trees.append([process(2, 1.0, floor_s), process(10 + number, share * whole_s, parent=2)])
        truth_s += whole_s
        seen_s += share * whole_s
        waited_s += whole_s if waited else 0.0
    trees.append([process(2, 1.0, int(waited_s * 100) / 100)])
    with pytest.MonkeyPatch.context() as patch:
        meter = readings(patch, *trees)
        sums = [meter.read().cpu_s for _ in trees]
    assert sums == sorted(sums)
    assert max(seen_s, waited_s - 0.01) - 1e-9 <= sums[-1] - 1.0 <= truth_s + 1e-9

"""Requests to the scheduler: clocks come up to date, nothing of the target's own settings changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from utilitune.execution import scheduling

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these requests")

SPIN = "while True: pass"
SPIN_IN_THREADS = (
    "import threading\n"
    "def spin():\n"
    "    while True: pass\n"
    "for _ in range(2): threading.Thread(target=spin).start()\n"
    "print('ready', flush=True)"
)


@pytest.fixture
def spinning(request):
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", request.param], stdout=subprocess.PIPE)
    if request.param is SPIN_IN_THREADS:
        process.stdout.readline()
    yield process.pid
    process.kill()
    process.communicate()


def _threads(pid):
    return [int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir()]


def _clock_s(pid):
    return time.clock_gettime((~pid << 3) | 2)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs a process running on another core")
@pytest.mark.parametrize("spinning", [SPIN], indirect=True)
def test_booking_brings_the_clock_of_a_running_process_up_to_date(spinning):
    def moves(request):
        before_s = _clock_s(spinning)
        request()
        return _clock_s(spinning) > before_s

    by_booking = by_chance = 0
    for _ in range(20_000):
        by_chance += moves(lambda: os.sched_getscheduler(spinning))  # only if a timer tick falls into it
        by_booking += moves(lambda: scheduling.book_running_time(spinning, 1))
        if by_booking > 10 + 10 * by_chance:
            return
        time.sleep(0.001)
    pytest.fail(f"the clock moved {by_booking} times by booking and {by_chance} times by chance")


@pytest.mark.parametrize("spinning", [SPIN, SPIN_IN_THREADS], indirect=True)
def test_booking_leaves_every_thread_under_its_policy(spinning):
    threads = _threads(spinning)
    os.sched_setscheduler(threads[-1], os.SCHED_BATCH, os.sched_param(0))
    before = [os.sched_getscheduler(thread) for thread in threads]
    scheduling.book_running_time(spinning, len(threads))
    assert [os.sched_getscheduler(thread) for thread in threads] == before


@pytest.mark.parametrize("threads", [1, 2])
def test_booking_a_process_that_has_gone_does_nothing(threads):
    gone = 2**22 + 1
    scheduling.book_running_time(gone, threads)
    with pytest.raises(ProcessLookupError):
        os.sched_getscheduler(gone)


def test_what_a_process_served_first_starts_is_an_ordinary_process():
    code = (
        "import os, subprocess, sys\n"
        "from utilitune.execution import scheduling\n"
        "granted = scheduling.ask_to_be_served_first()\n"
        "own = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK\n"
        "print(granted == (own == os.SCHED_RR), flush=True)\n"
        "subprocess.run([sys.executable, '-c', 'import os; print(os.sched_getscheduler(0))'], check=True)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", str(os.SCHED_OTHER)]

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.domain import Measure
from utilitune.errors import UsageError
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.targets.base import Command, Ending


def job(seconds: float, captime_s: float = 100.0) -> Job:
    return Job(Command(("run", repr(seconds))), RunLimits(Measure.CPU, captime_s, 1e9))


def backend(workers: int) -> SimulatedBackend:
    return SimulatedBackend(workers, lambda job: SimulatedRun(float(job.task.argv[1])))


@given(st.lists(st.floats(0.01, 200), min_size=1, max_size=30), st.integers(1, 4))
def test_the_clock_is_that_of_greedy_list_scheduling(seconds, workers):
    simulated = backend(workers)
    free_at = [0.0] * workers
    for value in seconds:
        slot = free_at.index(min(free_at))
        free_at[slot] += min(value, 100.0)
    waiting = list(enumerate(seconds))
    while waiting or simulated.free_slots < workers:
        while waiting and simulated.free_slots:
            job_id, value = waiting.pop(0)
            simulated.submit(job_id, job(value))
        simulated.wait()
    assert simulated.now_s == pytest.approx(max(free_at))


def test_a_run_that_never_ends_costs_its_captime():
    simulated = backend(1)
    simulated.submit(0, job(math.inf, captime_s=7.5))
    [(_, raw)] = simulated.wait()
    assert (raw.ending, raw.cpu_s, simulated.now_s) == (Ending.CAPTIME, 7.5, 7.5)


def test_a_cancelled_run_costs_what_it_had_spent():
    simulated = backend(2)
    simulated.submit(0, job(50))
    assert simulated.wait(3) == []
    simulated.cancel(0)
    [(_, raw)] = simulated.wait()
    assert (raw.ending, raw.cpu_s, simulated.now_s) == (Ending.CANCELLED, 3.0, 3.0)


def test_no_workers_make_no_sense():
    with pytest.raises(UsageError, match="at least 1"):
        backend(0)

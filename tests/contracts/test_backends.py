"""What every backend keeps: slots, limits, cancelling, and each job coming out exactly once."""

from __future__ import annotations

import pytest

from utilitune.domain import Measure
from utilitune.errors import UsageError
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.local import LocalBackend
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.execution.simulated_cluster import SimulatedCluster
from utilitune.targets.base import Command, Ending

PATIENCE_S = 60.0


def job(
    seconds: float, measure: Measure = Measure.WALL, captime_s: float | None = 30.0, wall_limit_s=60.0
) -> Job:
    return Job(Command(("sleep", str(seconds))), RunLimits(measure, captime_s, wall_limit_s))


def simulated(workers: int) -> SimulatedBackend:
    return SimulatedBackend(workers, lambda job: SimulatedRun(float(job.task.argv[1])))


def imagined_cluster(workers: int) -> SimulatedCluster:
    return SimulatedCluster(workers, lambda job: SimulatedRun(float(job.task.argv[1])))


@pytest.fixture(params=[LocalBackend, simulated, imagined_cluster], ids=["local", "simulated", "cluster"])
def backend(request):
    with request.param(2) as backend:
        yield backend


def test_slots_are_taken_and_given_back(backend):
    assert backend.free_slots == 2
    backend.submit(1, job(0.05))
    backend.submit(2, job(0.05))
    assert backend.free_slots == 0
    with pytest.raises(UsageError, match="all workers are busy"):
        backend.submit(3, job(0.0))
    collect(backend, 2)
    assert backend.free_slots == 2


def test_every_job_comes_out_once(backend):
    waiting, ended = list(range(12)), []
    while len(ended) < 12:
        while waiting and backend.free_slots:
            backend.submit(waiting.pop(), job(0.001))
        ended.extend(job_id for job_id, _ in backend.wait(PATIENCE_S))
    assert sorted(ended) == list(range(12))
    assert backend.wait(0.0) == []


def test_runs_come_out_as_they_end(backend):
    backend.submit(7, job(1.5))
    backend.submit(8, job(0.01))
    assert [job_id for job_id, _ in collect(backend, 2)] == [8, 7]


def test_the_same_number_cannot_run_twice(backend):
    backend.submit(5, job(0.01))
    with pytest.raises(UsageError, match="job 5 is already running"):
        backend.submit(5, job(0.01))


def test_a_finished_run_tells_its_exit_code_and_time(backend):
    backend.submit(0, job(0.05))
    [(_, raw)] = collect(backend, 1)
    assert (raw.ending, raw.exit_code, raw.launch_error) == (Ending.EXITED, 0, "")
    assert raw.wall_s >= 0.05


def test_a_run_is_stopped_at_its_captime(backend):
    backend.submit(0, job(30, captime_s=0.1))
    [(_, raw)] = collect(backend, 1)
    assert (raw.ending, raw.exit_code) == (Ending.CAPTIME, -9)
    assert raw.wall_s >= 0.1


def test_a_run_is_stopped_at_its_wall_limit(backend):
    backend.submit(0, job(30, captime_s=None, wall_limit_s=0.1))
    [(_, raw)] = collect(backend, 1)
    assert raw.ending is Ending.WALL_LIMIT


def test_waiting_ends_after_the_given_time(backend):
    backend.submit(0, job(20))
    assert backend.wait(0.01) == []
    assert backend.free_slots == 1


def test_a_cancelled_run_comes_out_as_cancelled(backend):
    backend.submit(0, job(30))
    backend.submit(1, job(0.01))
    backend.cancel(0)
    results = dict(collect(backend, 2))
    assert results[0].ending is Ending.CANCELLED
    assert results[1].ending is Ending.EXITED
    backend.submit(2, job(0.01))
    assert collect(backend, 1)[0][1].ending is Ending.EXITED


def test_cancelling_what_has_ended_changes_nothing(backend):
    backend.submit(0, job(0.0))
    collect(backend, 1)
    backend.cancel(0)
    backend.submit(0, job(0.0))
    assert collect(backend, 1)[0][1].ending is Ending.EXITED


def collect(backend, count):
    ended = []
    while len(ended) < count:
        ended.extend(backend.wait(PATIENCE_S))
    return ended

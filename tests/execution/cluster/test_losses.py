"""Whatever is killed, no run is lost or counted twice, and nothing is left alive."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys

import pytest

from execution.cluster.on_loopback import DaskOnLoopback, collect, until
from execution.running import NASTY, alive, alive_after_a_while, limits, nasty_command
from utilitune.domain import Measure
from utilitune.errors import ClusterError
from utilitune.execution.backend import Job
from utilitune.execution.killed import LAUNCHES
from utilitune.targets.base import Command, Ending

COORDINATOR = """
import sys
from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.cluster.backend import DaskBackend
from utilitune.execution.cluster.places import Cluster, RunningCluster
from utilitune.targets.base import Command
address, program, mark = sys.argv[1:]
with DaskBackend(Cluster(address, RunningCluster(address))) as backend:
    argv = (sys.executable, "-I", "-S", program, "family_forever")
    backend.submit(0, Job(Command(argv, {"NASTY_MARK": mark}), RunLimits(Measure.CPU, 600.0, 600.0)))
    backend.wait()
"""


@pytest.fixture
def cluster(needs_dask):
    """A cluster of its own, without workers yet."""
    cluster = DaskOnLoopback()
    yield cluster
    cluster.close()


def sleeping(mark: str, seconds: float = 600.0) -> Job:
    argv = ("sleep", str(seconds))
    return Job(Command(argv, {"NASTY_MARK": mark}), limits(measure=Measure.WALL, wall_limit_s=900.0))


def test_the_run_of_a_killed_worker_is_made_by_another_and_comes_out_once(cluster):
    mark = secrets.token_hex(8)
    first = cluster.add_worker()
    with cluster.backend(1) as backend:
        backend.submit(7, Job(nasty_command("daemon_forever", mark=mark), limits(captime_s=1.0)))
        until(lambda: alive(mark))
        cluster.add_worker()
        first.send_signal(signal.SIGKILL)
        [(job_id, raw)] = collect(backend, 1)
        assert (job_id, raw.ending) == (7, Ending.CAPTIME)
        assert backend.wait(0.0) == []
        assert backend.free_slots == 1
        assert alive(mark) == []
        news = [text for kind, text in backend.news() if kind == "worker"]
    assert sum("has gone" in text for text in news) == 1
    assert sum("joined: 1 slot" in text for text in news) == 2


def test_slots_follow_workers_that_come_and_go(cluster):
    cluster.add_worker()
    mark = secrets.token_hex(8)
    with cluster.backend(1) as backend:
        cluster.add_worker()
        until(lambda: backend.free_slots == 2)
        cluster.kill_worker()
        until(lambda: backend.free_slots == 1)
        backend.submit(0, sleeping(mark))
        until(lambda: alive(mark))
        cluster.kill_worker()
        until(lambda: not alive(mark))
        assert backend.free_slots == 0
        assert backend.wait(0.05) == []
        cluster.add_worker()  # the run waits for whoever comes
        until(lambda: alive(mark))
        backend.cancel(0)
        [(job_id, raw)] = collect(backend, 1)
        assert (job_id, raw.ending) == (0, Ending.CANCELLED)
        until(lambda: not alive(mark))


def test_a_run_that_waits_for_a_worker_can_be_cancelled(cluster):
    cluster.add_worker()
    with cluster.backend(1) as backend:
        backend.submit(0, sleeping(""))
        cluster.kill_worker()
        until(lambda: backend.free_slots == 0)
        backend.cancel(0)
        [(job_id, raw)] = collect(backend, 1)
        assert (job_id, raw.ending) == (0, Ending.CANCELLED)


KILLER = """
import os, pathlib, signal
pid = os.getpid()
while b"dask_worker" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
    pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
os.kill(pid, signal.SIGKILL)
"""


def test_a_run_that_loses_worker_after_worker_has_crashed(dask):
    with dask.backend(2) as backend:
        backend.submit(1, sleeping(""))
        flight = until(lambda: backend._link._by_job.get(1))
        until(lambda: flight.address)
        flight.launches = LAUNCHES
        backend._tell(backend._link._lose, flight.address)
        [(job_id, raw)] = collect(backend, 1)
        assert job_id == 1
        assert (raw.ending, raw.exit_code, raw.launch_error) == (Ending.EXITED, -signal.SIGKILL, "")
        assert f"The worker that made this run was killed {LAUNCHES} times" in raw.output_tail


def test_a_program_that_kills_its_worker_has_crashed_and_those_beside_it_have_not(cluster):
    worker = cluster.add_worker(slots=3)
    killer = Job(Command((sys.executable, "-I", "-S", "-c", KILLER), watch=("x",)), limits())
    with cluster.backend(3) as backend:
        for job_id in (0, 2):
            backend.submit(job_id, sleeping("", 3.0))
        backend.submit(1, killer)
        ended = {}
        while len(ended) < 3:
            ended.update(backend.wait(0.2))
            if worker.poll() is not None:
                worker = cluster.add_worker(slots=3)
        assert {job_id: raw.exit_code for job_id, raw in ended.items()} == {0: 0, 1: -signal.SIGKILL, 2: 0}
        assert ended[1].matches == (None,)
        until(lambda: backend.free_slots == 3)
        for job_id in range(3, 6):  # the slots of a worker that one run had for itself are all there again
            backend.submit(job_id, sleeping("", 0.01))
        assert {raw.exit_code for _, raw in collect(backend, 3)} == {0}
        until(lambda: len(list(backend._link._free)) == 3)


def test_a_late_result_under_an_old_ticket_is_dropped(dask):
    with dask.backend(2) as backend:
        backend.submit(1, sleeping("", 0.5))
        flight = until(lambda: backend._link._by_job.get(1))
        first = until(lambda: flight.address)
        backend._tell(backend._link._lose, first)
        ended = collect(backend, 1)
        assert [job_id for job_id, _ in ended] == [1]
        until(lambda: backend.free_slots == 2)  # the worker is still there, and is taken in again
        assert backend.wait(0.6) == []


def test_a_worker_that_was_given_up_comes_back_with_the_slots_it_has(dask):
    with dask.backend(2) as backend:
        address = next(iter(backend._link.roster.workers))
        backend._tell(backend._link._lose, address)
        news = []
        until(lambda: backend.wait(0.0) or news.extend(backend.news()) or "has gone" in str(news))
        until(lambda: backend.free_slots == 2)
        for job_id in range(2):
            backend.submit(job_id, sleeping("", 0.01))
        assert {raw.exit_code for _, raw in collect(backend, 2)} == {0}
        until(lambda: sorted(backend._link._free) == sorted(backend._link.roster.workers))


def test_nothing_survives_a_coordinator_killed_by_force(dask):
    mark = secrets.token_hex(8)
    command = [sys.executable, "-c", COORDINATOR, dask.address, NASTY, mark]
    with subprocess.Popen(command) as coordinator:
        until(lambda: alive(mark))
        coordinator.kill()
    assert alive_after_a_while(mark, 30.0) == []
    with dask.backend(2) as backend:  # and the workers are there for the next
        backend.submit(0, sleeping("", 0.01))
        assert collect(backend, 1)[0][1].exit_code == 0


def test_nothing_survives_a_killed_scheduler_and_one_sentence_says_so(cluster):
    mark = secrets.token_hex(8)
    cluster.add_worker()
    with cluster.backend(1) as backend:
        backend.submit(0, Job(nasty_command("family_forever", mark=mark), limits()))
        until(lambda: alive(mark))
        cluster.scheduler.kill()
        with pytest.raises(ClusterError, match="is lost: start the cluster again, and then this run"):
            collect(backend, 1)
        with pytest.raises(ClusterError, match="is lost"):
            backend.wait(0.0)
        assert alive_after_a_while(mark, 30.0) == []

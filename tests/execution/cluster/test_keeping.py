"""Runs that workers keep at their captime, to be continued there: exactly metered, and lost without harm."""

from __future__ import annotations

import re
import secrets
import signal
import subprocess
import sys

import pytest

from execution.cluster.on_loopback import PATIENCE_S, DaskOnLoopback, collect, until
from execution.running import NASTY, alive, alive_after_a_while, limits, nasty_command
from utilitune.domain import Measure
from utilitune.execution.backend import Job, KeepsRuns
from utilitune.execution.cluster.keeping import KeptRun, KeptRuns
from utilitune.targets.base import Command, Ending, RawResult

COORDINATOR = """
import sys, time
from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.cluster.backend import DaskBackend
from utilitune.execution.cluster.places import Cluster, RunningCluster
from utilitune.targets.base import Command
address, program, mark = sys.argv[1:]
with DaskBackend(Cluster(address, RunningCluster(address))) as backend:
    argv = (sys.executable, "-I", "-S", program, "family_forever")
    backend.submit(0, Job(Command(argv, {"NASTY_MARK": mark}), RunLimits(Measure.CPU, 0.2, 60.0), keep=True))
    [(_, raw)] = backend.wait()
    print("kept" if raw.kept_bytes else "lost", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def cluster(needs_dask):
    """A cluster of its own, with one worker."""
    cluster = DaskOnLoopback(workers=1)
    yield cluster
    cluster.close()


def kept(backend, command: Command, captime_s: float = 0.1, **others) -> RawResult:
    """Run a command as job 0 until it is stopped and kept."""
    backend.submit(0, Job(command, limits(captime_s, **others), keep=True))
    [(_, raw)] = collect(backend, 1)
    assert (raw.ending, raw.continued) == (Ending.CAPTIME, False)
    assert raw.kept_bytes > 0
    return raw


def test_a_worker_that_goes_takes_what_it_kept_and_nothing_else():
    runs = KeptRuns()
    for job_id, address in enumerate(("a", "b", "a")):
        runs.keep(job_id, KeptRun(address, f"task {job_id}", 1.0))
    runs.lose("a")
    assert (runs.take(0), runs.take(2), runs.take(None)) == (None, None, None)
    assert runs.take(1) == KeptRun("b", "task 1", 1.0)
    assert runs.take(1) is None


@pytest.mark.parametrize("kind", ["forks", "detaches"])
def test_cpu_time_goes_on_where_it_stood(dask, kind):
    command = nasty_command(kind)
    with dask.backend(2) as backend:
        assert isinstance(backend, KeepsRuns)
        before = kept(backend, command)
        assert backend.free_slots == 2
        for job_id in (10, 11):  # both slots are free meanwhile
            backend.submit(job_id, Job(nasty_command("nap"), limits()))
        assert all(raw.exit_code == 0 for _, raw in collect(backend, 2))
        backend.submit(1, Job(command, limits(), continues=0))
        [(_, raw)] = collect(backend, 1)
    assert (raw.ending, raw.exit_code, raw.continued) == (Ending.EXITED, 0, True)
    told_s = sum(map(float, re.findall(r"consumed (\S+)", raw.output_tail)))
    assert 0.98 * told_s - 0.002 <= raw.cpu_s <= 1.1 * told_s + 0.05
    assert raw.cpu_s > before.cpu_s


@pytest.mark.parametrize("measure", list(Measure))
def test_a_run_is_kept_and_continued_again_and_again(dask, measure):
    command = nasty_command("family_forever")
    with dask.backend(2) as backend:
        for step in range(4):
            captime_s = 0.1 * (step + 1)
            backend.submit(step, Job(command, limits(captime_s, measure), keep=True, continues=step - 1))
            [(_, raw)] = collect(backend, 1)
            measured_s = raw.cpu_s if measure is Measure.CPU else raw.wall_s
            assert (raw.ending, raw.continued, raw.exit_code) == (Ending.CAPTIME, step > 0, None)
            assert measured_s >= captime_s


def test_a_run_that_is_released_ends(dask):
    mark = secrets.token_hex(8)
    with dask.backend(2) as backend:
        kept(backend, nasty_command("family_forever", mark=mark))
        assert alive(mark)
        backend.release(0)
        backend.release(0)
        until(lambda: not alive(mark))
        backend.submit(1, Job(nasty_command("single", mark=mark), limits(), continues=0))
        [(_, raw)] = collect(backend, 1)
        assert (raw.exit_code, raw.continued) == (0, False)


def test_closing_ends_what_is_kept(dask):
    mark = secrets.token_hex(8)
    with dask.backend(2) as backend:
        kept(backend, nasty_command("family_forever", mark=mark))
        assert alive(mark)
    assert alive_after_a_while(mark) == []


def test_nothing_is_kept_for_a_coordinator_that_was_killed(dask):
    mark = secrets.token_hex(8)
    argv = [sys.executable, "-c", COORDINATOR, dask.address, NASTY, mark]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as coordinator:
        assert coordinator.stdout.readline() == "kept\n"
        assert alive(mark)
        coordinator.send_signal(signal.SIGKILL)
    assert alive_after_a_while(mark, PATIENCE_S) == []


def test_what_a_killed_worker_kept_is_started_afresh_elsewhere(cluster):
    mark = secrets.token_hex(8)
    command = nasty_command("single", mark=mark)
    with cluster.backend(1) as backend:
        kept(backend, command)
        cluster.add_worker()
        until(lambda: backend.free_slots == 2)
        cluster.kill_worker(0)
        assert alive_after_a_while(mark) == []
        until(lambda: backend.free_slots == 1)
        backend.submit(1, Job(command, limits(), continues=0))
        [(_, raw)] = collect(backend, 1)
    assert (raw.ending, raw.exit_code, raw.continued) == (Ending.EXITED, 0, False)


def test_a_run_whose_worker_is_busy_for_too_long_is_started_afresh_elsewhere(cluster):
    mark = secrets.token_hex(8)
    command = nasty_command("family_forever", mark=mark)
    with cluster.backend(1) as backend:
        kept(backend, command)
        backend.submit(1, Job(nasty_command("sleeps"), limits(wall_limit_s=600.0)))
        cluster.add_worker()
        until(lambda: backend.free_slots == 1)
        backend.submit(2, Job(command, limits(0.3), continues=0))
        [(job_id, raw)] = collect(backend, 1)
        assert (job_id, raw.ending, raw.continued) == (2, Ending.CAPTIME, False)
        assert alive_after_a_while(mark) == [], "what was kept is ended"
        assert backend.free_slots == 1


def test_a_run_waits_for_its_worker_and_takes_no_slot_meanwhile(cluster):
    command = nasty_command("sleeps")
    with cluster.backend(1) as backend:
        kept(backend, command, 2.0, measure=Measure.WALL, wall_limit_s=600.0)
        backend.submit(1, Job(command, limits(600.0, Measure.WALL, wall_limit_s=600.0)))
        until(lambda: backend.free_slots == 0)
        cluster.add_worker()
        until(lambda: backend.free_slots == 1)
        backend.submit(2, Job(command, limits(2.1, Measure.WALL, wall_limit_s=600.0), continues=0))
        until(lambda: backend.free_slots == 1)
        backend.cancel(1)
        ended = dict(collect(backend, 2))
        assert ended[1].ending is Ending.CANCELLED
        assert ended[2].ending is Ending.CAPTIME


def test_a_run_that_waits_for_its_worker_can_be_cancelled(cluster):
    mark = secrets.token_hex(8)
    command = nasty_command("family_forever", mark=mark)
    with cluster.backend(1) as backend:
        kept(backend, command, 1.0)
        backend.submit(1, Job(nasty_command("sleeps"), limits(wall_limit_s=600.0)))
        cluster.add_worker()
        until(lambda: backend.free_slots == 1)
        backend.submit(2, Job(command, limits(30.0), continues=0))
        backend.cancel(2)
        [(job_id, raw)] = collect(backend, 1)
        assert (job_id, raw.ending) == (2, Ending.CANCELLED)
        assert alive_after_a_while(mark) == []


def test_a_cancelled_run_says_how_long_it_was_running(dask):
    mark = secrets.token_hex(8)
    with dask.backend(2) as backend:
        backend.submit(0, Job(nasty_command("burn_forever", mark=mark), limits(600.0, wall_limit_s=600.0)))
        until(lambda: alive(mark))
        backend.cancel(0)
        backend.cancel(0)
        [(_, raw)] = collect(backend, 1)
    assert raw.ending is Ending.CANCELLED
    assert raw.wall_s > 0.0

"""A run through a real SLURM of one node: dask-jobqueue submits the workers, and scancel loses nothing."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys

import pytest

from end_to_end.killing import count, told, write_scenario
from execution.cluster import slurm
from execution.cluster.on_loopback import until
from execution.running import alive, alive_after_a_while
from utilitune.errors import MissingExtraError
from utilitune.execution.cluster.starting import require_dask

RUNS = 60
CLUSTER = """
[slurm]
cores = 1
memory = "400 MiB"
walltime = "00:30:00"
jobs = 2
interface = "lo"
scratch = "{folder}"
logs = "{folder}"
"""


BACKEND = """
import sys, time
from utilitune.domain import Measure
from utilitune.execution.backend import Job, RunLimits
from utilitune.execution.cluster.backend import DaskBackend
from utilitune.scenario.cluster_reader import read_cluster
from utilitune.targets.base import Command
file, mark = sys.argv[1:]
with DaskBackend(read_cluster(file)) as backend:
    while not backend.free_slots:
        backend.wait(0.1)
        time.sleep(0.1)
    limits = RunLimits(Measure.WALL, 900.0, 900.0)
    backend.submit(0, Job(Command(("sleep", "600"), {"NASTY_MARK": mark}), limits))
    backend.wait()
"""


@pytest.fixture(scope="module")
def queue(needs_dask):
    try:
        require_dask(queues=True)  # a plain import would leave a handler of Ctrl-C behind for all other tests
    except MissingExtraError:
        pytest.skip("the extra 'cluster' is not installed")
    if name := slurm.missing():
        pytest.skip(f"SLURM is not installed: there is no {name} (Debian: slurm-wlm and munge)")
    try:
        queue = slurm.Slurm()
    except (AssertionError, OSError):
        pytest.skip("SLURM is installed but cannot be started here, by this user")
    yield queue
    queue.close()


def command(scenario, folder, *more: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "utilitune",
        "run",
        str(scenario),
        "--folder",
        str(folder),
        "--plain",
        *more,
    ]


@pytest.mark.timeout(600)
def test_a_run_goes_through_slurm_and_a_cancelled_job_loses_nothing(queue, tmp_path):
    scenario = write_scenario(tmp_path, RUNS, "oup")
    target = tmp_path / "target.py"
    target.write_text(target.read_text().replace("time.sleep(0.004)", "time.sleep(0.2)"))
    (tmp_path / "slurm.toml").write_text(CLUSTER.format(folder=tmp_path))
    folder = tmp_path / "run"
    environment = {**os.environ, **queue.environment}
    argv = command(scenario, folder, "--cluster", str(tmp_path / "slurm.toml"))
    with (tmp_path / "log").open("wb") as log:
        coordinator = subprocess.Popen(argv, env=environment, stdout=log, stderr=log)
    try:
        until(lambda: coordinator.poll() is not None or count(folder) >= 5)
        running = queue.jobs("R")
        before = told(folder)
        assert 1 <= len(running) <= 2, (tmp_path / "log").read_text()
        queue.call("scancel", "--signal=KILL", "--full", running[0])
        queue.call("scancel", running[0])
        assert coordinator.wait(250) == 0, (tmp_path / "log").read_text()
    finally:
        coordinator.kill()
        coordinator.wait()
    stored = told(folder)
    assert stored[: len(before)] == before
    assert len({run[:3] for run in stored}) == len(stored) == RUNS
    until(lambda: not queue.jobs())  # none is left behind


def test_a_queue_that_refuses_is_one_sentence(queue, tmp_path):
    scenario = write_scenario(tmp_path, RUNS, "oup")
    wrong = CLUSTER.format(folder=tmp_path) + 'queue = "no-such-partition"\n'
    (tmp_path / "slurm.toml").write_text(wrong)
    done = subprocess.run(
        command(scenario, tmp_path / "run", "--cluster", str(tmp_path / "slurm.toml")),
        env={**os.environ, **queue.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 2, done.stderr
    assert "workers cannot be submitted to slurm" in done.stderr
    assert "no-such-partition" in done.stderr or "invalid partition" in done.stderr
    assert "Traceback" not in done.stderr


@contextlib.contextmanager
def coordinating(queue, folder, mark: str, **environment: str):
    """A coordinator with one job, which makes a long run there."""
    (folder / "slurm.toml").write_text(CLUSTER.format(folder=folder).replace("jobs = 2", "jobs = 1"))
    argv = [sys.executable, "-c", BACKEND, str(folder / "slurm.toml"), mark]
    coordinator = subprocess.Popen(argv, env={**os.environ, **queue.environment, **environment})
    try:
        yield coordinator
    finally:
        coordinator.kill()
        coordinator.wait()
    assert alive_after_a_while(mark, 60.0) == []
    until(lambda: not queue.jobs("R"))
    for job in queue.jobs():  # one that has not begun yet knows nothing of a killed coordinator
        queue.call("scancel", job)
    until(lambda: not queue.jobs())


@pytest.mark.timeout(600)
def test_a_cancelled_job_is_submitted_again_and_none_outlives_a_killed_coordinator(queue, tmp_path):
    mark = secrets.token_hex(8)
    with coordinating(queue, tmp_path, mark):
        until(lambda: alive(mark))
        [first] = queue.jobs("R")
        queue.call("scancel", first)
        assert until(lambda: [job for job in queue.jobs("R") if job != first] and alive(mark))


@pytest.mark.timeout(600)
def test_a_queue_that_refuses_once_is_asked_again(queue, tmp_path):
    """As a busy controller does: Dask counts a job that was never submitted as one that will come."""
    mark, path = secrets.token_hex(8), queue.environment["PATH"]
    sbatch = tmp_path / "sbatch"
    sbatch.write_text(
        f'#!/bin/sh\necho x >> {tmp_path}/asked\n[ "$(wc -l < {tmp_path}/asked)" = 2 ] && exit 1\n'
        f'exec {shutil.which("sbatch", path=path)} "$@"\n'
    )
    sbatch.chmod(0o755)
    with coordinating(queue, tmp_path, mark, PATH=f"{tmp_path}:{path}"):
        until(lambda: alive(mark))
        [first] = queue.jobs("R")
        queue.call("scancel", first)
        until(lambda: [job for job in queue.jobs("R") if job != first] and alive(mark))
    assert (tmp_path / "asked").read_text().count("x") >= 3


@pytest.mark.timeout(600)
def test_a_job_that_is_cancelled_while_it_waits_is_submitted_again(queue, tmp_path):
    mark = secrets.token_hex(8)
    queue.call("scontrol", "update", "partitionname=batch", "state=down")  # so that jobs wait
    try:
        with coordinating(queue, tmp_path, mark):
            [first] = until(lambda: queue.jobs("PD"))
            queue.call("scancel", first)
            queue.call("scontrol", "update", "partitionname=batch", "state=up")
            assert until(lambda: [job for job in queue.jobs("R") if job != first] and alive(mark))
    finally:
        queue.call("scontrol", "update", "partitionname=batch", "state=up")

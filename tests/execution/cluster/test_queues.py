"""What is submitted to a job queue: the scripts of SLURM, PBS and SGE, as a cluster file describes them."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from utilitune.errors import MissingExtraError
from utilitune.execution.cluster.places import QueuedWorkers
from utilitune.execution.cluster.queues import described
from utilitune.execution.cluster.starting import require_dask
from utilitune.scenario.cluster_reader import read_cluster

FILE = """
[{system}]
queue = "batch"
account = "solvers"
cores = 8
processes = 2
memory = "16 GiB"
walltime = "04:00:00"
jobs = 4
directives = ["{directive}"]
prologue = ["module load gcc"]
interface = "lo"
python = "/opt/python with spaces/bin/python"
scratch = "/scratch/me"
"""

HEADS = {
    "slurm": [
        "#SBATCH -p batch",
        "#SBATCH -A solvers",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=8",
        "#SBATCH --mem=16G",
        "#SBATCH -t 04:00:00",
        "#SBATCH --constraint=skylake",
    ],
    "pbs": [
        "#PBS -q batch",
        "#PBS -A solvers",
        "#PBS -l select=1:ncpus=8:mem=16GB",
        "#PBS -l walltime=04:00:00",
        "#PBS --constraint=skylake",
    ],
    "sge": [
        "#$ -q batch",
        "#$ -P solvers",
        "#$ -l h_rt=04:00:00",
        "#$ --constraint=skylake",
    ],
}


@pytest.fixture(params=HEADS)
def system(request) -> str:
    try:
        require_dask(queues=True)  # a plain import would leave a handler of Ctrl-C behind for all other tests
    except MissingExtraError:
        pytest.skip("the extra 'cluster' is not installed")
    return request.param


def test_ctrl_c_stays_ours():
    """Importing dask-jobqueue sets a handler of its own, by which Ctrl-C ends a program without a word."""
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    code = (
        "import signal; from utilitune.execution.cluster.starting import require_dask; "
        "before = signal.getsignal(signal.SIGINT); "
        "require_dask(queues=True); "
        "assert signal.getsignal(signal.SIGINT) is before"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, "")


def script(folder: Path, text: str) -> str:
    path = folder / "queue.toml"
    path.write_text(text)
    cluster = read_cluster(str(path))
    assert cluster is not None
    assert isinstance(cluster.workers, QueuedWorkers)
    workers = cluster.workers

    async def written() -> str:
        from distributed.core import Status

        queue = described(workers)
        queue.status = Status.closed  # it never was open
        return str(queue.job_script())

    return asyncio.run(written())


def test_everything_that_the_file_says_is_in_the_script(system: str, tmp_path: Path):
    text = script(tmp_path, FILE.format(system=system, directive="--constraint=skylake"))
    lines = text.splitlines()
    assert [line for line in HEADS[system] if line not in lines] == []
    assert "module load gcc" in lines
    [command] = [line for line in lines if "distributed.cli.dask_worker" in line]
    assert lines.index("module load gcc") < lines.index(command)
    assert shlex.split(command)[0] == "/opt/python with spaces/bin/python"
    for option in ("--nthreads 4", "--nworkers 2", "--interface lo", "--local-directory /scratch/me"):
        assert option in command


def test_a_short_file_makes_a_script_that_a_shell_understands(system: str, tmp_path: Path):
    text = script(tmp_path, f'[{system}]\nmemory = "1 GiB"\njobs = 1\n')
    subprocess.run(["sh", "-n"], input=text, text=True, check=True)
    [command] = [line for line in text.splitlines() if "distributed.cli.dask_worker" in line]
    words = shlex.split(command)
    assert words[0] == sys.executable
    assert words[words.index("--nthreads") + 1] == "1"

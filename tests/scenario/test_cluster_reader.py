from __future__ import annotations

import pytest

from utilitune.errors import ScenarioError, UsageError
from utilitune.execution.cluster.places import (
    Clock,
    Cluster,
    LocalWorkers,
    QueuedWorkers,
    RunningCluster,
    System,
)
from utilitune.scenario.cluster_reader import read_cluster

SLURM = """
ship = true
clock = "scaled"
[slurm]
queue = "batch"
cores = 8
memory = "16 GiB"
walltime = "04:00:00"
jobs = 4
directives = ["--constraint=skylake"]
prologue = ["module load python"]
"""


def test_texts_name_clusters():
    assert read_cluster("none") is None
    assert read_cluster("local:8") == Cluster("local:8", LocalWorkers(8))
    assert read_cluster("local:8").is_here
    assert read_cluster("tcp://host:8786") == Cluster("tcp://host:8786", RunningCluster("tcp://host:8786"))
    assert not read_cluster("tls://host:8786").is_here


def test_a_file_describes_a_queue(tmp_path):
    (tmp_path / "slurm.toml").write_text(SLURM)
    found = read_cluster("slurm.toml", tmp_path)
    assert (found.text, found.ship, found.clock) == ("slurm.toml", True, Clock.SCALED)
    workers = found.workers
    assert isinstance(workers, QueuedWorkers)
    assert (workers.system, workers.cores, workers.jobs) == (System.SLURM, 8, 4)
    assert workers.options == {
        "memory": f"{16 * 2**30}B",
        "processes": 1,
        "queue": "batch",
        "walltime": "04:00:00",
        "job_extra_directives": ["--constraint=skylake"],
        "job_script_prologue": ["module load python"],
    }


def test_a_file_describes_other_clusters_too(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text('address = "tcp://host:8786"\nship = true')
    assert read_cluster(str(file)) == Cluster(str(file), RunningCluster("tcp://host:8786"), ship=True)
    file.write_text("local = 3")
    assert read_cluster(str(file)).workers == LocalWorkers(3)
    file.write_text('[pbs]\nmemory = "1 GB"\njobs = 9')
    workers = read_cluster(str(file)).workers
    assert (workers.system, workers.cores, workers.jobs) == (System.PBS, 1, 9)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("host:8786", "is no cluster: write local:8, tcp://host:8786, or the name of a file"),
        ("local:", "must say how many workers, such as local:8"),
        ("local:many", "must say how many workers"),
        ("local:0", "must be from 1 to 256, not 0"),
        ("local:99999999999999999999", "must be from 1 to 256"),
    ],
)
def test_other_texts_are_refused(text, sentence):
    with pytest.raises(UsageError, match=sentence):
        read_cluster(text)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "and names none"),
        ('local = 2\naddress = "tcp://a:1"', "not address and local"),
        ('address = "host"', r"c.toml:1: 'host' is no address of a scheduler"),
        ('local = 2\nclock = "instructions"', "c.toml:2: instructions are not counted yet"),
        ('local = 2\nclock = "sacled"', "did you mean 'scaled'"),
        ("local = 2\nshp = true", "unknown key shp; did you mean 'ship'"),
        ("[slurm]\njobs = 2", "slurm.memory is missing"),
        ('[slurm]\nmemory = "1 GB"', "slurm.jobs is missing: say how many"),
        ('[slurm]\nmemory = "1 GB"\njobs = 1\nqeue = "x"', "did you mean 'queue'"),
        ('slurm = "x"', "slurm must be a table"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path, content, sentence):
    file = tmp_path / "c.toml"
    file.write_text(content)
    with pytest.raises(ScenarioError, match=sentence):
        read_cluster(str(file))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ScenarioError, match="the cluster file does not exist"):
        read_cluster("slurm.toml", tmp_path)

"""Workers that cannot be used, and clusters that cannot be reached: one sentence each."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import utilitune
from execution.cluster.on_loopback import DaskOnLoopback, until
from utilitune.errors import ClusterError, MissingExtraError, UsageError
from utilitune.execution.cluster import link, starting
from utilitune.execution.cluster.backend import DaskBackend
from utilitune.execution.cluster.places import Clock, Cluster, LocalWorkers, RunningCluster
from utilitune.execution.cluster.roster import Roster, Worker


@pytest.fixture
def cluster(needs_dask):
    cluster = DaskOnLoopback()
    yield cluster
    cluster.close()


def at(address: str) -> Cluster:
    return Cluster(address, RunningCluster(address))


def another_version(folder) -> dict[str, str]:
    """The environment of a worker that has another version."""
    facts = folder / "utilitune-9.9.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: utilitune\nVersion: 9.9\n")
    found = subprocess.run(
        [sys.executable, "-c", "import sys; print(':'.join(filter(None, sys.path)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {"PYTHONPATH": f"{folder}:{found.stdout.strip()}"}


def test_a_worker_of_another_version_is_refused(cluster, tmp_path):
    cluster.add_worker(**another_version(tmp_path))
    with pytest.raises(ClusterError, match=r"the worker tcp://.* has Utilitune 9.9, and this is .*: install"):
        DaskBackend(at(cluster.address))


def test_a_worker_with_other_sources_of_the_same_version_is_refused(cluster, tmp_path):
    """It once was asked again and again, and the run ended with "the cluster has no worker"."""
    shutil.copytree(Path(utilitune.__file__).parent, tmp_path / "utilitune")
    changed = tmp_path / "utilitune/execution/cluster/making.py"
    changed.write_text(
        changed.read_text().replace("async def arrive(name: str, topic: str,", "async def arrive(")
    )
    cluster.add_worker(PYTHONPATH=str(tmp_path))
    with pytest.raises(ClusterError, match=r"the worker tcp://.* has other sources of the same Utilitune"):
        DaskBackend(at(cluster.address))


def test_one_that_comes_later_gets_no_runs(cluster, tmp_path):
    cluster.add_worker()
    news = []
    with cluster.backend(1) as backend:
        cluster.add_worker(**another_version(tmp_path))
        until(lambda: backend.wait(0.0) or news.extend(backend.news()) or "warning" in dict(news))
        assert backend.free_slots == 1
    [text] = [text for kind, text in news if kind == "warning"]
    assert "has Utilitune 9.9" in text
    assert text.endswith("it gets no runs.")


def test_a_worker_that_dask_keeps_from_runs_is_named(cluster):
    """Its own process is larger than its limit, so that Dask pauses it: runs waited for it without a word."""
    cluster.add_worker(memory="40MB")
    news = []
    with cluster.backend(1) as backend:
        until(lambda: backend.wait(0.0) or news.extend(backend.news()) or "warning" in dict(news))
    [text] = [text for kind, text in news if kind == "warning"]
    assert "begins no runs" in text
    assert "--memory-limit 0" in text


def test_nobody_answers(needs_dask, monkeypatch):
    monkeypatch.setattr(starting, "REACH_S", 0.5)
    with pytest.raises(
        ClusterError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9: start one there"
    ):
        DaskBackend(at("tcp://127.0.0.1:9"))


def test_an_address_that_is_none(needs_dask):
    with pytest.raises(UsageError, match="is no address of a Dask scheduler"):
        DaskBackend(at("tcp://host:port:8"))


def test_a_cluster_without_workers(cluster, monkeypatch):
    monkeypatch.setattr(link, "FIRST_WORKER_S", 0.1)
    with pytest.raises(
        ClusterError, match=r"has no worker: start some, for example with 'dask worker tcp://"
    ):
        DaskBackend(at(cluster.address))


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"Running on a cluster needs .*utilitune\[cluster\]"):
        DaskBackend(Cluster("local:1", LocalWorkers(1)))


def test_workers_of_this_machine_that_end_at_once_are_an_error(needs_dask, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ClusterError, match="worker processes of this machine end at once"):
        DaskBackend(Cluster("local:1", LocalWorkers(1)))


def test_a_spread_of_speeds_is_said_once():
    said = []
    roster = Roster(at("tcp://a"), lambda *news: said.append(news), None)
    for name, loop_s in (("a", 0.01), ("b", 0.02), ("c", 0.03)):
        roster._join(name, Worker(2, f"host-{name}", loop_s))
        roster._compare_speeds()
    assert roster.capacity == 6
    assert [kind for kind, _ in said] == ["calibration", "worker", "worker", "warning", "worker"]
    assert said[0] == ("calibration", "0.01")
    assert "b (host-b) takes 2 times as long as a (host-a)" in said[3][1]
    assert roster.slowness("b") == 1.0
    assert roster.lose("b")
    assert not roster.lose("b")
    assert roster.capacity == 4


def test_times_are_scaled_to_the_first_worker_of_the_first_start():
    roster = Roster(Cluster("x", RunningCluster("tcp://a"), clock=Clock.SCALED), lambda *_: None, 0.02)
    roster._join("a", Worker(1, "host", 0.01))
    assert roster.slowness("a") == 0.5
    assert roster.slowness("gone") == 1.0

"""A run is the same run wherever it is made."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace

import pytest

from end_to_end.killing import drawn, told, write_scenario
from execution.cluster.on_loopback import DaskOnLoopback
from faults.clusters import tried
from utilitune.errors import ClusterError, TargetError, UsageError
from utilitune.execution.cluster import starting
from utilitune.live.evaluation import evaluate_in_folder, plan_evaluation
from utilitune.live.events import RunEnded
from utilitune.live.running import run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.scenario import ListedInstances, RecordedSpec, read_scenario
from utilitune.store import read_run_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def dask():
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    cluster = DaskOnLoopback(workers=1)
    yield cluster
    cluster.close()


@pytest.fixture
def scenario(tmp_path):
    return read_scenario(write_scenario(tmp_path, 40, "oup"))


def test_the_stored_state_is_the_same_wherever_runs_are_made(dask, scenario, tmp_path):
    run_scenario(scenario, tmp_path / "here", settings_of(scenario, workers=1))
    there = replace(scenario, cluster=dask.address)
    run_scenario(there, tmp_path / "there", settings_of(there))
    assert told(tmp_path / "there") == told(tmp_path / "here")
    assert drawn(tmp_path / "there") == drawn(tmp_path / "here")
    reader = read_run_folder(tmp_path / "there")
    assert reader.sessions()[0].settings["workers"] == 1
    [joined] = [event.text for event in reader.events() if event.kind == "worker"]
    assert "joined: 1 slot, calibration" in joined
    assert float(reader.facts()["calibration"]) > 0
    reader.close()


def test_a_run_goes_on_elsewhere(dask, scenario, tmp_path):
    """Begun on this machine, gone on with on a cluster, evaluated there."""
    half = replace(
        scenario, stop=replace(scenario.stop, runs=20), test=ListedInstances(("201", "202"), files=False)
    )
    run_scenario(half, tmp_path / "moved", settings_of(half, workers=1))
    there = replace(half, cluster=dask.address, stop=scenario.stop)
    run_scenario(there, tmp_path / "moved", settings_of(there))
    run_scenario(scenario, tmp_path / "here", settings_of(scenario, workers=1))
    assert told(tmp_path / "moved") == told(tmp_path / "here")
    reader = read_run_folder(tmp_path / "moved")
    plan = plan_evaluation(reader, there)
    reader.close()
    assert evaluate_in_folder(plan, tmp_path / "moved").pairs == 2


def test_a_stop_that_is_asked_for_elsewhere_ends_a_run(dask, scenario, tmp_path):
    there = replace(scenario, cluster=dask.address)

    def stop_soon(event: object) -> None:
        if isinstance(event, RunEnded) and event.request.position >= 2:
            reader = read_run_folder(tmp_path / "run")
            reader.request_stop()
            reader.close()

    result = run_scenario(there, tmp_path / "run", settings_of(there), on_event=stop_soon)
    assert result.stop_reason.code == "stop-requested"
    assert 0 < len(told(tmp_path / "run")) < 40


def test_a_run_waits_for_workers_and_goes_on_when_one_comes(scenario, tmp_path):
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    cluster = DaskOnLoopback(workers=1)
    there = replace(scenario, cluster=cluster.address)
    ended = []

    def lose_the_worker(event: object) -> None:
        if isinstance(event, RunEnded):
            ended.append(event)
            if len(ended) == 1:
                cluster.kill_worker()
                threading.Timer(1.0, cluster.add_worker).start()

    try:
        run_scenario(there, tmp_path / "run", settings_of(there), on_event=lose_the_worker)
    finally:
        cluster.close()
    stored = told(tmp_path / "run")
    assert len({run[:3] for run in stored}) == len(stored) == 40


def test_a_program_that_workers_do_not_have_ends_a_run_with_one_sentence(dask, scenario):
    there = replace(scenario, cluster=dask.address)
    missing = replace(there, target=replace(there.target, argv=("no-such-program", "{instance}")))
    with pytest.raises(TargetError, match="no-such-program"):
        run_scenario(missing, None, settings_of(missing))


def test_a_cluster_that_is_not_there_ends_a_run_with_one_sentence(scenario, monkeypatch):
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    monkeypatch.setattr(starting, "REACH_S", 0.5)
    nowhere = replace(scenario, cluster="tcp://127.0.0.1:9")
    with pytest.raises(ClusterError, match="no Dask scheduler answers"):
        run_scenario(nowhere, None, settings_of(nowhere))


def test_only_other_machines_are_elsewhere(scenario):
    assert not Task(scenario).is_elsewhere
    assert not Task(replace(scenario, cluster="none")).is_elsewhere
    assert not Task(replace(scenario, cluster="local:2")).is_elsewhere
    assert Task(replace(scenario, cluster="tcp://host:1")).is_elsewhere


def test_recorded_runs_need_no_cluster(scenario):
    recorded = replace(scenario, target=RecordedSpec("lookalike:minisat"), cluster="local:2")
    with pytest.raises(UsageError, match="leave the cluster out"):
        _ = Task(recorded).cluster


@pytest.mark.timeout(900)
def test_random_kills_lose_double_and_leave_nothing(tmp_path):
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    killed = tried(tmp_path, seed=1, kills=3, runs=60)
    assert killed.total() <= 3

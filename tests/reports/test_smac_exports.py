"""The files of SMAC: what a stored run becomes there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from live.simulated_scenarios import make_scenario
from utilitune.domain import Progress, RunOutcome, RunRequest, RunStatus
from utilitune.reports.exports import latest_run_history, run_history, trajectory_lines, trajectory_rows
from utilitune.store import MemoryStore, Snapshot
from utilitune.store.export import run_rows
from utilitune.store.records import ConfigurationRecord, RunRecord, StoredOrigin


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    """Two configurations; the second becomes the answer."""
    scenario = make_scenario(tmp_path, utility="uniform(k0=10)", max_captime_s=10.0)
    store = MemoryStore(Snapshot(scenario.snapshot(), scenario.digest()))
    store.begin_session({})
    store.add_configuration(ConfigurationRecord(0, {"x": 0.9}, StoredOrigin.DEFAULT))
    store.add_configuration(ConfigurationRecord(1, {"x": 0.25}, StoredOrigin.RANDOM))
    outcomes = [
        (0, 0, 5.0, RunOutcome(RunStatus.TIMEOUT, 5.0)),
        (1, 0, 5.0, RunOutcome(RunStatus.FINISHED, 2.0)),
        (1, 1, 10.0, RunOutcome(RunStatus.TIMEOUT, 10.0)),
        (1, 2, 5.0, RunOutcome(RunStatus.CRASHED, 0.1, detail="exit code 1")),
    ]
    for number, (configuration, position, captime_s, outcome) in enumerate(outcomes, 1):
        request = RunRequest(configuration, position, captime_s)
        store.add_run(RunRecord(request, outcome, seed=number, started_at=10.0 * number, ended_at=99.0))
        best = 0 if number == 1 else 1
        store.add_progress(Progress(best, 0.5, None, 0.1, 5.0 * number, number, number, 2, 2))
    return store


def test_a_trajectory_has_a_line_for_every_point(store: MemoryStore):
    lines = [json.loads(line) for line in trajectory_lines(store)]
    assert [line["evaluations"] for line in lines] == [1, 2, 3, 4]
    assert [line["cost"] for line in lines] == pytest.approx([0.5, 0.2, 0.6, 2.2 / 3])
    assert [line["incumbent"] for line in lines[:2]] == [["x='0.9'"], ["x='0.25'"]]
    assert lines[0]["origin"] == "Default"
    assert set(lines[0]) == {
        "cpu_time",
        "wallclock_time",
        "evaluations",
        "cost",
        "incumbent",
        "origin",
    }


def test_a_run_history_holds_every_run(store: MemoryStore):
    history = json.loads(json.dumps(run_history(store)))
    assert history["configs"] == {"1": {"x": 0.9}, "2": {"x": 0.25}}
    assert history["config_origins"] == {"1": "Default", "2": "Random Search"}
    statuses = [value[2]["__enum__"] for _, value in history["data"]]
    assert statuses == [
        "StatusType.CAPPED",
        "StatusType.SUCCESS",
        "StatusType.TIMEOUT",
        "StatusType.CRASHED",
    ]
    key, value = history["data"][1]
    assert key[0] == 2
    assert key[1].startswith("i")
    assert key[2:] == [2, 0.0]
    assert value[:2] == pytest.approx([0.2, 2.0])
    assert value[3:] == [20.0, 99.0, {"captime": 5.0}]
    assert history["data"][3][1][5] == {"captime": 5.0, "detail": "exit code 1"}


def test_a_run_history_of_today_holds_the_last_run_of_each_pair(store: MemoryStore):
    longer = RunRecord(RunRequest(0, 0, 10.0), RunOutcome(RunStatus.MEMOUT, 7.0, cpu_s=6.5), 1, 50.0, 57.0)
    store.add_run(longer)
    history = json.loads(json.dumps(latest_run_history(store)))
    assert history["stats"] == {"submitted": 4, "finished": 4, "running": 0}
    assert [(each["config_id"], each["status"]) for each in history["data"]] == [
        (1, 4),
        (2, 1),
        (2, 3),
        (2, 2),
    ]
    assert history["data"][0] == {
        "config_id": 1,
        "instance": history["data"][1]["instance"],
        "seed": 1,
        "budget": None,
        "cost": 1.0,
        "time": 7.0,
        "cpu_time": 6.5,
        "status": 4,
        "starttime": 50.0,
        "endtime": 57.0,
        "additional_info": {"captime": 10.0},
    }
    assert history["configs"] == run_history(store)["configs"]
    assert history["config_origins"] == run_history(store)["config_origins"]


def test_a_run_that_was_taken_over_has_the_moment_of_that(store: MemoryStore):
    store.add_configuration(ConfigurationRecord(2, {"x": 0.5}, StoredOrigin.RANDOM, drawn_at=123.0))
    store.add_run(RunRecord(RunRequest(2, 0, 5.0), RunOutcome(RunStatus.FINISHED, 1.0)))
    *_, value = run_history(store)["data"][-1]
    assert value[3:] == [123.0, 123.0, {"captime": 5.0, "taken_over": True}]
    row = list(run_rows(store))[-1]
    assert (row["started_at"], row["ended_at"], row["taken_over"]) == (None, None, True)


def test_the_table_has_a_row_per_answer_and_the_last_point(store: MemoryStore):
    rows = trajectory_rows(store)
    assert [(row["configuration"], row["runs"]) for row in rows] == [(0, 1), (1, 2), (1, 4)]


@pytest.mark.parametrize("origin", list(StoredOrigin))
def test_configurations_of_every_origin_are_told(store: MemoryStore, origin: StoredOrigin):
    store.add_configuration(ConfigurationRecord(2, {"x": 0.5}, origin))
    store.add_progress(Progress(2, 0.5, None, 0.1, 99.0, 5, 5, 3, 3))
    names = {"Default", "Initial design", "Random Search", "Local Search"}
    assert run_history(store)["config_origins"]["3"] in names
    assert json.loads(list(trajectory_lines(store))[-1])["origin"] in names

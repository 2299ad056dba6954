"""A scenario is resolved once, in one place, and a view of a recorded run reads the matrix at most once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import utilitune
from cli.live_runs import invoke
from live.simulated_scenarios import make_scenario
from utilitune.data import reading, write_matrix
from utilitune.domain import RunStatus
from utilitune.live.task import ENDLESS, Task
from utilitune.scenario import FailurePolicy, FunctionSpec, GeneratedInstances, Population
from utilitune.spaces import Assignment

SOURCE = Path(utilitune.__file__).parent
RESOLVING = re.compile(r"parse_\w*utility\([\w.]*scenario\.utility|\bbuild_target\(|\binstance_source\(")
READERS = {"scenario/quality_reader.py", "scenario/dialects/understanding.py"}
"""They check, and describe, what a file says before there is a task."""


def test_nothing_but_the_task_resolves_a_scenario():
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if RESOLVING.search(re.sub(r"def \w+\(", "", path.read_text(encoding="utf-8")))
    }
    assert found - READERS == {"live/task.py"}


def test_everything_is_made_once_and_only_when_it_is_asked_for(tmp_path: Path):
    task = Task(make_scenario(tmp_path, utility="no such utility"))
    assert task.training is task.training
    assert task.target is task.target
    assert task.rules.target is task.target
    with pytest.raises(utilitune.UtilituneError, match="no such utility"):
        _ = task.utility


def test_what_is_given_is_tried_once_and_endless_instances_have_a_number(tmp_path: Path):
    twice = (Assignment({"x": 0.9}), Assignment({"x": 0.2}), Assignment({"x": 0.2}))
    task = Task(make_scenario(tmp_path, initial=twice, policies={RunStatus.MEMOUT: FailurePolicy.ABORT}))
    assert [each["x"] for each in task.given] == [0.9, 0.2]
    assert task.abort_on == {RunStatus.MEMOUT}
    endless = make_scenario(
        tmp_path, training=GeneratedInstances(("make", "{seed}"), "made"), population=Population.INFINITE
    )
    assert Task(endless).positions == ENDLESS


@pytest.fixture
def recorded_run(tmp_path: Path) -> Path:
    matrix = utilitune.read_matrix("synthetic:rows=4,columns=60,seed=3")
    write_matrix(matrix, tmp_path / "runs.npz")
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(
        'utility = "uniform(k0=60)"\n[target]\nmatrix = "runs.npz"\n'
        '[budget]\nruns = 40\n[procedure]\nname = "oup"\nconfigurations = 3\n'
    )
    assert invoke("run", scenario, "--plain").exit_code == 0
    return scenario.with_suffix(".run")


@pytest.mark.parametrize(
    "view",
    [
        ["status"],
        ["status", "--json"],
        ["best"],
        ["best", "--format", "json"],
        ["runs"],
        ["whatif", "--utility", "uniform(k0=5)"],
        ["trajectory"],
    ],
)
def test_a_view_of_a_recorded_run_reads_the_matrix_at_most_once(
    recorded_run: Path, monkeypatch: pytest.MonkeyPatch, view: list[str]
):
    reads = []
    original = reading.read_matrix
    monkeypatch.setattr("utilitune.data.read_matrix", lambda *a, **k: reads.append(a) or original(*a, **k))
    command, *options = view
    assert invoke(command, recorded_run, *options).exit_code == 0
    assert len(reads) <= 1


def test_nothing_is_imported_to_know_that_runs_are_really_made(tmp_path: Path):
    task = Task(make_scenario(tmp_path, target=FunctionSpec("no_such_module:solve")))
    assert task.recorded_cutoff_s is None

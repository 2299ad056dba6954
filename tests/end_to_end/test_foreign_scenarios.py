"""The examples for irace and AClib, used as their guides say: unchanged, with real programs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from utilitune.domain import RunStatus
from utilitune.domain.stopping import Budget
from utilitune.errors import TargetError
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import read_scenario
from utilitune.store import read_run_folder
from utilitune.targets.wrappers import REJECTED

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RUNS = 8


@pytest.fixture(autouse=True)
def own_python_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def example(name: str, place: Path) -> Path:
    unwanted = shutil.ignore_patterns("*.run", "__pycache__", "scenario.toml")
    return Path(shutil.copytree(EXAMPLES / name, place / name, ignore=unwanted)) / "scenario.txt"


def utilitune(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "utilitune", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def short_run(path: Path, runs: int = RUNS, **changes: object):
    scenario = replace(read_scenario(path), procedure="coup", **changes)
    settings = replace(settings_of(scenario, workers=2), budget=Budget(max_runs=runs))
    return run_scenario(scenario, path.with_suffix(".run"), settings)


@pytest.mark.parametrize("name", ["irace_tsp", "aclib_sat"])
def test_an_example_is_explained_run_and_exported(name: str, tmp_path: Path):
    if name == "aclib_sat":
        pytest.importorskip("sage_wheels")
    path = example(name, tmp_path)
    utilitune("convert", path, "-o", path.with_suffix(".toml"))
    assert read_scenario(path.with_suffix(".toml")).digest() == read_scenario(path).digest()

    result = short_run(path, captime0_s=1.0)
    folder = path.with_suffix(".run")
    reader = read_run_folder(folder)
    counts, records = reader.counts(), reader.configurations()
    reader.close()
    assert sum(counts.values()) >= RUNS
    assert counts[RunStatus.FINISHED] > 0
    assert counts[RunStatus.CRASHED] == counts[RunStatus.MEMOUT] == 0
    assert result.promise.gamma is not None
    listed = read_scenario(path).initial
    assert [each.assignment for each in records[1 : 1 + len(listed)]] == list(map(dict, listed))
    assert {each.origin.value for each in records[1 : 1 + len(listed)]} == {"user"}

    form = "irace" if name == "irace_tsp" else "smac"
    assert utilitune("best", folder, "--format", form).strip()
    lines = utilitune("trajectory", folder, "--format", "aclib2").splitlines()
    assert json.loads(lines[-1])["evaluations"] == result.progress.runs


def test_a_foreign_scenario_runs_from_the_command_line_as_it_is(tmp_path: Path):
    path = example("irace_tsp", tmp_path)
    path.with_name("target-runner").write_text("#!/bin/sh\necho 0.01 0.01\n")
    shown = utilitune("run", path, "--max-runs", "6", "--plain")
    assert "is a scenario for irace. It means here:" in shown
    assert shown.count("boundMax = 8 → largest captime 8 s") == 1
    assert "These lines of it have no meaning here:\n" in shown
    assert "Best configuration" in shown


def test_a_wrapper_without_its_solver_stops_everything(tmp_path: Path):
    path = example("aclib_sat", tmp_path)
    wrapper = path.with_name("sat_wrapper.py")
    wrapper.write_text(wrapper.read_text().replace('"kissat"', '"no-such-solver"'))
    with pytest.raises(TargetError, match="the wrapper answered ABORT"):
        short_run(path)


def test_a_wrapper_that_measures_badly_is_told_once(tmp_path: Path):
    path = example("irace_tsp", tmp_path)
    runner = path.with_name("target-runner")
    runner.write_text("#!/bin/sh\necho 1.5 1.5\n")
    result = short_run(path, captime0_s=2.0)
    assert [text.startswith("The wrapper reported 1.5 s for a run of which") for text in result.warnings] == [
        True
    ]
    again = short_run(path, captime0_s=2.0)
    assert len(again.warnings) == 1


def test_a_rejected_configuration_never_finishes(tmp_path: Path):
    path = example("irace_tsp", tmp_path)
    runner = path.with_name("target-runner")
    runner.write_text('#!/bin/sh\ncase "$*" in *--start=random*) echo Inf;; *) echo 0.1 0.1;; esac\n')
    result = short_run(path, runs=40, captime0_s=2.0)
    assert result.best["start"] == "nearest"
    rejected = [run for run in result.runs if run["parameter.start"] == "random"]
    assert {(run["status"], run["detail"]) for run in rejected} == {("crashed", REJECTED)}

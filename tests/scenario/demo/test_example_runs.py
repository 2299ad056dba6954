"""Every example is configured for a moment through the command line, as its guide says."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from utilitune.domain import RunStatus
from utilitune.scenario.demo import prepare, task
from utilitune.store import read_run_folder

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RUNS = 8


def kissat(folder: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in {"TRAINING_INSTANCES": 6, "TEST_INSTANCES": 2, "VERTICES": (8, 12)}.items():
        monkeypatch.setattr(task, name, value)
    return prepare(folder)


def clasp(folder: Path, _: pytest.MonkeyPatch):
    shutil.copytree(EXAMPLES / "clasp", folder, ignore=shutil.ignore_patterns("train", "test", "run"))
    specification = importlib.util.spec_from_file_location("make_instances", folder / "make_instances.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.make_instances(folder, training=6, test=2)
    return folder / "scenario.toml"


def python_function(folder: Path, _: pytest.MonkeyPatch):
    shutil.copytree(EXAMPLES / "python_function", folder, ignore=shutil.ignore_patterns("run"))
    return folder / "scenario.toml"


@pytest.mark.parametrize(
    ("example", "package"), [(kissat, "sage_wheels"), (clasp, "clingo"), (python_function, None)]
)
def test_a_short_run_ends_with_an_answer_and_without_failures(
    example: object, package: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if package is not None:
        pytest.importorskip(package)
    scenario = example(tmp_path / "example", monkeypatch)
    with scenario.open("a") as stream:
        stream.write('\n[procedure]\nname = "coup"\n')
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "run"
    command = [
        sys.executable,
        "-m",
        "utilitune",
        "run",
        scenario,
        "--folder",
        folder,
        "--max-runs",
        str(RUNS),
    ]
    result = subprocess.run([*command, "--plain"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Best configuration" in result.stdout
    reader = read_run_folder(folder)
    counts = reader.counts()
    reader.close()
    assert sum(counts.values()) >= RUNS
    assert counts[RunStatus.CRASHED] == counts[RunStatus.MEMOUT] == counts[RunStatus.WRONG_ANSWER] == 0


def short_run(scenario: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> str:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    command = [sys.executable, "-m", "utilitune", "run", scenario, "--folder", folder, "--plain", *options]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_an_irace_folder_about_cost_is_configured_for_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(EXAMPLES / "irace_qap", tmp_path / "example", ignore=shutil.ignore_patterns("*.run"))
    folder = tmp_path / "run"
    told = short_run(tmp_path / "example" / "scenario.txt", folder, monkeypatch, "--max-runs", "60")
    assert "Best configuration" in told
    reader = read_run_folder(folder)
    runs = list(reader.runs())
    best = reader.last_progress().progress.best_index
    reader.close()
    assert all(run.outcome.finished and run.outcome.quality > 100 for run in runs)
    cost = {(run.request.configuration, run.request.position): run.outcome.quality for run in runs}
    common = [position for number, position in cost if number == best and (0, position) in cost]
    assert common
    assert sum(cost[best, each] for each in common) <= sum(cost[0, each] for each in common)


def test_a_mip_solver_is_configured_for_its_gap_by_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("highspy")
    shutil.copytree(EXAMPLES / "highs_anytime", tmp_path / "example", ignore=shutil.ignore_patterns("*.run"))
    folder = tmp_path / "run"
    told = short_run(tmp_path / "example" / "scenario.toml", folder, monkeypatch, "--max-runs", "16")
    assert "Best configuration" in told
    reader = read_run_folder(folder)
    runs = list(reader.runs())
    reader.close()
    assert not any(run.outcome.failed for run in runs)
    traced = [run.outcome.trace for run in runs if run.outcome.trace]
    assert len(traced) > len(runs) / 2
    for trace in traced:
        found = [point.quality for point in trace if point.quality is not None]
        assert found == sorted(found, reverse=True)
        assert all(point.bound is None or point.bound <= found[-1] + 1e-6 for point in trace)

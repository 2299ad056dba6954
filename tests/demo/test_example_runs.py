"""Every example is configured for a moment through the command line, as its guide says."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from utilitune.demo import prepare, task
from utilitune.domain import RunStatus
from utilitune.store import read_run_folder

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
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

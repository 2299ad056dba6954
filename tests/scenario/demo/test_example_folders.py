"""Every example's scenario is valid, and its target runs as the scenario says."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scenario.demo.parameter_values import extreme_values
from utilitune.scenario import CommandSpec, FunctionSpec, read_scenario
from utilitune.scenario.targets import build_target
from utilitune.targets.base import Invocation

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def loaded(path: Path):
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def own_python_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def clasp(tmp_path: Path):
    shutil.copytree(EXAMPLES / "clasp", tmp_path / "clasp", ignore=shutil.ignore_patterns("train", "test"))
    loaded(EXAMPLES / "clasp" / "make_instances.py").make_instances(tmp_path / "clasp", training=3, test=2)
    return tmp_path / "clasp"


def test_every_example_has_a_guide_that_the_overview_names():
    folders = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
    overview = (EXAMPLES / "README.md").read_text()
    assert folders == [
        "aclib_sat",
        "clasp",
        "highs_anytime",
        "irace_qap",
        "irace_tsp",
        "kissat",
        "python_function",
    ]
    assert all(
        f"({name}/README.md)" in overview and (EXAMPLES / name / "README.md").is_file() for name in folders
    )


@pytest.mark.usefixtures("own_python_first")
def test_clasp_scenario_is_valid(clasp: Path):
    scenario = read_scenario(clasp / "scenario.toml")
    assert isinstance(scenario.target, CommandSpec)
    assert (len(scenario.training.names), len(scenario.test.names)) == (3, 2)
    assert "sat-prepro" in scenario.space.names


@pytest.mark.usefixtures("own_python_first")
def test_clasp_accepts_every_value_of_every_parameter(clasp: Path):
    pytest.importorskip("clingo")
    scenario = read_scenario(clasp / "scenario.toml")
    (clasp / "tiny.lp").write_text("vertex(0..4). edge(0,1). edge(1,2).\n")
    target = build_target(scenario)
    options = {name: extreme_values(parameter) for name, parameter in scenario.space.parameters.items()}
    restarts = set()
    for number in range(max(map(len, options.values()))):
        chosen = {name: values[number % len(values)] for name, values in options.items()}
        made = target.prepare(Invocation(scenario.space.completed(chosen), "tiny.lp", 7, 5.0)).argv
        restarts |= {word.partition("=")[2].count(",") for word in made if word.startswith("--restarts=")}
        command = [sys.executable, *made[1:]]
        result = subprocess.run(command, cwd=clasp, capture_output=True, text=True, check=False)
        assert re.search(scenario.target.rules.success_pattern, result.stdout, re.MULTILINE), result.stderr
    assert restarts == {1, 2}


def test_python_function_scenario_is_valid_and_its_default_works():
    scenario = read_scenario(EXAMPLES / "python_function" / "scenario.toml")
    assert isinstance(scenario.target, FunctionSpec)
    defaults = {name: parameter.default for name, parameter in scenario.space.parameters.items()}
    queens = loaded(EXAMPLES / "python_function" / "queens.py")
    assert queens.solve(defaults, "8", 3) is True
    assert queens.clashes([0, 1, 2, 3]) == 3
    assert queens.clashes([1, 3, 0, 2]) == 0

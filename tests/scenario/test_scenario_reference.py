from __future__ import annotations

import re
import tomllib
from pathlib import Path

from utilitune.scenario import GeneratedInstances, read_scenario
from utilitune.scenario.model import FAILURES
from utilitune.spaces.parser import parse_expression
from utilitune.targets.base import Invocation
from utilitune.targets.command import CommandTarget

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "scenario.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", REFERENCE.read_text(encoding="utf-8"), re.DOTALL)


def files_for_the_example(folder: Path) -> None:
    for name in ("solver", "make"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    (folder / "train").mkdir()
    (folder / "train" / "one.cnf").write_text("p cnf 0 0\n")
    (folder / "test.txt").write_text("train/one.cnf\n")
    (folder / "answers.csv").write_text("train/one.cnf,SAT\n")


def test_the_example_is_a_valid_scenario_with_every_table(tmp_path: Path):
    files_for_the_example(tmp_path)
    path = tmp_path / "scenario.toml"
    path.write_text(blocks("toml")[0])
    scenario = read_scenario(path)
    assert set(scenario.policies) == set(FAILURES)
    assert scenario.stop.runs == 100_000
    assert scenario.space.default()["effort"] == "medium"


def test_the_generator_example_is_valid(tmp_path: Path):
    files_for_the_example(tmp_path)
    example, _, generator = blocks("toml")
    path = tmp_path / "scenario.toml"
    listed = 'training = "train/*.cnf"\ntest = "test.txt"\npopulation = "finite"\n'
    assert listed in example
    path.write_text(example.replace(listed, generator))
    scenario = read_scenario(path)
    assert isinstance(scenario.training, GeneratedInstances)
    assert isinstance(scenario.test, GeneratedInstances)
    assert scenario.test.count == 100


def test_the_argument_from_several_parameters_is_made_as_told(tmp_path: Path):
    argv = tuple(tomllib.loads(blocks("toml")[1])["command"])
    target = CommandTarget(argv, parameters=("policy", "base", "factor"))
    for values, expected in (
        ({"policy": "D", "base": 100, "factor": 0.7}, "--restarts=D,100,0.7"),
        ({"policy": "L", "base": 60}, "--restarts=L,60"),
    ):
        made = target.prepare(Invocation(values, "a.lp", 1, 1.0))
        assert made.argv == ("clasp", expected, "a.lp")


def test_the_condition_example_is_read():
    example = next(block for block in blocks("text") if "and" in block and "mode ==" in block)
    assert parse_expression(example.strip())

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scenario.scenario_files import changed, write_files
from utilitune.errors import ScenarioError
from utilitune.scenario import build_target, read_scenario, recorded_matrix
from utilitune.targets.base import Invocation

COMMAND = 'command = ["./solver", "--seed={seed}", "{parameters}", "{instance}"]'


def test_a_command_gets_its_full_path_and_odd_names_exactly(tmp_path: Path):
    folder = tmp_path / "with {braces} and spaces"
    folder.mkdir()
    scenario = read_scenario(write_files(folder))
    target = build_target(scenario)
    target.check()
    task = target.prepare(Invocation(scenario.space.default(), "train/two words.cnf", 7, 1.0))
    assert task.argv == (str(folder / "solver"), "--seed=7", "--mode=a", "train/two words.cnf")
    assert task.directory == str(folder)


def test_a_program_on_the_path_is_found(tmp_path: Path):
    scenario = read_scenario(changed(write_files(tmp_path), ("./solver", "sh")))
    task = build_target(scenario).prepare(Invocation({}, "x", 1, 1.0))
    assert Path(task.argv[0]).is_absolute()


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("'./solver {instance} {parameters}'", 'write ["./solver", "{instance}", "{parameters}"]'),
        ("""'./solver "a b" {instance}'""", 'write ["./solver", "a b", "{instance}"]'),
        ("""'./solver "a {instance}'""", r'write ["./solver", "\"a", "{instance}"]'),
        ('["sh -c", "{instance}", "{parameters}"]', '\'sh -c\' are several; write "sh", "-c"'),
        ('["./solver --fast", "{instance}", "{parameters}"]', 'write "./solver", "--fast"'),
    ],
)
def test_a_command_in_one_piece_is_shown_in_its_pieces(tmp_path: Path, written: str, advice: str):
    path = changed(write_files(tmp_path), (COMMAND, f"command = {written}"))
    with pytest.raises(ScenarioError) as told:
        read_scenario(path)
    assert advice in str(told.value)


def test_a_function_is_imported_from_the_scenarios_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = write_files(tmp_path)
    (tmp_path / "function_beside_scenario.py").write_text(
        "def solve(configuration, instance, seed, captime): ...\n"
    )
    changed(path, (COMMAND, 'function = "function_beside_scenario:solve"'))
    target = build_target(read_scenario(path))
    call = target.prepare(Invocation({"mode": "a"}, "train/one.cnf", 3, 0.5))
    assert (call.module, call.function) == ("function_beside_scenario", "solve")
    assert call.arguments["captime"] == 0.5
    assert str(tmp_path) in call.search_path


def test_recorded_runtimes_are_looked_up(tmp_path: Path):
    (tmp_path / "runs.csv").write_text("configuration,i1,i2\nfast,1,2\nslow,3,4\n")
    path = tmp_path / "scenario.toml"
    path.write_text('utility = "uniform(k0=5)"\n[target]\nmatrix = "runs.csv"\n')
    scenario = read_scenario(path)
    assert recorded_matrix(scenario).shape == (2, 2)
    assert scenario.digest() == read_scenario(path).digest()
    target = build_target(scenario)
    assert target.runtime_s(target.prepare(Invocation({"configuration": "slow"}, "i2", 1, 10.0))) == 4


def test_a_program_has_no_recorded_runtimes(tmp_path: Path):
    with pytest.raises(ScenarioError, match="no recorded runtimes"):
        recorded_matrix(read_scenario(write_files(tmp_path)))

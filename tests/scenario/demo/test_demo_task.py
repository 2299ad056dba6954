from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scenario.demo.parameter_values import extreme_values
from utilitune.errors import MissingExtraError, UsageError
from utilitune.scenario import read_scenario
from utilitune.scenario.demo import prepare, solver_path, task


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch):
    """A task of a few small instances, otherwise the same."""
    try:
        solver_path()
    except MissingExtraError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(task, "TRAINING_INSTANCES", 3)
    monkeypatch.setattr(task, "TEST_INSTANCES", 2)
    monkeypatch.setattr(task, "VERTICES", (8, 12))


def files(folder: Path):
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_task_is_large_enough():
    assert task.TRAINING_INSTANCES >= 200
    assert task.TEST_INSTANCES >= 100


@pytest.mark.usefixtures("few")
def test_the_scenario_is_valid_and_complete(tmp_path: Path):
    scenario = read_scenario(prepare(tmp_path / 'it\'s a "demo" folder'))
    assert len(scenario.training.names) == 3
    assert len(scenario.test.names) == 2
    assert 10 <= len(scenario.space.names) <= 15


@pytest.mark.usefixtures("few")
def test_two_folders_hold_the_same_and_no_two_instances_are_alike(tmp_path: Path):
    one, other = prepare(tmp_path / "one").parent, prepare(tmp_path / "other").parent
    assert files(one) == files(other)
    assert len(set(files(one).values())) == len(files(one)) == 6


@pytest.mark.usefixtures("few")
def test_a_second_call_makes_what_is_missing_and_keeps_what_was_edited(tmp_path: Path):
    scenario = prepare(tmp_path)
    before = files(tmp_path)
    (tmp_path / "train" / "ordering-001.cnf").unlink()
    scenario.write_text("edited")
    assert prepare(tmp_path) == scenario
    assert files(tmp_path) == {**before, "scenario.toml": "edited"}


@pytest.mark.usefixtures("few")
def test_every_parameter_has_kissats_own_name_range_and_default(tmp_path: Path):
    scenario = read_scenario(prepare(tmp_path))
    listing = subprocess.run([solver_path(), "--range"], capture_output=True, text=True, check=True).stdout
    known = {line.split()[0]: tuple(map(int, line.split()[1:])) for line in listing.splitlines()}
    for name, parameter in scenario.space.parameters.items():
        lowest, default, highest = known[name]
        assert parameter.default == default
        values = extreme_values(parameter)
        assert lowest <= min(values) <= default <= max(values) <= highest


@pytest.mark.usefixtures("few")
def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write the demo into"):
        prepare(tmp_path / "file")


def test_without_kissat_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sysconfig.get_path", lambda scheme: str(tmp_path / scheme))
    with pytest.raises(MissingExtraError, match=r"pip install 'utilitune\[demo\]'"):
        prepare(tmp_path / "demo")
    assert list(tmp_path.iterdir()) == []

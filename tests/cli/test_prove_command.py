"""``utilitune prove``: which files hold a configuration, and whose promise is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, behaves, invoke
from utilitune.cli.prove import read_configuration
from utilitune.errors import UsageError
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import read_scenario
from utilitune.spaces import ParameterSpace

if TYPE_CHECKING:
    from click.testing import Result

SPACE = ParameterSpace.from_tables(
    {
        "level": {"type": "integer", "range": [1, 9], "default": 5},
        "way": {"type": "categorical", "values": ["a", "b"], "default": "a"},
    }
)


def written(tmp_path, text: str):
    path = tmp_path / "found.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("values", [{"level": 3}, {"best": {"level": 3, "way": "a"}, "epsilon": 0.1}])
def test_values_are_read_and_completed_with_defaults(tmp_path, values):
    assert read_configuration(written(tmp_path, json.dumps(values)), SPACE) == {"level": 3, "way": "a"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "cannot be read as JSON"),
        ("[3]", "must hold one JSON object"),
        ('{"levels": 3}', "did you mean"),
        ('{"level": 30}', "no configuration of this scenario"),
        ('{"level": 5}', "holds the default"),
        ("[" * 100_000, "cannot be read as JSON"),
    ],
)
def test_what_is_no_configuration_is_refused_in_a_sentence(tmp_path, text, says):
    with pytest.raises(UsageError, match=says):
        read_configuration(written(tmp_path, text), SPACE)


DEPENDENT = ParameterSpace.from_tables(
    {
        "way": {"type": "categorical", "values": ["a", "b"], "default": "a"},
        "level": {"type": "integer", "range": [1, 9], "default": 5},
        "depth": {"type": "integer", "range": [1, 9], "default": 2, "when": "way == 'b'"},
    }
)


def test_null_for_a_parameter_that_does_not_apply_means_nothing(tmp_path, capsys):
    found = read_configuration(written(tmp_path, '{"level": 3, "depth": null}'), DEPENDENT)
    assert found == {"way": "a", "level": 3}
    assert not capsys.readouterr().err


def test_null_for_a_parameter_that_applies_is_refused(tmp_path):
    with pytest.raises(
        UsageError, match=r"null for 'depth', which applies .*leave it out for its default, 2"
    ):
        read_configuration(written(tmp_path, '{"way": "b", "depth": null}'), DEPENDENT)


def test_a_value_that_does_not_apply_is_left_out_with_a_word(tmp_path, capsys):
    """It was dropped in silence."""
    found = read_configuration(written(tmp_path, '{"level": 3, "depth": 4}'), DEPENDENT)
    assert found == {"way": "a", "level": 3}
    said = " ".join(capsys.readouterr().err.split())
    assert "Note: the value of 'depth' is left out: it only applies when way ==" in said


def test_a_file_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_configuration(tmp_path / "nowhere.json", SPACE)


def with_wager(tmp_path) -> Toy:
    """A toy whose procedure takes nominees."""
    toy = Toy.write(tmp_path)
    toy.scenario.write_text(toy.scenario.read_text().partition("[procedure]")[0])
    return toy


def begun(toy: Toy, found: dict[str, float] | None) -> None:
    """Begin to prove a configuration in the toy's folder, or to look for one."""
    scenario = read_scenario(toy.scenario)
    settings = replace(settings_of(scenario), found=None if found is None else scenario.space.validate(found))
    run_scenario(scenario, toy.folder, settings, backend=SimulatedBackend(1, behaves))


def proving(toy: Toy, found: dict[str, float], tmp_path) -> Result:
    path = written(tmp_path, json.dumps(found))
    return invoke("prove", toy.scenario, "--configuration", path, "--folder", toy.folder, "--plain")


def test_a_folder_is_never_taken_for_the_proof_of_another_configuration(tmp_path):
    toy = with_wager(tmp_path)
    begun(toy, {"alpha": 1.0})
    with pytest.raises(UsageError, match="proves another configuration: choose another --folder"):
        proving(toy, {"alpha": 2.0}, tmp_path)


def test_a_run_that_searches_is_not_taken_for_a_proof(tmp_path):
    toy = with_wager(tmp_path)
    begun(toy, None)
    with pytest.raises(UsageError, match="looks for a configuration itself: choose another --folder"):
        proving(toy, {"alpha": 2.0}, tmp_path)


def test_a_proof_is_not_taken_for_a_run_that_searches(tmp_path):
    toy = with_wager(tmp_path)
    begun(toy, {"alpha": 1.0})
    with pytest.raises(UsageError, match=f"looks for no other.*: choose another --folder.*{toy.folder}"):
        invoke("run", toy.scenario, "--folder", toy.folder, "--plain")


def test_the_same_configuration_goes_on_in_its_folder(tmp_path):
    toy = with_wager(tmp_path)
    begun(toy, {"alpha": 1.0})
    told = proving(toy, {"alpha": 1.0}, tmp_path)
    assert told.exit_code == 0
    assert "--alpha=1.0" in told.stdout


def test_a_procedure_that_takes_no_nominees_is_refused(tmp_path):
    toy = Toy.write(tmp_path)
    with pytest.raises(UsageError, match=r"not by oup as set in the scenario"):
        proving(toy, {"alpha": 1.0}, tmp_path)
    assert not toy.folder.exists()

"""What irace is given to read, in the dialects of irace 3 and 4."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rivals.packages.playgrounds import SCENARIO
from utilitune.rivals.packages.irace_files import IraceTask, read_values
from utilitune.spaces import ParameterSpace
from utilitune.spaces.dialects import read_parameter_file
from utilitune.spaces.problems import SpaceError

GIVEN = (SCENARIO.space.default(),)
TASK = IraceTask(SCENARIO.space, GIVEN, instances=3, max_time_ms=1500, max_runs=None, seed=7)


def options(text: str) -> dict[str, str]:
    return dict(line.split(" = ", 1) for line in text.splitlines())


def test_irace_4_has_sections_in_its_parameter_file(tmp_path: Path):
    files = TASK.files("4.2.0")
    assert set(files) == {"parameters.txt", "instances.txt", "initial.txt", "scenario.txt"}
    assert "[forbidden]" in files["parameters.txt"]
    assert "digits = 4" in files["parameters.txt"]
    assert not {"digits", "forbiddenFile"} & set(options(files["scenario.txt"]))
    path = tmp_path / "parameters.txt"
    path.write_text(files["parameters.txt"])
    assert read_parameter_file(path, "irace").space.names == SCENARIO.space.names


def test_irace_3_has_files_and_options_in_place_of_sections(tmp_path: Path):
    files = TASK.files("3.5")
    assert "[" not in files["parameters.txt"]
    assert files["forbidden.txt"].strip() == 'alpha > 0.9 & speed == "4"'
    chosen = options(files["scenario.txt"])
    assert chosen["digits"] == "4"
    assert chosen["forbiddenFile"] == '"forbidden.txt"'
    TASK.write(tmp_path, "3.5")
    read = read_parameter_file(
        tmp_path / "parameters.txt", "irace", forbidden_file=tmp_path / "forbidden.txt"
    )
    assert len(read.space.forbidden) == 1


def test_the_scenario_names_budget_seed_and_runner():
    chosen = options(TASK.files("3.5")["scenario.txt"])
    assert (chosen["maxTime"], chosen["seed"], chosen["deterministic"]) == ("1500", "7", "1")
    assert chosen["targetRunner"] == "utilitune_run"
    assert "maxExperiments" not in chosen
    counted = IraceTask(SCENARIO.space, GIVEN, 3, max_time_ms=None, max_runs=200, seed=7)
    chosen = options(counted.files("3.5")["scenario.txt"])
    assert chosen["maxExperiments"] == "200"
    assert "maxTime" not in chosen


def test_instances_are_numbers_and_the_given_configurations_a_table():
    other = SCENARIO.space.completed({"extra": "yes", "depth": 7})
    files = replace(TASK, given=(*GIVEN, other)).files("3.5")
    assert files["instances.txt"].split() == ["0", "1", "2"]
    assert files["initial.txt"] == 'alpha extra depth speed\n"0.8" "not at all" NA "2"\n"0.8" "yes" "7" "2"\n'


def test_values_come_back_in_their_own_types():
    texts = {"alpha": "0.30000000000000004", "extra": "yes", "depth": "12", "speed": "4"}
    assert read_values(SCENARIO.space, texts) == {
        "alpha": 0.30000000000000004,
        "extra": "yes",
        "depth": 12,
        "speed": 4,
    }


@pytest.mark.parametrize(("low", "digits"), [(0.5, 4), (1e-7, 7)])
def test_there_are_as_many_digits_as_the_bounds_need(low: float, digits: int):
    space = ParameterSpace.from_tables({"x": {"type": "float", "range": [low, 1.0], "default": 1.0}})
    task = IraceTask(space, (space.default(),), 1, 1000, None, 0)
    assert options(task.files("3.5")["scenario.txt"])["digits"] == str(digits)


def test_parameters_may_have_different_decimals():
    space = ParameterSpace.from_tables(
        {
            "coarse": {"type": "float", "range": [0.0, 1.0], "default": 0.5, "digits": 1},
            "fine": {"type": "float", "range": [0.0, 1.0], "default": 0.5, "digits": 6},
        }
    )
    task = IraceTask(space, (space.default(),), 1, 1000, None, 0)
    assert options(task.files("3.5")["scenario.txt"])["digits"] == "6"
    values = read_values(space, {"coarse": "0.123457", "fine": "0.123457"})
    assert values == {"coarse": 0.1, "fine": 0.123457}
    assert space.validate(values) == values


def test_adaptive_capping_is_asked_for_where_costs_are_runtimes():
    assert "capping" not in options(TASK.files("3.5")["scenario.txt"])
    capped = options(replace(TASK, bound_ms=4000).files("3.5")["scenario.txt"])
    assert (capped["capping"], capped["boundMax"]) == ("1", "4000")


def test_what_irace_cannot_say_is_refused():
    space = ParameterSpace.from_tables({"a-b": {"type": "float", "range": [0.0, 1.0], "default": 1.0}})
    with pytest.raises(SpaceError, match="irace cannot hold the name 'a-b'"):
        IraceTask(space, (space.default(),), 1, 1000, None, 0).files("3.5")

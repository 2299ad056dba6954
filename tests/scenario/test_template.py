from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from utilitune.errors import UsageError
from utilitune.scenario import build_target, read_scenario
from utilitune.scenario.template import KINDS, Answers, companion_files, starter_scenario

if TYPE_CHECKING:
    from pathlib import Path


def prepared(folder: Path) -> None:
    """What the starter scenarios expect to find."""
    (folder / "instances" / "train").mkdir(parents=True)
    (folder / "instances" / "train" / "a.cnf").write_text("p cnf 1 1\n1 0\n")
    for name in ("solver", "kissat"):
        (folder / name).write_text("#!/bin/sh\nexit 10\n")
        (folder / name).chmod(0o755)
    (folder / "runtimes.csv").write_text("configuration,i1\nfast,1\nslow,3\n")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_starter_scenario_is_valid_and_commented(tmp_path: Path, kind: str):
    prepared(tmp_path)
    for name, text in companion_files(kind).items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "scenario.toml"
    path.write_text(starter_scenario(kind, Answers(name='it\'s "mine"', wall_time="2m")))
    scenario = read_scenario(path)
    assert scenario.name == 'it\'s "mine"'
    assert scenario.max_captime_s == 60
    assert kind == "recorded" or scenario.stop.wall_time_s == 120
    assert path.read_text().count("\n#") >= 5


def test_answers_are_filled_in(tmp_path: Path):
    prepared(tmp_path)
    path = tmp_path / "scenario.toml"
    path.write_text(starter_scenario("sat", Answers(command=("./solver", "{instance}", "{parameters}"))))
    target = build_target(read_scenario(path))
    assert target.argv[1:] == ("{instance}", "{parameters}")


def test_an_unknown_template_is_refused():
    with pytest.raises(UsageError, match="did you mean 'sat'"):
        starter_scenario("sta")

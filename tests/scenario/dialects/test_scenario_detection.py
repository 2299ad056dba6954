"""Which tool a file was written for; and whatever it was, our own file says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario.dialects.foreign_files import irace, smac
from utilitune.errors import ScenarioError
from utilitune.scenario import Scenario, read_scenario, understand
from utilitune.scenario.dialects import Dialect
from utilitune.scenario.dialects.detect import dialect_of
from utilitune.scenario.writer import write_scenario


@pytest.mark.parametrize(
    ("name", "text", "dialect"),
    [
        ("scenario.toml", "anything", Dialect.NATIVE),
        ("scenario.txt", "name = 'x'\n[target]\ncommand = ['y']\n", Dialect.NATIVE),
        ("scenario.txt", 'maxExperiments = 100\ntargetRunner = "./t"\n', Dialect.IRACE),
        ("tune.R", "parameterFile <- 'p.txt'\n", Dialect.IRACE),
        ("scenario.txt", "algo = ./x\nparamfile = p.pcs\n", Dialect.SMAC),
        ("scenario.txt", "# deterministic\r\ndeterministic = 0\r\npcs-fn = p\r\nalgo=x\r\n", Dialect.SMAC),
    ],
)
def test_the_tool_is_known_by_what_the_file_says(name: str, text: str, dialect: Dialect):
    assert dialect_of(Path(name), text) is dialect


def test_a_file_of_no_tool_is_refused(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("shopping = milk\n")
    with pytest.raises(ScenarioError, match=r"notes.txt: this is no scenario file"):
        read_scenario(path)


@pytest.mark.parametrize("make", [irace, smac])
def test_our_own_file_says_the_same(tmp_path: Path, make: object):
    extra = {irace: "parallel = 3\nseed = 5\n", smac: "initial_incumbent = -mode safe -depth 2\n"}[make]
    foreign = understand(make(tmp_path, extra)).scenario
    path = tmp_path / "native.toml"
    path.write_text(write_scenario(foreign))
    native = understand(path)
    assert (native.dialect, native.understood) == (Dialect.NATIVE, ())
    assert native.scenario.snapshot() == foreign.snapshot()
    assert native.scenario.digest() == foreign.digest()


@pytest.mark.parametrize("make", [irace, smac])
def test_a_snapshot_restores_everything(tmp_path: Path, make: object):
    scenario = read_scenario(make(tmp_path))
    assert Scenario.from_snapshot(scenario.snapshot()) == scenario

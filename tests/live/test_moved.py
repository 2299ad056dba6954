"""A run folder that was moved together with its scenario: commands name the place where everything is now."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

import utilitune
from cli.live_runs import Toy, invoke
from live.simulated_scenarios import make_scenario
from utilitune.errors import UtilituneError
from utilitune.live.task import Task
from utilitune.scenario.model import FunctionSpec, RecordedSpec
from utilitune.store import Snapshot, open_run_folder, read_run_folder


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """The folder of a scenario with its run, at another place than where the run was made."""
    before = tmp_path / "before"
    before.mkdir()
    Toy.write(before).run()
    return before.rename(tmp_path / "after")


def test_the_best_command_can_be_run_where_everything_is_now(moved: Path):
    """It said ``cd`` to a folder that was gone."""
    for command in (["best"], ["show"]):
        shown = invoke(*command, moved / "scenario.run").stdout
        assert f"cd {moved} && " in shown
        assert "before" not in shown


def test_it_is_evaluated_there(moved: Path):
    found = json.loads(invoke("evaluate", moved / "scenario.run", "--configuration", "1", "--json").stdout)
    assert found["chosen"]["solved"] == 8


READING = ["status", "best", "show", "report", "runs", "whatif", "export", "trajectory"]


@pytest.mark.parametrize("command", READING)
def test_every_look_at_it_works_there(moved: Path, command: str):
    more = {
        "whatif": ["--utility", "uniform(1s)"],
        "trajectory": ["--output", moved / "trajectory.csv"],
        "export": [moved / "runs.csv"],
    }
    assert invoke(command, moved / "scenario.run", *more.get(command, [])).exit_code == 0


def test_python_reads_it_there(moved: Path):
    found = utilitune.load(moved / "scenario.run")
    assert f"cd {moved} && " in found.command
    assert "before" not in found.command


def test_it_goes_on_there(moved: Path):
    toy = Toy(moved / "scenario.toml", moved / "scenario.run")
    before = utilitune.load(toy.folder).progress
    toy.describe(runs=before.runs + 10)
    assert toy.run().progress.runs > before.runs


def test_the_scenario_was_moved_without_its_run(tmp_path: Path):
    """What was proved can be read; the commands name the old place, because nobody knows the new one."""
    place = tmp_path / "before"
    place.mkdir()
    toy = Toy.write(place)
    toy.run()
    apart = toy.folder.rename(tmp_path / "apart.run")
    place.rename(tmp_path / "after")
    assert utilitune.load(apart).best
    for command in READING[:3]:
        assert invoke(command, apart).exit_code == 0
    with pytest.raises(UtilituneError, match="before"):
        invoke("evaluate", apart, "--configuration", "1")
    toy = Toy(tmp_path / "after" / "scenario.toml", apart)
    toy.describe(runs=70)
    assert toy.run().best


def test_a_function_and_a_recording_are_found_there_too(tmp_path: Path):
    for name, target in (("f", FunctionSpec("my.mod:f")), ("m", RecordedSpec("m.csv"))):
        place = tmp_path / name
        place.mkdir()
        scenario = make_scenario(place, target=target)
        open_run_folder(place / "x.run", Snapshot(scenario.snapshot(), "digest")).close()
        now = place.rename(tmp_path / f"{name} now")
        with contextlib.closing(read_run_folder(now / "x.run")) as store:
            assert Task.stored(store).scenario.directory == place
            (now / "my").mkdir()
            for file in ("my/mod.py", "m.csv"):
                (now / file).touch()
            assert Task.stored(store).scenario.directory == now


def test_a_report_read_elsewhere_says_where_the_program_was(moved: Path):
    for name in ("train", "solver.py"):
        (moved / name).rename(moved.parent / name)
    with contextlib.closing(read_run_folder(moved / "scenario.run")) as store:
        assert Task.stored(store).scenario.directory == moved.parent / "before"

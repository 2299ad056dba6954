"""A run folder that was moved together with its scenario: commands name the place where everything is now."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from cli.live_runs import Toy, invoke
from utilitune.live.moved import stored_task
from utilitune.store import read_run_folder


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


def test_a_report_read_elsewhere_says_where_the_program_was(moved: Path):
    for name in ("train", "solver.py"):
        (moved / name).rename(moved.parent / name)
    with contextlib.closing(read_run_folder(moved / "scenario.run")) as store:
        assert stored_task(store).scenario.directory == moved.parent / "before"

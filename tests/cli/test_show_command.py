"""``utilitune show``, and commands that are given the scenario instead of its run folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, invoke
from utilitune.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_configuration_is_shown_whole(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = toy.run()
    shown = invoke("show", toy.folder).stdout
    assert f"Configuration {result.progress.best_index} (" in shown
    assert result.command in shown
    assert "alpha: 8" in shown
    assert "Repeat its latest run by hand: " in shown


def test_the_output_that_was_kept_is_shown_on_request(tmp_path: Path):
    toy = Toy.write(tmp_path)
    toy.run()
    assert "Output kept of run" not in invoke("show", toy.folder, "default").stdout
    assert invoke("show", toy.folder, "0", "--output", "--limit", "1").stdout.count("Output kept of run") == 1
    assert "\nsolved\n" in invoke("show", toy.folder, "best", "--output", "--limit", "0").stdout


def test_a_configuration_as_json(tmp_path: Path):
    toy = Toy.write(tmp_path)
    toy.run()
    facts = json.loads(invoke("show", toy.folder, "0", "--json").stdout)
    assert facts["origin"] == "default"
    assert facts["differences"] == []
    assert facts["parameters"] == {"alpha": 8.0}
    assert {run["status"] for run in facts["runs"]} <= {"finished", "timeout"}


@pytest.mark.parametrize("number", ["99", "-0x1", "../../etc/passwd", "٣", "1e0"])
def test_an_unknown_configuration_is_refused(tmp_path: Path, number: str):
    toy = Toy.write(tmp_path)
    toy.run()
    with pytest.raises(UsageError, match="this run knows 0 to 3, 'best' and 'default'"):
        invoke("show", toy.folder, "--", number)


@pytest.mark.parametrize("command", ["status", "best", "runs", "show", "stop", "trajectory"])
def test_the_scenario_file_stands_for_its_run(tmp_path: Path, command: str):
    toy = Toy.write(tmp_path)
    toy.run()
    assert invoke(command, toy.scenario).stdout == invoke(command, toy.folder).stdout


def test_a_scenario_without_a_run_says_how_to_start_one(tmp_path: Path):
    toy = Toy.write(tmp_path)
    with pytest.raises(UsageError, match=r"has no run yet.*utilitune run"):
        invoke("status", toy.scenario)

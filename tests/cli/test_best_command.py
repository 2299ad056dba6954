"""``utilitune best``: what it prints can be used as it is."""

from __future__ import annotations

import json
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, invoke
from utilitune.errors import StoreError, UsageError
from utilitune.scenario import read_scenario
from utilitune.store import Snapshot, open_run_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_the_command_runs_in_a_shell(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = toy.run()
    line = invoke("best", toy.folder).stdout.removesuffix("\n")
    assert line == result.command
    pasted = line.replace("INSTANCE", "'train/3 train.txt'")
    done = subprocess.run(["/bin/sh", "-c", pasted], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("solved 3 ")
    assert f"--alpha={result.best['alpha']!r}" in done.stdout


def test_json_and_toml_hold_the_same_values(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = toy.run()
    assert json.loads(invoke("best", toy.folder, "--format", "json").stdout)["best"] == dict(result.best)
    text = invoke("best", toy.folder, "--format", "toml").stdout
    assert tomllib.loads(text) == dict(result.best)
    assert text.startswith(f"# {result.promise.sentence()}\n")


def test_an_unknown_format(tmp_path: Path):
    toy = Toy.write(tmp_path)
    with pytest.raises(UsageError, match="did you mean 'json'"):
        invoke("best", toy.folder, "--format", "jsn")


def test_a_run_without_an_answer(tmp_path: Path):
    toy = Toy.write(tmp_path)
    scenario = read_scenario(toy.scenario)
    open_run_folder(toy.folder, Snapshot(scenario.snapshot(), scenario.digest())).close()
    with pytest.raises(StoreError, match="has made no progress yet"):
        invoke("best", toy.folder)

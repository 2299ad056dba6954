"""``utilitune replay`` as users start it: a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def utilitune(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "utilitune", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text("configuration,i1,i2,i3\nslow,9,20,31\nquick,1,2,3\n")
    return path


def test_a_replay_prints_one_json_object_and_writes_a_file(data: Path):
    options = ("--utility", "uniform(k0=30)", "--epsilon", "0.2", "--resample", 5000, "--seed", 4)
    run = utilitune("replay", data.name, *options, "--json", "--out", "result.json", cwd=data.parent)
    assert (run.returncode, run.stderr) == (0, "")
    result = json.loads(run.stdout)
    assert (result["best"], result["stop_reason"]) == ("quick", "epsilon-reached")
    assert json.loads((data.parent / "result.json").read_text()) == result


def test_the_summary_goes_to_stdout_and_nothing_to_stderr(data: Path):
    run = utilitune("replay", data.name, "--epsilon", "0.3", "--resample", 5000, cwd=data.parent)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("Best configuration: quick")


def test_coup_gives_the_check_figures(aslib_scenario: Callable[[str], Path], tmp_path: Path):
    run = utilitune(
        *("replay", aslib_scenario("SAT12-INDU"), "--procedure", "coup", "--delta", "0.01"),
        *("--resample", 20_000, "--seed", 1, "--stored-order", "--json"),
        cwd=tmp_path,
    )
    phases = [
        (each["configurations"], each["best_index"], each["runs"])
        for each in json.loads(run.stdout)["phases"]
    ]
    assert phases == [(9, 0, 693), (14, 7, 1672), (22, 9, 3245)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--delta", "2"], "utilitune: delta must lie strictly between 0 and 1, not 2.0\n"),
        (["--procedure", "up", "--utility", "stpe(deadline=3)"], "did you mean 'step'?\n"),
        (["--procedure", "coup"], "bring more configurations, or choose a larger delta\n"),
    ],
)
def test_a_mistake_gets_one_sentence_and_exit_code_2(data: Path, options: list[str], sentence: str):
    run = utilitune("replay", data.name, *options, "--out", "result.png", cwd=data.parent)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.endswith(sentence)
    assert run.stderr.count("\n") == 1
    assert [path.name for path in data.parent.iterdir()] == [data.name]


def test_an_option_that_is_none_is_refused_without_a_traceback(data: Path):
    run = utilitune("replay", data.name, "--epsilom", "0.1", cwd=data.parent)
    assert run.returncode == 2
    assert "--epsilon" in run.stderr
    assert "Traceback" not in run.stderr


def test_ctrl_c_leaves_a_valid_answer(data: Path):
    run = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, data.name],
        capture_output=True,
        text=True,
        cwd=data.parent,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    result = json.loads(run.stdout)
    assert result["stop_reason"] == "interrupted"
    assert 0 < result["epsilon"] < 1


# The command line, with a real SIGINT in the middle of the search.
_INTERRUPTED = """
import signal, sys
from utilitune.replaying import replay as replaying
from utilitune.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever a background job inherits
go_on = replaying._step

def step(engine, here, *others):
    if here.rounds > 100:
        signal.raise_signal(signal.SIGINT)
    return go_on(engine, here, *others)

replaying._step = step
main(["replay", sys.argv[1], "--procedure", "oup", "--epsilon", "0.01", "--resample", "50000", "--json"])
"""

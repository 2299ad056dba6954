"""Odd values on the command line: a sentence and exit code 2, never a traceback, never an endless wait."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy
from utilitune.cli import main

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = {
    "run": ["run", "scenario.toml", "--plain"],
    "prove": ["prove", "scenario.toml", "--configuration", "found.json", "--plain"],
    "check": ["check", "scenario.toml"],
    "collect": ["collect", "scenario.toml", "--captime", "1s"],
    "peer": ["peer", "optuna-random", "scenario.toml"],
}
GOALS = ["--epsilon", "--gamma", "--max-time", "--max-wall-time", "--max-runs", "--workers"]
NUMBERS = {
    "run": GOALS,
    "prove": GOALS,
    "check": ["--captime"],
    "collect": ["--configurations", "--instances", "--captime", "--workers"],
    "peer": ["--max-time", "--max-wall-time", "--max-runs", "--captime", "--workers"],
}
ODD = [
    "",
    " ",
    "-1",
    "0",
    "nan",
    "inf",
    "1e400",
    "abc",
    "٣",
    "\x1b[31m",
    "1\n2",
    "\udcff",
    "0x10",
    "$(touch x)",
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    Toy.write(tmp_path)
    (tmp_path / "found.json").write_text('{"alpha": 0.25}')
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nowhere").symlink_to("gone")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The sentence in which a command line is refused."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    told = capsys.readouterr()
    assert caught.value.code == 2, (arguments, told)
    assert told.err.startswith("utilitune: "), told.err
    assert "\x1b" not in told.err
    return told.err


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_no_number_is_refused_and_nothing_is_left_behind(
    place: Path, capsys: pytest.CaptureFixture[str], command: str
):
    before = sorted(place.iterdir())
    for option in NUMBERS[command]:
        refusal([*COMMANDS[command], option], capsys)
        for value in ODD:
            refusal([*COMMANDS[command], option, value], capsys)
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "name", ["", ".", "/", "loop", "nowhere", "pipe", "/dev/zero", "\0", "found.json", "no/such"]
)
def test_what_is_no_scenario_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
):
    """A pipe was waited for without end, and "/" ended in a traceback."""
    arguments = [name if each == "scenario.toml" else each for each in COMMANDS[command]]
    assert "/.npz" not in refusal(arguments, capsys)
    assert not list(place.glob("*.run")) + list(place.glob("*.collect"))


@pytest.mark.parametrize("name", [".", "loop", "nowhere", "pipe", "/dev/zero", "\0", "scenario.toml"])
def test_what_is_no_configuration_file_is_refused(place: Path, capsys: pytest.CaptureFixture[str], name: str):
    before = sorted(place.iterdir())
    told = refusal(["prove", "scenario.toml", "--configuration", name], capsys)
    assert told.count("\n") == 1
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize("command", ["run", "prove"])
def test_a_gamma_that_asks_for_more_draws_than_can_be_counted(
    place: Path, capsys: pytest.CaptureFixture[str], command: str
):
    too_small = "gamma must be at least 1e-12: nobody can draw enough for less"
    for gamma in ("5e-324", "1e-300", "1e-19"):
        words = refusal([*COMMANDS[command], "--gamma", gamma], capsys)
        assert words == f"utilitune: {too_small}\n"
    scenario = place / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("[promise]", "[promise]\ngamma = 1e-19"))
    assert too_small in refusal(COMMANDS[command], capsys)


@pytest.mark.parametrize("reuse", ["loop", "nowhere", "pipe", ".", "scenario.toml", "/dev/null"])
def test_what_is_no_earlier_run_is_refused(place: Path, capsys: pytest.CaptureFixture[str], reuse: str):
    assert "is no run folder" in refusal([*COMMANDS["run"], "--reuse", reuse], capsys)


def test_the_longest_captime_is_taken(place: Path, capsys: pytest.CaptureFixture[str]):
    """The system's own limit on CPU time cannot be so far away, which once ended in a traceback."""
    with pytest.raises(SystemExit) as caught:
        main([*COMMANDS["check"], "--captime", "9" * 40])
    assert caught.value.code in (None, 0)
    assert "Status: finished" in capsys.readouterr().out

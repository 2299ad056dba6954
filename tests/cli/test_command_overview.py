"""The command line as a whole: an overview that starts quickly, and errors in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import typer

import utilitune
from cli.live_runs import invoke
from utilitune.cli import _GROUPS, _PANELS, build_app, main

HEAVY = ("numpy", "numba", "matplotlib", "pandas", "ConfigSpace", "scipy")


def test_the_overview_names_every_command():
    shown = invoke("--help").stdout
    for name in (*(name for names in _PANELS.values() for name in names), *_GROUPS):
        assert name in shown


def test_the_overview_loads_nothing_heavy():
    code = (
        "import sys; from utilitune.cli import build_app; build_app(['--help']);"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_command_is_loaded_alone():
    names = [command.name for command in build_app(["best", "run"]).registered_commands]
    assert names == ["best"]


def test_groups_open_when_asked():
    assert "fetch" in invoke("datasets", "--help").stdout


def test_the_version():
    assert invoke("--version").stdout == f"utilitune {utilitune.__version__}\n"


def test_errors_are_one_sentence_and_code_2(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main(["best", "no-such-folder"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "utilitune: no-such-folder is no run folder: name the --folder that 'utilitune run' was given\n"
    )


def test_every_command_has_help():
    for name in (name for names in _PANELS.values() for name in names):
        app = build_app([name])
        assert isinstance(app, typer.Typer)
        assert invoke(name, "--help").exit_code == 0


@pytest.mark.parametrize("line", ["--version", "--help", "datasets list"])
def test_a_reader_that_leaves_is_no_mistake(line: str):
    reading, writing = os.pipe()
    os.close(reading)
    code = f"from utilitune.cli import main; main({line.split()!r})"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")

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


def test_every_command_has_help_and_no_switch_looks_as_if_it_took_a_value():
    alone = ((name,) for names in _PANELS.values() for name in names)
    for words in ((), *alone, ("utility", "design"), ("utility", "draw"), ("datasets", "describe")):
        app = build_app(words)
        assert isinstance(app, typer.Typer)
        shown = invoke(*words, "--help")
        assert shown.exit_code == 0
        assert "bool" not in shown.stdout.lower()


def test_simulate_names_those_alone_that_it_takes():
    shown = invoke("simulate", "--help").stdout
    assert "naive" in shown
    assert "hyperband" not in shown
    assert "--set" not in shown


AT_THE_END = """
import atexit, sys, threading, time
from utilitune.cli import main
class Large:
    def __del__(self):
        print("taken apart")
large = Large()
atexit.register(print, "at the end")
def work():
    time.sleep({seconds})
    print("worked")
threading.Thread(target=work, daemon={seconds} > 1).start()
sys.argv[1:] = {words!r}
main()
"""


def _ended(words: list[str], seconds: float) -> tuple[int, list[str]]:
    code = AT_THE_END.format(words=words, seconds=seconds)
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], env=buffered, capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout.splitlines()


def test_the_end_is_in_good_order_and_takes_nothing_apart():
    assert _ended(["--version"], 1000) == (0, [f"utilitune {utilitune.__version__}", "at the end"])
    assert _ended(["best", "no-such-folder"], 1000) == (2, ["at the end"])


def test_threads_that_must_end_are_waited_for():
    assert _ended(["best", "no-such-folder"], 0.2)[1][:2] == ["worked", "at the end"]


@pytest.mark.parametrize("given", ["words", "None"])
@pytest.mark.parametrize("line", ["--version", "--help", "datasets list"])
def test_a_reader_that_leaves_is_no_mistake(line: str, given: str):
    reading, writing = os.pipe()
    os.close(reading)
    code = (
        f"import sys; from utilitune.cli import main; words = {line.split()!r}; sys.argv[1:] = words;"
        f"main({given})"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")

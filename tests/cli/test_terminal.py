"""Nothing that others wrote commands a terminal: names, values, outputs, errors, in every command."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import utilitune.cli
from cli.live_runs import SCENARIO
from utilitune.cli.terminal import Terminal, hand_over, say
from utilitune.domain import RunStatus
from utilitune.errors import DataError, UsageError
from utilitune.errors.outside import json_text, printable, shell_word
from utilitune.store import read_run_folder

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b5n\u202e"
COMMANDING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
NAME = f"3 {EVIL}.txt"
SOURCES = Path(utilitune.cli.__file__).parent


def test_no_command_writes_to_the_terminal_by_itself():
    by_itself = re.compile(r"\bConsole\(|typer\.(echo|secho)\(|sys\.std(out|err)\.write|(?<![.\w])print\(")
    found = {
        path.name: lines
        for path in SOURCES.glob("*.py")
        if (lines := [line.strip() for line in path.read_text().splitlines() if by_itself.search(line)])
    }
    allowed = {"__init__.py", "terminal.py", "rich_terminal.py"}
    assert set(found) <= allowed, found
    assert len(found["__init__.py"]) == 2  # the version, and the one place that shows errors


@pytest.mark.parametrize(
    "shown", [EVIL, Text(EVIL), Panel(Text(EVIL), title=Text(EVIL)), [EVIL], f"[bold]{EVIL}[/]"]
)
def test_whatever_rich_shows_is_cleaned(shown):
    stream = io.StringIO()
    Terminal(file=stream, force_terminal=False, width=200).print(shown)
    assert not COMMANDING.search(stream.getvalue())
    assert "owned" in stream.getvalue()


def test_tables_are_cleaned_and_colours_stay():
    stream = io.StringIO()
    table = Table(EVIL, title=EVIL)
    table.add_row(EVIL)
    Terminal(file=stream, force_terminal=True, color_system="standard", width=200).print(table, style="red")
    text = stream.getvalue()
    assert "\x1b]0" not in text
    assert "\x9b" not in text
    assert "\x1b[31m" in text  # our own


def test_sentences_json_and_texts_for_programs(capsys, monkeypatch):
    say(EVIL)
    say(EVIL, err=True)
    assert not COMMANDING.search("".join(capsys.readouterr()))
    assert json.loads(json_text({"a": EVIL + "\n"}, indent=2)) == {"a": EVIL + "\n"}
    assert not COMMANDING.search(json_text({"a": EVIL}))
    hand_over(EVIL)
    assert capsys.readouterr().out == EVIL + "\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    hand_over(EVIL)
    assert not COMMANDING.search(capsys.readouterr().out)


@pytest.mark.parametrize("word", ["plain", "two words", EVIL, "it's\n", "\\\x1b'", "ä\udc80"])
def test_a_word_for_the_shell_is_exact_and_harmless(word):
    assert not COMMANDING.search(shell_word(word))
    done = subprocess.run(["bash", "-c", f"printf %s {shell_word(word)}"], capture_output=True, check=True)
    assert done.stdout == word.encode("utf-8", "surrogateescape")


def test_errors_are_clean_and_short():
    text = str(DataError(EVIL + "x" * 300_000, path=f"a{EVIL}"))
    assert not COMMANDING.search(text)
    assert len(text) < 5000
    assert str(UsageError("kept as it is: ä → ε")) == "kept as it is: ä → ε"


def utilitune_command(*words: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "utilitune", *map(str, words)], capture_output=True, check=False, timeout=240
    )
    return (done.stdout + done.stderr).decode("utf-8", "replace")


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """A scenario in which every name, value and output is evil; one run of its program fails."""
    place = tmp_path_factory.mktemp("evil")
    (place / "train").mkdir()
    for name in (NAME, f"4{NAME}"):
        (place / "train" / name).write_text("3")
    (place / "solver.py").write_text(
        f"import sys\nprint({EVIL!r}, *sys.argv)\nsys.stderr.write({EVIL!r})\nsys.exit('4' in sys.argv[-1])\n"
    )
    text = SCENARIO.format(python=json.dumps(sys.executable), test="", runs=6, smallest="100ms")
    text = text.replace('success_pattern = "solved"', "").replace(
        'type = "float"\nrange = [0.0, 10.0]\ndefault = 8.0',
        f'type = "categorical"\nvalues = [{json.dumps(EVIL)}, "b"]\ndefault = {json.dumps(EVIL)}',
    )
    text = text.replace("[parameters.alpha]", f"[parameters.{json.dumps(NAME)}]")
    (place / "scenario.toml").write_text(text.replace("configurations = 4", "configurations = 2"))
    utilitune_command("run", place / "scenario.toml", "--workers", "1")
    return place


def test_the_run_was_made(evil):
    store = read_run_folder(evil / "scenario.run")
    assert {run.outcome.status for run in store.runs()} == {RunStatus.FINISHED, RunStatus.CRASHED}
    store.close()


@pytest.mark.parametrize(
    "words",
    [
        ("check", "scenario.toml"),
        ("run", "scenario.toml"),
        ("best", "scenario.run"),
        ("best", "scenario.run", "--format", "json"),
        ("status", "scenario.run"),
        ("status", "scenario.run", "--json"),
        ("runs", "scenario.run"),
        ("runs", "scenario.run", "--csv"),
        ("check", f"no{EVIL}.toml"),
        ("runs", f"no{EVIL}"),
        ("best", "scenario.run", f"--{EVIL}"),
        (f"{EVIL}",),
        ("datasets", "show", f"no{EVIL}"),
    ],
)
def test_no_command_lets_anything_through(evil, words, monkeypatch):
    monkeypatch.chdir(evil)
    text = utilitune_command(*words)
    assert text
    assert not COMMANDING.search(text), printable(text)

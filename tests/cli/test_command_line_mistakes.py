"""A command line that cannot be understood is one sentence and exit code 2, as every other mistake."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.live_runs import Toy, invoke
from utilitune.cli import main


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("replay X --delta abc", "--delta takes a number, not 'abc'; see 'utilitune replay --help'"),
        ("replay X --delta=", "--delta takes a number, not ''; see 'utilitune replay --help'"),
        ("run x --max-runs 1.5", "--max-runs takes a whole number, not '1.5'; see 'utilitune run --help'"),
        (
            "serve --port 70000",
            (
                "--port takes a whole number of at least 0 and at most 65535, not '70000'; "
                "see 'utilitune serve --help'"
            ),
        ),
        (
            "evaluate x --workers 0",
            "--workers takes a whole number of at least 1, not '0'; see 'utilitune evaluate --help'",
        ),
        (
            "collect x --configurations 1.5",
            "--configurations takes a whole number of at least 1, not '1.5'; see 'utilitune collect --help'",
        ),
        ("replay", "'utilitune replay' needs the argument 'data'; see 'utilitune replay --help'"),
        ("replay X --detla 1", "'utilitune replay' has no option '--detla'; did you mean '--delta'?"),
        ("replay X --zzz", "'utilitune replay' has no option '--zzz'; see 'utilitune replay --help'"),
        (
            "run --scenario x",
            "'utilitune run' has no option '--scenario'; write the scenario without --scenario",
        ),
        (
            "run --scenari=x",
            "'utilitune run' has no option '--scenari'; write the scenario without --scenari",
        ),
        ("run x --hlep", "'utilitune run' has no option '--hlep'; did you mean '--help'?"),
        (
            "run x --delta 0.1",
            "'utilitune run' has no option '--delta'; set delta under [promise] in the scenario",
        ),
        ("check x --seed 3", "'utilitune check' has no option '--seed'; set seed in the scenario"),
        (
            "run x --resume",
            "'utilitune run' has no option '--resume'; the same command goes on with a run that was begun",
        ),
        ("run x --verbose", "'utilitune run' has no option '--verbose'; see 'utilitune run --help'"),
        ("run x --walltime 3", "'utilitune run' has no option '--walltime'; did you mean '--max-wall-time'?"),
        ("run x -z", "'utilitune run' has no option '-z'; see 'utilitune run --help'"),
        (
            "run x --max-time 10s --max-time=20s",
            "'utilitune run' takes --max-time only once; leave one of them out",
        ),
        (
            "best x --format toml --format toml",
            "'utilitune best' takes --format only once; leave one of them out",
        ),
        (
            "datasets fetch x --to a --to b",
            "'utilitune datasets fetch' takes --to only once; leave one of them out",
        ),
        ("--zzz", "'utilitune' has no option '--zzz'; see 'utilitune --help'"),
        ("run x --workers", "option '--workers' requires an argument; see 'utilitune run --help'"),
        ("replay X --json=3", "option '--json' does not take a value; see 'utilitune replay --help'"),
        ("replya", "'utilitune' has no command 'replya'; did you mean 'replay'?"),
        ("datasets lsit", "'utilitune datasets' has no command 'lsit'; did you mean 'list'?"),
        (
            "datasets fetch",
            "'utilitune datasets fetch' needs the argument 'name'; see 'utilitune datasets fetch --help'",
        ),
    ],
)
def test_a_mistake_is_one_sentence(line: str, told: str, capsys: pytest.CaptureFixture[str]):
    assert refused(line, capsys) == f"utilitune: {told}\n"


@pytest.mark.parametrize(
    ("place", "given", "extra"), [("best", "here there", "there"), ("datasets list", "a b", "a b")]
)
def test_words_too_many_are_named(place: str, given: str, extra: str, capsys: pytest.CaptureFixture[str]):
    assert refused(f"{place} {given}", capsys) == (
        f"utilitune: 'utilitune {place}' has no use for {extra!r}; quote a name with blanks, or see "
        f"'utilitune {place} --help'\n"
    )


def test_what_may_come_twice_may(tmp_path: Path):
    """A switch that says the same again, and options that take several values."""
    Toy.write(tmp_path).run()
    shown = invoke("whatif", tmp_path / "scenario.run", "--json", "--utility", "uniform(1s)", "--json",
                   "--utility", "uniform(2s)")  # fmt: skip
    assert len(json.loads(shown.stdout)) >= 1


@pytest.mark.parametrize("name", ["best", "replay", "check", "collect", "peer"])
def test_an_argument_is_named_as_the_help_page_lists_it(name: str, capsys: pytest.CaptureFixture[str]):
    told = refused(name, capsys)
    argument = re.search(r"needs the argument '(.+)';", told)
    assert argument
    assert re.search(rf"^\W+{argument[1]}\b", invoke(name, "--help").stdout, re.MULTILINE)


def test_an_unknown_command_without_a_neighbour_gets_the_list(capsys: pytest.CaptureFixture[str]):
    told = refused("xyzzy", capsys)
    assert told.startswith(
        "utilitune: 'utilitune' has no command 'xyzzy'; known: best, certify, check, collect,"
    )


@pytest.mark.parametrize("line", ["", "datasets"])
def test_no_arguments_show_the_help_and_no_mistake(line: str, capfd: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(line.split())
    shown = capfd.readouterr()
    assert "Usage: utilitune" in shown.out + shown.err
    assert "utilitune: " not in shown.err


def test_success_is_exit_code_0(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code in {None, 0}
    assert capsys.readouterr().out.startswith("utilitune ")


def refused(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err

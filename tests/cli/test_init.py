from __future__ import annotations

import errno
import io
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from utilitune.cli import init as init_module
from utilitune.cli import main
from utilitune.cli.init import init
from utilitune.errors import UsageError
from utilitune.scenario import read_scenario
from utilitune.scenario.template import Answers, known_solver, starter_scenario
from utilitune.utility.designing import SITUATIONS

if TYPE_CHECKING:
    from pathlib import Path


def app() -> typer.Typer:
    result = typer.Typer()
    result.command()(init)
    return result


def test_a_python_starter_is_complete(tmp_path: Path):
    folder = tmp_path / "my project"
    result = CliRunner().invoke(app(), [str(folder), "--template", "python"])
    assert result.exit_code == 0
    assert "utilitune check" in result.output
    scenario = read_scenario(folder / "scenario.toml")
    assert scenario.name == "my project"
    assert (folder / "target.py").exists()


def test_nothing_is_overwritten(tmp_path: Path):
    (tmp_path / "scenario.toml").write_text("mine")
    with pytest.raises(UsageError, match="left as it is"):
        init(tmp_path, "sat")
    assert (tmp_path / "scenario.toml").read_text() == "mine"


@pytest.mark.parametrize("name", ["\udcff", "a\nb\x1b[31m", "  ", "$(touch pwned)"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str):
    """One that is no text ended in a traceback, and no shell understood the command to go on with."""
    result = CliRunner().invoke(app(), [str(tmp_path / name), "--template", "python"])
    assert result.exit_code == 0
    assert read_scenario(tmp_path / name / "scenario.toml").name.isprintable()
    words = subprocess.run(
        ["/bin/bash", "-c", f"printf '%s\\0' {result.output.split('utilitune check')[1]}"],
        capture_output=True,
        check=True,
    ).stdout
    assert words == os.fsencode(tmp_path / name / "scenario.toml") + b"\0"


def test_links_that_go_round_and_empty_templates_are_refused(tmp_path: Path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="cannot write to"):
        CliRunner().invoke(app(), [str(tmp_path / "loop"), "-t", "sat"], catch_exceptions=False)
    with pytest.raises(UsageError, match="no template ''"):
        CliRunner().invoke(app(), [str(tmp_path), "-t", ""], catch_exceptions=False)


def test_a_full_disk_leaves_nothing_in_the_way_of_the_next_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def half_written(path: Path, text: str, **_: object) -> None:
        path.write_bytes(text[:10].encode())
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(type(tmp_path), "write_text", half_written)
        with pytest.raises(UsageError, match="No space left on device"):
            CliRunner().invoke(app(), [str(tmp_path), "-t", "sat"], catch_exceptions=False)
    assert not list(tmp_path.iterdir())


def test_a_companion_file_is_not_overwritten_either(tmp_path: Path):
    (tmp_path / "target.py").write_text("mine")
    with pytest.raises(UsageError, match="left as it is"):
        init(tmp_path, "python")
    assert not (tmp_path / "scenario.toml").exists()


def test_without_a_terminal_a_template_must_be_named(tmp_path: Path):
    result = CliRunner().invoke(app(), [str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert "--template" in str(result.exception)


def test_a_program_may_be_a_script_and_its_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It was taken for one name with a blank, and check could not find it."""
    monkeypatch.setattr(init_module, "is_terminal", lambda: True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "instances").mkdir()
    for name in ("solve it.py", "my solver", "instances/a.lp"):
        (tmp_path / name).touch(0o755)
    expected = {
        "sh 'open": None,  # asked again
        "sh -e 'solve it.py'": ("sh", "-e", "../solve it.py"),
        "./my solver": ("../my solver",),
    }
    for number, (program, words) in enumerate(expected.items()):
        again = [] if words else ["sh"]
        answers = ["command", program, *again, "instances", "", "x", "uniform(1m)", "5s", "10m"]
        result = CliRunner().invoke(app(), [f"task{number}"], input="\n".join(answers) + "\n")
        assert result.exit_code == 0, result.output
        target = read_scenario(tmp_path / f"task{number}" / "scenario.toml").target
        assert target.argv[:-3] == (words or ("sh",))


def test_questions_are_repeated_until_the_answer_makes_sense(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(init_module, "is_terminal", lambda: True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "instances").mkdir()
    (tmp_path / "instances" / "a.lp").write_text("")
    answers = ["comand", "command", "sh", "nowhere", "n", "instances", "", "asked", "uniform(1m)", "a while"]
    answers += ["5s", "10m"]
    result = CliRunner().invoke(app(), [str(tmp_path)], input="\n".join(answers) + "\n")
    assert result.exit_code == 0, result.output
    assert "did you mean 'command'?" in result.output
    assert "'a while' is not a duration" in result.output
    assert "nowhere is not there" in result.output
    scenario = read_scenario(tmp_path / "scenario.toml")
    assert scenario.name == "asked"
    assert scenario.training.names == ("instances/a.lp",)
    assert (scenario.max_captime_s, scenario.stop.wall_time_s) == (5, 600)


@pytest.mark.parametrize("answers", ["", "command\nsh\n"])
def test_an_input_that_ends_before_the_last_answer_is_a_mistake_and_writes_nothing(
    answers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(init_module, "is_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    with pytest.raises(SystemExit) as ended:
        main(["init", str(tmp_path)])
    assert ended.value.code == 2
    shown = capsys.readouterr()
    assert shown.err == (
        "utilitune: nothing is written, because the answers ended too early; "
        "start again, or without questions: "
        "utilitune init --template sat|command|python|recorded\n"
    )
    assert shown.out.endswith("\n"), "the complaint begins a line of its own"
    assert not list(tmp_path.iterdir())


def test_an_interrupt_at_a_question_is_no_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    class Interrupted(io.StringIO):
        def readline(self, _: int | None = -1, /) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(init_module, "is_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", Interrupted())
    with pytest.raises(SystemExit) as ended:
        main(["init", str(tmp_path)])
    assert ended.value.code == 130
    assert capsys.readouterr().err == ""


def test_paths_are_checked_where_the_user_stands_and_seen_from_the_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(init_module, "is_terminal", lambda: True)
    monkeypatch.chdir(tmp_path)
    for name in ("train", "test"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.cnf").write_text("")
    (tmp_path / "kissat").write_text("#!/bin/sh\n")
    (tmp_path / "kissat").chmod(0o755)
    answers = ["sat", "./kissat", "train/*.cnf", "test", "named", "1", "30s", "1m", "1h"]
    result = CliRunner().invoke(app(), ["tasks/first"], input="\n".join(answers) + "\n")
    assert result.exit_code == 0, result.output
    scenario = read_scenario(tmp_path / "tasks" / "first" / "scenario.toml")
    assert scenario.target.argv[0] == "../../kissat"
    assert scenario.training.names == ("../../train/a.cnf",)
    assert scenario.test.names == ("../../test/a.cnf",)
    assert scenario.utility.startswith("step(")
    assert {"restartmargin", "bumpreasons"} <= set(scenario.space.names)


@pytest.mark.parametrize(
    ("said", "utility", "captime_s"),
    [
        (["4", "10s"], "log-laplace(k0=10, alpha=1)", 50),
        (["9", "1, 2", "x", "10 min", "1", "dear", "1", "0.05"], None, 600),
        (["useless after lunch at 12", "useless after 10 minutes, 0.05 per hour"], None, 600),
        (["uniform(k0=1m)"], "uniform(k0=1m)", 54),
    ],
)
def test_init_and_the_designer_know_the_same_situations(
    said: list[str], utility: str | None, captime_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(init_module, "is_terminal", lambda: True)
    monkeypatch.chdir(tmp_path)
    answers = ["python", "named", *said, "", "1h"]
    result = CliRunner().invoke(app(), [str(tmp_path)], input="\n".join(answers) + "\n")
    assert result.exit_code == 0, result.output
    for situation in SITUATIONS:
        assert situation.title in result.output
    scenario = read_scenario(tmp_path / "scenario.toml")
    assert scenario.utility == (utility or "product(step(deadline=600), cost-per-hour(value=1, rate=0.05))")
    assert scenario.max_captime_s == captime_s


def test_the_parameters_of_a_known_solver_are_written_as_it_wants_them(tmp_path: Path):
    answers = Answers(command=("sh", "{parameters}", "{instance}"), solver="minisat")
    (tmp_path / "instances" / "train").mkdir(parents=True)
    (tmp_path / "instances" / "train" / "a.cnf").write_text("")
    (tmp_path / "scenario.toml").write_text(starter_scenario("sat", answers))
    scenario = read_scenario(tmp_path / "scenario.toml")
    assert "var-decay" in scenario.space.names
    assert scenario.target.default_template == ("-{name}={value}",)


@pytest.mark.parametrize(
    ("program", "solver"), [("/opt/Kissat-4", "kissat"), ("./minisat_static", "minisat"), ("glucose", None)]
)
def test_solvers_are_known_by_their_names(program: str, solver: str | None):
    assert known_solver(program) == solver

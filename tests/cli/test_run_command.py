"""``utilitune run``: real runs of a small program, started, gone on with, and refused."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, invoke
from utilitune.cli import main
from utilitune.cli.summary import print_result
from utilitune.errors import ScenarioError, StoreError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_is_told_in_words_and_goes_on_with_a_larger_budget(tmp_path: Path):
    toy = Toy.write(tmp_path, runs=6)
    first = invoke("run", toy.scenario, "--workers", "1")
    assert first.exit_code == 0
    assert "Best configuration" in first.stdout
    assert "solver.py --seed=1 --alpha=" in first.stdout
    assert "in 6 runs; compared: 4 configurations" in first.stdout
    assert "Stopped (run-limit)" in first.stdout
    assert f"Kept in {toy.folder}" in first.stdout
    second = invoke("run", toy.scenario, "--max-runs", "9", "--workers", "1")
    assert "in 9 runs; compared: 4 configurations" in second.stdout


def test_the_same_command_again_says_the_same(tmp_path: Path):
    toy = Toy.write(tmp_path, runs=6)
    first = invoke("run", toy.scenario, "--workers", "1", "--plain")
    assert invoke("run", toy.scenario, "--workers", "1", "--plain").stdout == first.stdout


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        (["--workers", "0"], UsageError, "the number of workers must be at least 1, not 0"),
        (["--epsilon", "2"], UsageError, "epsilon must lie strictly between 0 and 1"),
        (["--max-runs", "0"], UsageError, "--max-runs must be a whole number of at least 1"),
        (["--max-wall-time", "soon"], UsageError, "'soon' is not a duration"),
        (["--reuse", "nowhere"], StoreError, "nowhere is no run folder"),
    ],
)
def test_a_wrong_option_leaves_nothing_behind(
    tmp_path: Path, options: list[str], error: type[Exception], sentence: str
):
    toy = Toy.write(tmp_path)
    with pytest.raises(error, match=sentence):
        invoke("run", toy.scenario, *options)
    assert not toy.folder.exists()


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('name = "oup"', 'name = "oop"', "unknown procedure 'oop'; did you mean 'oup'"),
        ("configurations = 4", "configurations = 0", "must be at least 1, not 0"),
        ("configurations = 4", "configurations = 1000000000", "must be at most 100000, not 1000000000"),
        ('name = "oup"', 'name = "naive"', "Naive needs a captime"),
        ("configurations = 4", 'configurations = "4"', "must be a whole number, not '4'"),
        ("configurations = 4", "configuration = 4", "did you mean 'configurations'"),
    ],
)
def test_what_is_wrong_with_the_procedure_is_said_with_its_line(
    tmp_path: Path, command: str, old: str, new: str, sentence: str
):
    toy = Toy.write(tmp_path)
    toy.scenario.write_text(toy.scenario.read_text().replace(old, new))
    with pytest.raises(ScenarioError, match=sentence) as caught:
        invoke(command, toy.scenario)
    assert caught.value.line == toy.scenario.read_text().splitlines().index("[procedure]") + 1
    assert not toy.folder.exists(), "a corrected scenario must be able to begin"


def test_a_folder_of_another_scenario_is_refused_with_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    toy = Toy.write(tmp_path, runs=3)
    toy.run()
    toy.scenario.write_text(toy.scenario.read_text().replace("k0=200ms", "k0=300ms"))
    with pytest.raises(SystemExit) as caught:
        main(["run", str(toy.scenario)])
    assert caught.value.code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "belongs to another scenario" in told
    assert "choose another --folder to start afresh" in told
    assert f"with: --reuse {toy.folder}" in told


def test_runs_that_cannot_count_elsewhere_are_not_offered(tmp_path: Path):
    """With another seed --reuse was the advice, and then refused because of the seed."""
    toy = Toy.write(tmp_path, runs=3)
    toy.run()
    toy.scenario.write_text(f"seed = 9{toy.scenario.read_text()}")
    with pytest.raises(
        StoreError, match=r"seed .*choose another --folder to start afresh, without its runs$"
    ):
        invoke("run", toy.scenario)


def test_a_run_in_which_nothing_finished_says_so_and_what_to_do(tmp_path: Path):
    toy = Toy.write(tmp_path, runs=6, smallest="10ms")
    toy.scenario.write_text(toy.scenario.read_text().replace('"1s"', '"10ms"'))
    (tmp_path / "solver.py").write_text("while True: pass")
    told = " ".join(invoke("run", toy.scenario, "--plain", "--workers", "1").stdout.split())
    assert "No run has finished within its captime" in told
    assert "raise largest_captime in the scenario" in told


def test_a_folder_that_was_removed_meanwhile_keeps_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    toy = Toy.write(tmp_path, runs=3)
    result = toy.run()
    print_result(result)
    assert f"Kept in {toy.folder}" in " ".join(capsys.readouterr().out.split())
    shutil.rmtree(toy.folder)
    print_result(result)
    told = " ".join(capsys.readouterr().out.split())
    assert "was removed while the run was at work: only what you see here is left" in told
    assert "Kept in" not in told

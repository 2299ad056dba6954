"""``utilitune check``: one real run, shown as it was made."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, invoke
from utilitune.cli import main
from utilitune.errors import ScenarioError, TargetError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_scenario_that_works(tmp_path: Path):
    toy = Toy.write(tmp_path, smallest="900ms")
    told = invoke("check", toy.scenario)
    assert told.exit_code == 0
    assert "1 parameter, 40 training and 8 test instances" in told.stdout
    [command] = [line for line in told.stdout.splitlines() if line.startswith("  cd ")]
    assert "--alpha=8.0" in command
    assert "  | solved" in told.stdout
    assert "Status: finished, exit code 0" in told.stdout
    assert "CPU time" in told.stdout
    assert "Start-up: at most about" in told.stdout
    assert "Ready: utilitune run" in told.stdout
    assert "Warning" not in told.stdout


def test_a_line_without_end_does_not_fill_the_screen(tmp_path: Path):
    toy = Toy.write(tmp_path, smallest="900ms")
    solver = tmp_path / "solver.py"
    solver.write_text("print('x' * 100_000)\n" + solver.read_text())
    told = invoke("check", toy.scenario).stdout
    assert "more) … xxx" in told
    assert max(map(len, told.splitlines())) < 1000


def test_a_module_that_ends_the_program_is_no_success(tmp_path: Path):
    (tmp_path / "leaving_module.py").write_text("import sys\nsys.exit(0)\n")
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(
        'utility = "uniform(k0=5)"\n[target]\nfunction = "leaving_module:solve"\n'
        '[parameters.a]\ntype = "integer"\nrange = [1, 9]\ndefault = 5\n'
        '[instances]\ntraining = ["i"]\nfiles = false\n[limits]\nlargest_captime = "2s"\n'
    )
    with pytest.raises(TargetError, match="it ends the program while it is imported"):
        invoke("check", scenario)


def test_test_instances_that_are_training_instances_too(tmp_path: Path):
    toy = Toy.write(tmp_path, smallest="900ms")
    (tmp_path / "test" / "1 test.txt").write_text("7")  # what "7 train.txt" holds
    told = " ".join(invoke("check", toy.scenario).stdout.split())
    assert "Warning: 1 of the test instances is a training instance, too ('test/1 test.txt'), so" in told
    assert "take others for instances.test" in told
    (tmp_path / "test" / "2 test.txt").write_text("7")
    told = " ".join(invoke("check", toy.scenario).stdout.split())
    assert "Warning: 2 of the test instances are training instances, too ('test/1 test.txt' is one)" in told


def test_copies_within_a_list_are_told_of(tmp_path: Path):
    toy = Toy.write(tmp_path, smallest="900ms")
    (tmp_path / "train" / "0 copy.txt").write_text("7")
    (tmp_path / "test" / "link.txt").symlink_to("1 test.txt")
    told = " ".join(invoke("check", toy.scenario).stdout.split())
    assert (
        "Warning: 1 of the training instances holds the same as another one ('train/7 train.txt' as "
        "'train/0 copy.txt'), so the same instance counts more than once" in told
    )
    assert "Warning: 1 of the test instances holds the same as another one ('test/link.txt' as" in told
    sample = toy.scenario.read_text().replace("[instances]", '[instances]\npopulation = "infinite"')
    toy.scenario.write_text(sample)
    told = " ".join(invoke("check", toy.scenario).stdout.split())
    assert "so the list is no independent sample, on which the promise rests: list each once, or set" in told


def test_a_largest_captime_below_the_start_up(tmp_path: Path):
    toy = Toy.write(tmp_path, smallest="1ms")
    toy.scenario.write_text(
        toy.scenario.read_text().replace('largest_captime = "1s"', 'largest_captime = "1ms"')
    )
    told = " ".join(invoke("check", toy.scenario).stdout.split())
    assert "the largest captime, 1 ms, is no longer than the" in told
    assert "that the default configuration takes even on an empty file" in told
    assert "hardly any of its runs could finish; raise limits.largest_captime" in told
    assert "the smallest captime" not in told


def test_a_captime_below_the_start_up(tmp_path: Path):
    toy = Toy.write(tmp_path, smallest="1ms", test=False)
    told = invoke("check", toy.scenario).stdout
    assert "the smallest captime, 1 ms, is no longer than the" in told
    assert "there are no test instances" in told


def test_a_program_that_is_slow_on_an_empty_file_only_is_not_warned_of(tmp_path: Path):
    toy = Toy.write(tmp_path, smallest="400ms")
    wait = "import sys, time\nif not open(sys.argv[-1]).read():\n    while time.process_time() < 0.7: pass\n"
    solver = tmp_path / "solver.py"
    solver.write_text(wait + solver.read_text())
    told = invoke("check", toy.scenario)
    assert "Start-up: at most about 7" in told.stdout
    assert "the smallest captime" not in told.stdout


def test_a_run_that_does_not_finish_is_no_failure(tmp_path: Path):
    toy = Toy.write(tmp_path)
    (tmp_path / "solver.py").write_text("while True: pass")
    told = invoke("check", toy.scenario, "--captime", "50ms")
    assert told.exit_code == 0
    assert "did not finish within 50 ms" in told.stdout
    assert "Start-up" not in told.stdout


def test_a_program_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    toy = Toy.write(tmp_path)
    (tmp_path / "solver.py").write_text("print('\\x1b[31mno licence'); raise SystemExit(7)")
    with pytest.raises(SystemExit) as ended:
        main(["check", str(toy.scenario)])
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert "  | \\x1b[31mno licence" in told.out
    assert "exit code 7" in told.out
    assert told.err.startswith("utilitune: the default configuration failed on the first training instance")
    assert told.err.count("\n") == 1


def test_an_option_and_its_value_in_one_piece_are_told_of_where_the_program_fails(tmp_path: Path):
    toy = Toy.write(tmp_path)
    (tmp_path / "solver.py").write_text("import sys; sys.exit('--seed' not in sys.argv)")
    toy.scenario.write_text(toy.scenario.read_text().replace('"--seed={seed}"', '"--seed {seed}"'))
    with pytest.raises(TargetError, match=r"if '--seed \{seed\}' should be two, write '--seed', '\{seed\}'"):
        invoke("check", toy.scenario)


def test_a_program_that_is_missing(tmp_path: Path):
    toy = Toy.write(tmp_path)
    text = toy.scenario.read_text()
    toy.scenario.write_text(text.replace("command = [", 'command = ["no-such-program", '))
    with pytest.raises((ScenarioError, TargetError), match="no-such-program"):
        invoke("check", toy.scenario)


def test_a_function_and_a_run_without_end(tmp_path: Path):
    (tmp_path / "quick_target.py").write_text(
        "def solve(configuration, instance, seed):\n    print('at', instance)\n"
    )
    (tmp_path / "scenario.toml").write_text(
        'utility = "uniform(k0=60)"\n[target]\nfunction = "quick_target:solve"\n'
        '[parameters.a]\ntype = "bool"\n[instances]\ntraining = ["x y"]\n[procedure]\nname = "oup"\n'
    )
    told = invoke("check", tmp_path / "scenario.toml").stdout
    assert "quick_target.solve(configuration={'a': False}, instance='x y'" in told
    assert "  | at x y" in told
    assert "nothing ends the run but you" in told
    assert "Start-up" not in told


def test_recorded_runtimes(tmp_path: Path):
    (tmp_path / "runs.csv").write_text("# cutoff_s = 60\nname,i1,i2\nfirst,30,\nsecond,6,12\n")
    (tmp_path / "scenario.toml").write_text(
        'utility = "uniform(k0=60)"\n[target]\nmatrix = "runs.csv"\n[budget]\nruns = 5\n'
        '[procedure]\nname = "oup"\n'
    )
    told = invoke("check", tmp_path / "scenario.toml").stdout
    assert "  recorded first i" in told
    assert "test instances for" not in told


def test_a_wrapper_that_hides_its_solver_is_told_of_with_what_to_do(tmp_path: Path):
    toy = Toy.write(tmp_path, smallest="900ms")
    wrapper = tmp_path / "wrapper"
    wrapper.write_text("#!/bin/sh\necho 'Result for SMAC: SAT, 0.0001, 0, 0, 1'\n")
    wrapper.chmod(0o755)
    text = re.sub(
        r'(?m)^command = .*\nsuccess_pattern = "solved"$',
        'command = ["./wrapper", "{instance}", "{parameters}"]\ncontract = "smac"',
        toy.scenario.read_text(),
    )
    toy.scenario.write_text(text)
    told = " ".join(invoke("check", toy.scenario).stdout.split())
    assert "by the wrapper's own account, and are the same for every configuration" in told
    assert "a tiny ε then proves little" in told
    assert "The wrapper reported" not in told
    assert "target.reported_runtime = true" in told
    toy.scenario.write_text(text.replace('"smac"', '"smac"\nreported_runtime = true'))
    assert "proves little" not in invoke("check", toy.scenario).stdout


def test_a_model_that_is_missing_is_told_of_where_it_would_propose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    toy = Toy.write(tmp_path, smallest="900ms")
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "sklearn" else real(name, *rest)
    )
    text = toy.scenario.read_text().replace('name = "oup"\nconfigurations = 4', 'name = "wager"')
    toy.scenario.write_text(text)
    assert "scikit-learn" not in invoke("check", toy.scenario).stdout
    toy.scenario.write_text(f"{text}\n[search]\nshare = 0\n")
    assert "pip install scikit-learn" in " ".join(invoke("check", toy.scenario).stdout.split())


def test_solutions_of_a_run_that_is_stopped_are_no_missing_quality(tmp_path: Path):
    """It told of solutions, and in the next line that none was reported."""
    (tmp_path / "improving_target.py").write_text(
        "def search(configuration, instance, seed, report):\n"
        "    report(30.0)\n    report(20.0)\n    report(25.0)\n    while True: pass\n"
    )
    (tmp_path / "scenario.toml").write_text(
        'objective = "anytime"\nutility = "gap(best=0, worst=100)"\n'
        '[target]\nfunction = "improving_target:search"\n[parameters.a]\ntype = "bool"\n'
        '[instances]\ntraining = ["x"]\n[limits]\nlargest_captime = "100ms"\n'
    )
    told = invoke("check", tmp_path / "scenario.toml").stdout
    assert "Quality: 20 (smaller is better); worth 0.8 at its best moment" in " ".join(told.split())

"""``convert``, ``trajectory`` and the formats of ``best`` that other tools read."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.live_runs import Toy, invoke
from scenario.dialects.foreign_files import irace, program, smac
from utilitune.cli.understanding import setting
from utilitune.errors import DataError, TargetError, UsageError
from utilitune.live.running import run_scenario
from utilitune.reports.answers import _as_irace, _as_smac, _irace_cell
from utilitune.rivals.packages import PEERS
from utilitune.scenario import read_scenario, understand
from utilitune.scenario.dialects.configurations import read_configurations_table, read_option_string
from utilitune.spaces import ParameterSpace
from utilitune.spaces.dialects import read_parameter_file
from utilitune.store import read_run_folder


@pytest.mark.parametrize("make", [irace, smac])
def test_a_converted_scenario_means_the_same_and_says_where_it_comes_from(tmp_path: Path, make: object):
    path = make(tmp_path)
    output = tmp_path / "scenario.toml"
    done = invoke("convert", path, "-o", output)
    assert f"Wrote {output}" in done.stdout
    assert "largest captime 20 s" in done.stderr
    text = output.read_text()
    assert text.startswith(
        "# Written by 'utilitune convert' from scenario.txt. "
        f"In the folder {tmp_path.name} it means the same:\n"
        "# unchanged, 'utilitune run' goes on with the run in scenario.run.\n"
    )
    assert f"# {path} is a scenario for " in text
    assert "→ largest captime 20 s" in text
    assert read_scenario(output).snapshot() == read_scenario(path).snapshot()


@pytest.mark.parametrize("name", ["other.toml", "exec/scenario.toml", None])
def test_a_file_of_another_name_or_place_says_how_it_goes_on(
    tmp_path: Path, name: str | None, monkeypatch: pytest.MonkeyPatch
):
    path = irace(tmp_path, "maxExperiments = 4\n")
    (tmp_path / "exec").mkdir()
    if name == "exec/scenario.toml":
        path.write_text(path.read_text() + 'execDir = "exec"\n')
    output = tmp_path / (name or "saved.toml")
    if name is None:
        output.write_text(invoke("convert", path).stdout)
    else:
        invoke("convert", path, "-o", output)
    folder = "../scenario.run" if name == "exec/scenario.toml" else "scenario.run"
    said = (
        f"# unchanged, 'utilitune run' --folder {folder} (as seen from this folder) goes on with the run in"
    )
    assert said in output.read_text()
    options = {"procedure": "oup", "options": {"configurations": 2}}
    run_scenario(replace(read_scenario(path), **options), path.with_suffix(".run"))
    monkeypatch.chdir(output.parent)
    run_scenario(replace(read_scenario(output), **options), Path(folder))
    store = read_run_folder(path.with_suffix(".run"))
    assert len(store.sessions()) == 2
    store.close()


def test_a_scenario_can_be_converted_to_the_standard_output(tmp_path: Path):
    shown = invoke("convert", smac(tmp_path)).stdout
    assert 'contract = "smac"' in shown
    assert "[parameters.alpha]" in shown


def test_nothing_is_written_over_or_elsewhere_by_accident(tmp_path: Path):
    path = smac(tmp_path)
    output = tmp_path / "scenario.toml"
    output.write_text("mine")
    with pytest.raises(UsageError, match="exists; name another file, or write over it with --force"):
        invoke("convert", path, "-o", output)
    assert invoke("convert", path, "-o", output, "--force").exit_code == 0
    with pytest.raises(UsageError, match="so the scenario must lie there"):
        invoke("convert", path, "-o", tmp_path.parent / "elsewhere.toml")


def test_check_explains_a_foreign_scenario_and_makes_one_run(tmp_path: Path):
    done = invoke("check", irace(tmp_path))
    assert "is a scenario for irace. It means here:" in done.stderr
    assert "boundMax = 20 → largest captime 20 s" in done.stderr
    assert "Status: finished" in done.stdout


def test_check_advises_in_the_words_of_the_users_own_tool(tmp_path: Path):
    path = irace(tmp_path, "maxTime = 0\nboundMax = 20\n")
    program(tmp_path / "target-runner", "#!/bin/sh\necho 5 5\n")
    shown = " ".join(invoke("check", path).stdout.split())
    assert "nothing ends the run but you: set maxTime" in shown
    assert "to compare on: set testInstancesFile" in shown
    assert "Warning: The wrapper reported 5 s for a run of which" in shown
    understood = understand(path)
    advice = setting(path, understood, "limits.smallest_captime")
    assert advice.startswith("limits.smallest_captime in the file that 'utilitune convert ")
    assert advice.endswith("scenario.toml' writes")
    advice = setting(path, understood, "target.reported_runtime = true")
    assert advice.startswith("target.reported_runtime = true in the file that 'utilitune convert ")
    native = tmp_path / "scenario.toml"
    invoke("convert", path, "-o", native)
    assert setting(native, understand(native), "limits.smallest_captime") == "limits.smallest_captime"


def test_a_default_that_the_runner_rejects_is_no_failure(tmp_path: Path):
    path = irace(tmp_path)
    program(tmp_path / "target-runner", "#!/bin/sh\necho Inf\n")
    shown = " ".join(invoke("check", path).stdout.split())
    assert (
        "the wrapper rejects the default configuration (Inf), so this run shows nothing about others" in shown
    )
    assert "Ready: utilitune run" in shown


def test_check_says_which_time_counts(tmp_path: Path):
    path = smac(tmp_path)
    program(tmp_path / "wrapper", '#!/bin/sh\necho "Result for SMAC: SAT, 0.5, 0, 0, 0"\n')
    assert "(what counts is CPU time: " in " ".join(invoke("check", path).stdout.split())
    native = tmp_path / "scenario.toml"
    invoke("convert", path, "-o", native)
    native.write_text(native.read_text().replace("reported_runtime = false", "reported_runtime = true"))
    assert "(what counts is the time it reports: 500 ms)" in " ".join(invoke("check", native).stdout.split())


def test_what_pcs_cannot_say_is_named_with_what_can(tmp_path: Path):
    path = irace(tmp_path, "maxExperiments = 3\n")
    scenario = replace(read_scenario(path), procedure="oup", options={"configurations": 2})
    run_scenario(scenario, path.with_suffix(".run"))
    with pytest.raises(UsageError) as refused:
        invoke("best", path.with_suffix(".run"), "--format", "pcs")
    assert str(refused.value) == (
        "a PCS file cannot hold the value '' of parameter 'extra': it is empty or has blanks or punctuation; "
        "use --format irace, smac, toml or json instead"
    )
    head, values = invoke("best", path.with_suffix(".run"), "--format", "irace").stdout.splitlines()
    assert head.split() == ["alpha", "mode", "depth", "extra"]
    assert float(values.split()[0]) >= 0
    assert values.split()[1] in {'"fast"', '"safe"'}


def test_irace_itself_takes_the_best(tmp_path: Path):
    if not PEERS["irace"].is_installed():
        pytest.skip("R with the package irace is not installed")
    path = irace(tmp_path, "maxExperiments = 3\n")
    words = '"plain", "two words", "back\\slash", "it\'s"'
    with (tmp_path / "parameters.txt").open("a") as parameters:
        parameters.write(f'words "" c ({words})\n.dotted_1 "" c (u, v)\n')
    scenario = replace(read_scenario(path), procedure="oup", options={"configurations": 2})
    run_scenario(scenario, path.with_suffix(".run"))
    (tmp_path / "best.txt").write_text(invoke("best", path.with_suffix(".run"), "--format", "irace").stdout)
    reading = 'p <- irace::readParameters("parameters.txt"); irace:::readConfigurationsFile("best.txt", p)'
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", reading], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "Read 1 configuration(s) from file 'best.txt'" in done.stdout


@pytest.mark.parametrize(
    ("value", "cell"), [(3, "3"), (0.25, "0.25"), (True, '"true"'), ("a b", '"a b"'), ("\\", "\\")]
)
def test_numbers_are_bare_and_texts_quoted_in_a_table_for_irace(value: object, cell: str):
    assert _irace_cell("x", value) == cell


def test_a_value_that_irace_would_take_for_another_is_refused():
    with pytest.raises(UsageError) as refused:
        _irace_cell("x", "NA")
    assert str(refused.value) == (
        "a configurationsFile of irace cannot hold the value 'NA' of parameter 'x'; use --format smac, toml "
        "or json instead"
    )


def test_a_row_that_irace_would_take_for_a_blank_line_is_refused():
    space = ParameterSpace.from_tables({"x": {"type": "categorical", "values": ["", "-v"]}})
    result, scenario = SimpleNamespace(best={"x": ""}), SimpleNamespace(space=space)
    with pytest.raises(UsageError, match="cannot hold the value '' of parameter 'x'"):
        _as_irace(result, scenario)
    assert _as_irace(SimpleNamespace(best={"x": "-v"}), scenario) == 'x\n"-v"'


@pytest.mark.parametrize("name", ["a b", "x#1", "a-b", "_x", "if"])
def test_a_name_that_irace_would_not_find_again_is_refused(name: str):
    space = ParameterSpace.from_tables({name: {"type": "categorical", "values": ["u", "v"]}})
    with pytest.raises(UsageError) as refused:
        _as_irace(SimpleNamespace(best={name: "u"}), SimpleNamespace(space=space))
    assert str(refused.value) == (
        f"irace cannot read the parameter name {name!r} in a configurationsFile: it must be letters, digits, "
        "'.' and '_', begin with a letter, and be no word of R such as if or TRUE; use --format toml or json "
        "instead"
    )


def test_a_name_with_a_blank_is_one_word_for_smac(tmp_path: Path):
    space = ParameterSpace.from_tables({"a b": {"type": "categorical", "values": ["u v", "w"]}})
    options = _as_smac(SimpleNamespace(best={"a b": "u v"}), SimpleNamespace(space=space))
    assert dict(read_option_string(options, space, tmp_path, 1).assignment) == {"a b": "u v"}


def test_the_best_in_the_words_of_other_tools(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = toy.run()
    space = read_scenario(toy.scenario).space
    table = tmp_path / "first.txt"
    table.write_text(invoke("best", toy.folder, "--format", "irace").stdout)
    assert [given.assignment for given in read_configurations_table(table, space)] == [result.best]
    options = invoke("best", toy.folder, "--format", "smac").stdout
    assert read_option_string(options, space, table, 1).assignment == result.best
    pcs = tmp_path / "best.pcs"
    pcs.write_text(invoke("best", toy.folder, "--format", "pcs").stdout)
    assert read_parameter_file(pcs).space.default() == result.best


def test_a_trajectory_in_every_format(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = toy.run()
    shown = invoke("trajectory", toy.folder).stdout.splitlines()
    assert shown[0].split() == ["time", "in", "runs", "runs", "configuration", "ε", "γ"]
    assert f"{result.progress.best_index} (" in shown[-1]
    assert float(shown[-1].split(")")[-1].split()[0]) >= result.progress.epsilon, (
        "a promise is never rounded down"
    )
    lines = invoke("trajectory", toy.folder, "--format", "aclib2").stdout.splitlines()
    assert json.loads(lines[-1])["evaluations"] == result.progress.runs
    file = tmp_path / "runhistory.json"
    assert invoke("trajectory", toy.folder, "--format", "runhistory", "-o", file).stdout == f"Wrote {file}.\n"
    assert len(json.loads(file.read_text())["data"]) == result.progress.runs
    with pytest.raises(UsageError, match="did you mean 'aclib2'"):
        invoke("trajectory", toy.folder, "--format", "aclib")


def test_instances_are_exported_with_features_and_how_the_best_did(tmp_path: Path):
    toy = Toy.write(tmp_path)
    text = toy.scenario.read_text().replace("[instances]\n", '[instances]\nfeatures = "size.csv"\n')
    toy.scenario.write_text(text)
    names = [f"train/{number} train.txt,{number}" for number in range(1, 41)]
    (tmp_path / "size.csv").write_text("\n".join(["instance,size", *names]) + "\n")
    toy.run()
    file = tmp_path / "instances.csv"
    assert "Wrote 40 instances" in invoke("export", toy.folder, file, "--what", "instances").stdout
    header, first, *_ = file.read_text().splitlines()
    assert header.split(",")[:2] == ["position", "instance"]
    assert header.endswith("best_status,best_runtime_s,feature.size")
    assert first.startswith("0,train/")
    assert "finished" in first


def test_runs_of_an_earlier_folder_count_and_the_run_says_so(tmp_path: Path):
    toy = Toy.write(tmp_path)
    toy.run()
    toy.scenario.write_text(toy.scenario.read_text().replace("uniform(k0=200ms)", "uniform(k0=400ms)"))
    folder = tmp_path / "second.run"
    arguments = ("--folder", folder, "--max-runs", "2", "--plain")
    with pytest.raises(UsageError, match="is the run itself, whose runs count anyway"):
        invoke("run", toy.scenario, "--reuse", toy.folder)
    invoke("run", toy.scenario, "--reuse", toy.folder, *arguments)
    store = read_run_folder(folder)
    conditions = [event.text for event in store.events() if event.kind == "condition"]
    taken = sum(run.taken_over for run in store.runs())
    store.close()
    assert taken > 10
    assert "with those of the earlier run" in " ".join(invoke("status", folder).stdout.split())
    assert len(conditions) == 1
    assert str(toy.folder) in conditions[0]


def test_check_reads_the_instance_features(tmp_path: Path):
    path = smac(tmp_path, "feature_file = f.csv\n")
    program(tmp_path / "wrapper", '#!/bin/sh\necho "Result for SMAC: SAT, 1, 0, 0, 0"\n')
    features = tmp_path / "f.csv"
    features.write_text("inst,x\na.cnf,1\nb.cnf,2\n")
    assert "Ready" in invoke("check", path).stdout
    for text, complaint in (
        ("inst,x\na.cnf,1\n", "the instance 'b.cnf' has no line of features"),
        ("inst,x\na.cnf,1\nb.cnf,many\n", "f.csv:3: 'many' is not a number"),
        ("inst,x\na.cnf,1\nb.cnf,2\na.cnf,3\n", "f.csv:4: the instance 'a.cnf' has a second line"),
    ):
        features.write_text(text)
        with pytest.raises(DataError, match=complaint):
            invoke("check", path)


def test_one_of_a_kind_is_not_told_of_in_the_plural(tmp_path: Path):
    path = irace(tmp_path, "maxExperiments = 1\n")
    (tmp_path / "Instances" / "a.txt").unlink()
    told = invoke("convert", path, "-o", tmp_path / "one.toml").stderr
    assert "at most 1 run\n" in told
    assert "1 training instance\n" in told
    told = invoke("convert", smac(tmp_path, "runcount_limit = 1\n"), "-o", tmp_path / "two.toml").stderr
    assert "at most 1 run\n" in told


def test_check_prints_what_the_one_run_is_worth_and_what_was_guessed(tmp_path: Path):
    path = irace(tmp_path, scenario='trainInstancesDir = "./Instances"\nmaxExperiments = 5\n')
    program(tmp_path / "target-runner", "#!/bin/sh\necho 50.5\n")
    done = invoke("check", path)
    assert done.stdout.startswith(
        "What counts is guessed: There is no boundMax, so the cost that a run prints counts"
    )
    assert (done.stdout + done.stderr).count("What counts is guessed") == 1
    shown = " ".join(done.stdout.split())
    assert "Quality: 50.5 (smaller is better); worth 0.5, being compared with itself" in shown
    assert "A solution is worth 1/2 at the quality of the default configuration" in shown
    assert "50.5 s" not in shown
    assert "Ready: utilitune run" in shown


def test_a_runner_that_prints_no_cost_is_not_ready(tmp_path: Path):
    path = irace(tmp_path, scenario='trainInstancesDir = "./Instances"\nmaxExperiments = 5\n')
    program(tmp_path / "target-runner", "#!/bin/sh\necho done\n")
    with pytest.raises(TargetError, match="the default configuration failed on the first training instance"):
        invoke("check", path)


def test_a_converted_scenario_about_quality_means_the_same(tmp_path: Path):
    path = smac(tmp_path, "run_obj = QUALITY\n")
    output = tmp_path / "scenario.toml"
    invoke("convert", path, "-o", output)
    assert read_scenario(output).digest() == read_scenario(path).digest()
    assert 'objective = "quality"' in output.read_text()

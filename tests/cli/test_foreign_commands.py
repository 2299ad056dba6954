"""``convert``, ``trajectory`` and the formats of ``best`` that other tools read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.live_runs import Toy, invoke
from scenario.dialects.foreign_files import irace, smac
from utilitune.errors import UsageError
from utilitune.scenario import read_scenario
from utilitune.scenario.dialects.configurations import read_configurations_table, read_option_string
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
    assert text.startswith(f"# {path} is a scenario for ")
    assert "→ largest captime 20 s" in text
    assert read_scenario(output).snapshot() == read_scenario(path).snapshot()


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
    with pytest.raises(UsageError, match="and so must the scenario lie there"):
        invoke("convert", path, "-o", tmp_path.parent / "elsewhere.toml")


def test_check_explains_a_foreign_scenario_and_makes_one_run(tmp_path: Path):
    done = invoke("check", irace(tmp_path))
    assert "is a scenario for irace. It means here:" in done.stderr
    assert "boundMax = 20 → largest captime 20 s" in done.stderr
    assert "Status: finished" in done.stdout


def test_the_best_in_the_words_of_other_tools(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = toy.run()
    space = read_scenario(toy.scenario).space
    table = tmp_path / "first.txt"
    table.write_text(invoke("best", toy.folder, "--format", "irace").stdout)
    assert read_configurations_table(table, space) == (result.best,)
    options = invoke("best", toy.folder, "--format", "smac").stdout
    assert read_option_string(options, space, table, 1) == result.best
    pcs = tmp_path / "best.pcs"
    pcs.write_text(invoke("best", toy.folder, "--format", "pcs").stdout)
    assert read_parameter_file(pcs).space.default() == result.best


def test_a_trajectory_in_every_format(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = toy.run()
    shown = invoke("trajectory", toy.folder).stdout.splitlines()
    assert shown[0].split() == ["time", "in", "runs", "runs", "configuration", "ε", "γ"]
    assert f"{result.progress.best_index} (" in shown[-1]
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
    invoke("run", toy.scenario, "--reuse", toy.folder, *arguments)
    store = read_run_folder(folder)
    conditions = [event.text for event in store.events() if event.kind == "condition"]
    taken = sum(run.taken_over for run in store.runs())
    store.close()
    assert taken > 10
    assert len(conditions) == 1
    assert str(toy.folder) in conditions[0]

"""``utilitune collect`` from the command line."""

from __future__ import annotations

import numpy as np
import pytest

from cli.live_runs import Toy, invoke
from utilitune import read_matrix
from utilitune.errors import ScenarioError, StoppedError, StoreError, UsageError


def test_a_small_collection_and_its_second_start(tmp_path):
    toy = Toy.write(tmp_path)
    options = ("--configurations", "2", "--instances", "2", "--captime", "1s", "--workers", "1")
    result = invoke("collect", toy.scenario, *options)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "2 configurations × 2 instances, 100.0 % of runs finished within 1 s" in result.stdout
    matrix = read_matrix(tmp_path / "scenario.npz")
    assert matrix.shape == (2, 2)
    assert matrix.feature_names == ("alpha",)
    assert (tmp_path / "scenario.collect").is_dir()

    for command in ("best", "show"):
        with pytest.raises(StoreError, match="holds a collection, which looks for no best configuration"):
            invoke(command, tmp_path / "scenario.collect")
    asked = invoke("whatif", tmp_path / "scenario.collect", "--utility", "uniform(1s)")
    assert "configuration 0" in asked.stdout or "configuration 1" in asked.stdout

    (tmp_path / "scenario.npz").unlink()
    assert invoke("collect", toy.scenario, *options).stdout == result.stdout
    assert np.array_equal(read_matrix(tmp_path / "scenario.npz").runtimes_s, matrix.runtimes_s)


def test_a_collection_ends_in_time_and_goes_on(tmp_path):
    toy = Toy.write(tmp_path)
    options = ("--configurations", "2", "--instances", "2", "--captime", "1s", "--workers", "1")
    with pytest.raises(StoppedError, match="wall-clock budget is spent: raise --max-wall-time to go on"):
        invoke("collect", toy.scenario, *options, "--max-wall-time", "1ms")
    assert not (tmp_path / "scenario.npz").exists()
    assert invoke("collect", toy.scenario, *options, "--max-wall-time", "1h").exit_code == 0
    assert read_matrix(tmp_path / "scenario.npz").shape == (2, 2)


def test_a_file_that_cannot_be_written_is_refused_before_any_run(tmp_path):
    toy = Toy.write(tmp_path)
    with pytest.raises(UsageError, match=r"must end in \.npz"):
        invoke("collect", toy.scenario, "-o", tmp_path / "matrix.csv")
    assert not (tmp_path / "matrix.collect").exists()


def test_more_instances_than_there_are_leave_nothing_behind(tmp_path):
    toy = Toy.write(tmp_path)
    with pytest.raises(ScenarioError, match="99 instances were asked for, but the scenario has 40"):
        invoke("collect", toy.scenario, "--instances", "99")
    assert not (tmp_path / "scenario.collect").exists()


def test_more_runs_than_anybody_can_wait_for_are_refused(tmp_path):
    """So many configurations were drawn without end, and nothing was said."""
    toy = Toy.write(tmp_path)
    with pytest.raises(UsageError, match="× 40 instances are more than 100,000,000 runs: record fewer"):
        invoke("collect", toy.scenario, "--configurations", "9" * 40, "--captime", "1s")
    assert not (tmp_path / "scenario.collect").exists()


def test_a_changed_scenario_is_told_how_to_record_afresh(tmp_path):
    toy = Toy.write(tmp_path)
    options = ("--configurations", "1", "--instances", "1", "--workers", "1")
    assert invoke("collect", toy.scenario, *options).exit_code == 0
    toy.scenario.write_text(toy.scenario.read_text().replace("default = 8.0", "default = 7.0"))
    with pytest.raises(StoreError) as refusal:
        invoke("collect", toy.scenario, *options)
    assert "write the matrix elsewhere (-o)" in str(refusal.value)
    assert "--folder" not in str(refusal.value)
    assert invoke("collect", toy.scenario, *options, "-o", tmp_path / "other.npz").exit_code == 0

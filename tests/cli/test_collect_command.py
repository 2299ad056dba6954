"""``utilitune collect`` from the command line."""

from __future__ import annotations

import numpy as np
import pytest

from cli.live_runs import Toy, invoke
from utilitune import read_matrix
from utilitune.errors import UsageError


def test_a_small_collection_and_its_second_start(tmp_path):
    toy = Toy.write(tmp_path)
    options = ("--configurations", "2", "--instances", "2", "--captime", "1s", "--workers", "1")
    result = invoke("collect", toy.scenario, *options)
    assert result.exit_code == 0
    assert "2 configurations × 2 instances, 100.0 % of runs finished within 1 s" in result.stdout
    matrix = read_matrix(tmp_path / "scenario.npz")
    assert matrix.shape == (2, 2)
    assert matrix.feature_names == ("alpha",)
    assert (tmp_path / "scenario.collect").is_dir()

    (tmp_path / "scenario.npz").unlink()
    assert invoke("collect", toy.scenario, *options).stdout == result.stdout
    assert np.array_equal(read_matrix(tmp_path / "scenario.npz").runtimes_s, matrix.runtimes_s)


def test_a_file_that_cannot_be_written_is_refused_before_any_run(tmp_path):
    toy = Toy.write(tmp_path)
    with pytest.raises(UsageError, match=r"must end in \.npz"):
        invoke("collect", toy.scenario, "-o", tmp_path / "matrix.csv")
    assert not (tmp_path / "matrix.collect").exists()

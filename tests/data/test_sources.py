"""What a user may name as data, the catalogue of public data sets, and summaries."""

from __future__ import annotations

import io
import math
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from utilitune.data import RuntimeMatrix, read_matrix
from utilitune.data.catalogue import DATA_SETS, data_folder, find_data_set
from utilitune.data.summary import mean_utilities, summarise
from utilitune.errors import DataError, UsageError
from utilitune.utility import parse_utility


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UTILITUNE_DATA", str(tmp_path))
    return tmp_path


def make_archive(folder: Path) -> Path:
    path = folder / "dataset_icar.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "dataset_icar/minisat_cnfuzzdd/measurements.dump", pickle.dumps({"-a": [1.0, 950.0]})
        )
        for seed in (520, 521):
            stream = io.BytesIO()
            np.save(stream, np.array([[float(seed), 10_000.0]]))
            archive.writestr(f"dataset_icar/cplex_rcw/cplex_rcw_rt_seed{seed}.npy", stream.getvalue())
    return path


def test_fetched_data_sets_are_read_from_the_archive(folder: Path):
    make_archive(folder)
    minisat = read_matrix("minisat")
    assert (minisat.configurations, minisat.cutoff_s) == (("-a",), 900.0)
    assert minisat.runtimes_s.tolist() == [[1.0, math.inf]]
    assert read_matrix("cplex_rcw").runtimes_s.tolist() == [[520.0, math.inf]]
    assert read_matrix("cplex_rcw?seed=521").runtimes_s.tolist() == [[521.0, math.inf]]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("cplex_rcw?seed=1", "has no seed 1; it has: 520, 521"),
        ("minisat?seed=520", "has no seed 520; it has: none"),
        ("cplex_region", "archive holds no cplex_region/cplex_region_rt_seed520.npy"),
    ],
)
def test_what_an_archive_does_not_hold(folder: Path, source: str, text: str):
    make_archive(folder)
    with pytest.raises(DataError, match=text):
        read_matrix(source)


def test_data_that_were_never_fetched_or_are_damaged(folder: Path):
    with pytest.raises(
        DataError, match=r"datasets fetch minisat` once, or try the synthetic lookalike:minisat"
    ):
        read_matrix("minisat")
    (folder / "dataset_icar.zip").write_bytes(b"PK but not really")
    with pytest.raises(DataError, match="archive is damaged"):
        read_matrix("minisat")


def test_where_data_are_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("UTILITUNE_DATA", "here")
    assert data_folder() == Path("here")
    monkeypatch.delenv("UTILITUNE_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", "share")
    assert data_folder() == Path("share/utilitune")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert data_folder() == Path("~/.local/share/utilitune").expanduser()


def test_the_catalogue_names_web_addresses():
    assert set(DATA_SETS) == {"minisat", "cplex_rcw", "cplex_region"}
    assert all(data_set.archive.url.startswith("https://") for data_set in DATA_SETS.values())
    with pytest.raises(DataError, match="did you mean 'cplex_rcw'"):
        find_data_set("cplexrcw")


def test_a_smaller_cutoff_after_the_name(tmp_path: Path):
    (tmp_path / "runs.csv").write_text("# cutoff_s = 300\n10,70,200\n")
    matrix = read_matrix(f"{tmp_path / 'runs.csv'}?cutoff=1m")
    assert matrix.cutoff_s == 60
    assert matrix.runtimes_s.tolist() == [[10, math.inf, math.inf]]
    with pytest.raises(DataError, match="recorded up to 300 s"):
        read_matrix(f"{tmp_path / 'runs.csv'}?cutoff=301")
    with pytest.raises(UsageError, match="not a duration"):
        read_matrix(f"{tmp_path / 'runs.csv'}?cutoff=soon")
    with pytest.raises(DataError, match="cutoff must be a positive"):
        read_matrix(f"{tmp_path / 'runs.csv'}?cutoff=0")


def test_a_question_mark_in_a_file_name(tmp_path: Path):
    (tmp_path / "why?.csv").write_text("1,2\n")
    assert read_matrix(tmp_path / "why?.csv").shape == (1, 2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rums.csv", "did you mean '.*runs.csv'"),
        ("folder", "not an ASlib scenario"),
        ("notes.txt", "files of this kind are not known"),
        ("runs.csv?sed=1", "did you mean 'seed'"),
        ("runs.csv?seed=1", "has no seed to choose"),
        ("runs.csv?seed=one", "whole number"),
        ("missing/algorithm_runs.arff", "there is no such data"),
    ],
)
def test_sources_that_cannot_be_read(tmp_path: Path, name: str, text: str):
    (tmp_path / "runs.csv").write_text("1\n")
    (tmp_path / "notes.txt").write_text("1\n")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match=text):
        read_matrix(f"{tmp_path}/{name}")


def test_names_that_are_nearly_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="did you mean 'minisat'"):
        read_matrix("minisatt")
    with pytest.raises(DataError, match="did you mean 'lookalike:minisat'"):
        read_matrix("lookalikeminisat")


@pytest.mark.parametrize("source", ["lookalike:minisat", "synthetic:rows=1", "runs.csv"])
def test_only_aslib_has_measures(source: str):
    with pytest.raises(DataError, match="only an ASlib scenario has several measures"):
        read_matrix(source, measure="runtime")


def test_summary_counts_unfinished_runs_as_the_longest():
    matrix = RuntimeMatrix.from_array([[4.0, 1.0], [3.0, 9.0]], cutoff_s=5)
    summary = summarise(matrix)
    assert (summary.rows, summary.columns, summary.finished_share) == (2, 2, 0.75)
    assert summary.quantiles_s[0.0] == 1.0
    assert summary.quantiles_s[0.5] == 3.0
    assert summary.quantiles_s[0.75] == 4.0
    assert summary.quantiles_s[1.0] == math.inf


def test_mean_utilities_follow_the_instance_order():
    utility = parse_utility("uniform(k0=10)")
    matrix = RuntimeMatrix.from_array([[5.0, 2.0], [math.inf, 0.0]])
    assert mean_utilities(matrix, utility).tolist() == pytest.approx([0.65, 0.5])
    sample = matrix.resample(7, seed=3)
    wanted = utility(sample.runtimes_s[:, sample.columns]).mean(axis=1)
    assert mean_utilities(sample, utility).tolist() == pytest.approx(wanted.tolist())

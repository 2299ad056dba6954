"""CSV and NumPy files: what is written is read back, and mistakes name their place."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from utilitune.data import RuntimeMatrix, read_matrix, write_matrix
from utilitune.errors import DataError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8).map(str.strip)


@st.composite
def matrices(draw: st.DrawFn):
    rows, width = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    entries = st.floats(0, allow_nan=False)
    return RuntimeMatrix.from_array(
        draw(npst.arrays(np.float64, (rows, width), elements=entries)),
        draw(st.floats(0, exclude_min=True, allow_nan=False)),
        configurations=draw(st.lists(NAMES, min_size=rows, max_size=rows, unique=True)),
        instances=draw(st.lists(NAMES, min_size=width, max_size=width, unique=True)),
    )


def assert_same(left: RuntimeMatrix, right: RuntimeMatrix):
    np.testing.assert_array_equal(left.runtimes_s, right.runtimes_s)
    np.testing.assert_array_equal(left.columns, right.columns)
    assert left.cutoff_s == right.cutoff_s
    assert (left.configurations, left.instances) == (right.configurations, right.instances)
    assert left.feature_names == right.feature_names
    assert (left.features is None) == (right.features is None)
    if left.features is not None:
        np.testing.assert_array_equal(left.features, right.features)


@pytest.mark.parametrize("ending", ["csv", "npz"])
@given(matrix=matrices())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, ending: str, matrix: RuntimeMatrix):
    path = tmp_path_factory.mktemp("matrix") / f"runs.{ending}"
    write_matrix(matrix, path)
    assert_same(read_matrix(path), matrix)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_npz_keeps_features_and_order(tmp_path: Path):
    matrix = RuntimeMatrix.from_array(np.ones((2, 3), dtype=np.float32), 5).resample(7, seed=1)
    matrix = replace(matrix, features=np.array([[1.0, math.nan], [2.0, 3.0]]), feature_names=("a", "b"))
    write_matrix(matrix, tmp_path / "runs.npz")
    again = read_matrix(tmp_path / "runs.npz")
    assert_same(again, matrix)
    assert again.runtimes_s.dtype == np.float32
    with pytest.raises(UsageError, match=r"write runs\.npz"):
        write_matrix(matrix, tmp_path / "runs.csv")


def test_an_existing_file_survives_a_failed_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "runs.npz"
    write_matrix(RuntimeMatrix.from_array([[1.0]]), path)
    before = path.read_bytes()

    def fail(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(DataError, match="cannot be written"):
        write_matrix(RuntimeMatrix.from_array([[2.0]]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_writing_to_nowhere_or_as_something_else(tmp_path: Path):
    matrix = RuntimeMatrix.from_array([[1.0]])
    with pytest.raises(DataError, match="cannot be written"):
        write_matrix(matrix, tmp_path / "missing" / "runs.csv")
    with pytest.raises(UsageError, match=r"\.csv or \.npz"):
        write_matrix(matrix, tmp_path / "runs.txt")


def write(tmp_path: Path, text: str):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    return path


def test_csv_with_names_comments_and_every_kind_of_unfinished(tmp_path: Path):
    text = '# from a cluster\n# cutoff_s = 300\nname,i1,"i,2",i3\n\nc1,1,,TimeOut\nc2, 300 ,inf,299.5\n'
    matrix = read_matrix(write(tmp_path, text))
    assert matrix.cutoff_s == 300
    assert matrix.configurations == ("c1", "c2")
    assert matrix.instances == ("i1", "i,2", "i3")
    assert matrix.runtimes_s.tolist() == [[1, math.inf, math.inf], [math.inf, math.inf, 299.5]]


@pytest.mark.parametrize("corner", ["", "configuration", "#"])
def test_csv_header_is_told_by_its_corner(tmp_path: Path, corner: str):
    text = f"{corner},1,2\nc,3,4\n" if corner != "#" else "\ufeffc,1,2\nc,3,4\n"
    matrix = read_matrix(write(tmp_path, text))
    assert matrix.instances == ("1", "2")


def test_csv_of_bare_numbers(tmp_path: Path):
    matrix = read_matrix(write(tmp_path, "1,2\n,inf\n3,4"))
    assert matrix.runtimes_s.tolist() == [[1, 2], [math.inf, math.inf], [3, 4]]
    assert matrix.instances == ("i0", "i1")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("n,a,b\nc,1,2\nd,1\n", 3, "2 cells, but the first row has 3"),
        ("# note\n1,2\n3,4,5\n", 3, "3 cells"),
        ("n,a\nc,fast\n", 2, "'fast' is not a runtime"),
        ("n,a\nc,-1\n", 2, "'-1' is not a runtime"),
        ("n,a\nc,nan\n", 2, "'nan' is not a runtime"),
        ("# cutoff_s = soon\n1\n", 1, "cutoff must be a positive"),
        ("# cutoff_s = -1\n1\n", 1, "cutoff must be a positive"),
        ("n,a\n", 1, "header but no runtimes"),
        ('n,a\nc,"1\n', 2, "not valid CSV"),
        ("", None, "no runtimes"),
        ("# only this", None, "no runtimes"),
    ],
)
def test_csv_mistakes_name_file_and_line(tmp_path: Path, text: str, line: int | None, message: str):
    path = write(tmp_path, text)
    with pytest.raises(DataError, match=message) as caught:
        read_matrix(path)
    assert caught.value.line == line
    assert str(caught.value).startswith(str(path))


def test_csv_with_equal_names_or_other_encoding(tmp_path: Path):
    with pytest.raises(DataError, match="'c' occurs more than once"):
        read_matrix(write(tmp_path, "n,a\nc,1\nc,2\n"))
    (tmp_path / "runs.csv").write_bytes(b"n,\xff\nc,1\n")
    with pytest.raises(DataError, match="UTF-8"):
        read_matrix(tmp_path / "runs.csv")


def test_npy_and_the_cutoffs_told_by_name(tmp_path: Path):
    array = np.array([[1.0, 20_000.0]])
    np.save(tmp_path / "mine.npy", array)
    np.save(tmp_path / "cplex_rcw_rt_seed520.npy", array)
    np.save(tmp_path / "cplex_region.npy", array.astype(np.float32))
    assert read_matrix(tmp_path / "mine.npy").cutoff_s == math.inf
    for name in ("cplex_rcw_rt_seed520.npy", "cplex_region.npy"):
        matrix = read_matrix(tmp_path / name)
        assert matrix.cutoff_s == 10_000
        assert matrix.runtimes_s.tolist() == [[1.0, math.inf]]


def test_numpy_files_with_pickles_inside_are_refused(tmp_path: Path):
    np.save(tmp_path / "objects.npy", np.array([["a", None]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "objects.npz", runtimes_s=np.array([[None]], dtype=object))
    for name in ("objects.npy", "objects.npz"):
        with pytest.raises(DataError, match="plain"):
            read_matrix(tmp_path / name)


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY\x01\x00", b"PK\x03\x04"])
def test_damaged_numpy_files(tmp_path: Path, name: str, content: bytes):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name):
        read_matrix(tmp_path / name)


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"times": np.ones((1, 1))}, "no array 'runtimes_s'"),
        ({"runtimes_s": np.ones((1, 1)), "cutoff_s": np.ones(2)}, "cutoff_s must be one number"),
        ({"runtimes_s": np.ones((1, 1)), "instances": np.array("i")}, "instances must be a list"),
        ({"runtimes_s": np.ones((1, 1)), "features": np.ones(1)}, "features must be a table"),
        ({"runtimes_s": np.ones((1, 1)), "columns": np.ones(1)}, "columns must be whole numbers"),
        ({"runtimes_s": np.ones((1, 1)), "features": np.ones((2, 1))}, "features have shape"),
    ],
)
def test_npz_with_wrong_parts(tmp_path: Path, arrays: dict[str, NDArray[Any]], text: str):
    np.savez(tmp_path / "runs.npz", **arrays)
    with pytest.raises(DataError, match=text):
        read_matrix(tmp_path / "runs.npz")

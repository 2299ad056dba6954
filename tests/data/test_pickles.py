"""minisat's measurements are read by an unpickler that runs nothing."""

from __future__ import annotations

import gzip
import math
import os
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.data import read_matrix
from utilitune.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def dump(folder: Path, content: object, *, protocol: int = 0):
    path = folder / "measurements.dump"
    path.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content, protocol))
    return path


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_configurations_to_lists_of_runtimes(tmp_path: Path, protocol: int):
    path = dump(tmp_path, {"-b 2": [3.0, 901.5], "-a 1": [1, 900.0]}, protocol=protocol)
    matrix = read_matrix(path)
    assert matrix.cutoff_s == 900
    assert matrix.configurations == ("-a 1", "-b 2")
    assert matrix.runtimes_s.tolist() == [[1, math.inf], [3, math.inf]]


def test_a_python_2_file(tmp_path: Path):
    content = b"(dp0\nS'-rnd-freq=0 -luby'\np1\n(lp2\nF0.25\naF900.0\nas."
    matrix = read_matrix(dump(tmp_path, content))
    assert matrix.configurations == ("-rnd-freq=0 -luby",)
    assert matrix.runtimes_s.tolist() == [[0.25, math.inf]]


def test_compressed_and_other_layouts(tmp_path: Path):
    nested = {("-a", 1): {"y": 2.0, "x": 1.0}, ("-a", 2): {"x": 3.0, "y": 4.0}}
    (tmp_path / "measurements.dump.gz").write_bytes(gzip.compress(pickle.dumps(nested)))
    matrix = read_matrix(tmp_path / "measurements.dump.gz")
    assert matrix.configurations == ("-a 1", "-a 2")
    assert matrix.instances == ("x", "y")
    assert matrix.runtimes_s.tolist() == [[1, 2], [3, 4]]
    assert read_matrix(dump(tmp_path, [[1.0, 2.0], (3.0, 4.0)])).configurations == ("c0", "c1")
    assert read_matrix(dump(tmp_path, {2: [1.0], "b": [2.0]})).configurations == ("2", "b")


class _Harmful:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("proof-of-harm",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "content", [_Harmful(), {"c": [_Harmful()]}, {"c": np.ones(2)}, {"c": [np.float64(1)]}]
)
def test_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: object, protocol: int):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"measurements\.dump: refused to load"):
        read_matrix(dump(tmp_path, content, protocol=protocol))
    assert not (tmp_path / "proof-of-harm").exists()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({}, "expected a dictionary"),
        ("text", "expected a dictionary"),
        ({"a": []}, "have no runtimes"),
        ({"a": 1.0}, "have no runtimes"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "number 2 was not measured"),
        ({"a": {"x": 1.0}, "b": {"y": 1.0}}, "number 2 was not measured"),
        ({"a": ["fast"]}, "number 1 are not all numbers"),
        ({"a": [math.nan]}, "not a number"),
        ({"a": [-1.0]}, "negative"),
        ({"a": [10**400]}, "damaged"),
        (b"", "damaged"),
        (b"hello", "damaged"),
        (b"\x80\x04Pabc\n.", "outside object"),
        (b"\x80\x04\x8d" + b"\xff" * 8, "damaged"),
    ],
)
def test_what_are_no_measurements(tmp_path: Path, content: object, text: str):
    with pytest.raises(DataError, match=text):
        read_matrix(dump(tmp_path, content))


def test_one_list_repeated_to_fill_the_memory(tmp_path: Path):
    row = [1.0] * 1000
    with pytest.raises(DataError, match="more often than its size allows"):
        read_matrix(dump(tmp_path, dict.fromkeys(range(10_000), row), protocol=4))


def test_a_file_that_is_not_gzip(tmp_path: Path):
    path = tmp_path / "measurements.dump.gz"
    for content in (b"hello", gzip.compress(b"x" * 100)[:-12]):
        path.write_bytes(content)
        with pytest.raises(DataError, match="gzip"):
            read_matrix(path)


@given(st.binary(max_size=60))
def test_random_bytes_give_one_sentence_at_worst(tmp_path_factory: pytest.TempPathFactory, content: bytes):
    path = dump(tmp_path_factory.mktemp("dump"), content)
    with pytest.raises(DataError, match="measurements"):
        read_matrix(path)

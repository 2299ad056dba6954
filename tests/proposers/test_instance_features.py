from __future__ import annotations

import numpy as np
import pytest

from utilitune.errors import DataError
from utilitune.proposers.instance_features import read_instance_features


def test_lines_are_found_by_full_or_file_name_and_scaled(tmp_path):
    path = tmp_path / "features.csv"
    path.write_text(
        "instance,size,depth,same\nb.cnf,30,,1\ndir/a.cnf,10,4,1\nc.cnf,20,8,1\n", encoding="utf-8"
    )
    table = read_instance_features(path, ["dir/a.cnf", "dir/b.cnf", "c.cnf"])
    assert np.allclose(table, [[0, 0, 0], [1, 0.5, 0], [0.5, 1, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"features\.csv:1: the first line must name the columns"),
        ("instance,size\na,1,2\n", r"features\.csv:2: 2 cells are expected, but there are 3"),
        ("instance,size\n\na,big\n", r"features\.csv:3: 'big' is not a number \(feature 'size'\)"),
        ("instance,size\na,inf\n", r"features\.csv:2: 'inf' is not a number"),
        ("instance,size\nz,1\n", r"the instance 'a' has no line of features: add one"),
        ("instance,size\nx/a,1\ny/a,2\n", r"the instance 'a' has no line of features: add one"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path, text, message):
    path = tmp_path / "features.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_instance_features(path, ["a"])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.csv: the instance features cannot be read"):
        read_instance_features(tmp_path / "none.csv", ["a"])

from __future__ import annotations

import numpy as np
import pytest

from utilitune.errors import DataError
from utilitune.search.proposers.base import Runs
from utilitune.search.proposers.forest import UtilityForest
from utilitune.search.proposers.instance_features import completed, read_instance_features
from utilitune.utility import parse_utility


def test_lines_are_found_by_full_or_file_name(tmp_path):
    path = tmp_path / "features.csv"
    path.write_text(
        "instance,size,depth,same\nb.cnf,30,,1\ndir/a.cnf,10,4,1\nc.cnf,20,8,1\n", encoding="utf-8"
    )
    table = read_instance_features(path, ["dir/a.cnf", "dir/b.cnf", "c.cnf"])
    assert np.array_equal(table, [[10, 4, 1], [30, np.nan, 1], [20, 8, 1]], equal_nan=True)


def test_columns_are_scaled_and_completed():
    table = np.array([[10, 4, 1, np.nan], [30, np.nan, 1, np.nan], [20, 8, 1, np.nan]])
    assert np.allclose(completed(table), [[0, 0, 0, 0], [1, 0.5, 0, 0], [0.5, 1, 0, 0]])
    assert np.array_equal(completed(np.array([[-1e308], [1e308]])), [[0.0], [1.0]])


def test_a_forest_knows_nothing_of_instances_without_runs():
    """Neither what is missing nor the scale may follow from instances that a proposal is judged on."""
    generator = np.random.default_rng(1)
    count, seen = 60, 20
    features = np.where(generator.random((count, 3)) < 0.3, np.nan, generator.normal(size=(count, 3)))
    other = features.copy()
    other[seen:] = np.where(generator.random((count - seen, 3)) < 0.3, np.nan, 1e9)
    pairs = [(configuration, position) for configuration in range(12) for position in range(seen)]
    runs = Runs.of((i, j, time := float(generator.exponential(5 + i)), time) for i, j in pairs)
    rows = generator.random((12, 2))
    forecasts = []
    for table in (features, other):
        forest = UtilityForest(parse_utility("uniform(k0=20)"), 1, table)
        forest.fit(runs, rows)
        forecasts.append(forest.predict(rows))
    assert np.array_equal(forecasts[0].mean, forecasts[1].mean)
    assert np.array_equal(forecasts[0].spread, forecasts[1].spread)
    assert np.ptp(forecasts[0].mean) > 0


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

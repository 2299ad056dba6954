"""``utilitune export``: three kinds of rows, two kinds of file."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, invoke
from utilitune.errors import StoreError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.live.result import RunResult


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    return Toy.write(tmp_path_factory.mktemp("export"))


@pytest.fixture(scope="module")
def result(toy: Toy) -> RunResult:
    return toy.run()


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_runs_as_csv(toy: Toy, result: RunResult, tmp_path: Path):
    told = invoke("export", toy.folder, tmp_path / "runs.csv")
    assert "Wrote 60 runs" in told.stdout
    rows = rows_of(tmp_path / "runs.csv")
    assert len(rows) == result.progress.runs == 60
    assert "train/" in rows[0]["instance"]


def test_runs_as_parquet(toy: Toy, result: RunResult, tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    invoke("export", toy.folder, tmp_path / "runs.parquet")
    table = parquet.read_table(tmp_path / "runs.parquet")
    assert table.num_rows == result.progress.runs
    assert {"instance", "runtime_s", "parameter.alpha"} <= set(table.column_names)


def test_configurations_and_trajectory(toy: Toy, result: RunResult, tmp_path: Path):
    invoke("export", toy.folder, tmp_path / "c.csv", "--what", "configurations")
    rows = rows_of(tmp_path / "c.csv")
    assert [row["configuration"] for row in rows] == ["0", "1", "2", "3"]
    assert rows[0]["origin"] == "default"
    invoke("export", toy.folder, tmp_path / "t.csv", "--what", "trajectory")
    points = rows_of(tmp_path / "t.csv")
    assert len(points) == len(result.trajectory)
    assert float(points[-1]["epsilon"]) == result.progress.epsilon


@pytest.mark.usefixtures("result")
def test_mistakes(toy: Toy, tmp_path: Path):
    with pytest.raises(UsageError, match=r"must end in \.csv or \.parquet"):
        invoke("export", toy.folder, tmp_path / "runs.xls")
    with pytest.raises(UsageError, match="did you mean 'trajectory'"):
        invoke("export", toy.folder, tmp_path / "t.csv", "--what", "trajektory")
    with pytest.raises(StoreError, match="cannot write"):
        invoke("export", toy.folder, tmp_path / "missing" / "t.csv")

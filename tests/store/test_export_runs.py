from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING

import pytest

from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.errors import MissingExtraError, StoreError
from utilitune.store import ConfigurationRecord, MemoryStore, RunRecord, Snapshot, StoredOrigin
from utilitune.store.export import run_rows, write_csv, write_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from utilitune.store import Store


@pytest.fixture
def store():
    made = MemoryStore(Snapshot({}, "digest"))
    made.add_configuration(ConfigurationRecord(0, {"x": 1, "mode": "a,b"}, StoredOrigin.DEFAULT))
    made.add_configuration(ConfigurationRecord(1, {"x": 0.5, "mode": 3}, StoredOrigin.RANDOM))
    made.add_configuration(ConfigurationRecord(2, {"mode": "c"}, StoredOrigin.MODEL))
    for index in (0, 1, 2):
        outcome = RunOutcome(
            RunStatus.TIMEOUT if index else RunStatus.FINISHED, 0.25, exit_code=index or None
        )
        made.add_run(RunRecord(RunRequest(index, 5, 2.0), outcome, seed=index))
    return made


def test_rows_are_flat_and_alike(store: Store):
    rows = list(run_rows(store))
    assert [row["configuration"] for row in rows] == [0, 1, 2]
    assert [row["parameter.x"] for row in rows] == [1, 0.5, None]
    assert [row["origin"] for row in rows] == ["default", "random", "model"]
    assert len({tuple(row) for row in rows}) == 1


def test_csv_reads_back(store: Store, tmp_path: Path):
    path = tmp_path / "runs.csv"
    assert write_csv(run_rows(store), path) == 3
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["parameter.mode"] for row in rows] == ["a,b", "3", "c"]
    assert [float(row["runtime_s"]) for row in rows] == [0.25] * 3
    assert [path.name for path in tmp_path.iterdir()] == ["runs.csv"]


def test_parquet_reads_back(store: Store, tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "runs.parquet"
    assert write_parquet(run_rows(store), path) == 3
    columns = parquet.read_table(path).to_pydict()
    assert columns["parameter.x"] == [1.0, 0.5, None]
    assert columns["parameter.mode"] == ["a,b", "3", "c"]
    assert columns["status"] == ["finished", "timeout", "timeout"]


def test_a_failure_in_the_middle_leaves_the_old_file(store: Store, tmp_path: Path):
    path = tmp_path / "runs.csv"
    path.write_text("old")

    def breaking() -> Iterator[dict[str, object]]:
        yield from run_rows(store)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_csv(breaking(), path)
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["runs.csv"]


def test_a_missing_place_is_one_sentence(store: Store, tmp_path: Path):
    with pytest.raises(StoreError, match="cannot write"):
        write_csv(run_rows(store), tmp_path / "nowhere" / "runs.csv")


def test_parquet_without_its_extra_says_what_to_install(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"utilitune\[export\]"):
        write_parquet(run_rows(store), tmp_path / "runs.parquet")

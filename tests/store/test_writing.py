"""Several writes by one commit: complete at the end of the block, and nothing of them before."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.errors import StoreError
from utilitune.store import Snapshot, open_run_folder, read_run_folder, schema
from utilitune.store.pulse import PULSE_NAME, read_pulse
from utilitune.store.records import ConfigurationRecord, RunRecord, StoredOrigin
from utilitune.store.writing import Writer

SNAPSHOT = Snapshot({"name": "x"}, "digest")


def a_run(position: int, **more: object) -> RunRecord:
    return RunRecord(RunRequest(0, position, 1.0), RunOutcome(RunStatus.FINISHED, 0.5, **more))


@pytest.fixture
def store(tmp_path: Path):
    found = open_run_folder(tmp_path / "run", SNAPSHOT)
    found.begin_session({})
    found.add_configuration(ConfigurationRecord(0, {}, StoredOrigin.DEFAULT))
    yield found
    found.close()


def seen(store) -> list[int]:
    with contextlib.closing(read_run_folder(store.folder)) as reader:
        return [run.request.position for run in reader.runs()]


def test_others_see_nothing_before_the_end_and_everything_after_it(store):
    with store.together():
        store.add_run(a_run(0))
        store.add_run(a_run(1, output_tail="printed"))
        assert seen(store) == []
        assert read_pulse(store.folder / PULSE_NAME).runs == 0
    assert seen(store) == [0, 1]
    assert read_pulse(store.folder / PULSE_NAME).runs == 2


def test_a_kill_within_the_block_leaves_the_state_before_it_and_no_complaint(tmp_path: Path, store):
    store.add_run(a_run(0))
    with contextlib.suppress(sqlite3.ProgrammingError, StoreError), store.together():
        store.add_run(a_run(1))
        store._connection.close()  # as a kill does
    store._lock.release()
    again = open_run_folder(tmp_path / "run", SNAPSHOT)
    again.begin_session({})
    assert [run.request.position for run in again.runs()] == [0]
    assert again.events() == []  # nothing is missing that anybody was told of
    assert again.add_run(a_run(2)) == 1
    again.close()


def test_half_a_run_is_never_kept(store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(schema, "INSERT_OUTPUT", "INSERT INTO nowhere VALUES (?, ?, ?)")
    runs = a_run(0), a_run(1, output_tail="printed")
    with pytest.raises(StoreError, match="no such table: nowhere"), store.together():
        list(map(store.add_run, runs))
    assert seen(store) == [0]
    monkeypatch.undo()
    assert store.add_run(a_run(2, output_tail="printed")) == 1
    assert seen(store) == [0, 2]


def test_a_commit_that_fails_keeps_nothing_and_says_so(store):
    class Full:
        """A connection to a disk without space."""

        def __init__(self, connection: sqlite3.Connection) -> None:
            self._connection = connection

        @property
        def in_transaction(self) -> bool:
            return self._connection.in_transaction

        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
            if statement == "COMMIT":
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorname = "SQLITE_FULL"
                raise error
            return self._connection.execute(statement, *values)

    writer = store._writer
    store._writer = Writer(store.folder, Full(store._connection))
    with pytest.raises(StoreError, match="is full"), store.together():
        store.add_run(a_run(0))
    store._writer = writer
    assert seen(store) == []
    assert store.add_run(a_run(1)) == 0
    assert seen(store) == [1]

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from utilitune.domain import PhaseRecord, RunOutcome, RunRequest, RunStatus
from utilitune.errors import StoreError
from utilitune.store import (
    ConfigurationRecord,
    RunRecord,
    Snapshot,
    StoredOrigin,
    open_run_folder,
    read_run_folder,
    schema,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.store import RunFolder

SNAPSHOT = Snapshot({"delta": 0.05}, "digest-1")
RUN = RunRecord(RunRequest(0, 0, 4.0), RunOutcome(RunStatus.FINISHED, 1.5))

WRITER = """
import sys
from dataclasses import replace
from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.store import ConfigurationRecord, StoredOrigin, RunRecord, Snapshot, open_run_folder
store = open_run_folder(sys.argv[1], Snapshot({"delta": 0.05}, "digest-1"))
store.begin_session({})
if not store.configurations():
    store.add_configuration(ConfigurationRecord(0, {}, StoredOrigin.DEFAULT))
while True:
    outcome = RunOutcome(RunStatus.FINISHED, 1.5, output_tail="x" * 100)
    print(store.add_run(RunRecord(RunRequest(0, 0, 4.0), outcome)), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path):
    return tmp_path / "run"


def new_store(folder: Path):
    store = open_run_folder(folder, SNAPSHOT)
    store.add_configuration(ConfigurationRecord(0, {}, StoredOrigin.DEFAULT))
    return store


def test_a_killed_writer_loses_nothing_it_has_reported(folder: Path):
    reported = 0
    for lines in (1, 20, 333):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True
        ) as process:
            for _ in range(lines):
                reported = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split("\n")[:-1]
            reported = int(rest[-1]) if rest else reported
        reader = read_run_folder(folder)
        sequences = [run.sequence for run in reader.runs()]
        assert reader.owner() is None
        reader.close()
        assert sequences == list(range(len(sequences)))
        assert reported in (len(sequences) - 1, len(sequences) - 2)  # the last one may be unreported
        check = sqlite3.connect(folder / "run.sqlite")
        assert check.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        check.close()


def test_readers_see_a_run_while_it_goes_on_and_can_ask_it_to_stop(folder: Path):
    store = new_store(folder)
    reader = read_run_folder(folder)
    store.add_run(RUN)
    assert len(list(reader.runs())) == 1
    store.add_run(RUN)
    assert reader.counts()[RunStatus.FINISHED] == 2
    assert reader.owner() == os.getpid()
    reader.request_stop()
    assert store.stop_requested()
    store.close()
    assert reader.owner() is None
    reader.close()


def test_a_reader_cannot_write(folder: Path):
    new_store(folder).close()
    reader = read_run_folder(folder)
    with pytest.raises(sqlite3.OperationalError):
        reader._connection.execute("DELETE FROM configurations")
    reader.close()


def test_a_clean_end_leaves_one_plain_file(folder: Path):
    store = new_store(folder)
    store.add_run(RUN)
    store.close()
    store.close()
    reader = read_run_folder(folder)
    reader.close()
    assert {path.name for path in folder.iterdir()} == {"run.sqlite", "lock", "pulse"}


def test_a_reader_at_work_does_not_hinder_the_writers_end_or_the_next_start(folder: Path):
    store = new_store(folder)
    for _ in range(3):
        store.add_run(RUN)
    reader = read_run_folder(folder)
    runs = reader.runs()
    next(runs)
    store.close()
    again = open_run_folder(folder, SNAPSHOT)
    again.add_run(RUN)
    assert len(list(runs)) == 2
    assert len(list(reader.runs())) == 4
    again.close()
    reader.close()


def test_a_second_coordinator_is_refused_until_the_first_has_ended(folder: Path):
    store = new_store(folder)
    with pytest.raises(
        StoreError, match=rf"in use by process {os.getpid()}.*another folder.*: utilitune stop "
    ):
        open_run_folder(folder, SNAPSHOT)
    store.add_run(RUN)
    store.close()
    open_run_folder(folder, SNAPSHOT).close()


def test_a_forked_child_does_not_keep_the_folder_locked(folder: Path):
    store = new_store(folder)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write_end)
        os.read(read_end, 1)  # until the parent is done
        os._exit(0)
    os.close(read_end)
    store.close()
    reopened = open_run_folder(folder, SNAPSHOT)
    assert reopened.snapshot == SNAPSHOT
    reopened.close()
    os.close(write_end)
    os.waitpid(child, 0)


def test_another_scenario_is_refused_and_told_how_to_go_on(folder: Path):
    new_store(folder).close()
    with pytest.raises(StoreError, match=r"belongs to another scenario.*another --folder"):
        open_run_folder(folder, Snapshot({"delta": 0.01}, "digest-2"))
    with pytest.raises(StoreError, match=r"restore the scenario to go on, or do this$"):
        open_run_folder(folder, Snapshot({"delta": 0.01}, "digest-2"), afresh="do this")
    reopened = open_run_folder(folder, Snapshot({"delta": 0.05, "budget": 9}, "digest-1"))
    assert reopened.snapshot == SNAPSHOT
    reopened.close()


def fill_the_disk(store: RunFolder):
    [(pages,)] = store._connection.execute("PRAGMA page_count")
    store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")


@pytest.mark.parametrize("tail", ["", "x" * 1500])
def test_a_full_disk_is_one_clear_sentence_and_nothing_is_lost(folder: Path, tail: str):
    store = new_store(folder)
    fill_the_disk(store)
    outcome = RunOutcome(RunStatus.CRASHED, 1.5, output_tail=tail, detail="d" * 400)
    kept = 0
    with pytest.raises(StoreError, match=r"disk that holds .* is full: free some space"):  # noqa: PT012
        while True:
            store.add_run(RunRecord(RunRequest(0, 0, 4.0), outcome))
            kept += 1
    assert kept > 0
    store._connection.execute("PRAGMA max_page_count = 1000000")
    assert store.add_run(RUN) == kept
    store.close()
    reader = read_run_folder(folder)
    assert [run.sequence for run in reader.runs()] == list(range(kept + 1))
    reader.close()


def test_a_killed_start_can_be_started_again(folder: Path):
    folder.mkdir()
    (folder / "lock").write_text("12\n")
    (folder / "run.sqlite").touch()
    with pytest.raises(StoreError, match="holds no run yet"):
        read_run_folder(folder)
    new_store(folder).close()


def test_a_folder_from_before_phases_were_kept_can_be_read_and_gone_on_with(folder: Path):
    new_store(folder).close()
    database = sqlite3.connect(folder / "run.sqlite")
    database.execute("DROP TABLE phases")
    database.commit()
    database.close()
    reader = read_run_folder(folder)
    assert reader.phases() == []
    reader.close()
    store = open_run_folder(folder, SNAPSHOT)
    phase = PhaseRecord(1, 4, 0, 0.5, 0.25, 12.5, 7)
    store.add_phase(phase)
    assert store.phases() == [phase]
    store.close()


def test_what_is_no_run_folder_is_refused(folder: Path, tmp_path: Path):
    with pytest.raises(StoreError, match="is no run folder"):
        read_run_folder(folder)
    folder.mkdir()
    (folder / "thesis.tex").write_text("dear reader")
    with pytest.raises(StoreError, match="holds other files"):
        open_run_folder(folder, SNAPSHOT)
    a_file = tmp_path / "file"
    a_file.write_text("")
    with pytest.raises(StoreError, match=r"cannot use .*file as a run folder"):
        open_run_folder(a_file, SNAPSHOT)
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_a_database_that_is_no_file_is_refused(folder: Path, make: Callable[[Path], object]):
    folder.mkdir()
    make(folder / "run.sqlite")
    with pytest.raises(StoreError, match="is no file: remove it"):
        open_run_folder(folder, SNAPSHOT)
    with pytest.raises(StoreError, match="is no run folder"):
        read_run_folder(folder)


@pytest.mark.parametrize("opener", [read_run_folder, lambda folder: open_run_folder(folder, SNAPSHOT)])
def test_files_that_are_not_ours_or_newer_or_damaged_are_refused(
    folder: Path, opener: Callable[[Path], object]
):
    folder.mkdir()
    database = folder / "run.sqlite"
    database.write_bytes(b"this is not a database, it only lies at the same place" * 100)
    with pytest.raises(StoreError, match="is damaged"):
        opener(folder)
    database.unlink()
    foreign = sqlite3.connect(database)
    foreign.execute("CREATE TABLE cats (name)")
    foreign.close()
    with pytest.raises(StoreError, match="not written by Utilitune"):
        opener(folder)
    database.unlink()
    new_store(folder).close()
    newer = sqlite3.connect(database)
    newer.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    newer.close()
    with pytest.raises(StoreError, match=r"newer Utilitune.*upgrade"):
        opener(folder)


def test_damage_in_the_middle_is_told_when_it_is_met(folder: Path):
    store = new_store(folder)
    for _ in range(2000):
        store.add_run(RUN)
    store.close()
    database = folder / "run.sqlite"
    content = bytearray(database.read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    database.write_bytes(content)
    with pytest.raises(StoreError, match=r"is damaged|cannot be used"):  # noqa: PT012
        reader = read_run_folder(folder)
        list(reader.runs())
    reader.close()


def test_a_failed_opening_lets_the_folder_go(folder: Path):
    new_store(folder).close()
    with pytest.raises(StoreError):
        open_run_folder(folder, Snapshot({}, "digest-2"))
    open_run_folder(folder, SNAPSHOT).close()


def test_a_folder_from_before_qualities_were_kept_is_read_and_goes_on(folder: Path):
    with contextlib.closing(new_store(folder)) as store:
        store.add_run(RUN)
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as older:
        older.execute("DROP TABLE solutions")
        older.commit()
    with contextlib.closing(read_run_folder(folder)) as reader:
        assert [run.outcome.quality for run in reader.runs()] == [None]
    with contextlib.closing(open_run_folder(folder, SNAPSHOT)) as store:
        store.add_run(replace(RUN, outcome=RunOutcome(RunStatus.FINISHED, 1.0, quality=2.5)))
        assert [run.outcome.quality for run in store.runs()] == [None, 2.5]


def test_a_file_that_asks_for_a_log_it_has_not_can_be_read(folder: Path):
    store = new_store(folder)
    store.add_run(RUN)
    store._connection.close()  # as a full disk leaves it: all moved over, and still in write-ahead mode
    store._lock.release()
    assert not (folder / "run.sqlite-wal").exists()
    folder.chmod(0o555)  # an ordinary user can make no log here
    try:
        reader = read_run_folder(folder)
        assert len(list(reader.runs())) == 1
        reader.close()
    finally:
        folder.chmod(0o755)

"""A run folder: one SQLite file, one writer, any number of readers beside it.

::

    folder/
      run.sqlite        everything (with -wal and -shm beside it while a run goes on)
      lock              held by the one writer, names its process
      stop-requested    appears when somebody asks the writer to stop

Each write is one committed transaction in write-ahead mode with `synchronous=NORMAL`. A process killed at any
moment loses nothing that was committed. A power failure may cost the last commits but leaves an intact,
earlier state; as the procedure's own state is rebuilt from the file, the lost runs are simply made again. A
writer that closes in good order leaves a single plain file that can be copied or read from anywhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utilitune.domain import PhaseRecord, Progress, RunOutcome, RunRequest, RunStatus, StopReason
from utilitune.errors import StoreError
from utilitune.store import facts, schema
from utilitune.store.base import OutputAllowance
from utilitune.store.lock import FolderLock, holder
from utilitune.store.records import (
    ConfigurationRecord,
    EventRecord,
    Origin,
    ProgressRecord,
    RunRecord,
    SessionRecord,
    Snapshot,
    to_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DATABASE_NAME = "run.sqlite"
LOCK_NAME = "lock"
STOP_NAME = "stop-requested"


class RunFolderReader:
    """Reads a run folder, also while a run goes on in it; made by `read_run_folder`."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._connection = connection
        self._stop_file = os.fspath(folder / STOP_NAME)
        found = list(self._rows("SELECT scenario, digest FROM snapshot"))
        if not found:
            raise StoreError(f"{folder / DATABASE_NAME} is damaged: restore a copy or use another folder")
        self.snapshot = Snapshot(json.loads(found[0][0]), found[0][1])

    def sessions(self) -> list[SessionRecord]:
        """Every start of the run, oldest first."""
        columns = "started_at, settings, ended_at, stop_code, stop_advice, versions, machine"
        return [
            SessionRecord(
                started_at=started_at,
                settings=json.loads(settings),
                ended_at=ended_at,
                stop=None if code is None else StopReason(code, advice),
                versions=json.loads(versions),
                machine=json.loads(machine),
            )
            for started_at, settings, ended_at, code, advice, versions, machine in self._rows(
                f"SELECT {columns} FROM sessions ORDER BY number"  # noqa: S608 - constant text
            )
        ]

    def configurations(self) -> list[ConfigurationRecord]:
        """Every configuration, by index."""
        return [
            ConfigurationRecord(index, json.loads(assignment), Origin(origin), first_position, drawn_at)
            for index, assignment, origin, first_position, drawn_at in self._rows(
                "SELECT * FROM configurations ORDER BY number"
            )
        ]

    def runs(
        self,
        *,
        configuration: int | None = None,
        position: int | None = None,
        status: RunStatus | None = None,
        since: int = 0,
    ) -> Iterator[RunRecord]:
        """Runs in the order of storing, those that match everything given; `since` is a sequence number."""
        wanted = {"configuration": configuration, "position": position, "status": status}
        given = {name: value for name, value in wanted.items() if value is not None}
        conditions = " AND ".join(["runs.sequence >= ?", *(f"{name} = ?" for name in given)])
        query = f"{schema.SELECT_RUNS} WHERE {conditions} ORDER BY runs.sequence"
        return map(_run_record, self._rows(query, (since, *given.values())))

    def counts(self) -> dict[RunStatus, int]:
        """How many runs ended in each way; every status has its entry."""
        found = dict(self._rows("SELECT status, count(*) FROM runs GROUP BY status"))
        return {status: found.get(status.value, 0) for status in RunStatus}

    def trajectory(self) -> Iterator[ProgressRecord]:
        """All progress, oldest first."""
        return map(_progress_record, self._rows(f"{schema.SELECT_TRAJECTORY} ORDER BY number"))

    def last_progress(self) -> ProgressRecord | None:
        """The latest progress, if there is any."""
        rows = list(self._rows(f"{schema.SELECT_TRAJECTORY} ORDER BY number DESC LIMIT 1"))
        return _progress_record(rows[0]) if rows else None

    def phases(self) -> list[PhaseRecord]:
        """The phases that are over, for procedures with phases, the first one first."""
        if not list(self._rows("SELECT 1 FROM sqlite_master WHERE name = 'phases'")):
            return []  # nobody has written here since phases are kept
        return [PhaseRecord(*row) for row in self._rows("SELECT * FROM phases ORDER BY number")]

    def events(self) -> list[EventRecord]:
        """Every event, oldest first."""
        return [EventRecord(*row) for row in self._rows("SELECT kind, text, at FROM events ORDER BY number")]

    def owner(self) -> int | None:
        """The process id of the coordinator at work here; None if there is none, 0 if it cannot be told."""
        return holder(self.folder / LOCK_NAME)

    def request_stop(self) -> None:
        """Ask the owner of this run to stop in good order."""
        try:
            (self.folder / STOP_NAME).touch()
        except OSError as error:
            raise StoreError(f"cannot leave a request to stop in {self.folder}: {error.strerror}") from error

    def stop_requested(self) -> bool:
        """Whether somebody asked for a stop since the latest session began."""
        return os.path.exists(self._stop_file)  # noqa: PTH110 - asked between any two runs

    def close(self) -> None:
        """Release everything; a closed store answers nothing more."""
        self._connection.close()

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        with _explaining(self.folder):
            yield from self._connection.execute(query, values)


class RunFolder(RunFolderReader):
    """The one writer of a run folder; made by `open_run_folder`."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: FolderLock) -> None:
        super().__init__(folder, connection)
        self._lock = lock
        [(next_sequence,)] = self._rows("SELECT coalesce(max(sequence), -1) + 1 FROM runs")
        self._next_sequence = int(next_sequence)
        kept = dict(self._rows("SELECT ordinary, sum(length(tail)) FROM outputs GROUP BY ordinary"))
        self._allowance = OutputAllowance(ordinary=kept.get(1, 0), failures=kept.get(0, 0))

    def begin_session(self, settings: Mapping[str, Any]) -> None:
        """Note that the run was started with these settings, and forget an old request to stop."""
        machine = facts.machine().facts
        self._write(
            schema.INSERT_SESSION, time.time(), to_json(settings), to_json(facts.versions()), to_json(machine)
        )
        (self.folder / STOP_NAME).unlink(missing_ok=True)

    def end_session(self, stop: StopReason | None = None) -> None:
        """Note that the current session ended, and why."""
        code, advice = (None, None) if stop is None else (stop.code, stop.advice)
        self._write(schema.END_SESSION, time.time(), code, advice)

    def add_configuration(self, *records: ConfigurationRecord) -> None:
        """Keep one configuration, or several together; every index must be new, else `ValueError`."""
        rows = [
            (each.index, to_json(each.assignment), each.origin.value, each.first_position, each.drawn_at)
            for each in records
        ]
        with self._transaction():
            self._connection.executemany(schema.INSERT_CONFIGURATION, rows)

    def add_run(self, record: RunRecord) -> int:
        """Keep a run and return its sequence number; its configuration must be kept, else `ValueError`."""
        sequence = self._next_sequence
        outcome = self._allowance.trim(record.outcome)
        row = _run_row(record, outcome, sequence)
        if outcome.output_tail:
            output = (sequence, not outcome.failed, outcome.output_tail)
            with self._transaction():
                self._connection.execute(schema.INSERT_RUN, row)
                self._connection.execute(schema.INSERT_OUTPUT, output)
        else:
            self._write(schema.INSERT_RUN, *row)
        self._next_sequence = sequence + 1
        return sequence

    def add_progress(self, progress: Progress) -> None:
        """Add a point to the trajectory."""
        self._write(
            schema.INSERT_PROGRESS,
            progress.best_index,
            progress.epsilon,
            progress.gamma,
            progress.delta,
            progress.total_time_s,
            progress.runs,
            progress.rounds,
            progress.configurations,
            progress.alive,
            time.time(),
            self._next_sequence,
        )

    def add_phase(self, phase: PhaseRecord) -> None:
        """Keep where the procedure stood at the end of a phase; its number must be new, else `ValueError`."""
        self._write(schema.INSERT_PHASE, *astuple(phase))

    def add_event(self, kind: str, text: str) -> None:
        """Keep a warning or a similar message."""
        self._write(schema.INSERT_EVENT, kind, text, time.time())

    def close(self) -> None:
        """Leave one plain file behind and let the folder go; a second call does nothing."""
        with contextlib.suppress(sqlite3.Error):  # a reader may be at work: then the log stays
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        super().close()
        self._lock.release()

    def _write(self, statement: str, *values: Any) -> None:  # noqa: ANN401 - whatever SQLite can hold
        with _explaining(self.folder):
            self._connection.execute(statement, values)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with _explaining(self.folder):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            except BaseException:  # a second Ctrl-C must not leave it open either
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def open_run_folder(folder: Path | str, snapshot: Snapshot, *, afresh: str | None = None) -> RunFolder:
    """Start a run folder for a scenario, or go on with the one that is there.

    Args:
        folder: Where it is, or shall be.
        snapshot: The scenario.
        afresh: How a user of the command at work chooses another folder; that of 'utilitune run' if left out.

    Raises:
        StoreError: If the folder is in use, belongs to another scenario, or is no usable run folder.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_foreign(folder)
        lock = FolderLock(folder / LOCK_NAME)
    except BlockingIOError as error:
        process = holder(folder / LOCK_NAME)
        whom = f"process {process}" if process else "another process"
        raise StoreError(
            f"{folder} is in use by {whom}: wait for it, stop it with 'utilitune stop {folder}', "
            "or use another folder"
        ) from error
    except OSError as error:
        raise StoreError(
            f"cannot use {folder} as a run folder: {error.strerror}; use another folder"
        ) from error
    with contextlib.ExitStack() as on_failure:
        on_failure.callback(lock.release)
        connection = sqlite3.connect(folder / DATABASE_NAME, isolation_level=None)
        on_failure.callback(connection.close)
        with _explaining(folder):
            _prepare(connection, folder, snapshot)
        store = RunFolder(folder, connection, lock)
        if store.snapshot.digest != snapshot.digest:
            raise StoreError(
                f"{folder} belongs to another scenario, or this one was changed in what its runs mean: "
                f"restore the scenario to go on, or {afresh or _afresh(folder)}"
            )
        on_failure.pop_all()
    return store


def _afresh(folder: Path) -> str:
    return (
        "choose another --folder to start afresh, with "
        f"'--reuse {folder}' if program and instances are the same, so that its runs count there too"
    )


def read_run_folder(folder: Path | str) -> RunFolderReader:
    """Open a run folder for reading only; its writer, if there is one, is not disturbed.

    Raises:
        StoreError: If there is no run there, or it cannot be read.
    """
    folder = Path(folder)
    database = folder / DATABASE_NAME
    if not database.is_file():
        raise StoreError(f"{folder} is no run folder: name the --folder that 'utilitune run' was given")
    with contextlib.ExitStack() as on_failure, _explaining(folder):
        connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
        on_failure.callback(connection.close)
        if _is_empty(connection):
            raise StoreError(f"{folder} holds no run yet: try again when 'utilitune run' has begun")
        _check_schema(connection, folder)
        reader = RunFolderReader(folder, connection)
        on_failure.pop_all()
    return reader


def _refuse_foreign(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    if DATABASE_NAME not in names and names - {LOCK_NAME, STOP_NAME}:
        raise StoreError(f"{folder} holds other files and is no run folder: name an empty or a new folder")


def _prepare(connection: sqlite3.Connection, folder: Path, snapshot: Snapshot) -> None:
    new = _is_empty(connection)
    if not new:
        _check_schema(connection, folder)
    [(mode,)] = connection.execute("PRAGMA journal_mode = WAL")
    if mode != "wal":
        raise StoreError(
            f"{folder} lies on a drive without write-ahead logging: use a folder on a local disk"
        )
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if new:
        _create(connection, snapshot)
    connection.execute(schema.LATER_TABLE)


def _is_empty(connection: sqlite3.Connection) -> bool:
    [(tables,)] = connection.execute("SELECT count(*) FROM sqlite_master")
    return not tables


def _create(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in schema.TABLES:
        connection.execute(statement)
    connection.execute("INSERT INTO snapshot VALUES (1, ?, ?)", (to_json(snapshot.scenario), snapshot.digest))
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION}")
    connection.execute("COMMIT")


def _check_schema(connection: sqlite3.Connection, folder: Path) -> None:
    [(application,)] = connection.execute("PRAGMA application_id")
    [(version,)] = connection.execute("PRAGMA user_version")
    if application != schema.APPLICATION_ID:
        raise StoreError(f"{folder / DATABASE_NAME} was not written by Utilitune: use another folder")
    if version > schema.SCHEMA_VERSION:
        raise StoreError(
            f"{folder} was written by a newer Utilitune (format {version}, this one knows "
            f"{schema.SCHEMA_VERSION}): upgrade Utilitune, or use another folder"
        )


@contextlib.contextmanager
def _explaining(folder: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ValueError(f"does not fit what is stored: {error}") from error
    except sqlite3.Error as error:
        raise StoreError(_explanation(error, folder)) from error


def _explanation(error: sqlite3.Error, folder: Path) -> str:
    name = str(getattr(error, "sqlite_errorname", ""))
    database = folder / DATABASE_NAME
    if name.startswith("SQLITE_FULL"):
        return (
            f"the disk that holds {folder} is full: free some space and start again, nothing stored is lost"
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return f"{database} is damaged: restore a copy or use another folder"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{database} is locked by another program: close that program and start again"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return f"{database} cannot be opened: check who may read and write {folder}, or use another folder"
    return f"{database} cannot be used ({error}): check the disk, then start again"


def _run_row(record: RunRecord, outcome: RunOutcome, sequence: int) -> tuple[Any, ...]:
    request = record.request
    return (
        sequence,
        request.configuration,
        request.position,
        request.captime_s,
        record.seed,
        outcome.status.value,
        outcome.runtime_s,
        outcome.cpu_s,
        outcome.wall_s,
        outcome.peak_memory_bytes,
        outcome.exit_code,
        outcome.overshoot_s,
        outcome.detail,
        record.started_at,
        record.ended_at,
        record.speculative,
    )


def _run_record(row: tuple[Any, ...]) -> RunRecord:
    sequence, configuration, position, captime_s, seed, status, *measured = row
    runtime_s, cpu_s, wall_s, memory, exit_code, overshoot_s, detail, started, ended, speculative, tail = (
        measured
    )
    outcome = RunOutcome(
        RunStatus(status), runtime_s, cpu_s, wall_s, memory, exit_code, overshoot_s, tail, detail
    )
    request = RunRequest(configuration, position, captime_s)
    return RunRecord(request, outcome, seed, started, ended, bool(speculative), sequence)


def _progress_record(row: tuple[Any, ...]) -> ProgressRecord:
    *progress, at, sequence = row
    return ProgressRecord(Progress(*progress), at, sequence)

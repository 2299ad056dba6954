"""A run folder: one SQLite file, one writer, any number of readers beside it.

::

    folder/
      run.sqlite        everything (with -wal and -shm beside it while a run goes on)
      lock              held by the one writer, names its process
      pulse             how far the latest start has come (see `pulse`)
      stop-requested    appears when somebody asks the writer to stop; others like it, see `requests`

Each write is one committed transaction in write-ahead mode with `synchronous=NORMAL`; runs that end together
share one. A process killed at any moment loses nothing that was committed. A power failure may cost the last
commits but leaves an intact, earlier state; as the procedure's own state is rebuilt from the file, the lost
runs are simply made again. A writer that closes in good order leaves a single plain file that can be copied
or read from anywhere.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from utilitune.domain import PhaseRecord, Progress, RunStatus, StopReason
from utilitune.errors import StoreError
from utilitune.errors.outside import exists, is_file, shell_line, storable
from utilitune.store import facts, rows, schema
from utilitune.store.base import OutputAllowance
from utilitune.store.changes import changes, runs_can_be_reused
from utilitune.store.counting import Counted
from utilitune.store.lock import FolderLock, holder
from utilitune.store.pulse import PULSE_NAME, Pulse, read_pulse
from utilitune.store.records import (
    ConfigurationRecord,
    EventRecord,
    FailedRun,
    ProgressRecord,
    RunRecord,
    SessionRecord,
    Snapshot,
    to_json,
)
from utilitune.store.requests import REQUEST_NAMES, FolderRequests
from utilitune.store.sqlite_errors import DATABASE_NAME, damaged, explaining
from utilitune.store.writing import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Record = TypeVar("Record")
LOCK_NAME = "lock"


class RunFolderReader(FolderRequests):
    """Reads a run folder, also while a run goes on in it; made by `read_run_folder`."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        super().__init__(folder)
        self._connection = connection
        self._configurations: list[ConfigurationRecord] = []
        self._trajectory: list[ProgressRecord] = []
        self._counts = Counted()
        found = list(self._read(rows.snapshot, "SELECT scenario, digest FROM snapshot"))
        if not found:
            raise damaged(folder)
        self.snapshot = found[0]

    def sessions(self) -> list[SessionRecord]:
        """Every start of the run, oldest first."""
        kept = self._has_table("durations")
        select = schema.SELECT_SESSIONS if kept else schema.SELECT_SESSIONS_WITHOUT_DURATIONS
        found = list(self._read(rows.session_record, f"{select} ORDER BY number"))
        beat = read_pulse(self.folder / PULSE_NAME)
        if found and beat is not None and beat.session >= len(found) and found[-1].elapsed_s is None:
            # Later starts may be lost with SQLite's log: the last that is left lasted for them, too.
            known_s = beat.before_s if beat.session == len(found) else _seconds(found)
            found[-1] = replace(found[-1], elapsed_s=max(0.0, beat.before_s + beat.elapsed_s - known_s))
        return found

    def configurations(self) -> list[ConfigurationRecord]:
        """Every configuration, by index; only those that are new since the last call are read."""
        known = self._configurations
        query = "SELECT * FROM configurations WHERE number > ? ORDER BY number"
        known += self._read(rows.configuration_record, query, (known[-1].index if known else -1,))
        if next(self._rows("SELECT count(*) FROM configurations"))[0] != len(known):  # not added in order
            known[:] = self._read(rows.configuration_record, query, (-1,))
        return list(known)

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
        select = schema.select_runs([name for name in schema.OF_RUNS if self._has_table(name)])
        query = f"{select} WHERE {conditions} ORDER BY runs.sequence"
        return self._read(rows.run_record, query, (since, *given.values()))

    def counts(self) -> dict[RunStatus, int]:
        """How many runs ended in each way; every status has its entry."""
        found = self._counted().by_status
        return {status: found[status.value] for status in RunStatus}

    def failed_runs(self, *, since: int = 0) -> Iterator[FailedRun]:
        """Runs that failed from a sequence number on, in that order, with no more than tells why."""
        failed = {status.value: status for status in RunStatus if status.failed}
        marks = ", ".join("?" * len(failed))
        query = f"{schema.SELECT_FAILED} WHERE sequence >= ? AND status IN ({marks}) ORDER BY sequence"
        return (FailedRun(failed[row[0]], *row[1:]) for row in self._rows(query, (since, *failed)))

    def runs_each(self) -> dict[int, int]:
        """How many runs there are of each configuration that was run at all, by its number."""
        return dict(self._counted().by_configuration)

    def _counted(self) -> Counted:
        """How many runs there are of each kind; only those that are new since the last call are counted."""
        return self._counts.with_more(list(self._rows(schema.COUNT_RUNS, (self._counts.last,))))

    def trajectory(self) -> Iterator[ProgressRecord]:
        """All progress, oldest first; only what is new since the last call is read."""
        known = self._trajectory
        query = f"{self._select_trajectory()} ORDER BY trajectory.number LIMIT -1 OFFSET ?"
        known += list(self._read(rows.progress_record, query, (len(known),)))
        return iter(tuple(known))

    def last_progress(self) -> ProgressRecord | None:
        """The latest progress, if there is any."""
        query = f"{self._select_trajectory()} ORDER BY trajectory.number DESC LIMIT 1"
        return next(self._read(rows.progress_record, query), None)

    def _select_trajectory(self) -> str:
        """The query for all progress; nobody may have written here since gains are kept."""
        kept = self._has_table("gains")
        return schema.SELECT_TRAJECTORY_WITH_GAINS if kept else schema.SELECT_TRAJECTORY_WITHOUT_GAINS

    def facts(self) -> dict[str, str]:
        """What is kept once of the whole run, by name."""
        if not self._has_table("facts"):
            return {}
        return dict(self._rows("SELECT name, value FROM facts ORDER BY name"))

    def nominations(self) -> list[int]:
        """The configuration of every nomination, the first one first."""
        if not self._has_table("nominations"):
            return []
        return [number for (number,) in self._rows("SELECT configuration FROM nominations ORDER BY number")]

    def phases(self) -> list[PhaseRecord]:
        """The phases that are over, for procedures with phases, the first one first."""
        if not self._has_table("phases"):
            return []  # nobody has written here since phases are kept
        return list(self._read(rows.phase_record, "SELECT * FROM phases ORDER BY number"))

    def events(self) -> list[EventRecord]:
        """Every event, oldest first."""
        return list(self._read(rows.event_record, "SELECT kind, text, at FROM events ORDER BY number"))

    def changes(self) -> int:
        """A number that is another one after every write of somebody else; asking costs next to nothing."""
        [(version,)] = self._rows("PRAGMA data_version")
        return int(version)

    def owner(self) -> int | None:
        """The process id of the coordinator at work here; None if there is none, 0 if it cannot be told."""
        return holder(self.folder / LOCK_NAME)

    def close(self) -> None:
        """Release everything; a closed store answers nothing more."""
        self._connection.close()

    def _has_table(self, name: str) -> bool:
        """Whether a table is there that the first folders were written without."""
        return bool(list(self._rows("SELECT 1 FROM sqlite_master WHERE name = ?", (name,))))

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        with explaining(self.folder):
            # Not `yield from`: the cursor of a connection that is closed cannot be closed, and need not be.
            for row in self._connection.execute(query, values):  # noqa: UP028
                yield row

    def _read(
        self, record: Callable[[tuple[Any, ...]], Record], query: str, values: tuple[Any, ...] = ()
    ) -> Iterator[Record]:
        """Rows as records; values that we would never have written mean that the file is damaged."""
        for row in self._rows(query, values):
            try:
                yield record(row)
            except rows.NOT_OURS as error:
                raise damaged(self.folder) from error


class RunFolder(RunFolderReader):
    """The one writer of a run folder; made by `open_run_folder`."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: FolderLock) -> None:
        super().__init__(folder, connection)
        self._lock = lock
        self._writer = Writer(folder, connection)
        self._next_sequence = self._stored_runs()
        try:
            self._pulse = Pulse(folder / PULSE_NAME)
        except OSError as error:
            raise StoreError(f"{folder / PULSE_NAME} cannot be written: {error.strerror}") from error
        kept = dict(self._rows("SELECT ordinary, sum(length(tail)) FROM outputs GROUP BY ordinary"))
        self._allowance = OutputAllowance(ordinary=kept.get(1, 0), failures=kept.get(0, 0))

    def begin_session(self, settings: Mapping[str, Any]) -> None:
        """Note that the run was started with these settings, and forget an old request to stop."""
        machine = facts.machine().facts
        before = self.sessions()
        if before and before[-1].elapsed_s is not None:  # killed: what is known of it is overwritten now
            self._writer.write(schema.INSERT_DURATION, len(before), before[-1].elapsed_s)
        self._writer.write(
            schema.INSERT_SESSION, time.time(), to_json(settings), to_json(facts.versions()), to_json(machine)
        )
        self._note_missing()
        self._pulse.begin(len(before) + 1, self._next_sequence, _seconds(before))
        self._forget_requests()

    def end_session(self, stop: StopReason | None = None) -> None:
        """Note that the current session ended, and why."""
        code, advice = (None, None) if stop is None else (stop.code, storable(stop.advice))
        with self._writer.all_or_nothing() as connection:
            [(number,)] = connection.execute("SELECT max(number) FROM sessions")
            connection.execute(schema.END_SESSION, (time.time(), code, advice))
            if number is not None:
                connection.execute(schema.INSERT_DURATION, (number, self._pulse.elapsed_s()))

    def _note_missing(self) -> None:
        """Say so where runs are missing that were stored; they are made again where they are needed."""
        last = self._pulse.last
        if last is not None and last.runs > self._next_sequence:
            self.add_event(
                "warning",
                f"{_missing(last.runs - self._next_sequence)}: the file "
                f"{DATABASE_NAME}-wal was deleted, an older copy was restored, or the power failed. What is "
                "left is whole, and what is missing is made again.",
            )

    def add_configuration(self, *records: ConfigurationRecord) -> None:
        """Keep one configuration, or several together; every index must be new, else `ValueError`."""
        rows = [
            (each.index, to_json(each.assignment), each.origin.value, each.first_position, each.drawn_at)
            for each in records
        ]
        with self._writer.all_or_nothing() as connection:
            connection.executemany(schema.INSERT_CONFIGURATION, rows)

    def add_run(self, record: RunRecord) -> int:
        """Keep a run and return its sequence number; its configuration must be kept, else `ValueError`."""
        sequence = self._next_sequence
        outcome = self._allowance.trim(record.outcome)
        row = rows.run_row(record, outcome, sequence)
        has_solution = outcome.quality is not None or outcome.bound is not None
        if outcome.output_tail or has_solution or outcome.trace or outcome.continued_s:
            output = (sequence, not outcome.failed, outcome.output_tail)
            with self._writer.all_or_nothing() as connection:
                connection.execute(schema.INSERT_RUN, row)
                if outcome.output_tail:
                    connection.execute(schema.INSERT_OUTPUT, output)
                if has_solution:
                    connection.execute(schema.INSERT_SOLUTION, (sequence, outcome.quality, outcome.bound))
                if outcome.trace:
                    points = json.dumps(outcome.trace, separators=(",", ":"))
                    connection.execute(schema.INSERT_TRACE, (sequence, points))
                if outcome.continued_s:
                    connection.execute(schema.INSERT_CONTINUATION, (sequence, outcome.continued_s))
        else:
            self._writer.write(schema.INSERT_RUN, *row)
        self._next_sequence = sequence + 1
        if not self._connection.in_transaction:
            self._pulse.beat(self._next_sequence)
        return sequence

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Keep all that is added in the block by one commit at its end, however it ends."""
        before = self._next_sequence
        try:
            with self._writer.together():
                yield
        except BaseException:
            self._next_sequence = before  # if nobody can be asked
            self._next_sequence = self._stored_runs()
            raise
        finally:
            self._pulse.beat(self._next_sequence)

    def _stored_runs(self) -> int:
        return int(next(self._rows("SELECT coalesce(max(sequence), -1) + 1 FROM runs"))[0])

    def add_progress(self, progress: Progress) -> None:
        """Add a point to the trajectory."""
        row = (
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
        if progress.gain is None:
            self._writer.write(schema.INSERT_PROGRESS, *row)
            return
        with self._writer.all_or_nothing() as connection:
            connection.execute(schema.INSERT_PROGRESS, row)
            connection.execute(schema.INSERT_GAIN, (progress.gain,))

    def keep_fact(self, name: str, value: str) -> None:
        """Keep something about the whole run, in place of what was kept by that name before."""
        self._writer.write(schema.INSERT_FACT, name, value)

    def nominate(self, configuration: int) -> int:
        """Keep that a configuration is nominated; return the nomination's number, from 1."""
        number = len(self.nominations()) + 1
        self._writer.write(schema.INSERT_NOMINATION, number, configuration)
        return number

    def add_phase(self, phase: PhaseRecord) -> None:
        """Keep where the procedure stood at the end of a phase; its number must be new, else `ValueError`."""
        self._writer.write(schema.INSERT_PHASE, *astuple(phase))

    def add_event(self, kind: str, text: str) -> None:
        """Keep a warning or a similar message."""
        self._writer.write(schema.INSERT_EVENT, kind, storable(text), time.time())

    def close(self) -> None:
        """Leave one plain file behind and let the folder go; a second call does nothing."""
        with contextlib.suppress(sqlite3.Error):  # a reader may be at work: then the log stays
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        super().close()
        self._pulse.close()
        self._lock.release()


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
            f"{folder} is in use by {whom}: wait for it, use another folder, or stop it with: "
            f"{shell_line(['utilitune', 'stop', folder])}"
        ) from error
    except OSError as error:
        why = f"cannot use {folder} as a run folder: {error.strerror}"
        raise StoreError(f"{why}; use another folder") from error
    with contextlib.ExitStack() as on_failure:
        on_failure.callback(lock.release)
        with explaining(folder):
            connection = sqlite3.connect(folder / DATABASE_NAME, isolation_level=None)
            on_failure.callback(connection.close)
            _prepare(connection, folder, snapshot)
        store = RunFolder(folder, connection, lock)
        if store.snapshot.digest != snapshot.digest:
            found = changes(store.snapshot.scenario, snapshot.scenario)
            what = f"changed: {'; '.join(found)}" if found else "the contents of an instance have changed"
            same = bool(found) and runs_can_be_reused(store.snapshot.scenario, snapshot.scenario)
            raise StoreError(
                f"{folder} belongs to another scenario, or this one was changed so that runs mean something "
                f"else ({what}): restore the scenario to go on, or {afresh or _afresh(folder, same=same)}"
            )
        on_failure.pop_all()
    return store


def _afresh(folder: Path, *, same: bool) -> str:
    """How to begin another run; earlier runs are offered only where they are those that it would make."""
    reuse = f"let its runs count there too with: {shell_line(['--reuse', folder])}"
    return f"choose another --folder to start afresh, {f'and {reuse}' if same else 'without its runs'}"


def read_run_folder(folder: Path | str) -> RunFolderReader:
    """Open a run folder for reading only; its writer, if there is one, is not disturbed.

    Raises:
        StoreError: If there is no run there, or it cannot be read.
    """
    folder = Path(folder)
    database = folder / DATABASE_NAME
    if not is_file(database):
        raise StoreError(f"{folder} is no run folder: name the --folder that 'utilitune run' was given")
    with contextlib.ExitStack() as on_failure, explaining(folder):
        connection = _reading(database)
        on_failure.callback(connection.close)
        if _is_empty(connection):
            raise StoreError(f"{folder} holds no run yet: try again when 'utilitune run' has begun")
        _check_schema(connection, folder)
        reader = RunFolderReader(folder, connection)
        on_failure.pop_all()
    return reader


def _reading(database: Path) -> sqlite3.Connection:
    """A connection for reading; the file is opened as one that nobody writes where there is no log beside it.

    A writer that ran out of disk may leave a file that asks for a log and has none, and SQLite makes none for
    readers.
    """
    address = f"{database.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA schema_version").fetchall()
    except sqlite3.OperationalError:
        if exists(f"{database}-wal"):
            return connection
        connection.close()
        return sqlite3.connect(f"{address}&immutable=1", uri=True, isolation_level=None)
    return connection


def _refuse_foreign(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    if DATABASE_NAME in names and not is_file(folder / DATABASE_NAME):
        raise StoreError(f"{folder / DATABASE_NAME} is no file: remove it, or use another folder")
    if DATABASE_NAME not in names and PULSE_NAME in names:
        raise StoreError(
            f"{folder} is a run folder whose {DATABASE_NAME} is gone: restore it, or use another folder"
        )
    if DATABASE_NAME not in names and names - {LOCK_NAME, *REQUEST_NAMES}:
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
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # what the run is stands in the main file
    for statement in schema.LATER_TABLES:
        connection.execute(statement)


def _seconds(sessions: Sequence[SessionRecord]) -> float:
    return sum(session.elapsed_s or 0.0 for session in sessions)


def _is_empty(connection: sqlite3.Connection) -> bool:
    [(tables,)] = connection.execute("SELECT count(*) FROM sqlite_master")
    return not tables


def _missing(runs: int) -> str:
    """So many runs are missing, in words."""
    return f"{runs} run{' that had been stored is' if runs == 1 else 's that had been stored are'} missing"


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

"""The tables of a run folder's `run.sqlite`, and the statements that fill them.

Output tails stand in a table of their own, so that scanning the runs stays fast. The application id marks
the file as ours; the user version is the schema's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

APPLICATION_ID = 0x55744C6E  # "UtLn"
SCHEMA_VERSION = 1

TABLES = (
    """
    CREATE TABLE snapshot (
        only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
        scenario TEXT NOT NULL,
        digest TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        started_at REAL NOT NULL,
        ended_at REAL,
        settings TEXT NOT NULL,
        stop_code TEXT,
        stop_advice TEXT,
        versions TEXT NOT NULL,
        machine TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE configurations (
        number INTEGER PRIMARY KEY,
        assignment TEXT NOT NULL,
        origin TEXT NOT NULL,
        first_position INTEGER NOT NULL,
        drawn_at REAL NOT NULL
    )
    """,
    """
    CREATE TABLE runs (
        sequence INTEGER PRIMARY KEY,
        configuration INTEGER NOT NULL REFERENCES configurations (number),
        position INTEGER NOT NULL,
        captime_s REAL NOT NULL,
        seed INTEGER NOT NULL,
        status TEXT NOT NULL,
        runtime_s REAL NOT NULL,
        cpu_s REAL NOT NULL,
        wall_s REAL NOT NULL,
        peak_memory_bytes INTEGER NOT NULL,
        exit_code INTEGER,
        overshoot_s REAL NOT NULL,
        detail TEXT NOT NULL,
        started_at REAL NOT NULL,
        ended_at REAL NOT NULL,
        speculative INTEGER NOT NULL
    )
    """,
    "CREATE INDEX runs_by_configuration ON runs (configuration, position)",
    "CREATE INDEX runs_by_position ON runs (position)",
    "CREATE INDEX runs_by_status ON runs (status)",
    """
    CREATE TABLE outputs (
        sequence INTEGER PRIMARY KEY REFERENCES runs (sequence),
        ordinary INTEGER NOT NULL,
        tail TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE trajectory (
        number INTEGER PRIMARY KEY,
        best_index INTEGER NOT NULL,
        epsilon REAL NOT NULL,
        gamma REAL,
        delta REAL NOT NULL,
        total_time_s REAL NOT NULL,
        runs INTEGER NOT NULL,
        rounds INTEGER NOT NULL,
        configurations INTEGER NOT NULL,
        alive INTEGER NOT NULL,
        at REAL NOT NULL,
        sequence INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE events (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        at REAL NOT NULL
    )
    """,
)

LATER_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS phases (
        number INTEGER PRIMARY KEY,
        configurations INTEGER NOT NULL,
        best_index INTEGER NOT NULL,
        epsilon REAL NOT NULL,
        gamma REAL,
        total_time_s REAL NOT NULL,
        runs INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS solutions (
        sequence INTEGER PRIMARY KEY REFERENCES runs (sequence),
        quality REAL,
        bound REAL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS gains (
        number INTEGER PRIMARY KEY REFERENCES trajectory (number),
        gain REAL NOT NULL
    )
    """,
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """
    CREATE TABLE IF NOT EXISTS nominations (
        number INTEGER PRIMARY KEY,
        configuration INTEGER NOT NULL REFERENCES configurations (number)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS traces (
        sequence INTEGER PRIMARY KEY REFERENCES runs (sequence),
        points TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS continuations (
        sequence INTEGER PRIMARY KEY REFERENCES runs (sequence),
        continued_s REAL NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS durations (
        session INTEGER PRIMARY KEY REFERENCES sessions (number),
        elapsed_s REAL NOT NULL
    )
    """,
)
"""Made wherever they are missing: the first folders were written without them."""

OF_RUNS = {"solutions": "quality, bound", "traces": "points", "continuations": "continued_s"}
"""Later tables that hold more of runs, and their columns."""

INSERT_SESSION = "INSERT INTO sessions (started_at, settings, versions, machine) VALUES (?, ?, ?, ?)"
END_SESSION = """
    UPDATE sessions SET ended_at = ?, stop_code = ?, stop_advice = ?
    WHERE number = (SELECT max(number) FROM sessions) AND ended_at IS NULL
"""
INSERT_DURATION = "INSERT OR IGNORE INTO durations VALUES (?, ?)"
_SELECT_SESSIONS = """
    SELECT number, started_at, settings, ended_at, stop_code, stop_advice, versions, machine, {duration}
    FROM sessions
"""
SELECT_SESSIONS = _SELECT_SESSIONS.format(duration="elapsed_s") + "LEFT JOIN durations ON session = number"
SELECT_SESSIONS_WITHOUT_DURATIONS = _SELECT_SESSIONS.format(duration="NULL")
INSERT_CONFIGURATION = "INSERT INTO configurations VALUES (?, ?, ?, ?, ?)"
INSERT_RUN = "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_OUTPUT = "INSERT INTO outputs VALUES (?, ?, ?)"
INSERT_SOLUTION = "INSERT INTO solutions VALUES (?, ?, ?)"
INSERT_CONTINUATION = "INSERT INTO continuations VALUES (?, ?)"
INSERT_TRACE = "INSERT INTO traces VALUES (?, ?)"
INSERT_PROGRESS = "INSERT INTO trajectory VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_PHASE = "INSERT INTO phases VALUES (?, ?, ?, ?, ?, ?, ?)"
INSERT_GAIN = "INSERT INTO gains VALUES ((SELECT max(number) FROM trajectory), ?)"
INSERT_FACT = "INSERT OR REPLACE INTO facts VALUES (?, ?)"
INSERT_NOMINATION = "INSERT INTO nominations VALUES (?, ?)"
INSERT_EVENT = "INSERT INTO events (kind, text, at) VALUES (?, ?, ?)"

_SELECT_RUNS = """
    SELECT runs.sequence, configuration, position, captime_s, seed, status, runtime_s, cpu_s, wall_s,
           peak_memory_bytes, exit_code, overshoot_s, detail, started_at, ended_at, speculative,
           coalesce(tail, ''), {solutions}, {traces}, {continuations}
    FROM runs LEFT JOIN outputs ON outputs.sequence = runs.sequence
"""


def select_runs(tables: Container[str]) -> str:
    """The statement that reads runs, with what the later tables that are there hold of them."""
    parts, joined = {}, ""
    for table, columns in OF_RUNS.items():
        parts[table] = columns if table in tables else ", ".join("NULL" for _ in columns.split(", "))
        if table in tables:
            joined += f" LEFT JOIN {table} ON {table}.sequence = runs.sequence"
    return _SELECT_RUNS.format(**parts) + joined


COUNT_RUNS = """
    SELECT status, configuration, count(*), max(sequence) FROM runs NOT INDEXED WHERE sequence > ?
    GROUP BY status, configuration
"""
SELECT_FAILED = "SELECT status, configuration, position, detail, sequence FROM runs"
_SELECT_TRAJECTORY = """
    SELECT best_index, epsilon, gamma, delta, total_time_s, runs, rounds, configurations, alive, {gain}, at,
           sequence
    FROM trajectory
"""
SELECT_TRAJECTORY_WITH_GAINS = (
    _SELECT_TRAJECTORY.format(gain="gain") + "LEFT JOIN gains ON gains.number = trajectory.number"
)
SELECT_TRAJECTORY_WITHOUT_GAINS = _SELECT_TRAJECTORY.format(gain="NULL")

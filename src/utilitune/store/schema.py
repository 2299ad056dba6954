"""The tables of a run folder's `run.sqlite`, and the statements that fill them.

Output tails stand in a table of their own, so that scanning the runs stays fast. The application id marks
the file as ours; the user version is the schema's.
"""

from __future__ import annotations

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

LATER_TABLE = """
    CREATE TABLE IF NOT EXISTS phases (
        number INTEGER PRIMARY KEY,
        configurations INTEGER NOT NULL,
        best_index INTEGER NOT NULL,
        epsilon REAL NOT NULL,
        gamma REAL,
        total_time_s REAL NOT NULL,
        runs INTEGER NOT NULL
    )
"""
"""Made wherever it is missing: the first folders were written without it."""

INSERT_SESSION = "INSERT INTO sessions (started_at, settings, versions, machine) VALUES (?, ?, ?, ?)"
END_SESSION = """
    UPDATE sessions SET ended_at = ?, stop_code = ?, stop_advice = ?
    WHERE number = (SELECT max(number) FROM sessions) AND ended_at IS NULL
"""
INSERT_CONFIGURATION = "INSERT INTO configurations VALUES (?, ?, ?, ?, ?)"
INSERT_RUN = "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_OUTPUT = "INSERT INTO outputs VALUES (?, ?, ?)"
INSERT_PROGRESS = "INSERT INTO trajectory VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_PHASE = "INSERT INTO phases VALUES (?, ?, ?, ?, ?, ?, ?)"
INSERT_EVENT = "INSERT INTO events (kind, text, at) VALUES (?, ?, ?)"

SELECT_RUNS = """
    SELECT runs.sequence, configuration, position, captime_s, seed, status, runtime_s, cpu_s, wall_s,
           peak_memory_bytes, exit_code, overshoot_s, detail, started_at, ended_at, speculative,
           coalesce(tail, '')
    FROM runs LEFT JOIN outputs ON outputs.sequence = runs.sequence
"""
SELECT_TRAJECTORY = """
    SELECT best_index, epsilon, gamma, delta, total_time_s, runs, rounds, configurations, alive, at, sequence
    FROM trajectory
"""

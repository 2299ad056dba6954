"""Where a configuration run is kept: every fact once, written before anyone acts on it.

- `records`: the frozen values that are stored (what ran, where, when, under which settings).
- `base`: the two seams, `StoreReader` and `Store`, and the one rule on how much output is kept.
- `sqlite`: `RunFolder`, a folder with one SQLite file; `read_run_folder` opens one beside a running writer.
- `memory`: `MemoryStore`, the same behaviour without a folder.
- `export`: runs as plain rows, as CSV or as Parquet.
- `lock`, `schema`, `facts`: the single-writer lock, the tables, versions and machine.
"""

from __future__ import annotations

from utilitune.store.base import Store, StoreReader
from utilitune.store.memory import MemoryStore
from utilitune.store.records import (
    ConfigurationRecord,
    EventRecord,
    ProgressRecord,
    RunRecord,
    SessionRecord,
    Snapshot,
    StoredOrigin,
)
from utilitune.store.sqlite import RunFolder, RunFolderReader, open_run_folder, read_run_folder

__all__ = [
    "ConfigurationRecord",
    "EventRecord",
    "MemoryStore",
    "ProgressRecord",
    "RunFolder",
    "RunFolderReader",
    "RunRecord",
    "SessionRecord",
    "Snapshot",
    "Store",
    "StoreReader",
    "StoredOrigin",
    "open_run_folder",
    "read_run_folder",
]

"""What SQLite complains about, in words that say what to do."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from utilitune.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DATABASE_NAME = "run.sqlite"
"""The file in a run folder that holds everything."""


@contextlib.contextmanager
def explaining(folder: Path) -> Iterator[None]:
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
        return str(damaged(folder))
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{database} is locked by another program: close that program and start again"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return f"{database} cannot be opened: check who may read and write {folder}, or use another folder"
    return f"{database} cannot be used ({error}): check the disk, then start again"


def damaged(folder: Path) -> StoreError:
    """What a reader says of a file that holds what we would never have written."""
    return StoreError(f"{folder / DATABASE_NAME} is damaged: restore a copy or use another folder")

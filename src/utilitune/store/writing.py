"""How a run folder is written: by committed transactions, each by itself or several together.

A commit takes several times as long as what is written by it, so runs that end together share one.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from utilitune.store.sqlite_errors import explaining

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path


class Writer:
    """Writes to the database of a run folder.

    Args:
        folder: The run folder.
        connection: Its database; every statement is committed by itself unless something else is said.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self._folder = folder
        self._connection = connection

    def write(self, statement: str, *values: Any) -> None:  # noqa: ANN401 - whatever SQLite can hold
        """Write something."""
        with explaining(self._folder):
            self._connection.execute(statement, values)

    @contextlib.contextmanager
    def all_or_nothing(self) -> Iterator[sqlite3.Connection]:
        """Keep everything that is written in the block, or nothing of it if an error ends the block."""
        within = self._connection.in_transaction
        begin, keep, undo = (
            ("SAVEPOINT part", "RELEASE part", ("ROLLBACK TO part", "RELEASE part"))
            if within
            else ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
        )
        with explaining(self._folder):
            try:
                self._connection.execute(begin)
                yield self._connection
                self._connection.execute(keep)
            except BaseException:  # a second Ctrl-C must not leave it open either
                if self._connection.in_transaction:
                    for statement in undo:
                        self._connection.execute(statement)
                raise

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Commit once for all that is written in the block; what was written is kept however it ends."""
        with explaining(self._folder):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
            finally:
                self._commit()

    def _commit(self) -> None:
        if not self._connection.in_transaction:
            return  # SQLite has undone all of it: the disk is full, say
        try:
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

"""What a stored run holds as tables of plain rows: for files, and for data frames.

All rows of a table have the same columns in the same order.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from utilitune.errors import UsageError, did_you_mean
from utilitune.live.rows import named_rows
from utilitune.live.task import Task
from utilitune.reports.digest import COLUMNS, RunDigest
from utilitune.reports.instances import instance_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from utilitune.store.base import StoreReader


def table_rows(store: StoreReader, what: str) -> Iterator[dict[str, Any]]:
    """The rows of a table, by its name.

    Args:
        store: The run.
        what: "runs", "configurations", "instances" or "trajectory".
    """
    if what not in TABLES:
        raise UsageError(f"there is no table called {what!r}; {did_you_mean(what, TABLES)}")
    return TABLES[what](store)


def configuration_rows(store: StoreReader) -> Iterator[dict[str, Any]]:
    """One row per configuration.

    It has the mean utility with both ends of its interval, what its runs add up to, and a column per
    parameter, empty where it was not active.
    """
    digest = RunDigest(store, Task.stored(store))
    digest.read(store)
    names = sorted({name for record in digest.records for name in record.assignment})
    for row, record in zip(digest.rows(range(len(digest.records))), digest.records, strict=True):
        number, *figures = row
        yield {
            "configuration": number,
            **dict(zip(COLUMNS[1:], figures, strict=True)),
            "drawn_at": record.drawn_at,
            **{f"parameter.{name}": record.assignment.get(name) for name in names},
        }


def trajectory_rows(store: StoreReader) -> Iterator[dict[str, Any]]:
    """One row per recorded moment."""
    for point in store.trajectory():
        yield {"at": point.at, "after_runs": point.sequence, **asdict(point.progress)}


TABLES: dict[str, Callable[[StoreReader], Iterator[dict[str, Any]]]] = {
    "runs": named_rows,
    "configurations": configuration_rows,
    "instances": instance_rows,
    "trajectory": trajectory_rows,
}
"""The tables by name."""

"""Every run as a flat row with the name of its instance: what tables, files and data frames hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utilitune.live.task import Task
from utilitune.store.export import run_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord


def named_rows(
    store: StoreReader, task: Task | None = None, known: Iterable[ConfigurationRecord] | None = None
) -> Iterator[dict[str, Any]]:
    """Every run as a flat row, with the name of its instance.

    Args:
        store: The run.
        task: What is configured, where somebody has resolved it already.
        known: The configurations, where somebody has read them already.
    """
    instances = (task or Task.stored(store)).training
    for row in run_rows(store, known):
        yield {"sequence": row["sequence"], "instance": instances.name(row["position"]), **row}

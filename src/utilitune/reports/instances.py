"""The training instances of a stored run: what is known of them, and how the answer did on each."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from utilitune.errors import StoreError
from utilitune.live.task import Task
from utilitune.scenario.features import read_feature_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from utilitune.store.base import StoreReader


def instance_rows(store: StoreReader) -> Iterator[dict[str, Any]]:
    """One row per training instance in the order in which they are taken.

    A row holds the instance's features in columns ``feature.<name>``, how many configurations were run on it,
    and the latest outcome of the best configuration on it, where there is one.
    """
    task = Task.stored(store)
    instances = task.training
    if instances.count is None:
        raise StoreError("generated instances have no end, so there is no table of them: export the runs")
    path = task.feature_file()
    table = {} if path is None else read_feature_table(path)
    by_file_name = {PurePath(name).name: features for name, features in table.items()}
    columns = list(dict.fromkeys(name for features in table.values() for name in features))
    last = store.last_progress()
    best = None if last is None else last.progress.best_index
    seen: dict[int, set[int]] = {}
    latest = {}
    for run in store.runs():
        seen.setdefault(run.request.position, set()).add(run.request.configuration)
        if run.request.configuration == best:
            latest[run.request.position] = run.outcome
    for position in range(instances.count):
        name = instances.name(position)
        features = table.get(name, by_file_name.get(PurePath(name).name, {}))
        outcome = latest.get(position)
        yield {
            "position": position,
            "instance": name,
            "seed": instances.seed(position),
            "configurations": len(seen.get(position, ())),
            "best_status": None if outcome is None else outcome.status.value,
            "best_runtime_s": None if outcome is None else outcome.runtime_s,
            **{f"feature.{column}": features.get(column) for column in columns},
        }

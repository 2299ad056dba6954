"""The task of a stored run whose folder may have been moved, together with its scenario.

A run keeps where its scenario was when it began. Commands that are shown or made again must name the place
where the program is now.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.errors.outside import is_file, is_folder
from utilitune.live.task import Task
from utilitune.scenario.model import CommandSpec, ListedInstances
from utilitune.store import RunFolderReader

if TYPE_CHECKING:
    from utilitune.scenario.model import Scenario
    from utilitune.store.base import StoreReader


def stored_task(store: StoreReader) -> Task:
    """The task of a stored run: at its old place if that exists, or beside the run folder if it is there."""
    task = Task.stored(store)
    if isinstance(store, RunFolderReader) and not is_folder(task.scenario.directory):
        beside = Path(os.path.abspath(store.folder)).parent  # noqa: PTH100 - links stay what they are
        if _lies_in(task.scenario, beside):
            task.scenario = replace(task.scenario, directory=beside)
    return task


def _lies_in(scenario: Scenario, folder: Path) -> bool:
    """Whether the program, or the first instance, is seen from a folder as the scenario names it."""
    target, training = scenario.target, scenario.training
    names = [target.argv[0]] if isinstance(target, CommandSpec) else []
    if isinstance(training, ListedInstances) and training.files:
        names += training.names[:1]
    return any(not os.path.isabs(name) and is_file(folder / name) for name in names)  # noqa: PTH117 - texts

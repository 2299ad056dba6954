"""The latest evaluation on test instances that a run folder holds, read back without a new run."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.errors import UtilituneError
from utilitune.live.evaluation import FOLDER_NAME, NOT_COMPARED, TRAINED_ON, Comparison, compare
from utilitune.live.grid import settled
from utilitune.live.standing.standing import DEFAULT
from utilitune.live.task import Task
from utilitune.reports.distributions import distribution
from utilitune.scenario.overlap import Overlap, overlap_of
from utilitune.store import read_run_folder
from utilitune.store.sqlite_errors import DATABASE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from utilitune.domain import RunOutcome
    from utilitune.store.base import StoreReader


def heldout_of(folder: Path | None, answer: int) -> dict[str, Any] | None:
    """The comparison of the answer with the default on test instances; None if there is none yet.

    Args:
        folder: The run folder.
        answer: Number of the answer.
    """
    for comparison in () if folder is None else _comparisons(folder / FOLDER_NAME, answer):
        sides = (comparison.chosen, comparison.default)
        return {
            **comparison.to_dict(),
            "distributions": [_distribution(side.runtimes_s, comparison.captime_s) for side in sides],
        }
    return None


def _comparisons(folder: Path, answer: int) -> Iterator[Comparison]:
    """All complete comparisons, the latest first; what cannot be read is no comparison."""
    if not folder.is_dir():
        return
    databases = sorted(folder.glob(f"*/{DATABASE_NAME}"), key=lambda path: -path.stat().st_mtime)
    for database in databases:
        with (
            contextlib.suppress(UtilituneError, KeyError),
            contextlib.closing(read_run_folder(database.parent)) as store,
        ):
            found = _comparison(store, answer)
            if found is not None:
                yield found


def _comparison(store: StoreReader, answer: int) -> Comparison | None:
    sessions = store.sessions()
    task = Task.stored(store)
    if not sessions or task.scenario.quality is not None or task.scenario.test is None:
        return None
    captime_s = float(sessions[-1].settings["captime_s"])
    count = task.test_count()
    chosen, default = (_outcomes(store, number, captime_s, count) for number in (answer, DEFAULT))
    if chosen is None or default is None:
        return None
    names = [task.test.name(position) for position in range(count)]
    found = compare((answer, chosen), (DEFAULT, default), task.utility, captime_s, names)
    same = store.facts().get(TRAINED_ON)  # evaluations of earlier versions do not say
    if same is None:
        overlap = overlap_of(task.scenario)
        count = len(overlap.names)
    else:
        overlap = Overlap(not_compared=int(store.facts().get(NOT_COMPARED, 0)))
        count = int(same)
    note = " ".join(filter(None, (found.note, overlap.note())))
    return replace(found, note=note, trained_on=count)


def _outcomes(store: StoreReader, number: int, captime_s: float, count: int) -> list[RunOutcome] | None:
    """What came of a configuration on every test instance; None if one is missing."""
    known = {
        run.request.position: outcome
        for run in store.runs(configuration=number)
        if (outcome := settled(run, captime_s)) is not None
    }
    return [known[position] for position in range(count)] if len(known) >= count else None


def _distribution(runtimes_s: tuple[float, ...], captime_s: float) -> dict[str, Any]:
    times_s = np.array(runtimes_s)
    finished = np.isfinite(times_s)
    return distribution(np.where(finished, times_s, captime_s), finished)

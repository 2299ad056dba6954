"""Our own search as a tool, with the whole budget to itself: what it finds when nothing is proved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from benchmarks.search.answers import Answer

from utilitune.search.base import SearchTask, Seen
from utilitune.search.racing import RacingSearch
from utilitune.search.suggesting import MixedSuggester

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.search.task import Task

_LOOK_EVERY = 20
"""Runs between two looks at its nominee."""


@dataclass(frozen=True, slots=True)
class OwnTool:
    """The search of `utilitune run`, alone."""

    name: ClassVar[str] = "utilitune"
    anytime: ClassVar[bool] = True

    def is_installed(self) -> bool:
        """Always."""
        return True

    def search(self, task: Task, budget_s: float, seed: int) -> Iterator[Answer]:
        """Make the runs it wants, one after the other."""
        order = np.random.default_rng([seed, 77]).permutation(task.training)
        described = SearchTask(task.space, task.utility, task.training, task.largest_captime_s, seed=seed)
        search = RacingSearch(described, MixedSuggester(task.space, seed=seed))
        floor, spent_s, made = task.utility.infimum, 0.0, 0
        while spent_s < budget_s and (wanted := search.wanted(1)):
            run = wanted[0]
            time_s = task.runtime_s(search.candidates[run.candidate], int(order[run.position]))
            if time_s < run.captime_s:
                search.tell(run, Seen(time_s, time_s, float(task.utility(time_s))))
            else:
                search.tell(run, Seen(math.inf, run.captime_s, floor))
            spent_s += min(time_s, run.captime_s)
            made += 1
            if made % _LOOK_EVERY == 0:
                yield Answer(spent_s, search.candidates[search.nominee()])
        yield Answer(spent_s, search.candidates[search.nominee()])

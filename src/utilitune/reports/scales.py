"""Ways to measure the quality of a solution, for questions about other utilities.

A utility of the quality alone looks at a run through one number: the quality itself, or by which share of a
reference it is worse than it. The smaller this number (for qualities of which larger are better, its
negative), the more the run is worth. So all utilities that look at the same number are treated like all
utilities of time: the band for the distribution of the number holds for every one of them at once. There are
four such numbers, and a band for each.

A band needs nothing but the order of the numbers. The runs are therefore put in order, and their places stand
where times stand elsewhere: 0 for a solution that is as good as can be, ∞ for none.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import Objective
from utilitune.errors import UsageError
from utilitune.live.task import Task
from utilitune.procedures.bounds.every_utility import CensoredRuns
from utilitune.procedures.judged_evidence import DEFAULT as DEFAULT_NUMBER
from utilitune.procedures.judged_evidence import is_over
from utilitune.reports.whatif_runs import KnownRuns
from utilitune.scenario.model import require_runtime
from utilitune.utility.solutions import BOUND, DEFAULT, REFERENCES, SolutionUtility, Standard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from utilitune.domain import RunOutcome
    from utilitune.store import ConfigurationRecord, StoreReader

NUMBERS = "number"
"""The quality itself; the other ways are called like the reference that they compare with."""

WAYS = (NUMBERS, *REFERENCES)


def scale_of(utility: SolutionUtility) -> str:
    """The way in which a utility measures qualities.

    Raises:
        UsageError: It looks at more than one number of a run.
    """
    ways = [*utility.references, *([NUMBERS] if utility.levels else [])]
    if utility.times or len(ways) != 1:
        raise UsageError(
            f"{utility} depends on more than one number of a run, and nothing is proved for all such at "
            "once: ask for a utility that compares the quality with one reference, without time"
        )
    return ways[0]


Measured = tuple[float, float, Standard]
"""A run: its number, its quality, and what that is measured against."""


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """The runs of all configurations by one way of measuring.

    Attributes:
        runs: The places of the runs of each configuration.
        steps: A quality and what it is measured against for every place from 1 on.
    """

    runs: Sequence[KnownRuns]
    steps: Sequence[tuple[float, Standard]]

    @classmethod
    def of(cls, runs: Sequence[tuple[int, Mapping[int, Measured | None]]]) -> Scale:
        """The scale on which some runs lie, from the best to the worst.

        Args:
            runs: Of each configuration its first position, and its runs by position; None for one without a
                solution.
        """
        measured_runs = (run for _, each in runs for run in each.values())
        steps = {run[0]: run[1:] for run in measured_runs if run is not None and run[0] < math.inf}
        places = {number: place for place, number in enumerate(sorted(steps), 1)}
        return cls([_known(first, each, places) for first, each in runs], [steps[each] for each in places])

    def worths(self, utility: SolutionUtility) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """What a run at a place is worth."""
        best = [utility.ceiling(0.0), *(utility(quality, 0.0, standard) for quality, standard in self.steps)]
        table = np.minimum.accumulate(np.array([*best, 0.0]))  # rounding must not turn the order round

        def worth(places: NDArray[np.float64]) -> NDArray[np.float64]:
            found = np.where(np.isfinite(places), places, len(table) - 1).astype(np.int64)
            return table[found]

        return worth


def _known(first: int, runs: Mapping[int, Measured | None], places: Mapping[float, int]) -> KnownRuns:
    in_a_row = itertools.takewhile(runs.__contains__, itertools.count(first))
    return KnownRuns(
        _placed([runs[position] for position in in_a_row], places, first),
        _placed(list(runs.values()), places),
    )


def _placed(
    runs: Sequence[Measured | None], places: Mapping[float, int], first_position: int = 0
) -> CensoredRuns:
    found = np.array([math.inf if run is None else places.get(run[0], math.inf) for run in runs])
    return CensoredRuns(found, np.isfinite(found), first_position)


def measured(store: StoreReader, configurations: Sequence[ConfigurationRecord]) -> dict[str, Scale]:
    """The runs of a stored run that count, by every way of measuring."""
    task = Task.stored(store)
    if task.scenario.objective is Objective.ANYTIME:
        require_runtime(Objective.ANYTIME, "asking for other utility functions")
    judge, known = task.judge(), _ended(store, task.scenario.limit_s)
    defaults = known.get(DEFAULT_NUMBER, {})

    def standard(position: int, outcome: RunOutcome) -> Standard:
        reached = judge.final(defaults[position]) if position in defaults else None
        return judge.standard(position, reached, outcome.bound)

    scales = {}
    for way in WAYS:
        runs = []
        for record in configurations:
            own = known.get(record.index, {})
            there = own.keys() & defaults.keys() if way == DEFAULT else own.keys()
            numbers = {at: _number(way, own[at], standard(at, own[at])) for at in sorted(there)}
            runs.append((record.first_position, numbers))
        scales[way] = Scale.of(runs)
    return scales


def _number(way: str, outcome: RunOutcome, standard: Standard) -> Measured | None:
    """What a way of measuring sees of a run; None where it found nothing that can be measured."""
    quality = outcome.quality
    if outcome.failed or quality is None or math.isnan(quality):
        return None
    if way == NUMBERS:
        return standard.goal.shortfall(quality, 0.0), quality, standard
    reference = standard.value(way)
    if reference is None:
        return None if way == BOUND else (-math.inf, quality, standard)
    short = standard.goal.shortfall(quality, reference)
    number = short / abs(reference) if reference else math.copysign(math.inf, short) if short else 0.0
    return None if number == math.inf else (number, quality, standard)


def _ended(store: StoreReader, limit_s: float) -> dict[int, dict[int, RunOutcome]]:
    """The first run of each pair that is known to its end."""
    known: dict[int, dict[int, RunOutcome]] = {}
    for record in store.runs():
        request = record.request
        if is_over(request, record.outcome, limit_s):
            known.setdefault(request.configuration, {}).setdefault(request.position, record.outcome)
    return known

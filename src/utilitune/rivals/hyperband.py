"""Hyperband: several Successive-Halving brackets, from many quick looks to few thorough ones.

Algorithm 1 of Li, Jamieson, DeSalvo, Rostamizadeh and Talwalkar ("Hyperband: a novel bandit-based
approach to hyperparameter optimization", JMLR 18, 2018). The resource is run time: a configuration that
is given r seconds runs on instances 1, 2, 3, … at one captime until they are spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from utilitune.domain import require_positive, require_whole
from utilitune.domain.stopping import finished
from utilitune.errors import UsageError
from utilitune.rivals.rival import (
    Draws,
    RankedBy,
    RivalStanding,
    Scores,
    check_optional_captime,
    require_objective,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from utilitune.domain import StopReason
    from utilitune.domain.stopping import Budget
    from utilitune.rivals.rival import RecordedRuns


_FIRST_RUNS = 64  # how far to look at first for the end of a configuration's seconds
_DECIMALS = 9  # of a value: a nanosecond, or as little utility, decides nothing


class Rung(NamedTuple):
    """One step of a bracket: how many configurations get how many seconds each."""

    configurations: int
    resource_s: float


def largest_bracket(resource_s: float, eta: int) -> int:
    """s_max = ⌊log_η R⌋, exactly."""
    bracket = 0
    while eta ** (bracket + 1) <= resource_s:
        bracket += 1
    return bracket


def brackets(resource_s: float, eta: int, rows: int | None = None) -> list[list[Rung]]:
    """The rungs of every bracket s = s_max … 0.

    With B = (s_max + 1) R, bracket s starts n = ⌈B/R · η^s / (s + 1)⌉ configurations with r = R η^(−s)
    seconds; rung i has ⌊n η^(−i)⌋ configurations with r η^i seconds each.

    Args:
        resource_s: R, the most seconds one configuration may get.
        eta: η, the factor between rungs.
        rows: How many configurations there are; no bracket starts more.
    """
    last = largest_bracket(resource_s, eta)
    table = []
    for s in range(last, -1, -1):
        started = -(-(last + 1) * eta**s // (s + 1))
        started = started if rows is None else min(started, rows)
        table.append([Rung(max(1, started // eta**i), resource_s / eta ** (s - i)) for i in range(s + 1)])
    return table


@dataclass(slots=True)
class _Look:
    """What is known of one configuration: its latest value, the runs it completed and what they took."""

    row: int
    completed: int = 0
    completed_s: float = 0.0
    value: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hyperband:
    """Hyperband with run time as its resource.

    Attributes:
        resource_s: R, the most seconds one configuration may get; at least η.
        eta: η, the factor between rungs.
        captime_s: The one captime of all runs; the cutoff of the recording if left out.
        objective: Rank by mean utility, or by mean capped runtime.
    """

    name: ClassVar[str] = "hyperband"
    anytime: ClassVar[bool] = False

    resource_s: float
    eta: int = 3
    captime_s: float | None = None
    objective: RankedBy = RankedBy.UTILITY

    def __post_init__(self) -> None:
        require_positive("the resource of Hyperband", self.resource_s)
        require_whole("eta, the factor between Hyperband's rungs,", self.eta, least=2)
        require_objective(self.objective)
        check_optional_captime(self.captime_s)
        if self.resource_s < self.eta:
            raise UsageError(
                f"the resource of Hyperband ({self.resource_s:g} s) must be at least eta ({self.eta}): "
                "give each configuration more seconds"
            )

    def play(self, runs: RecordedRuns, budget: Budget) -> Generator[RivalStanding, None, StopReason]:
        """Play bracket after bracket; the best winner so far stands after each."""
        del budget  # the driver looks after every bracket
        captime_s = runs.captime_s(self.captime_s)
        self._check_resource(runs, captime_s)
        scores = Scores(runs, self.objective, captime_s)
        draws = Draws(runs.order)
        known: dict[int, _Look] = {}
        winner, best_value = -1, -math.inf
        total_time_s, made = 0.0, 0
        for rungs in brackets(self.resource_s, self.eta, runs.configurations):
            rows = draws.take(rungs[0].configurations)
            drawn = {row: number for number, row in enumerate(rows)}
            looks = [known.setdefault(row, _Look(row)) for row in rows]
            for rung in rungs:
                for look in looks:
                    paid_s, paid_runs = _spend(look, rung.resource_s, scores, runs)
                    total_time_s += paid_s
                    made += paid_runs
                looks.sort(key=lambda look: (-look.value, drawn[look.row]))
                looks = looks[: max(1, len(looks) // self.eta)]
            if looks[0].value > best_value:
                winner, best_value = looks[0].row, looks[0].value
            yield RivalStanding(winner, total_time_s, made, draws.seen, 1)
        return finished("Hyperband has played all its brackets: a larger resource gives a surer answer.")

    def _check_resource(self, runs: RecordedRuns, captime_s: float) -> None:
        """Refuse seconds that no configuration could use: they would only add brackets that tell nothing."""
        longest_s = runs.limit_s
        if math.isinf(longest_s):
            runtimes_s = runs.evidence.runtime_s
            at_least_s = captime_s if math.isfinite(captime_s) else 0.0
            longest_s = float(np.max(runtimes_s, initial=at_least_s, where=np.isfinite(runtimes_s)))
        most_s = max(self.eta, math.ceil(runs.positions * longest_s))
        if self.resource_s > most_s:
            raise UsageError(
                f"the resource of Hyperband ({self.resource_s:g} s) is more than a configuration can use on "
                f"{runs.positions} instances: choose at most {most_s} s"
            )


def _spend(look: _Look, resource_s: float, scores: Scores, runs: RecordedRuns) -> tuple[float, int]:
    """Let a configuration run on until it has used its seconds; return what that newly costs.

    Instances advance in their order. Those completed on an earlier rung are known; the one that was cut
    begins anew, as a run cannot be continued. The value is the mean over all instances begun. Runtimes that
    use up the same seconds often have equal means, so these are compared without their rounding errors.
    """
    end = min(runs.positions, max(_FIRST_RUNS, 2 * look.completed))
    values, spent_s = _first_runs(look.row, end, scores)
    while end < runs.positions and spent_s[-1] < resource_s:
        end = min(runs.positions, 2 * end)
        values, spent_s = _first_runs(look.row, end, scores)
    begun = min(end, int(np.searchsorted(spent_s, resource_s)) + 1)
    cut = bool(spent_s[begun - 1] > resource_s)
    completed = begun - cut
    completed_s = float(spent_s[completed - 1]) if completed else 0.0
    left_s = resource_s - completed_s
    total = float(values[:completed].sum()) + (scores.worth(left_s) if cut else 0.0)
    look.value = round(total / begun, _DECIMALS)
    if completed < look.completed:
        return 0.0, 0  # a thorough look of an earlier bracket, at a configuration that was drawn again
    paid = completed_s - look.completed_s + (left_s if cut else 0.0), completed - look.completed + cut
    look.completed, look.completed_s = completed, completed_s
    return paid


def _first_runs(row: int, end: int, scores: Scores) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of a row's first runs, and the seconds spent after each."""
    values, seconds = scores.of(row, 0, end)
    return values, np.cumsum(seconds)

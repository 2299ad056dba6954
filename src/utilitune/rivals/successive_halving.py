"""Successive Halving: give all survivors equally many runs, keep the better half, until one is left.

The fixed-budget procedure of Jamieson and Talwalkar ("Non-stochastic best arm identification and
hyperparameter optimization", AISTATS 2016; Figure 9, top, of the Hyperband paper, JMLR 18, 2018, shows it
again), with runs at one captime as the resource.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from utilitune.domain import require_whole
from utilitune.domain.stopping import finished
from utilitune.errors import UsageError
from utilitune.rivals.rival import (
    RankedBy,
    RivalStanding,
    Scores,
    check_optional_captime,
    require_objective,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from utilitune.domain import StopReason
    from utilitune.domain.stopping import Budget
    from utilitune.rivals.rival import RecordedRuns


def halving_rounds(configurations: int, budget: int) -> list[tuple[int, int]]:
    """Survivors and further runs of each survivor, per round.

    L = ⌈log2 n⌉ rounds; a round with |S| survivors gives each ⌊B / (|S| L)⌋ further runs and keeps
    ⌈|S| / 2⌉ of them.
    """
    rounds = (configurations - 1).bit_length()
    plan = []
    survivors = configurations
    for _ in range(rounds):
        plan.append((survivors, budget // (survivors * rounds)))
        survivors = (survivors + 1) // 2
    return plan


def largest_budget(configurations: int, positions: int) -> int:
    """The largest budget whose runs need no more than so many instances."""
    low, high = 0, configurations * max(1, (configurations - 1).bit_length()) * (positions + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(further for _, further in halving_rounds(configurations, middle)) <= positions:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessiveHalving:
    """Successive Halving on all configurations.

    Attributes:
        budget: Most runs, over all configurations and rounds.
        captime_s: The one captime of all runs; the cutoff of the recording if left out.
        objective: Rank by mean utility, or by mean capped runtime.
    """

    name: ClassVar[str] = "successive-halving"
    anytime: ClassVar[bool] = False

    budget: int
    captime_s: float | None = None
    objective: RankedBy = RankedBy.UTILITY

    def __post_init__(self) -> None:
        require_whole("the budget of Successive Halving", self.budget)
        require_objective(self.objective)
        check_optional_captime(self.captime_s)

    def play(self, runs: RecordedRuns, budget: Budget) -> Generator[RivalStanding, None, StopReason]:
        """Halve until one configuration is left; it stands after every round."""
        del budget  # the driver looks after every round
        plan = self._plan(runs)
        scores = Scores(runs, self.objective, runs.captime_s(self.captime_s))
        alive = [int(row) for row in runs.order]
        drawn = np.argsort(runs.order)
        total = np.zeros(runs.configurations)
        total_time_s, made, begun = 0.0, 0, 0
        if not plan:
            yield RivalStanding(alive[0], 0.0, 0, 1, 1)
        for survivors, further in plan:
            for row in alive:
                values, paid_s = scores.of(row, begun, begun + further)
                total[row] += values.sum()
                total_time_s += float(paid_s.sum())
            begun += further
            made += survivors * further
            alive = sorted(alive, key=lambda row: (-total[row], drawn[row]))[: (survivors + 1) // 2]
            yield RivalStanding(alive[0], total_time_s, made, runs.configurations, len(alive))
        return finished("Successive Halving has spent its budget: a larger one gives a surer answer.")

    def _plan(self, runs: RecordedRuns) -> list[tuple[int, int]]:
        plan = halving_rounds(runs.configurations, self.budget)
        if plan and plan[0][1] < 1:
            raise UsageError(
                f"a budget of {self.budget} runs is too small for Successive Halving on "
                f"{runs.configurations} configurations: one run of each in the first of {len(plan)} rounds "
                f"needs at least {runs.configurations * len(plan)}"
            )
        needed = sum(further for _, further in plan)
        if needed > runs.positions:
            most = largest_budget(runs.configurations, runs.positions)
            advice = f"choose a budget of at most {most}"
            if most < runs.configurations * len(plan):
                advice = "no budget is small enough, so bring more instances"
            raise UsageError(
                f"a budget of {self.budget} runs needs {needed} instances for the last survivors, but there "
                f"are only {runs.positions}: {advice}"
            )
        return plan

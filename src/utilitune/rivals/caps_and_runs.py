"""CapsAndRuns (CAR): find each configuration's own cap first, then race their capped mean runtimes.

CapsAndRuns (Algorithm 1) of Weisz, György and Szepesvári ("CapsAndRuns: an improved method for
approximately optimal algorithm configuration", ICML 2019): estimates of quantiles (phase I, Algorithm 2),
then a Bernstein race (phase II, Algorithm 3), with the improved constants of its successor
ImpatientCapsAndRuns. It minimises the mean runtime capped at each configuration's own (1 − δ)-quantile; its
δ is that quantile and its ε is relative to the best mean, so neither is a promise about utility.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from utilitune.domain import StopReason, require_positive, require_probability
from utilitune.domain.stopping import INSTANCES_EXHAUSTED, finished, next_point
from utilitune.errors import UsageError
from utilitune.rivals import bernstein_race as kernel
from utilitune.rivals.rival import (
    POINTS_PER_DECADE,
    RivalStanding,
    check_optional_captime,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from numpy.typing import NDArray

    from utilitune.domain.stopping import Budget
    from utilitune.rivals.rival import RecordedRuns

_SMALLEST_SHARE = 1e-9  # no data suffice for less, and numbers of instances and draws stay printable
_SHORTEST_SLICE_S = 0.001  # turns that take no time would never end


def require_share(name: str, value: float) -> None:
    """Refuse what is no share between 0 and 1, or one so small that no recording could ever suffice."""
    if require_probability(name, value) < _SMALLEST_SHARE:
        raise UsageError(f"{name} must be at least {_SMALLEST_SHARE:g}, not {value:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """How sure CapsAndRuns and its successor want to be.

    Attributes:
        epsilon: Relative accuracy of the means.
        delta: Share of runs that the cap of a configuration may cut.
        zeta: Probability of failure.
        original_constants: Use the larger constants of the first paper.
        slice_s: Seconds of one turn.
        captime_s: Runs that last so long count as lasting just that; the recording's cutoff if left out.
    """

    epsilon: float = 0.25
    delta: float = 0.1
    zeta: float = 0.05
    original_constants: bool = False
    slice_s: float = 100.0
    captime_s: float | None = None

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        require_share("delta", self.delta)
        require_share("zeta", self.zeta)
        require_positive("the slice", self.slice_s)
        if self.slice_s < _SHORTEST_SLICE_S:
            raise UsageError(f"the slice must be at least {_SHORTEST_SLICE_S:g} s, not {self.slice_s:g} s")
        check_optional_captime(self.captime_s)

    def rules(
        self, configurations: int, zeta: float, limit_s: float, pause_after: int = -1
    ) -> kernel.RaceRules:
        """The constants of a race of n configurations: b = ⌈26 ln(2n/ζ)/δ⌉, ⌈b (1 − ¾δ)⌉ must finish.

        (⌈48 ln(3n/ζ)/δ⌉ with the original constants.) A first phase of 1.5 b T (2 b T) is abandoned.
        """
        instances = (
            math.ceil(48 * math.log(3 * configurations / zeta) / self.delta)
            if self.original_constants
            else math.ceil(26 * math.log(2 * configurations / zeta) / self.delta)
        )
        return kernel.RaceRules(
            slice_s=self.slice_s,
            instances=instances,
            finishing=math.ceil(instances * (1 - 0.75 * self.delta)),
            patience=2.0 if self.original_constants else 1.5,
            accuracy=self.epsilon,
            failure=zeta / configurations,
            limit_s=limit_s,
            pause_after=pause_after,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CapsAndRuns(Precision):
    """CapsAndRuns on all configurations, or on so many draws that one of them is among the best γ.

    Attributes:
        gamma: If given, ⌈ln(ζ/7) / ln(1 − γ)⌉ draws take part, and ζ/7 is the failure of each part.
    """

    name: ClassVar[str] = "car"
    anytime: ClassVar[bool] = False

    gamma: float | None = None

    def __post_init__(self) -> None:
        Precision.__post_init__(self)
        if self.gamma is not None:
            require_share("gamma", self.gamma)

    def play(self, runs: RecordedRuns, budget: Budget) -> Generator[RivalStanding, None, StopReason]:
        """Race all configurations to the end."""
        count, zeta = runs.configurations, self.zeta
        if self.gamma is not None:
            zeta = self.zeta / 7
            count = math.ceil(math.log(zeta) / math.log(1 - self.gamma))
            check_enough_rows(count, self.gamma, runs)
        rules = self.rules(count, zeta, runs.captime_s(self.captime_s))
        check_enough_instances(rules.instances, self.delta, runs)
        account = kernel.new_account(
            runs.evidence, runs.order[:count], (float(budget.max_time_s), budget.run_limit)
        )
        race = kernel.new_race(account, rules.instances)
        yield from advance(race, rules, np.arange(count))
        return conclusion("CapsAndRuns", race)


def check_enough_rows(count: int, gamma: float, runs: RecordedRuns) -> None:
    """Refuse a γ that asks for more configurations than there are."""
    if count > runs.configurations:
        raise UsageError(
            f"gamma = {gamma:g} needs {count} random configurations, but there are only "
            f"{runs.configurations}: choose a larger gamma"
        )


def check_enough_instances(needed: int, delta: float, runs: RecordedRuns) -> None:
    """Refuse data whose instances do not suffice for the first phase and two samples of the second."""
    if needed + 2 > runs.positions:
        raise UsageError(
            f"caps for delta = {delta:g} need {needed + 2} instances, but there are only {runs.positions}: "
            "bring more instances or choose a larger delta or zeta"
        )


def advance(
    race: kernel.RaceState, rules: kernel.RaceRules, members: NDArray[np.int64], enough: int = -1
) -> Iterator[RivalStanding]:
    """Let a race go on until it is settled, and say now and then where it stands."""
    total_s = race.account.shared
    state = kernel.GOES_ON
    while state == kernel.GOES_ON:
        step_s = max(rules.slice_s, total_s[kernel.TOTAL] * (next_point(1.0, POINTS_PER_DECADE) - 1))
        state = kernel.advance_race(race, rules, members, total_s[kernel.TOTAL] + step_s, enough)
        yield standing(race)


def best_member(race: kernel.RaceState) -> int:
    """The least mean of those accepted (or out of instances), unless all of these are worse than the bound T.

    Then it is the single configuration left or, of several, whoever holds T; without T, the first.
    """
    decided = np.flatnonzero((race.status == kernel.ACCEPTED) | (race.status == kernel.EXHAUSTED))
    left = np.flatnonzero(race.status <= kernel.PAUSED)
    bound_s, holder = race.account.shared[kernel.BOUND], int(race.account.counters[kernel.HOLDER])
    if len(decided) and (len(left) == 0 or race.lower_s[decided].min() <= bound_s):
        return int(decided[np.argmin(race.mean_s[decided])])
    return int(left[0]) if len(left) == 1 else max(holder, 0)


def standing(race: kernel.RaceState) -> RivalStanding:
    """Where a race stands."""
    begun = race.account.begun
    return RivalStanding(
        best_index=int(race.account.rows[best_member(race)]),
        total_time_s=float(race.account.shared[kernel.TOTAL]),
        runs=int(race.account.counters[kernel.RUNS]),
        configurations=int(begun.sum()),
        alive=int((begun & (race.status != kernel.REJECTED)).sum()),
    )


def conclusion(name: str, race: kernel.RaceState) -> StopReason:
    """Why a race that was played to its end is over."""
    exhausted = int((race.status == kernel.EXHAUSTED).sum())
    if exhausted:
        return StopReason(
            INSTANCES_EXHAUSTED,
            ("1 configuration has" if exhausted == 1 else f"{exhausted} configurations have")
            + " used all instances before their means were known well enough: "
            "add instances or choose a larger epsilon.",
        )
    return finished(f"{name} has decided on every configuration: a smaller epsilon or delta asks for more.")

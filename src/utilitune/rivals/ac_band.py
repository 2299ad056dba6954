"""AC-Band: races of k configurations at a time, in epochs from many configurations to few.

AC-Band (Algorithm 2), and Combinatorial Successive Elimination (CSE, Algorithm 1) in it, of Brandt, Schede,
Bengs, Haddenhorst, Hüllermeier and Tierney ("AC-Band: a combinatorial bandit-based approach to algorithm
configuration", AAAI 2023). All configurations of a race run side by side on an instance and all are
stopped when the first finishes, so each of them pays the winner's time.

Sizes do not depend on outcomes, so the whole plan (`epochs`) is known, and checked, before the first run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from utilitune.domain import require_probability, require_whole
from utilitune.domain.stopping import finished
from utilitune.errors import UsageError
from utilitune.rivals.rival import Draws, RivalStanding, check_optional_captime

if TYPE_CHECKING:
    from collections.abc import Generator

    from utilitune.domain import StopReason
    from utilitune.domain.stopping import Budget
    from utilitune.rivals.rival import RecordedRuns


_ROUNDING = 1e-9  # so that a quotient that is a whole number is not missed


class Feedback(StrEnum):
    """What a configuration scores in a race: 1 per instance it wins, or the utility of its winning runs."""

    WINS = "wins"
    UTILITY = "utility"


class Elimination(NamedTuple):
    """How CSE thins out configurations in epoch e with races of k: ρ_e = log2((e + k − 1)/e)."""

    race_size: int
    epoch: int

    def kept(self, count: int) -> int:
        """f(x) = ⌊x / 2^ρ⌋ = ⌊x e / (e + k − 1)⌋."""
        return count * self.epoch // (self.epoch + self.race_size - 1)

    def after_round(self, count: int) -> int:
        """g(x) = max(f(k), 1) ⌊x / k⌋ + x mod k: what a round of full races leaves."""
        groups, rest = divmod(count, self.race_size)
        return max(self.kept(self.race_size), 1) * groups + rest

    def rounds(self, count: int) -> tuple[int, int]:
        """R1 rounds of full races until at most k are left, then R2 rounds of one race until one is."""
        full = single = 0
        while count > self.race_size:
            count, full = self.after_round(count), full + 1
        while count > 1:
            count, single = self.kept(count), single + 1
        return full, single


class Epoch(NamedTuple):
    """One epoch: so many configurations, the incumbent among them, on so many fresh instances."""

    configurations: int
    instances: int
    elimination: Elimination


def needed_draws(alpha: float, delta: float) -> int:
    """N = ⌈log2 δ / log2(1 − α)⌉ draws hold one of the best fraction α with probability 1 − δ."""
    return max(1, math.ceil(math.log(delta) / math.log1p(-alpha) - _ROUNDING))


def epoch_count(draws: int) -> int:
    """E = ⌈log2(n0 / (n0 − N))⌉ epochs, with n0 = N + 1: as many as N has binary digits."""
    return draws.bit_length()


def epoch_divisor(epoch: int, draws: int, race_size: int) -> float:
    """C_e, by which the budget is divided: epoch e gets ⌊B / C_e⌋ instances; the 1 / C_e sum to one.

    C_e = 2^e (c1 E − (2^E − 1)(2 c1 − c2 − c3)) / (2^E (c2 + c3 − e c1)) with b = 1 + (k − 1)/E,
    c1 = log_b 2, c2 = 1 + log_b(n0 + 4 n0/(n0 − N)), c3 = log_b k.
    """
    pool, epochs = draws + 1, epoch_count(draws)
    base = 1 + (race_size - 1) / epochs
    c1 = math.log(2, base)
    c23 = 1 + math.log(pool + 4 * pool / (pool - draws), base) + math.log(race_size, base)
    whole = c1 * epochs - (2**epochs - 1) * (2 * c1 - c23)
    divisor: float = 2**epoch * whole / (2**epochs * (c23 - epoch * c1))
    return divisor


def epochs(draws: int, race_size: int, budget: int) -> list[Epoch]:
    """All epochs e = 1 … E, with n_e = ⌈n0 / 2^e⌉ + 1 configurations on ⌊B / C_e⌋ instances."""
    return [
        Epoch(
            configurations=math.ceil((draws + 1) / 2**e) + 1,
            instances=math.floor(budget / epoch_divisor(e, draws, race_size) + _ROUNDING),
            elimination=Elimination(race_size, e),
        )
        for e in range(1, epoch_count(draws) + 1)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ACBand:
    """AC-Band.

    Attributes:
        race_size: k, how many configurations run side by side.
        alpha: Fraction of good configurations, one of which the draws shall hold.
        delta: Probability with which they may hold none.
        budget: Most instances over all epochs; all there are if left out.
        captime_s: When a race without winner is stopped; the cutoff of the recording if left out.
        feedback: Count wins (the default of the paper), or the utility of the winning answers.
    """

    name: ClassVar[str] = "ac-band"
    anytime: ClassVar[bool] = False

    race_size: int = 4
    alpha: float = 0.05
    delta: float = 0.05
    budget: int | None = None
    captime_s: float | None = None
    feedback: Feedback = Feedback.WINS

    def __post_init__(self) -> None:
        require_probability("alpha", self.alpha)
        require_probability("delta", self.delta)
        if 1 - self.alpha == 1:
            raise UsageError(
                f"alpha ({self.alpha:g}) is so small that no number of draws would do: choose a larger one"
            )
        check_optional_captime(self.captime_s)
        if self.budget is not None:
            require_whole("the budget of AC-Band", self.budget)
        require_whole("the race size of AC-Band", self.race_size, least=2)
        if not isinstance(self.feedback, Feedback):
            raise UsageError(
                f"the feedback must be a Feedback ({' or '.join(Feedback)}), not {self.feedback!r}"
            )

    def play(self, runs: RecordedRuns, budget: Budget) -> Generator[RivalStanding, None, StopReason]:
        """Play epoch after epoch; the incumbent stands after each."""
        del budget  # the driver looks after every epoch
        plan = self._plan(runs)
        arena = _Arena(runs, runs.captime_s(self.captime_s), self.feedback)
        draws = Draws(runs.order)
        incumbent = draws.take(1)[0]
        for epoch in plan:
            rows = [incumbent, *draws.take(epoch.configurations - 1, besides=incumbent)]
            incumbent = _eliminate(arena, rows, epoch)
            yield RivalStanding(incumbent, arena.total_time_s, arena.runs, draws.seen, 1)
        return finished("AC-Band has played all its epochs: a smaller alpha looks at more configurations.")

    def _plan(self, runs: RecordedRuns) -> list[Epoch]:
        if self.race_size > runs.configurations:
            raise UsageError(
                f"a race of {self.race_size} configurations needs at least as many, but there are only "
                f"{runs.configurations}: choose a smaller race_size"
            )
        budget = runs.positions if self.budget is None else self.budget
        if budget > runs.positions:
            raise UsageError(
                f"a budget of {budget} instances is more than the {runs.positions} there are: "
                "choose a smaller one"
            )
        plan = [
            epoch._replace(configurations=min(epoch.configurations, runs.configurations))
            for epoch in epochs(needed_draws(self.alpha, self.delta), self.race_size, budget)
        ]
        for number, epoch in enumerate(plan, start=1):
            if _smallest_share(epoch) < 1:
                raise UsageError(
                    f"the instances ({budget}) are too few for AC-Band with race_size {self.race_size}, "
                    f"alpha {self.alpha:g} and delta {self.delta:g}, as a race of epoch {number} would get "
                    "none: bring more instances, or choose a larger race_size, alpha or delta"
                )
        return plan


def _smallest_share(epoch: Epoch) -> int:
    """The fewest instances any race of the epoch gets: those of its first round, with the most groups."""
    groups = max(1, epoch.configurations // epoch.elimination.race_size)
    return epoch.instances // (groups * sum(epoch.elimination.rounds(epoch.configurations)))


class _Arena:
    """Where races take place: it hands out fresh instances and keeps the account."""

    def __init__(self, runs: RecordedRuns, captime_s: float, feedback: Feedback) -> None:
        self._runs, self._captime_s, self._feedback = runs, captime_s, feedback
        self._next_position = 0
        self.total_time_s = 0.0
        self.runs = 0

    def race(self, rows: list[int], instances: int, keep: int) -> list[int]:
        """Race on fresh instances; return the `keep` best in the order given, which decides ties.

        On an instance only the winner gives an answer: it scores 1, or the utility of its runtime. The
        others are stopped without one. If none finishes before the captime, nobody scores.
        """
        last = self._next_position + instances
        at = np.array([self._runs.runs_of(row, self._next_position, last) for row in rows])
        self._next_position = last
        runtimes_s = self._runs.evidence.runtime_s[at]
        winner, column = np.argmin(runtimes_s, axis=0), np.arange(instances)
        winning_s = runtimes_s[winner, column]
        score = winning_s < self._captime_s
        if self._feedback is Feedback.UTILITY:
            score = np.where(score, self._runs.evidence.utility[at[winner, column]], 0.0)
        totals = np.bincount(winner, weights=score, minlength=len(rows))
        self.total_time_s += len(rows) * float(np.minimum(winning_s, self._captime_s).sum())
        self.runs += len(rows) * instances
        return [rows[i] for i in sorted(np.argsort(-totals, kind="stable")[:keep])]


def _eliminate(arena: _Arena, rows: list[int], epoch: Epoch) -> int:
    """Combinatorial Successive Elimination: the last configuration standing."""
    size, elimination = epoch.elimination.race_size, epoch.elimination
    rounds = sum(elimination.rounds(len(rows)))
    while len(rows) >= size:
        full = len(rows) // size
        share = epoch.instances // (full * rounds)
        keep = max(1, elimination.kept(size))
        survivors: list[int] = []
        for group in range(full):
            survivors += arena.race(rows[group * size : (group + 1) * size], share, keep)
        rows = survivors + rows[full * size :]
    while len(rows) > 1:
        rows = arena.race(rows, epoch.instances // rounds, max(1, elimination.kept(len(rows))))
    return rows[0]

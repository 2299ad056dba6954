"""ImpatientCapsAndRuns (ICAR): look briefly at many configurations before CapsAndRuns races the few.

ImpatientCapsAndRuns (Algorithm 1), and the precheck in it, of Weisz, György, Lin, Graham, Leyton-Brown,
Szepesvári and Lucier ("ImpatientCapsAndRuns: approximately optimal algorithm configuration from an infinite
pool", NeurIPS 2020). Growing pools of random configurations are prechecked against the best bound so far;
those that pass are raced, roughly at first, and in the end the survivors of all pools to full accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from utilitune.errors import UsageError
from utilitune.rivals import bernstein_race as kernel
from utilitune.rivals.caps_and_runs import (
    Precision,
    advance,
    check_enough_instances,
    check_enough_rows,
    conclusion,
    require_share,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from utilitune.domain import StopReason
    from utilitune.domain.stopping import Budget
    from utilitune.rivals.rival import RecordedRuns, RivalStanding


def pool_sizes(gamma: float, zeta: float) -> list[int]:
    """How many of the draws the pools k = K − 1 … 0 reach to, the smallest pool first.

    K = ⌈log2(½/γ)⌉, and pool k holds the first ⌈ln(ζ'/K) / ln(1 − 2^k γ)⌉ draws.
    """
    pools = math.ceil(math.log2(0.5 / gamma))
    return [math.ceil(math.log(zeta / pools) / math.log(1 - 2**k * gamma)) for k in range(pools - 1, -1, -1)]


def precheck_instances(pools: int, zeta: float) -> int:
    """Either stage of a precheck takes b' = ⌈32.1 ln(2K/ζ')⌉ instances."""
    return math.ceil(32.1 * math.log(2 * pools / zeta))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpatientCapsAndRuns(Precision):
    """ImpatientCapsAndRuns on pools of random configurations.

    Attributes:
        gamma: Fraction of best configurations, one of which the pools shall hold; below ½.
        guess_best: First look roughly at all draws and let the first to find their caps join the first pool.
    """

    name: ClassVar[str] = "icar"
    anytime: ClassVar[bool] = False

    gamma: float = 0.05
    guess_best: bool = False

    def __post_init__(self) -> None:
        Precision.__post_init__(self)
        require_share("gamma", self.gamma)
        if self.gamma >= 0.5:
            raise UsageError(f"gamma must be below 0.5 for ImpatientCapsAndRuns, not {self.gamma:g}")

    @property
    def part_zeta(self) -> float:
        """ζ' = ζ/12, or ζ/13 with the guess: the failure of each part."""
        return self.zeta / (13 if self.guess_best else 12)

    def play(self, runs: RecordedRuns, budget: Budget) -> Generator[RivalStanding, None, StopReason]:
        """Play pool after pool, then race what is left of all pools to full accuracy."""
        sizes, zeta = pool_sizes(self.gamma, self.part_zeta), self.part_zeta
        check_enough_rows(sizes[-1], self.gamma, runs)
        rules = self.rules(sizes[-1], zeta, runs.captime_s(self.captime_s))
        check_enough_instances(rules.instances, self.delta, runs)
        self._check_enough_for_checks(sizes, runs)
        account = kernel.new_account(
            runs.evidence, runs.order[: sizes[-1]], (float(budget.max_time_s), budget.run_limit)
        )
        race = kernel.new_race(account, rules.instances)
        everyone = np.arange(sizes[-1])
        newcomers = everyone[: sizes[0]]
        if self.guess_best:
            guesses = yield from self._guess(account, sizes, rules.limit_s)
            newcomers = np.union1d(newcomers, guesses)
        joined = np.zeros(0, dtype=np.int64)
        roughly = rules._replace(pause_after=rules.instances)
        for size in sizes:
            if len(joined):
                newcomers = np.setdiff1d(everyone[:size], joined)
                self._precheck(race, rules, newcomers, len(sizes))
            joined = np.union1d(joined, newcomers)
            yield from advance(race, roughly, newcomers)
        self._precheck(race, rules, everyone, len(sizes))
        race.status[race.status == kernel.PAUSED] = kernel.MEAN
        yield from advance(race, rules, everyone)
        return conclusion("ImpatientCapsAndRuns", race)

    def _check_enough_for_checks(self, sizes: list[int], runs: RecordedRuns) -> None:
        """Refuse data whose instances do not suffice for both stages of a precheck, or for the guess."""
        needs = {"prechecks": 2 * precheck_instances(len(sizes), self.part_zeta)}
        if self.guess_best:
            needs["guess of the best"] = self._guess_rules(sizes[-1], math.inf).instances
        for purpose, needed in needs.items():
            if needed > runs.positions:
                raise UsageError(
                    f"ImpatientCapsAndRuns needs {needed} instances for its {purpose}, but there are only "
                    f"{runs.positions}: bring more instances or choose a larger zeta or gamma"
                )

    def _precheck(
        self, race: kernel.RaceState, rules: kernel.RaceRules, members: NDArray[np.int64], pools: int
    ) -> None:
        """Reject those who fail the precheck; the holder of the bound need not take it."""
        instances = precheck_instances(pools, self.part_zeta)
        spread = math.log(3 * pools / self.part_zeta)
        for i in members:
            if i != race.account.counters[kernel.HOLDER] and not kernel.precheck(
                race.account, int(i), instances, spread, (rules.slice_s, rules.limit_s)
            ):
                race.status[i] = kernel.REJECTED

    def _guess(
        self, account: kernel.RaceAccount, sizes: list[int], limit_s: float
    ) -> Generator[RivalStanding, None, NDArray[np.int64]]:
        """The first so many of all draws, as many as the first pool has, whose caps for δ = ¾ are found."""
        rules = self._guess_rules(sizes[-1], limit_s)
        race = kernel.new_race(account, rules.instances)
        yield from advance(race, rules, np.arange(sizes[-1]), enough=sizes[0])
        return np.flatnonzero(race.status == kernel.PAUSED)

    def _guess_rules(self, configurations: int, limit_s: float) -> kernel.RaceRules:
        """The constants of the guess: caps for δ = ¾, no means."""
        rough = replace(self, epsilon=1.0, delta=0.75)
        return rough.rules(configurations, self.part_zeta / 6, limit_s, pause_after=0)

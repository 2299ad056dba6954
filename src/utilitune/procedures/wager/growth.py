"""How the set of configurations grows under `wager`.

After n random draws, with probability at least 1 − δ/2 for all p at once, the best of the first n_p draws is
as good as the best of all but a fraction

    γ_p = 1 − v_p^(1/n_p),    Σ v_p ≤ δ/2,

of the space, for any fixed grid n_1 < n_2 < … and any fixed v_p: the chance that n_p draws all miss the best
γ_p fraction is at most (1 − γ_p)^n_p = v_p. As all hold at once, γ after n draws is the smallest γ_p with
n_p ≤ n. The v_p are nearly flat,

    v_p = (δ/2)·K/((p + K − 1)(p + K)),    K = 10.

Where a γ is announced before the first run, one more grid point n is made for it, the first that needs
no more than nine tenths of δ/2 for this γ; the others share the last tenth.

**Adaptive growth** draws up to the next grid point when that improves the promise more per second than
further runs. Let J = ε + w·γ be what the user wants small, w being the weight of γ. With c seconds for each
of n configurations, C = n·c seconds are spent, and ε falls like C^(−1/2), so dε/dC = −ε/(2C). A new draw
costs c seconds and lowers γ by γ/n, so dγ/dC = −γ/(n·c) = −γ/C. Drawing is better exactly when 2·w·γ > ε.

Draws that need no run cost nothing by this account, and a perfect leader would draw for ever. So growth ends
when w·γ has come down to a thousandth, unless the user asks for a γ of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from utilitune.domain import require_positive
from utilitune.procedures.growth import FixedSet, Phases
from utilitune.procedures.wager import tuning


@dataclass(frozen=True, slots=True)
class Adaptive:
    """The set grows when that improves ε + gamma_weight·γ more per second than further runs."""

    gamma_weight: float = 1.0

    def __post_init__(self) -> None:
        require_positive("the weight of gamma", self.gamma_weight)

    @property
    def least_gamma(self) -> float:
        """The γ at which growth ends where no other is asked for."""
        return tuning.LEAST_WEIGHTED_GAMMA / self.gamma_weight


@dataclass(frozen=True, slots=True)
class Stage:
    """A set of random draws: play until `epsilon` is proved, then grow; γ is then `gamma`."""

    number: int
    draws: int
    gamma: float | None
    epsilon: float


class GridPoint(NamedTuple):
    """A number of draws n_p, and the probability v_p with which its γ_p may be missed."""

    draws: int
    share: float

    def gamma_after(self, draws: int) -> float:
        """γ = 1 − v^(1/n), with n draws in place of n_p."""
        return -math.expm1(math.log(self.share) / draws)


@dataclass(frozen=True, slots=True)
class GammaGrid:
    """The grid of adaptive growth, fixed before the first run.

    Attributes:
        delta: Half of it is spent here.
        announced: The γ that was asked for at the first start, if any.
    """

    delta: float
    announced: float | None = None

    def point(self, number: int) -> GridPoint:
        """Grid point p (from 1)."""
        special = self.announced_point
        if special is None:
            return GridPoint(self._plain_draws(number), self._plain_share(number))
        before = 0
        while self._plain_draws(before + 1) < special.draws:
            before += 1
        if number == before + 1:
            return special
        plain = number if number <= before else number - 1
        share = (1.0 - tuning.ANNOUNCED_PART) * self._plain_share(plain)
        return GridPoint(self._plain_draws(plain), share)

    def gamma(self, number: int) -> float:
        """What is proved of γ at grid point p: the smallest of all γ up to there."""
        points = [self.point(p) for p in range(1, number + 1)]
        return min(point.gamma_after(point.draws) for point in points)

    def gamma_of_last(self, number: int, draws: int) -> float:
        """γ where only so many configurations exist, fewer than grid point p wants.

        Their number is known beforehand, so it may take the place of n_p in the grid and end it; points
        before, as far as there are draws, may still say more.
        """
        points = [self.point(p) for p in range(1, number)]
        reached = [point.gamma_after(point.draws) for point in points if point.draws <= draws]
        return min([self.point(number).gamma_after(draws), *reached])

    @property
    def announced_point(self) -> GridPoint | None:
        """The grid point of the γ that was announced; None if there was none."""
        if self.announced is None:
            return None
        share = tuning.ANNOUNCED_PART * self.delta / 2.0
        return GridPoint(math.ceil(math.log(share) / math.log1p(-self.announced)), share)

    def _plain_share(self, number: int) -> float:
        level = tuning.LEVEL_GAMMA
        return self.delta / 2.0 * level / ((number + level - 1.0) * (number + level))

    def _plain_draws(self, number: int) -> int:
        """n_1 gives γ = 1/2 or less without an announced γ, and each step adds a half."""
        draws = math.ceil(math.log(self._plain_share(1)) / math.log1p(-tuning.FIRST_GAMMA))
        for _ in range(number - 1):
            draws = math.ceil(tuning.GROWTH_RATIO * draws)
        return draws


def stage(growth: FixedSet | Phases | Adaptive, number: int, grid: GammaGrid) -> Stage | None:
    """Stage p (from 1) of a growth rule, or None past its end."""
    if isinstance(growth, FixedSet):
        return Stage(1, growth.configurations, None, -1.0) if number == 1 else None
    if isinstance(growth, Phases):
        phase = growth.schedule.phase(number, grid.delta)
        if phase is None or (growth.most is not None and number > growth.most):
            return None
        return Stage(number, phase.configurations, phase.gamma, phase.epsilon)
    gamma = grid.gamma(number)
    return Stage(number, grid.point(number).draws, gamma, 2.0 * growth.gamma_weight * gamma)


def next_stage(growth: FixedSet | Phases | Adaptive, number: int, grid: GammaGrid) -> Stage | None:
    """The stage to play after stage `number` (0 for the first); None past the end.

    A grid point a little before that of the announced γ is passed over: what is proved there has to be proved
    once more soon, among more draws, with a larger share of δ and often a better leader.
    """
    following, announced = stage(growth, number + 1, grid), grid.announced_point
    if not isinstance(growth, Adaptive) or announced is None:
        return following
    while following is not None and tuning.PASSED_OVER * announced.draws < following.draws < announced.draws:
        following = stage(growth, following.number + 1, grid)
    return following


def is_worth_listing(size: int | None, delta: float, announced: float | None, *, finite: bool) -> bool:
    """Whether a space of so many configurations is to be listed.

    It has to be small. And where a γ is announced for which few draws are enough, these few are cheaper than
    all of them; on a list of instances, where larger shares of δ help less, also if they are most of them.

    Args:
        size: How many configurations the space has; None where nobody knows, or without end.
        delta: Probability with which the promise may fail.
        announced: The γ that is asked for at the first start, if any.
        finite: Whether the promise is about a list of instances.
    """
    if size is None or size > tuning.MOST_LISTED:
        return False
    point = GammaGrid(delta, announced).announced_point
    if point is None:
        return True
    different = size * (1.0 - (1.0 - 1.0 / size) ** point.draws)
    return different >= tuning.MOST_DIFFERENT * size if finite else 2 * point.draws > size

"""How the set of configurations grows under `wager`.

After n random draws, with probability at least 1 − δ/2 for all p at once, the best of the first n_p draws is
as good as the best of all but a fraction

    γ_p = ln(π²p²/(3δ))/n_p

of the space, for any fixed grid n_1 < n_2 < … (the chance that n_p draws all miss the best γ_p fraction is at
most exp(−γ_p·n_p) = 3δ/(π²p²), and these sum to δ/2).

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

from utilitune.domain import require_positive
from utilitune.procedures.paper import FixedSet, Phases

_RATIO = 1.5
_FIRST_GAMMA = 0.5
_LEAST_WEIGHTED_GAMMA = 1e-3


@dataclass(frozen=True, slots=True)
class Adaptive:
    """The set grows when that improves ε + gamma_weight·γ more per second than further runs."""

    gamma_weight: float = 1.0

    def __post_init__(self) -> None:
        require_positive("the weight of gamma", self.gamma_weight)

    @property
    def least_gamma(self) -> float:
        """The γ at which growth ends where no other is asked for."""
        return _LEAST_WEIGHTED_GAMMA / self.gamma_weight


@dataclass(frozen=True, slots=True)
class Stage:
    """A set of random draws: play until `epsilon` is proved, then grow; γ is then `gamma`."""

    number: int
    draws: int
    gamma: float | None
    epsilon: float


def gamma_of(number: int, draws: int, delta: float) -> float:
    """γ_p after n_p draws."""
    return math.log(math.pi**2 * number**2 / (3.0 * delta)) / draws


def gamma_of_last(number: int, draws: int, delta: float) -> float:
    """γ where only so many configurations exist, fewer than stage p wants.

    Their number is known beforehand, so it may take the place of n_p in the grid and end it; the stage before
    may still say more.
    """
    gamma = gamma_of(number, draws, delta)
    if number == 1:
        return gamma
    return min(gamma, gamma_of(number - 1, adaptive_draws(number - 1, delta), delta))


def stage(growth: FixedSet | Phases | Adaptive, number: int, delta: float) -> Stage | None:
    """Stage p (from 1) of a growth rule, or None past its end."""
    if isinstance(growth, FixedSet):
        return Stage(1, growth.configurations, None, -1.0) if number == 1 else None
    if isinstance(growth, Phases):
        phase = growth.schedule.phase(number, delta)
        if phase is None or (growth.most is not None and number > growth.most):
            return None
        return Stage(number, phase.configurations, phase.gamma, phase.epsilon)
    draws = adaptive_draws(number, delta)
    gamma = gamma_of(number, draws, delta)
    return Stage(number, draws, gamma, 2.0 * growth.gamma_weight * gamma)


def adaptive_draws(number: int, delta: float) -> int:
    """The grid of adaptive growth: n_1 gives γ = 1/2 or less, and each step adds a half."""
    first = math.ceil(gamma_of(1, 1, delta) / _FIRST_GAMMA)
    draws = first
    for _ in range(number - 1):
        draws = math.ceil(_RATIO * draws)
    return draws

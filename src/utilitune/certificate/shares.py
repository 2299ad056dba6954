"""How δ is shared, once more (docs/theory.md, sections 4, 5 and 7): who may spend how much of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

GAIN = 0.02
FEW = 100
OF_FEW = {"lower": 0.02, "upper": 0.13, "paired": 0.85}
OF_MANY = {"lower": 0.1, "upper": 0.8, "paired": 0.1}
GROWING = {"lower": 0.2, "upper": 0.6, "paired": 0.2}
GIVEN_PART, CHOSEN_PART, LISTED_CHOSEN_PART = 0.1, 0.4, 0.1
LEVELS = {"draw": 100.0, "chosen": 20.0}
LEVEL_DRAWS = 1000.0
FIRST_GAMMA, GROWTH_RATIO, LEVEL_GAMMA, ANNOUNCED_PART = 0.5, 1.5, 10.0, 0.9
MOST_GRID_POINTS = 200
AT_ANNOUNCED, BEFORE_ANNOUNCED = 0.6, 0.3
PHASES_LATE, PHASES_COUNTED = 0.5, 60
SCHEDULES: dict[str, Callable[[int], float]] = {
    "default": lambda p: math.exp(-p / 3),
    "gamma-focus": lambda p: math.exp(-p / 3),
    "epsilon-focus": lambda p: math.exp(-p / 30),
    "balanced": lambda p: math.exp(-p / 5),
    "gamma-then-epsilon": lambda p: math.exp(-(p**2) / 30),
}
"""γ_p of the schedules whose phases a set may grow in."""


@dataclass(frozen=True, slots=True)
class StatedShares:
    """The shares of δ of one run, all fixed before its first run.

    Attributes:
        delta: The probability with which the promise may fail.
        fixed: Size of a fixed set; 0 where the set grows.
        default: Whether something is kept for the comparison with the default.
        given: Whether configurations may be given.
        chosen: Whether configurations may be proposed or nominated.
        listed: Size of a space all of which is drawn before the first run; 0 for any other.
        schedule: Name of the schedule in whose phases the set grows; empty where it grows by itself.
        announced: How many draws the announced γ needs, where these have shares of their own; else 0.
    """

    delta: float
    fixed: int
    default: bool
    given: bool
    chosen: bool
    listed: int = 0
    schedule: str = ""
    announced: int = 0

    @property
    def known(self) -> int:
        """How many configurations ε covers, where that is fixed before the first run; else 0."""
        return self.fixed or self.listed

    def part(self, kind: str) -> float:
        """What all lower bounds, upper bounds or pairs may spend together."""
        kept = GAIN if self.default else 0.0
        parts = GROWING
        if self.known:
            parts = OF_FEW if self.known <= FEW else OF_MANY
        return parts[kind] * (1.0 - kept) * (self.delta - self.for_gamma)

    @property
    def gain(self) -> float:
        """What comparisons with the default may spend, for each direction."""
        return GAIN * (self.delta - self.for_gamma) / 2.0 if self.default else 0.0

    @property
    def for_gamma(self) -> float:
        """What is kept for γ: nothing where all are known, half of δ, or what the phases spend."""
        if self.known:
            return 0.0
        if not self.schedule:
            return self.delta / 2.0
        phases = (_phase(self.schedule, number, self.delta) for number in range(1, PHASES_COUNTED + 1))
        missed = sum(math.exp(draws * math.log1p(-gamma)) for draws, gamma in phases)
        return missed + 3.0 * self.delta / (math.pi**2 * PHASES_COUNTED)

    def weight(self, kind: str, number: int) -> float:
        """w_b of number `number` (from 1) among the draws, the given ones or the chosen ones."""
        if self.fixed:
            return 1.0 / max(1, self.fixed - 1)  # the best is no wrong answer
        if self.listed and kind != "chosen":
            kept = LISTED_CHOSEN_PART if self.chosen else 0.0
            return (1.0 - kept) / max(1, self.listed - 1)
        given = GIVEN_PART if self.given else 0.0
        chosen = 0.0
        if self.chosen:
            chosen = LISTED_CHOSEN_PART if self.listed else CHOSEN_PART
        if kind == "given":
            return given / (number * (number + 1.0))
        level = LEVELS[kind]
        part = chosen if kind == "chosen" else 1.0 - given - chosen
        return part * level / ((number + level - 1.0) * (number + level))

    def rank_weight(self, rank: int, *, reached: bool = False) -> float:
        """r_k of the draw number `rank`, from 1.

        Args:
            rank: The number.
            reached: Whether the promise is about all draws that the announced γ needs, or the whole space.
        """
        if self.known:
            return 1.0
        if self.announced:
            return self._beside_announced(rank) if reached else self._before_announced(rank)
        late = 1.0 + math.log(max(1.0, rank / LEVEL_DRAWS))
        flat = 1.0 / ((2.0 + math.log(LEVEL_DRAWS)) * late**2)
        if not self.schedule:
            return flat
        growing = rank / LEVEL_DRAWS if rank <= LEVEL_DRAWS else 0.0
        return (1.0 - PHASES_LATE) * flat + PHASES_LATE * growing

    def draws_for(self, gamma: float, announced: float | None, draws: int) -> int | None:
        """After how many first draws γ holds, of those there are; None if it does not hold.

        Args:
            gamma: The fraction of all configurations that may be better.
            announced: The γ that was announced before the first run; None if there was none.
            draws: How many draws there are.
        """
        reached: Iterable[tuple[int, float]]
        if self.schedule:
            phases = (_phase(self.schedule, number, self.delta) for number in range(1, MOST_GRID_POINTS))
            reached = takewhile(lambda phase: phase[0] <= draws, phases)
        else:
            grid = _grid(self.delta, announced, draws)
            reached = ((count, gamma_after(share, count)) for count, share in grid)
        return min((count for count, now in reached if now <= gamma + 1e-12), default=None)

    def _before_announced(self, rank: int) -> float:
        flat, growing = 1.0 / (1.0 + math.log(self.announced)), rank / self.announced
        return BEFORE_ANNOUNCED * (flat + growing) / 2.0

    def _beside_announced(self, rank: int) -> float:
        if rank <= self.announced:
            return AT_ANNOUNCED
        level = max(LEVEL_DRAWS, self.announced)
        late = 1.0 + math.log(max(1.0, rank / level))
        return (1.0 - AT_ANNOUNCED - BEFORE_ANNOUNCED) / ((1.0 + math.log(level / self.announced)) * late**2)


def _phase(schedule: str, number: int, delta: float) -> tuple[int, float]:
    """How many draws phase p (from 1) of a schedule has, and its γ."""
    gamma = SCHEDULES[schedule](number)
    return math.ceil(math.log(math.pi**2 * number**2 / (3.0 * delta)) / gamma), gamma


def gamma_after(share: float, draws: int) -> float:
    """γ = 1 − v^(1/n)."""
    return -math.expm1(math.log(share) / draws)


def announced_draws(delta: float, announced: float) -> int:
    """How many draws the announced γ needs."""
    return math.ceil(math.log(ANNOUNCED_PART * delta / 2.0) / math.log1p(-announced))


def _grid(delta: float, announced: float | None, most: int) -> list[tuple[int, float]]:
    """The grid points (n_p, v_p) up to `most` draws."""

    def plain_share(number: int) -> float:
        return delta / 2.0 * LEVEL_GAMMA / ((number + LEVEL_GAMMA - 1.0) * (number + LEVEL_GAMMA))

    points = []
    rest = 1.0 if announced is None else 1.0 - ANNOUNCED_PART
    if announced is not None:
        points.append((announced_draws(delta, announced), ANNOUNCED_PART * delta / 2.0))
    count = math.ceil(math.log(plain_share(1)) / math.log1p(-FIRST_GAMMA))
    for number in range(1, MOST_GRID_POINTS):
        if count > most:
            break
        points.append((count, rest * plain_share(number)))
        count = math.ceil(GROWTH_RATIO * count)
    return [point for point in points if point[0] <= most]

"""Who is in play, and in which role: ranks, weights and orders, none of which depends on the runs.

Random draws are covered by ε and count towards γ. Given configurations, proposals and nominees can be the
answer, but need not be ruled out. The kinds are numbered separately (`shares` says why), and a draw that
repeats an earlier draw is idle: it counts towards γ, but is never the first with the largest utility.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.errors import UsageError
from utilitune.procedures.engine import Origin
from utilitune.procedures.growth import FixedSet
from utilitune.procedures.wager.shares import Kind, Weights, fixed_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.wager.settings import WagerSettings

_KINDS = {
    Origin.RANDOM: Kind.DRAW,
    Origin.GIVEN: Kind.GIVEN,
    Origin.MODEL: Kind.CHOSEN,
    Origin.NOMINEE: Kind.CHOSEN,
}


class Role(NamedTuple):
    """What a configuration is in play for.

    Attributes:
        rank: Its number among the random draws, from 1; 0 if ε does not cover it.
        weight: Its share in what possible answers spend.
        ungauged: Whether only the sum of its runs bounds it from below.
        idle: Whether it repeats an earlier draw.
    """

    rank: int
    weight: float
    ungauged: bool = False
    idle: bool = False


class Roster:
    """Everybody in play so far.

    Args:
        settings: Those of the procedure.
        size: How many configurations a fixed set has.
        positions: How many instances the list has.

    Attributes:
        draws: How many random draws (in a fixed set, configurations) there are, repeated ones included.
    """

    def __init__(self, settings: WagerSettings, size: int, positions: int) -> None:
        self.draws = 0
        self._settings = settings
        self._fixed_size = size if isinstance(settings.growth, FixedSet) else 0
        self._positions = positions
        self._weights = _weights(settings)
        self._numbers = dict.fromkeys(Kind, 0)
        self._drawn: set[int] = set()
        self._joined = 0
        self._given: dict[int, int] = {}

    @property
    def has_whole_space(self) -> bool:
        """Whether every configuration of the space was drawn."""
        size = self._settings.space_size
        whole = size is not None and len(self._drawn) >= size
        if whole and self._settings.listed and not self._drawn.issuperset(self._given):
            raise UsageError("a configuration was given that is not one of those that can be set")
        return whole

    def join(self, origin: Origin, row: int) -> Role:
        """The role of one more configuration, whose runs are those of configuration number `row`."""
        repeated = False
        if self._fixed_size or origin is Origin.RANDOM:
            self.draws += 1
            repeated = row in self._drawn
            self._drawn.add(row)
        if self._fixed_size:
            return Role(0 if repeated else self.draws, fixed_weight(self._fixed_size), idle=repeated)
        kind = _KINDS[origin]
        if kind is Kind.GIVEN:
            self._given[row] = self._joined
        self._joined += 1
        self._numbers[kind] += 1
        weight = self._weights.weight(kind, self._numbers[kind])
        rank = self.draws if kind is Kind.DRAW and not repeated else 0
        ungauged = origin is Origin.MODEL and self._settings.finite_population
        return Role(rank, weight, ungauged, repeated)

    def given_member(self, row: int) -> int | None:
        """The arm of the given configuration with these runs, in a listed space: it is one of the draws."""
        return self._given.get(row) if self._settings.listed else None

    def check(self, origin: Origin, order: NDArray[np.int32] | None) -> None:
        """Refuse who has no place here."""
        if self._fixed_size:
            chosen = origin in (Origin.MODEL, Origin.NOMINEE)
            if chosen or self.draws >= self._fixed_size:
                raise UsageError(
                    f"a fixed set of {self._fixed_size} configurations has no place for another one: "
                    "let the set grow instead"
                )
        elif self._weights.weight(_KINDS[origin], 1) == 0.0:
            raise UsageError(f"this run was begun without {origin.value} configurations: begin a new one")
        if (origin is Origin.NOMINEE) != (order is not None):
            raise UsageError("a nominee, and nobody else, comes with an order of its own")
        if order is not None:
            self._check_order(order)

    def _check_order(self, order: NDArray[np.int32]) -> None:
        if not self._settings.finite_population:
            raise UsageError(
                "orders of their own exist on a list of instances only: on an endless source, propose"
            )
        if not np.array_equal(np.sort(order), np.arange(self._positions)):
            raise UsageError("the order of a nominee must hold every position of the list once")


def _weights(settings: WagerSettings) -> Weights:
    """The weights of possible answers, all of which are settled before the first run."""
    if settings.listed and settings.space_size is not None:
        return Weights.of_listed(settings.space_size, chosen=settings.chosen)
    return Weights.of(given=settings.given, chosen=settings.chosen)

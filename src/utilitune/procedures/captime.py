"""When a configuration's captime doubles, and the captimes there are.

Level l = 1, 2, … has captime κ0 · 2^(l−1), up to the largest captime that may be asked for (the
cutoff of recorded data, or the scenario's limit). At the last level nothing doubles any more; the
bounds stay valid there, but ε cannot fall below what the runs beyond that captime may be worth.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain import require_positive
from utilitune.domain.compiled import inlined
from utilitune.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.utility import Utility

_MOST_LEVELS = 64


class Doubling(IntEnum):
    """The two doubling rules; compiled code knows them by number."""

    OLD = 0
    NEW = 1


class CaptimeLevels(NamedTuple):
    """Captime and utility at each level; entry 0 is unused, as levels count from 1."""

    captime_s: NDArray[np.float64]
    utility: NDArray[np.float64]


def require_first_captime(first_s: float, limit_s: float) -> None:
    """Refuse a first captime above the largest one."""
    if first_s > limit_s:
        raise UsageError(
            f"the first captime ({first_s:g} s) is above the largest captime ({limit_s:g} s): choose "
            "a smaller one with --captime0 (in Python captime0_s, in a scenario limits.smallest_captime)"
        )


def captime_levels(utility: Utility, first_s: float, limit_s: float) -> CaptimeLevels:
    """The levels from the first captime up to the limit, which ends the table if it is finite."""
    require_positive("the first captime", first_s)
    require_first_captime(first_s, limit_s)
    captimes = [0.0, first_s]
    while captimes[-1] < limit_s and len(captimes) <= _MOST_LEVELS:
        captimes.append(min(2.0 * captimes[-1], limit_s))
    table = np.array(captimes)
    return CaptimeLevels(table, np.asarray(utility(table), dtype=np.float64))


@inlined
def doubles_old(captime_utility: float, finished_share: float, width: float) -> bool:
    """The rule of UP (Algorithm 1 line 9): 2α ≤ u(κ)(1 − F̂)."""
    return 2.0 * width <= captime_utility * (1.0 - finished_share)


@inlined
def doubles_new(captime_utility: float, finished_share: float, width: float) -> bool:
    """The paper's rule (line 9'): 2(1 − u(κ))α ≤ u(κ)(1 − F̂ + α)."""
    return 2.0 * (1.0 - captime_utility) * width <= captime_utility * (1.0 - finished_share + width)


@inlined
def doubles(rule: int, captime_utility: float, finished_share: float, width: float) -> bool:
    """Whether the captime doubles under the rule of this number."""
    if rule == 1:
        return doubles_new(captime_utility, finished_share, width)
    return doubles_old(captime_utility, finished_share, width)

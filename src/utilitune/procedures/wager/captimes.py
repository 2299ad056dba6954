"""The captimes `wager` uses, and what the runs tell of the runtime distribution.

Captimes lie on a √2 grid from the first captime to the largest that may be asked for, or to the first at
which a late answer is worth no more than none. A run observed at level g tells in which interval between
captimes it finished, or that it lasts longer than captime g; the Kaplan–Meier estimate puts such runs with
different captimes together. Where a configuration has few runs, its hazards are shrunk to those pooled over
all configurations, and these to a mild prior.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain.compiled import compiled, inlined
from utilitune.procedures.captime import require_first_captime
from utilitune.procedures.wager import tuning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.utility import Utility


class CaptimeGrid(NamedTuple):
    """One entry per captime level.

    Attributes:
        captime_s: The captime κ_g.
        utility: u(κ_g).
        middle_s: A typical runtime between the previous captime and this one.
        middle_utility: A typical utility there.
        floor: Utility of an answer that never comes.
        ceiling: Utility of an answer at once.
    """

    captime_s: NDArray[np.float64]
    utility: NDArray[np.float64]
    middle_s: NDArray[np.float64]
    middle_utility: NDArray[np.float64]
    floor: float
    ceiling: float


def half_life_s(utility: Utility) -> float:
    """When an answer has lost half of what waiting can cost; the time scale of a utility function."""
    return utility.time_to_fall_to((float(utility(0.0)) + utility.infimum) / 2.0)


def captime_grid(utility: Utility, first_s: float, limit_s: float) -> CaptimeGrid:
    """The grid from `first_s` to `limit_s`, shorter where later answers are worth nothing."""
    require_first_captime(first_s, limit_s)
    captimes = [first_s]
    last_s = min(limit_s, utility.time_to_fall_to(utility.infimum + tuning.WORTHLESS))
    if math.isinf(utility.time_to_fall_to(utility.infimum)) and math.isfinite(limit_s):
        last_s = limit_s
    while captimes[-1] < last_s and len(captimes) < tuning.MOST_LEVELS:
        captimes.append(min(tuning.CAPTIME_RATIO * captimes[-1], last_s))
    table = np.array(captimes)
    before = np.concatenate([[0.0], table[:-1]])
    worth = np.asarray(utility(table), dtype=np.float64)
    return CaptimeGrid(
        captime_s=table,
        utility=worth,
        middle_s=(before + table) / 2.0,
        middle_utility=(np.asarray(utility(before), dtype=np.float64) + worth) / 2.0,
        floor=utility.infimum,
        ceiling=float(utility(0.0)),
    )


@inlined
def interval_of(captime_s: NDArray[np.float64], runtime_s: float) -> int:
    """The first level at whose captime a run of this length is finished (t < κ, strictly)."""
    low, high = 0, captime_s.size
    while low < high:
        middle = (low + high) // 2
        if runtime_s < captime_s[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def shrunk_finish(
    risk: NDArray[np.float64], events: NDArray[np.float64], pooled: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probability to finish within each interval, and to last beyond each captime.

    The Kaplan–Meier estimate S_g = ∏_{h ≤ g} (1 − events_h/risk_h), with hazards shrunk to the pooled ones.
    """
    finish = np.empty(risk.size)
    beyond = np.empty(risk.size)
    alive = 1.0
    for g in range(risk.size):
        shared = (pooled[1, g] + tuning.PRIOR_RISK * tuning.PRIOR_HAZARD) / (pooled[0, g] + tuning.PRIOR_RISK)
        hazard = (events[g] + tuning.POOLED_WEIGHT * shared) / (risk[g] + tuning.POOLED_WEIGHT)
        finish[g] = alive * hazard
        alive *= 1.0 - hazard
        beyond[g] = alive
    return finish, beyond

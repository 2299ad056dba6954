"""What longer looks at runs are expected to show, where a run is worth something between X and Y at any time.

A run that was looked at up to captime κ_g has the interval [X_g, Y_g], which shrinks with g. How fast it does
is estimated over all runs: of the open part Y − X, from one captime to the next the share

    rise_g = Σ (X_g − X_{g−1}) / Σ (Y_{g−1} − X_{g−1})   is won from below,
    fall_g = Σ (Y_{g−1} − Y_g) / Σ (Y_{g−1} − X_{g−1})   is lost from above,

with a mild prior, as the Kaplan–Meier estimate does for runtimes. A run that was looked at up to a level is
continued by these shares. None of this touches the validity of a bound: it only says which captime to take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain.compiled import compiled, inlined
from utilitune.procedures.wager import tuning
from utilitune.procedures.wager.observation import is_open, observation, position_of, run_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.wager.state import Play

ROWS = 8
"""Rows of `Play.pooled`: runs at risk and finished per captime interval; then, for intervals, what was open
at the captime before, what was won of it and what was lost; how many runs were looked at, and the sums of
their X and Y."""

_OPEN, _WON, _LOST, _LOOKS, _LEAST, _MOST = range(2, ROWS)


@compiled
def pool_intervals(play: Play, run: int, level: int) -> None:
    """Add one look at a run to the pooled sums."""
    pooled = play.pooled
    x_before, y_before = 0.0, 0.0
    for g in range(level + 1):
        x, y = observation(play, run, g)
        pooled[_LOOKS, g] += 1.0
        pooled[_LEAST, g] += x
        pooled[_MOST, g] += y
        if g > 0:
            pooled[_OPEN, g] += y_before - x_before
            pooled[_WON, g] += x - x_before
            pooled[_LOST, g] += y_before - y
        x_before, y_before = x, y


@inlined
def continued(play: Play, run: int, level: int, g: int) -> tuple[float, float]:
    """X and Y of a run at captime g: as seen, or as expected where it was looked at up to `level` only."""
    if g <= level or not is_open(play, run, level):
        return observation(play, run, g)
    x, y = observation(play, run, level)
    for h in range(level + 1, g + 1):
        risk = play.pooled[_OPEN, h] + tuning.PRIOR_RISK
        prior = tuning.PRIOR_RISK * tuning.PRIOR_HAZARD
        opened = y - x
        x += opened * (play.pooled[_WON, h] + prior) / (risk + prior)
        y -= opened * (play.pooled[_LOST, h] + prior) / (risk + prior)
        y = max(x, y)
    return x, y


@compiled
def moments_alone(play: Play, i: int, scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The first two moments, at each captime, of X/scale − 1 for the leader and (1 − Y)/scale − 1 for others.

    An average run of all configurations counts as one run more, so that a new arm has an estimate too.
    """
    arms, size, leading = play.arms, play.grid.captime_s.size, i == play.standing.leader
    first, second = np.zeros(size), np.zeros(size)
    start = max(0, arms[i].runs - tuning.MOST_REPLAYED)
    count = float(arms[i].runs - start)
    for g in range(size):
        looks = play.pooled[_LOOKS, g]
        if looks > 0.0:
            row = _LEAST if leading else _MOST
            average = play.pooled[row, g] / looks
            gain = (average if leading else 1.0 - average) / scale - 1.0
            first[g] += gain
            second[g] += gain * gain
    for j in range(start, arms[i].runs):
        level = play.levels_run[arms[i].block + j]
        run = run_index(play, i, position_of(play, i, j))
        for g in range(size):
            x, y = continued(play, run, level, g)
            gain = (x if leading else 1.0 - y) / scale - 1.0
            first[g] += gain
            second[g] += gain * gain
    for g in range(size):
        weight = count + (1.0 if play.pooled[_LOOKS, g] > 0.0 else 0.0)
        first[g] /= max(1.0, weight)
        second[g] /= max(1.0, weight)
    return first, second

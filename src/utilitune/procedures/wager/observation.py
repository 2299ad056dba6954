"""What a run tells when it is looked at up to a captime: the one place where outcomes become numbers.

The run of an arm on a position, looked at up to the captime κ of a level, has a worth between two numbers,

    X ≤ v ≤ Y,    X = Y = u(t)        if it finished within κ (t < κ, strictly),
                  X = Y = u(∞)        if it failed within κ: it would never have given an answer,
                  X = u(∞), Y = u(κ)  otherwise.

Where what a run is worth depends on the solutions it has found so far, X and Y at each captime stand in the
evidence (`Evidence.least`, `Evidence.most`), and a run that is over has X = Y as before. Here X may be more
than nothing for a run that is not over, and Y less than u(κ), where no better solution can exist.

Every bound, plan and sum of `wager` reads a run through `observation` (or `observations`, for many) alone. So
another kind of evidence needs another one of these, and nothing else. All rules see a run only as far as its
level goes: what somebody happens to know beyond it changes nothing, and the order in which runs end does not
matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain.compiled import compiled, inlined
from utilitune.procedures.wager.state import NO_LEVEL, NOT_RUN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.wager.state import Play


@inlined
def position_of(play: Play, i: int, j: int) -> int:
    """The position, in the stored order, of run number j of arm i along its own order."""
    if play.arms[i].order == 0:
        return int(play.arms[i].first + j)
    return int(play.orders[play.arms[i].order - 1, j])


@inlined
def run_index(play: Play, i: int, position: int) -> int:
    """Where the run of arm i on a position of the stored order lies in the evidence."""
    return int(play.evidence.base[play.arms[i].row] + play.evidence.column[position])


@inlined
def failed_within(play: Play, run: int, captime_s: float) -> bool:
    """Whether a run is seen to fail before this captime."""
    failed_s = play.evidence.failed_s
    return bool(failed_s[run if failed_s.size > 1 else 0] < captime_s)


@inlined
def has_intervals(play: Play) -> bool:
    """Whether X and Y of a run stand in the evidence, for each captime."""
    return bool(play.evidence.least.shape[1] > 0)


@inlined
def _watched(
    runtime_s: float, failed_s: float, captime_s: float, worth: tuple[float, float, float]
) -> tuple[float, float]:
    """X and Y of a run up to a captime; `worth` holds u(t), u(∞) and u(captime)."""
    value, floor, capped = worth
    if runtime_s < captime_s:
        return value, value
    if failed_s < captime_s:
        return floor, floor
    return floor, capped


@compiled
def observation(play: Play, run: int, level: int) -> tuple[float, float]:
    """X and Y of a run that is looked at up to the captime of a level."""
    runtime_s, captime_s = play.evidence.runtime_s[run], play.grid.captime_s[level]
    if has_intervals(play) and runtime_s >= captime_s:
        return play.evidence.least[run, level], play.evidence.most[run, level]
    failed_s = play.evidence.failed_s
    failed = failed_s[run if failed_s.size > 1 else 0]
    value, capped = play.evidence.utility[run], play.grid.utility[level]
    return _watched(runtime_s, failed, captime_s, (value, play.grid.floor, capped))


@compiled
def observations(
    play: Play, runs: NDArray[np.int64], levels: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """X and Y of many runs, each looked at up to its level; `NO_LEVEL` tells u(∞) and u(0).

    What the loop reads is taken out of the state before it: reaching into nested tuples for every run would
    take ten times as long.
    """
    runtime_s, utility, failed_s = play.evidence.runtime_s, play.evidence.utility, play.evidence.failed_s
    least, most = play.evidence.least, play.evidence.most
    captime_s, capped, floor, ceiling = (
        play.grid.captime_s,
        play.grid.utility,
        play.grid.floor,
        play.grid.ceiling,
    )
    x, y = np.empty(runs.size), np.empty(runs.size)
    for k in range(runs.size):
        run, level = runs[k], levels[k]
        if level == NO_LEVEL:
            x[k], y[k] = floor, ceiling
        elif least.shape[1] > 0 and runtime_s[run] >= captime_s[level]:
            x[k], y[k] = least[run, level], most[run, level]
        else:
            failed = failed_s[run if failed_s.size > 1 else 0]
            worth = (utility[run], floor, capped[level])
            x[k], y[k] = _watched(runtime_s[run], failed, captime_s[level], worth)
    return x, y


@compiled
def runs_along(play: Play, i: int, start: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Runs number `start` to `end` (exclusive) of arm i along its order: their places, and their levels."""
    first, block, order = play.arms[i].first, play.arms[i].block, play.arms[i].order
    base, column, levels_run = play.evidence.base[play.arms[i].row], play.evidence.column, play.levels_run
    runs, levels = np.empty(end - start, dtype=np.int64), np.empty(end - start, dtype=np.int64)
    positions = play.orders[max(0, order - 1)] if order > 0 else np.empty(0, dtype=np.int32)
    for j in range(start, end):
        runs[j - start] = base + column[positions[j] if order > 0 else first + j]
        levels[j - start] = levels_run[block + j]
    return runs, levels


@compiled
def runs_at(play: Play, i: int, positions: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the runs of arm i on these positions lie, and their levels; for arms in the stored order."""
    first, made, block, aside = play.arms[i].first, play.arms[i].runs, play.arms[i].block, play.arms[i].aside
    base, column, levels_run = play.evidence.base[play.arms[i].row], play.evidence.column, play.levels_run
    runs, levels = np.empty(positions.size, dtype=np.int64), np.empty(positions.size, dtype=np.int64)
    for k in range(positions.size):
        position = positions[k]
        level, j = NO_LEVEL, position - first
        if 0 <= j < made:
            level = int(levels_run[block + j])
        if aside >= 0 and levels_run[aside + position] != NOT_RUN:
            level = max(level, int(levels_run[aside + position]))
        runs[k], levels[k] = base + column[position], level
    return runs, levels


@inlined
def is_open(play: Play, run: int, level: int) -> bool:
    """Whether a longer look could tell more: the run is not over, and what it is worth is not certain."""
    captime_s = play.grid.captime_s[level]
    if has_intervals(play):
        undecided = play.evidence.least[run, level] < play.evidence.most[run, level]
        return bool(play.evidence.runtime_s[run] >= captime_s and undecided)
    return bool(play.evidence.runtime_s[run] >= captime_s and not failed_within(play, run, captime_s))


@compiled
def open_runs(play: Play, runs: NDArray[np.int64], levels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """`is_open` of many runs, each looked at up to its level."""
    runtime_s, failed_s, captime_s = play.evidence.runtime_s, play.evidence.failed_s, play.grid.captime_s
    least, most = play.evidence.least, play.evidence.most
    found = np.empty(runs.size, dtype=np.bool_)
    for k in range(runs.size):
        run, level = runs[k], levels[k]
        found[k] = runtime_s[run] >= captime_s[level]
        if least.shape[1] > 0:
            found[k] = found[k] and least[run, level] < most[run, level]
        else:
            found[k] = found[k] and failed_s[run if failed_s.size > 1 else 0] >= captime_s[level]
    return found


@inlined
def seconds_of(play: Play, run: int, level: int) -> float:
    """What a look at a run up to the captime of a level costs."""
    failed_s = play.evidence.failed_s
    ended_s = min(play.evidence.runtime_s[run], failed_s[run if failed_s.size > 1 else 0])
    return float(min(ended_s, play.grid.captime_s[level]))

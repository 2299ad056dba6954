"""Observations of an arm, and its three bounds recomputed from them.

A bound stays valid while new runs come in, so it is recomputed only when the number of runs has grown by a
sixty-fourth; between two recomputations it is at most that much too cautious. This makes a round cheap
without keeping any capital: the observations are the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.bounds.betting import raised_bound
from utilitune.bounds.paired import lowered_difference
from utilitune.compiled import compiled
from utilitune.procedures.wager.shares import lower_threshold, paired_threshold, upper_threshold
from utilitune.procedures.wager.state import LEADER, Play

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STALE_SHARE = 64


@compiled
def least_values(play: Play, i: int, start: int, end: int) -> NDArray[np.float64]:
    """X on positions [start, end): the least that each run of arm i is worth, as far as it was watched."""
    values = np.empty(end - start)
    levels, base = play.arms[i].block - play.arms[i].first, play.evidence.base[i]
    for position in range(start, end):
        run = base + play.evidence.column[position]
        finished = play.evidence.runtime_s[run] < play.grid.captime_s[play.levels_run[levels + position]]
        values[position - start] = play.evidence.utility[run] if finished else play.grid.floor
    return values


@compiled
def most_values(play: Play, i: int, start: int, end: int) -> NDArray[np.float64]:
    """Y on positions [start, end): the most that each run of arm i can be worth, as far as it was watched."""
    values = np.empty(end - start)
    levels, base = play.arms[i].block - play.arms[i].first, play.evidence.base[i]
    for position in range(start, end):
        run = base + play.evidence.column[position]
        level = play.levels_run[levels + position]
        finished = play.evidence.runtime_s[run] < play.grid.captime_s[level]
        values[position - start] = play.evidence.utility[run] if finished else play.grid.utility[level]
    return values


@compiled
def due(changes: int, seen: int, runs: int) -> bool:
    """Whether enough has changed since a bound was last computed."""
    return changes - seen >= max(1, runs // _STALE_SHARE)


@compiled
def refresh_lower(play: Play, i: int) -> None:
    """LCB_i from all runs of arm i."""
    arms = play.arms
    arms[i].lower_seen = arms[i].changes
    if arms[i].ungauged:
        arms[i].lower = max(arms[i].lower, arms[i].least / play.rules.population)
        return
    values = least_values(play, i, arms[i].first, arms[i].first + arms[i].runs)
    threshold = lower_threshold(play.shares, arms[i].number)
    arms[i].lower = raised_bound(values, play.rules.population, arms[i].lower, threshold)


@compiled
def refresh_upper(play: Play, i: int) -> None:
    """UCB_i from all runs of arm i."""
    arms = play.arms
    arms[i].upper_seen = arms[i].changes
    if arms[i].rank == 0:
        return
    values = most_values(play, i, arms[i].first, arms[i].first + arms[i].runs)
    for j in range(values.size):
        values[j] = 1.0 - values[j]
    threshold = upper_threshold(play.shares, arms[i].rank)
    arms[i].upper = 1.0 - raised_bound(values, play.rules.population, 1.0 - arms[i].upper, threshold)


@compiled
def common_span(play: Play, i: int, b: int) -> tuple[int, int]:
    """The positions [start, end) that count for both arms."""
    arms = play.arms
    start = max(arms[i].first, arms[b].first)
    return start, max(start, min(arms[i].first + arms[i].runs, arms[b].first + arms[b].runs))


@compiled
def pair_stamp(play: Play, i: int, b: int) -> int:
    """A number that grows with everything the pair (i, b) has observed."""
    arms = play.arms
    start, end = common_span(play, i, b)
    return int(end - start + (arms[i].changes - arms[i].runs) + (arms[b].changes - arms[b].runs))


@compiled
def refresh_apart(play: Play, i: int) -> None:
    """D_ib of arm i to the leader b, from the positions both have run."""
    arms, b = play.arms, play.counters[LEADER]
    arms[i].apart_seen = pair_stamp(play, i, b)
    if arms[b].ungauged or arms[i].rank == 0:
        return
    start, end = common_span(play, i, b)
    values = most_values(play, i, start, end)
    least = least_values(play, b, start, end)
    for j in range(values.size):
        values[j] = 1.0 - values[j] + least[j]
    threshold = paired_threshold(play.shares, arms[i].rank, arms[b].number)
    arms[i].apart = lowered_difference(values, play.rules.population, arms[i].apart, threshold)

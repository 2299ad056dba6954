"""Observations of an arm, and its three bounds recomputed from them.

A bound stays valid while new runs come in, so it is recomputed only when the number of runs has grown by a
sixty-fourth; between two recomputations it is at most that much too cautious. This makes a round cheap
without keeping any capital: the observations are the state.
"""

from __future__ import annotations

import numpy as np

from utilitune.bounds.betting import raised_bound
from utilitune.bounds.paired import lowered_difference
from utilitune.compiled import compiled
from utilitune.procedures.wager.shares import lower_threshold, paired_threshold, upper_threshold
from utilitune.procedures.wager.state import LEADER, Play

_STALE_SHARE = 64


@compiled
def least_at(play: Play, i: int, position: int) -> float:
    """X: the least that the run of arm i on this position is worth, as far as it was watched."""
    level = play.levels_run[play.arms[i].block + position - play.arms[i].first]
    run = play.evidence.base[i] + play.evidence.column[position]
    if play.evidence.runtime_s[run] < play.grid.captime_s[level]:
        return float(play.evidence.utility[run])
    return float(play.grid.floor)


@compiled
def most_at(play: Play, i: int, position: int) -> float:
    """Y: the most that the run of arm i on this position can be worth, as far as it was watched."""
    level = play.levels_run[play.arms[i].block + position - play.arms[i].first]
    run = play.evidence.base[i] + play.evidence.column[position]
    if play.evidence.runtime_s[run] < play.grid.captime_s[level]:
        return float(play.evidence.utility[run])
    return float(play.grid.utility[level])


@compiled
def due(changes: int, seen: int, runs: int) -> bool:
    """Whether enough has changed since a bound was last computed."""
    return changes - seen >= max(1, runs // _STALE_SHARE)


@compiled
def refresh_lower(play: Play, i: int) -> None:
    """LCB_i from all runs of arm i."""
    arms = play.arms
    first, runs = arms[i].first, arms[i].runs
    arms[i].lower_seen = arms[i].changes
    if arms[i].ungauged:
        arms[i].lower = max(arms[i].lower, arms[i].least / play.rules.population)
        return
    values = np.empty(runs)
    for j in range(runs):
        values[j] = least_at(play, i, first + j)
    arms[i].lower = raised_bound(
        values, play.rules.population, arms[i].lower, lower_threshold(play.shares, arms[i].number)
    )


@compiled
def refresh_upper(play: Play, i: int) -> None:
    """UCB_i from all runs of arm i."""
    arms = play.arms
    first, runs = arms[i].first, arms[i].runs
    arms[i].upper_seen = arms[i].changes
    if arms[i].rank == 0:
        return
    values = np.empty(runs)
    for j in range(runs):
        values[j] = 1.0 - most_at(play, i, first + j)
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
    values = np.empty(end - start)
    for position in range(start, end):
        values[position - start] = 1.0 - most_at(play, i, position) + least_at(play, b, position)
    threshold = paired_threshold(play.shares, arms[i].rank, arms[b].number)
    arms[i].apart = lowered_difference(values, play.rules.population, arms[i].apart, threshold)

"""Observations of an arm, and its three bounds recomputed from them.

A bound stays valid while new runs come in, so it is recomputed only when the number of runs has grown by a
sixty-fourth; between two recomputations it is at most that much too cautious. This makes a round cheap
without keeping any capital: the observations are the state.
"""

from __future__ import annotations

import numpy as np

from utilitune.bounds.betting import raised_bound
from utilitune.bounds.paired import lowered_difference
from utilitune.compiled import compiled, inlined
from utilitune.procedures.wager.shares import lower_threshold, paired_threshold, upper_threshold
from utilitune.procedures.wager.state import LEADER, Play

_STALE_SHARE = 64


@inlined
def least_at(play: Play, i: int, position: int) -> float:
    """X: the least that the run of arm i on this position is worth, as far as it was watched."""
    level = play.levels_run[play.arms.block[i] + position - play.arms.first[i]]
    run = play.evidence.base[i] + play.evidence.column[position]
    if play.evidence.runtime_s[run] < play.grid.captime_s[level]:
        return float(play.evidence.utility[run])
    return float(play.grid.floor)


@inlined
def most_at(play: Play, i: int, position: int) -> float:
    """Y: the most that the run of arm i on this position can be worth, as far as it was watched."""
    level = play.levels_run[play.arms.block[i] + position - play.arms.first[i]]
    run = play.evidence.base[i] + play.evidence.column[position]
    if play.evidence.runtime_s[run] < play.grid.captime_s[level]:
        return float(play.evidence.utility[run])
    return float(play.grid.utility[level])


@inlined
def due(changes: int, seen: int, runs: int) -> bool:
    """Whether enough has changed since a bound was last computed."""
    return changes - seen >= max(1, runs // _STALE_SHARE)


@compiled
def refresh_lower(play: Play, i: int) -> None:
    """LCB_i from all runs of arm i."""
    arms = play.arms
    first, runs = arms.first[i], arms.runs[i]
    arms.lower_seen[i] = arms.changes[i]
    if arms.ungauged[i]:
        arms.lower[i] = max(arms.lower[i], arms.least[i] / play.rules.population)
        return
    values = np.empty(runs)
    for j in range(runs):
        values[j] = least_at(play, i, first + j)
    arms.lower[i] = raised_bound(
        values, play.rules.population, arms.lower[i], lower_threshold(play.shares, i + 1)
    )


@compiled
def refresh_upper(play: Play, i: int) -> None:
    """UCB_i from all runs of arm i."""
    arms = play.arms
    first, runs = arms.first[i], arms.runs[i]
    arms.upper_seen[i] = arms.changes[i]
    if arms.rank[i] == 0:
        return
    values = np.empty(runs)
    for j in range(runs):
        values[j] = 1.0 - most_at(play, i, first + j)
    threshold = upper_threshold(play.shares, arms.rank[i])
    arms.upper[i] = 1.0 - raised_bound(values, play.rules.population, 1.0 - arms.upper[i], threshold)


@inlined
def common_span(play: Play, i: int, b: int) -> tuple[int, int]:
    """The positions [start, end) that count for both arms."""
    arms = play.arms
    start = max(arms.first[i], arms.first[b])
    return start, max(start, min(arms.first[i] + arms.runs[i], arms.first[b] + arms.runs[b]))


@inlined
def pair_stamp(play: Play, i: int, b: int) -> int:
    """A number that grows with everything the pair (i, b) has observed."""
    arms = play.arms
    start, end = common_span(play, i, b)
    return int(end - start + (arms.changes[i] - arms.runs[i]) + (arms.changes[b] - arms.runs[b]))


@compiled
def refresh_apart(play: Play, i: int) -> None:
    """D_ib of arm i to the leader b, from the positions both have run."""
    arms, b = play.arms, play.counters[LEADER]
    arms.apart_seen[i] = pair_stamp(play, i, b)
    if arms.ungauged[b] or arms.rank[i] == 0:
        return
    start, end = common_span(play, i, b)
    values = np.empty(end - start)
    for position in range(start, end):
        values[position - start] = 1.0 - most_at(play, i, position) + least_at(play, b, position)
    threshold = paired_threshold(play.shares, arms.rank[i], b + 1)
    arms.apart[i] = lowered_difference(values, play.rules.population, arms.apart[i], threshold)

"""Observations of an arm along an order, and its three bounds recomputed from them.

An arm's own bounds use its runs along its own order. A pair of a challenger and a leader uses the leader's
order: positions that the challenger was not run on are observations that tell nothing (X = u(∞), Y = u(0)).

A bound stays valid while new runs come in. So it is recomputed only when the number of runs has grown by a
sixty-fourth, and is at most that much too cautious in between. Rounds are cheap that way, and no capital is
kept: it follows from the observations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.domain.compiled import compiled
from utilitune.procedures.bounds.betting import WEIGHTS, raised_bound
from utilitune.procedures.bounds.paired import lowered_difference
from utilitune.procedures.wager import tuning
from utilitune.procedures.wager.observation import observations, runs_along, runs_at
from utilitune.procedures.wager.shares import lower_threshold, paired_threshold, upper_threshold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from utilitune.procedures.wager.state import Play


@compiled
def least_values(play: Play, i: int) -> NDArray[np.float64]:
    """X of all runs of arm i along its order: the least each is worth, as far as it was watched."""
    runs, levels = runs_along(play, i, 0, play.arms[i].runs)
    return observations(play, runs, levels)[0]


@compiled
def most_values(play: Play, i: int) -> NDArray[np.float64]:
    """Y of all runs of arm i along its order: the most each can be worth, as far as it was watched."""
    runs, levels = runs_along(play, i, 0, play.arms[i].runs)
    return observations(play, runs, levels)[1]


@compiled
def pair_values(play: Play, i: int, b: int) -> NDArray[np.float64]:
    """Z = 1 − Y_i + X_b along the stored order, which both follow, on the positions both have run."""
    start, end = common_span(play, i, b)
    runs, levels = runs_along(play, i, start - play.arms[i].first, end - play.arms[i].first)
    most = observations(play, runs, levels)[1]
    runs, levels = runs_along(play, b, start - play.arms[b].first, end - play.arms[b].first)
    return 1.0 - most + observations(play, runs, levels)[0]


@compiled
def pair_values_along(play: Play, i: int, b: int, nominee: int) -> NDArray[np.float64]:
    """Z = 1 − Y_i + X_b along the order of one of them, as far as that one was run.

    The other one follows the stored order; where it was not run, it tells nothing.
    """
    count = play.arms[nominee].runs
    runs, levels = runs_along(play, nominee, 0, count)
    own = observations(play, runs, levels)
    positions = play.orders[play.arms[nominee].order - 1, :count]
    runs, levels = runs_at(play, b if i == nominee else i, positions)
    other = observations(play, runs, levels)
    if i == nominee:
        return 1.0 - own[1] + other[0]
    return 1.0 - other[1] + own[0]


@compiled
def difference_values(play: Play, i: int, b: int) -> NDArray[np.float64]:
    """Z of the pair (i, b) along the order of the one that has its own, else along the stored order."""
    if play.arms[b].order > 0:
        return pair_values_along(play, i, b, b)
    if play.arms[i].order > 0:
        return pair_values_along(play, i, b, i)
    return pair_values(play, i, b)


@compiled
def due(changes: int, seen: int, runs: int) -> bool:
    """Whether enough has changed since a bound was last computed."""
    return changes - seen >= max(1, runs // tuning.STALE_SHARE)


@compiled
def lower_now(play: Play, i: int) -> float:
    """LCB_i from all runs of arm i, without taking note of it."""
    arms = play.arms
    if arms[i].ungauged:
        summed: float = max(arms[i].lower, arms[i].least / play.rules.population)
        return summed
    threshold = lower_threshold(play.shares, arms[i].weight)
    return raised_bound(least_values(play, i), play.rules.population, arms[i].lower, threshold, WEIGHTS)


@compiled
def refresh_lower(play: Play, i: int) -> None:
    """Bring LCB_i up to date."""
    play.arms[i].lower_seen = play.arms[i].changes
    play.arms[i].lower = lower_now(play, i)


@compiled
def refresh_sure(play: Play, i: int) -> None:
    """The same bound as LCB_i, kept apart: looking at it changes nothing that is run."""
    arms = play.arms
    arms[i].sure_seen = arms[i].changes
    bound = max(arms[i].sure, arms[i].lower)
    if arms[i].ungauged:
        arms[i].sure = max(bound, arms[i].least / play.rules.population)
        return
    threshold = lower_threshold(play.shares, arms[i].weight)
    arms[i].sure = raised_bound(least_values(play, i), play.rules.population, bound, threshold, WEIGHTS)


@compiled
def upper_now(play: Play, i: int) -> float:
    """UCB_i from all runs of arm i, for one that ε has to cover."""
    values = most_values(play, i)
    for j in range(values.size):
        values[j] = 1.0 - values[j]
    threshold = upper_threshold(play.shares, play.arms[i].rank)
    return 1.0 - raised_bound(values, play.rules.population, 1.0 - play.arms[i].upper, threshold, WEIGHTS)


@compiled
def refresh_upper(play: Play, i: int) -> None:
    """Bring UCB_i up to date."""
    play.arms[i].upper_seen = play.arms[i].changes
    if play.arms[i].rank > 0:
        play.arms[i].upper = upper_now(play, i)


@compiled
def common_span(play: Play, i: int, b: int) -> tuple[int, int]:
    """The positions [start, end) of the stored order that count for both arms."""
    arms = play.arms
    start = max(arms[i].first, arms[b].first)
    return start, max(start, min(arms[i].first + arms[i].runs, arms[b].first + arms[b].runs))


@compiled
def pair_stamp(play: Play, i: int, b: int) -> int:
    """A number that grows with everything the pair (i, b) has observed."""
    arms = play.arms
    if arms[b].order > 0:
        return int(arms[i].changes + arms[b].changes)
    start, end = common_span(play, i, b)
    return int(end - start + (arms[i].changes - arms[i].runs) + (arms[b].changes - arms[b].runs))


@compiled
def refresh_apart(play: Play, i: int) -> None:
    """D_ib of arm i to the leader b, along the leader's order; two arms with the same runs are equal."""
    arms, b = play.arms, play.standing.leader
    arms[i].apart_seen = max(1, pair_stamp(play, i, b))  # 0 stands for a difference that nobody has noted
    if arms[i].row == arms[b].row:
        arms[i].apart = min(arms[i].apart, 0.0)
    elif not arms[b].ungauged and arms[i].rank > 0:
        threshold = paired_threshold(play.shares, arms[i].rank, arms[b].weight)
        values = difference_values(play, i, b)
        arms[i].apart = lowered_difference(values, play.rules.population, arms[i].apart, threshold)

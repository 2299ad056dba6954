"""Who leads, who challenges, and what ε follows.

The guarantee at any moment is

    ε = max over i ≠ b of min(UCB_i − LCB_b, D_ib), floored at 0,

for the leader b. Arms whose own upper bound decides lie in one tournament tree, ordered by UCB_i, so that a
better LCB_b changes no order; those whose difference to the leader decides lie in another, ordered by D_ib.
An arm that has moved is found out when it comes up: keys are never too small, so looking at the winners
until one is up to date finds the maximum, at the price of a few arms per round.

The leader is the arm with the largest X̄_i − sqrt(0.12/m_i); it changes only for a margin of ε/10.
"""

from __future__ import annotations

import math

import numpy as np

from utilitune.compiled import compiled, inlined
from utilitune.procedures.selection import update_tournament
from utilitune.procedures.wager.capital import (
    due,
    pair_stamp,
    refresh_apart,
    refresh_lower,
    refresh_upper,
)
from utilitune.procedures.wager.state import (
    ANSWER,
    ANSWER_EPSILON,
    CHALLENGER,
    EPSILON,
    LEADER,
    Play,
)

_CAUTION = 0.12
_SWITCH_MARGIN = 0.1
_FEWEST_PAIRS = 4


@compiled
def place(play: Play, i: int) -> None:
    """Put arm i into the tree of the test that decides for it."""
    arms, b = play.arms, play.counters[LEADER]
    alone, paired = -np.inf, -np.inf
    if arms.rank[i] > 0 and i != b:
        if arms.apart[i] < arms.upper[i] - arms.lower[b]:
            paired = arms.apart[i]
        else:
            alone = arms.upper[i]
    if arms.alone[i] != alone:
        arms.alone[i] = alone
        update_tournament(play.alone_tree, arms.alone, i)
    if arms.paired[i] != paired:
        arms.paired[i] = paired
        update_tournament(play.paired_tree, arms.paired, i)


@inlined
def contribution(play: Play, i: int) -> float:
    """What arm i contributes to ε: min(UCB_i − LCB_b, D_ib)."""
    return float(min(play.arms.upper[i] - play.arms.lower[play.counters[LEADER]], play.arms.apart[i]))


@compiled
def _top(play: Play) -> int:
    """The arm at the head of the two trees; −1 if both are empty."""
    arms, lower = play.arms, play.arms.lower[play.counters[LEADER]]
    alone, paired = play.alone_tree[1], play.paired_tree[1]
    if arms.paired[paired] > arms.alone[alone] - lower:
        return int(paired)
    return int(alone) if arms.alone[alone] > -np.inf else -1


@compiled
def settle(play: Play) -> None:
    """Find the challenger (the largest contribution), and with it ε; keep the best proved answer."""
    arms, b = play.arms, play.counters[LEADER]
    while True:
        i = _top(play)
        if i < 0:
            play.counters[CHALLENGER] = -1
            play.amounts[EPSILON] = 0.0
            break
        stamp = pair_stamp(play, i, b)
        if stamp >= _FEWEST_PAIRS and due(stamp, arms.apart_seen[i], stamp):
            refresh_apart(play, i)
            place(play, i)
        elif arms.paired[i] > -np.inf and arms.upper[i] - arms.lower[b] < arms.apart[i]:
            place(play, i)
        else:
            play.counters[CHALLENGER] = i
            play.amounts[EPSILON] = max(0.0, contribution(play, i))
            break
    if play.amounts[EPSILON] < play.amounts[ANSWER_EPSILON]:
        play.amounts[ANSWER_EPSILON] = play.amounts[EPSILON]
        play.counters[ANSWER] = b


@compiled
def note_score(play: Play, i: int) -> None:
    """Rate arm i as a leader, and change the leader if another is clearly better."""
    arms, runs = play.arms, play.arms.runs[i]
    arms.score[i] = arms.least[i] / runs - math.sqrt(_CAUTION / runs)
    update_tournament(play.score_tree, arms.score, i)
    best, b = play.score_tree[1], play.counters[LEADER]
    if best != b and arms.score[best] > arms.score[b] + _SWITCH_MARGIN * play.amounts[EPSILON]:
        _lead(play, best)


@compiled
def _lead(play: Play, b: int) -> None:
    """Make b the leader: differences to the old one are void, and are recomputed when asked for."""
    arms = play.arms
    old = play.counters[LEADER]
    play.counters[LEADER] = b
    for i in range(arms.runs.size):
        if arms.apart_seen[i] > 0:
            arms.apart[i] = 1.0
            arms.apart_seen[i] = 0
            arms.pair_runs[i] = 0.0
            if arms.paired[i] > -np.inf:
                place(play, i)
    if arms.runs[old] > 0:
        refresh_upper(play, old)
    refresh_lower(play, b)
    place(play, old)
    place(play, b)


@compiled
def best_candidate(play: Play, count: int) -> int:
    """The configuration outside of ε (given or proposed) that may be a better leader; −1 if there is none.

    Nothing has to be ruled out for it, so it runs only while X̄_i + sqrt(0.12/m_i) exceeds the leader's X̄_b.
    """
    arms, b = play.arms, play.counters[LEADER]
    if arms.runs[b] == 0:
        return -1
    best, hope = -1, arms.least[b] / arms.runs[b]
    for i in range(count):
        if arms.rank[i] > 0 or i == b:
            continue
        if arms.runs[i] == 0:
            return i
        optimistic = arms.least[i] / arms.runs[i] + math.sqrt(_CAUTION / arms.runs[i])
        if optimistic > hope:
            best, hope = i, optimistic
    return best

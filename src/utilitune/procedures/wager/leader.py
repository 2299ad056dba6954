"""Who leads, who challenges, and what ε follows.

The guarantee at any moment is

    ε = max over i ≠ b of min(UCB_i − LCB_b, D_ib), floored at 0,

for the leader b. Arms whose own upper bound decides lie in one tournament tree, ordered by UCB_i, so that a
better LCB_b changes no order; those whose difference to the leader decides lie in another, ordered by D_ib.
An arm that has moved is found out when it comes up: keys are never too small, so looking at the winners
until one is up to date finds the maximum, at the price of a few arms per round.

The leader is the arm with the largest X̄_i − sqrt(0.02/m_i); it changes only for a margin of ε/10.
"""

from __future__ import annotations

import math

import numpy as np

from utilitune.compiled import compiled
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

_CAUTION = 0.02
_HOPE = 0.12
_SWITCH_MARGIN = 0.1
_FEWEST_PAIRS = 4


@compiled
def place(play: Play, i: int) -> None:
    """Put arm i into the tree of the test that decides for it."""
    arms, b = play.arms, play.counters[LEADER]
    alone, paired = -np.inf, -np.inf
    if arms[i].rank > 0 and i != b:
        if arms[i].apart < arms[i].upper - arms[b].lower:
            paired = arms[i].apart
        else:
            alone = arms[i].upper
    if play.alone[i] != alone:
        play.alone[i] = alone
        update_tournament(play.alone_tree, play.alone, i)
    if play.paired[i] != paired:
        play.paired[i] = paired
        update_tournament(play.paired_tree, play.paired, i)


@compiled
def contribution(play: Play, i: int) -> float:
    """What arm i contributes to ε: min(UCB_i − LCB_b, D_ib)."""
    return float(min(play.arms[i].upper - play.arms[play.counters[LEADER]].lower, play.arms[i].apart))


@compiled
def _top(play: Play) -> int:
    """The arm at the head of the two trees; −1 if both are empty."""
    lower = play.arms[play.counters[LEADER]].lower
    alone, paired = play.alone_tree[1], play.paired_tree[1]
    if play.paired[paired] > play.alone[alone] - lower:
        return int(paired)
    return int(alone) if play.alone[alone] > -np.inf else -1


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
        if stamp >= _FEWEST_PAIRS and due(stamp, arms[i].apart_seen, stamp):
            refresh_apart(play, i)
        elif play.paired[i] == -np.inf or arms[i].upper - arms[b].lower >= arms[i].apart:
            play.counters[CHALLENGER] = i
            play.amounts[EPSILON] = max(0.0, contribution(play, i))
            break
        place(play, i)
    if play.amounts[EPSILON] < play.amounts[ANSWER_EPSILON]:
        play.amounts[ANSWER_EPSILON] = play.amounts[EPSILON]
        play.counters[ANSWER] = b


@compiled
def note_score(play: Play, i: int) -> None:
    """Rate arm i as a leader, and change the leader if another is clearly better."""
    arms, runs = play.arms, play.arms[i].runs
    play.score[i] = arms[i].least / runs - math.sqrt(_CAUTION / runs)
    update_tournament(play.score_tree, play.score, i)
    best, b = play.score_tree[1], play.counters[LEADER]
    if best != b and play.score[best] > play.score[b] + _SWITCH_MARGIN * play.amounts[EPSILON]:
        _lead(play, best)


@compiled
def _lead(play: Play, b: int) -> None:
    """Make b the leader: differences to the old one are void, and are recomputed when asked for."""
    arms = play.arms
    old = play.counters[LEADER]
    play.counters[LEADER] = b
    for i in range(arms.size):
        if arms[i].apart_seen > 0:
            arms[i].apart = 1.0
            arms[i].apart_seen = 0
            arms[i].pair_runs = 0.0
            if play.paired[i] > -np.inf:
                place(play, i)
    if arms[old].runs > 0:
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
    if arms[b].runs == 0:
        return -1
    best, hope = -1, arms[b].least / arms[b].runs
    for i in range(count):
        if arms[i].rank > 0 or i == b:
            continue
        if arms[i].runs == 0:
            return i
        optimistic = arms[i].least / arms[i].runs + math.sqrt(_HOPE / arms[i].runs)
        if optimistic > hope:
            best, hope = i, optimistic
    return best

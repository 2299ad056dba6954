"""Who leads, who challenges, and what ε follows.

The guarantee at any moment is

    ε = max over i ≠ b of min(UCB_i − LCB_b, D_ib), floored at 0,

for the leader b. Arms whose own upper bound decides lie in one tournament tree, ordered by UCB_i, so that a
better LCB_b changes no order; those whose difference to the leader decides lie in another, ordered by D_ib.
A key may be out of date, but it is never too small. So the winner is brought up to date, until an arm wins
whose key is current: that one has the maximum. This takes a few arms per round, not all of them.

The leader is the arm with the largest X̄_i − sqrt(0.02/m_i); it changes only for a margin of ε/10.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain.compiled import compiled
from utilitune.procedures.selection import update_tournament
from utilitune.procedures.wager import tuning
from utilitune.procedures.wager.capital import (
    due,
    pair_stamp,
    refresh_apart,
    refresh_lower,
    refresh_sure,
    refresh_upper,
    upper_now,
)
from utilitune.procedures.wager.shares import lower_threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.wager.state import Play

_ROUNDING_OF_SUMS = 1.0 + 1e-9


@compiled
def place(play: Play, i: int) -> None:
    """Put arm i into the tree of the test that decides for it."""
    arms, b = play.arms, play.standing.leader
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
def refresh_covered(play: Play, count: int) -> None:
    """Bring all bounds up to date that depend on how δ is shared among the draws."""
    for i in range(count):
        if play.arms[i].runs > 0:
            refresh_upper(play, i)
            if play.arms[i].apart_seen > 0:
                refresh_apart(play, i)
            place(play, i)


@compiled
def note_equal(play: Play, i: int) -> None:
    """Arm i reads the same runs as the leader: their difference is 0."""
    play.arms[i].apart = 0.0
    play.arms[i].apart_seen = 1


@compiled
def contribution(play: Play, i: int) -> float:
    """What arm i contributes to ε: min(UCB_i − LCB_b, D_ib)."""
    return float(min(play.arms[i].upper - play.arms[play.standing.leader].lower, play.arms[i].apart))


@compiled
def _top(play: Play) -> int:
    """The arm at the head of the two trees; −1 if both are empty."""
    lower = play.arms[play.standing.leader].lower
    alone, paired = play.alone_tree[1], play.paired_tree[1]
    if play.paired[paired] > play.alone[alone] - lower:
        return int(paired)
    return int(alone) if play.alone[alone] > -np.inf else -1


@compiled
def settle(play: Play) -> None:
    """Find the challenger (the largest contribution), and with it ε; keep the best proved answer."""
    arms, standing, b = play.arms, play.standing, play.standing.leader
    while True:
        i = _top(play)
        if i < 0:
            standing.challenger = -1
            standing.epsilon = 0.0
            break
        stamp = pair_stamp(play, i, b)
        if stamp >= tuning.FEWEST_TESTED_PAIRS and due(stamp, arms[i].apart_seen, stamp):
            refresh_apart(play, i)
        elif play.paired[i] == -np.inf or arms[i].upper - arms[b].lower >= arms[i].apart:
            standing.challenger = i
            standing.epsilon = max(0.0, contribution(play, i))
            break
        place(play, i)
    arms[b].proved = min(arms[b].proved, standing.epsilon)
    if standing.epsilon < standing.answer_epsilon:
        standing.answer_epsilon = standing.epsilon
        standing.answer = b


@compiled
def _most_sure(play: Play, i: int) -> float:
    """About the most that the lower bound of arm i can be: its mean, and what m full gains could prove.

    A bet on μ gains at most the factor 1/μ with each run, so that μ^(−m) must reach the threshold. What is
    certain by counting may be more on a list.
    """
    arms = play.arms
    proved = math.exp(-math.log(lower_threshold(play.shares, arms[i].weight)) / arms[i].runs)
    if play.rules.population > 0:
        proved = max(proved, (arms[i].least + 1e-9) / play.rules.population)
    return float(min(arms[i].least / arms[i].runs, proved))


@compiled
def try_largest_lower(play: Play, count: int, thorough: bool) -> None:
    """Let the arm with the largest lower bound be the answer, if more is proved of it than of the leader.

    The leader is the most promising arm; another one may be the one of which most is proved. Its ε is that of
    the upper bounds alone, max over i ≠ b of UCB_i − LCB_b, as pairs are kept for the leader only. While the
    game goes on, only arms with more runs or a better mean than the leader are looked at.
    """
    arms, leader = play.arms, play.standing.leader
    best = leader
    for i in range(count):
        if arms[i].runs == 0:
            continue
        ahead = arms[i].runs >= arms[leader].runs
        ahead = ahead or arms[i].least * arms[leader].runs > arms[leader].least * arms[i].runs
        stale = (thorough or ahead) and due(arms[i].changes, arms[i].sure_seen, arms[i].runs)
        if stale and _most_sure(play, i) > arms[best].sure:
            refresh_sure(play, i)
        if arms[i].sure > arms[best].sure:
            best = i
    highest = 0.0
    for i in range(count):
        if arms[i].rank > 0 and arms[i].row != arms[best].row:
            highest = max(highest, upper_now(play, i) if i == leader else arms[i].upper)
    epsilon = max(0.0, highest - arms[best].sure)
    arms[best].proved = min(arms[best].proved, epsilon)
    if epsilon < play.standing.answer_epsilon:
        play.standing.answer_epsilon = epsilon
        play.standing.answer = best


def bounds_known(play: Play, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lower and the upper bound of each arm that are known now; nothing is noted.

    On a list, what is certain by counting is known at once.
    """
    arms, population = play.arms[:count], play.rules.population
    lower, upper = np.maximum(arms["lower"], arms["sure"]), arms["upper"].copy()
    if population > 0:
        lower = np.maximum(lower, arms["least"] / population / _ROUNDING_OF_SUMS)
        upper = np.minimum(upper, _most_by_counting(play, count))
    return lower, upper


def best_proved(play: Play, count: int) -> tuple[int, float]:
    """The arm with the largest lower bound that is known now, and the ε that all upper bounds known leave it.

    This is what `try_largest_lower` will find when it is its turn; whoever looks in between need not wait for
    that.
    """
    arms = play.arms[:count]
    lower, upper = bounds_known(play, count)
    best = int(np.argmax(lower))
    others = (arms["rank"] > 0) & (arms["row"] != arms["row"][best])
    return best, float(max(0.0, upper[others].max(initial=0.0) - lower[best]))


def _most_by_counting(play: Play, count: int) -> NDArray[np.float64]:
    """What each of the first `count` arms can be worth on a list at most: certain, and without any δ."""
    arms, population = play.arms[:count], play.rules.population
    not_run = play.grid.ceiling * (population - arms["runs"])
    most: NDArray[np.float64] = (arms["most"] + not_run) / population * _ROUNDING_OF_SUMS
    return most


def most_of(play: Play, count: int, row: int) -> float:
    """What a configuration can be worth at most, as far as that is certain; on a sample nothing is."""
    same = play.arms["row"][:count] == row
    if play.rules.population == 0 or not same.any():
        return play.grid.ceiling
    return float(min(play.grid.ceiling, _most_by_counting(play, count)[same].min()))


def best_draws(play: Play, count: int, wanted: int) -> list[int]:
    """Rows of up to `wanted` random draws among the first `count` arms, the best by their runs first."""
    arms = play.arms[:count]
    scores = np.where((arms["rank"] > 0) & (arms["runs"] > 0), play.score[:count], -math.inf)
    best = np.argsort(-scores, kind="stable")[:wanted]
    return [int(arms["row"][i]) for i in best if scores[i] > -math.inf]


@compiled
def note_score(play: Play, i: int) -> None:
    """Rate arm i as a leader, and change the leader if another is clearly better."""
    arms, runs = play.arms, play.arms[i].runs
    play.score[i] = arms[i].least / runs - math.sqrt(tuning.CAUTION / runs)
    update_tournament(play.score_tree, play.score, i)
    best, b = play.score_tree[1], play.standing.leader
    if best != b and play.score[best] > play.score[b] + tuning.SWITCH_MARGIN * play.standing.epsilon:
        _lead(play, best)


@compiled
def _lead(play: Play, b: int) -> None:
    """Make b the leader. Differences to the old leader are void; new ones are computed when needed."""
    arms = play.arms
    old = play.standing.leader
    play.standing.leader = b
    for i in range(arms.size):
        arms[i].pairing = False
        arms[i].met = 0
        if arms[i].apart_seen > 0:
            arms[i].apart = 1.0
            arms[i].apart_seen = 0
            arms[i].pair_runs = 0.0
            if play.paired[i] > -np.inf:
                place(play, i)
        if arms[i].row == arms[b].row and i != b:
            note_equal(play, i)
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
    arms, b = play.arms, play.standing.leader
    if arms[b].runs == 0:
        return -1
    best, hope = -1, arms[b].least / arms[b].runs
    for i in range(count):
        if arms[i].rank > 0 or i == b or arms[i].idle:
            continue
        if arms[i].runs == 0:
            return i
        optimistic = arms[i].least / arms[i].runs + math.sqrt(tuning.HOPE / arms[i].runs)
        if optimistic > hope:
            best, hope = i, optimistic
    return best

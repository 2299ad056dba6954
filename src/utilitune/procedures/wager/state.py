"""What `wager` knows of each configuration, as flat arrays that compiled rules read and write.

An arm that was never run costs under 256 bytes. The captime level of every single run is kept (one byte
each) in one arena, in which each arm owns a block that moves and doubles when it is full; together with the
evidence it gives back all observations, so that bounds are recomputed from them and nothing else is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain.compiled import compiled
from utilitune.procedures.selection import build_tournament
from utilitune.procedures.wager import tuning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.evidence import Evidence
    from utilitune.procedures.wager.captimes import CaptimeGrid
    from utilitune.procedures.wager.shares import Shares

NO_LEVEL = -1
NOT_RUN = 255
"""Stands in the arena for a position that was not run."""

ASIDE = -1
"""The number of a run that an arm made beside its own order."""

NOBODY = -1
"""The row of an arm that has not joined."""

ARM = np.dtype(
    [
        ("first", np.int32),
        ("runs", np.int32),
        ("changes", np.int32),
        ("plan_at", np.int32),
        ("rank", np.int32),
        ("row", np.int32),
        ("order", np.int32),
        ("lower_seen", np.int32),
        ("upper_seen", np.int32),
        ("apart_seen", np.int32),
        ("cursor", np.int32),
        ("room", np.int32),
        ("aside_runs", np.int32),
        ("sure_seen", np.int32),
        ("met", np.int32),
        ("block", np.int64),
        ("aside", np.int64),
        ("weight", np.float64),
        ("least", np.float64),
        ("most", np.float64),
        ("time_s", np.float64),
        ("lower", np.float64),
        ("sure", np.float64),
        ("upper", np.float64),
        ("apart", np.float64),
        ("proved", np.float64),
        ("pair_runs", np.float64),
        ("level", np.int16),
        ("sweep", np.int16),
        ("ungauged", np.bool_),
        ("pairing", np.bool_),
        ("idle", np.bool_),
    ],
    align=True,
)
"""One configuration; the symbol of docs/theory.md in brackets.

- ``first``: the first position that counts as evidence for it.
- ``row``: the configuration whose runs it reads; several arms may read the same ones. `NOBODY` before it
  joins.
- ``order``: in which order it takes positions: 0 for the stored one [π_0], q for the q-th of `Play.orders`.
- ``runs``: how many positions it was run on, without gaps along its order from ``first`` on [m_i].
- ``changes``: number of runs and re-runs.
- ``plan_at``: number of runs at which its captime is planned anew.
- ``rank``: its number (from 1) among the configurations that ε has to cover; 0 if ε does not cover it.
- ``weight``: its share in what possible answers spend [w_b].
- ``lower``, ``upper``, ``apart``: lower bound [LCB_i], upper bound [UCB_i], upper bound on its difference to
  the current leader [D_ib]; ``lower_seen``, ``upper_seen``, ``apart_seen``: how much was seen by each.
- ``sure``, ``sure_seen``: a lower bound like ``lower`` that is kept for all who may be the answer, not only
  for those who lead; it decides nothing but the answer.
- ``proved``: the smallest ε that was proved of it, as the leader or by the largest lower bound; 1 if it never
  was. Every stage begins anew.
- ``least``, ``most``: sums of X and of Y over its runs.
- ``time_s``: seconds spent on it.
- ``pair_runs``: how many runs the pair with the leader is expected to need; 0 where unknown.
- ``level``: the captime level planned for its next run; `NO_LEVEL` before the first.
- ``block``, ``room``: where the captime levels of its runs lie in the arena, and how many fit there.
- ``aside``, ``aside_runs``: where the captime levels of runs lie that it made along a leader's order, one for
  every position of the list, −1 if there are none; how many of these it has not come to on its own way.
- ``pairing``, ``met``: whether it runs along the order of a leader that has one of its own, and how many of
  the leader's runs along it were looked through for one that it has not made.
- ``sweep``, ``cursor``: the captime level at which capped runs are repeated once positions have run out, and
  the next run to look at for that.
- ``ungauged``: whether only the sum of X bounds it from below (a proposal on a finite instance list that was
  given no order of its own).
- ``idle``: whether it never runs: it repeats an earlier random draw, so it can be neither first nor best.
"""


class Standing:
    """Where the game stands, as one record; the symbol of docs/theory.md in brackets.

    Attributes:
        rounds: Rounds played.
        runs: Runs made, repeated ones included.
        total_s: Seconds spent on all of them.
        leader: The arm that leads [b].
        challenger: The arm that contributes most to ε; −1 if there is none.
        epsilon: What is proved of the leader [ε].
        answer: The arm of which most is proved in this stage.
        answer_epsilon: What is proved of the answer.
        outsiders: How many arms are not covered by ε.
        serious: How many arms stood in the way of the planned ε when the aim was set; at least 1.
        aim: How far the leader's own lower bound is to be raised.
        aim_runs: How many runs the leader is expected to have had by then.
        next_aim_at: The round after which the aim is set anew.
        chosen_arm: The arm that runs next.
        chosen_run: The number of that run along the arm's own order; `ASIDE` for one along the leader's.
        chosen_position: The position of that run in the stored order.
        chosen_level: The captime level of that run.
        levels_used: How much of the arena of captime levels is taken.
    """

    rounds: int
    runs: int
    total_s: float
    leader: int
    challenger: int
    epsilon: float
    answer: int
    answer_epsilon: float
    outsiders: int
    serious: int
    aim: float
    aim_runs: float
    next_aim_at: int
    chosen_arm: int
    chosen_run: int
    chosen_position: int
    chosen_level: int
    levels_used: int


class Rules(NamedTuple):
    """Settings as numbers the compiled rules understand.

    Attributes:
        population: Number of instances drawn from without replacement; 0 for independent draws.
        positions: Length of the instance order.
        resume: Whether repeating a capped run pays only the extra seconds.
        epsilon: The ε at which the loop returns; negative for never.
        planned_epsilon: The ε to plan for; negative to plan for a part of what is proved.
        half_life_s: Time scale of the utility function.
        default: The arm of the default, with which the answer is compared; −1 if there is none.
        asked: The arm that something is to be proved of, whatever its runs say; −1 if there is none.
    """

    population: int
    positions: int
    resume: bool
    epsilon: float
    planned_epsilon: float
    half_life_s: float
    default: int
    asked: int


class Play(NamedTuple):
    """Everything the compiled loop reads and writes.

    Attributes:
        arms: One `ARM` record per configuration.
        score: How good a leader each would be.
        alone: Key of each configuration in the tree of those measured by their own upper bound.
        paired: Key of each in the tree of those measured against the leader.
        score_tree: Tournament over `score`; the other two likewise.
        levels_run: The arena with the captime level of every run.
        orders: One line per order beside the stored one: positions of the stored order, each once [π_q].
        evidence: Outcomes of runs.
        grid: The captimes.
        shares: How δ is shared.
        rules: Settings.
        pooled: Sums over the runs of all configurations, per captime: runs at risk (row 0) and finished (row
            1), and those that `intervals` keeps.
        standing: Where the game stands.
    """

    arms: NDArray[np.void]
    score: NDArray[np.float64]
    alone: NDArray[np.float64]
    paired: NDArray[np.float64]
    score_tree: NDArray[np.int32]
    alone_tree: NDArray[np.int32]
    paired_tree: NDArray[np.int32]
    levels_run: NDArray[np.uint8]
    orders: NDArray[np.int32]
    evidence: Evidence
    grid: CaptimeGrid
    shares: Shares
    rules: Rules
    pooled: NDArray[np.float64]
    standing: Standing


def with_room(play: Play, count: int) -> Play:
    """The same state with room for `count` configurations; new ones are not covered by ε until ranked."""
    have = len(play.arms)
    arms = np.zeros(count, dtype=ARM)
    arms[:have] = play.arms
    arms["row"][have:] = NOBODY  # else whoever has row 0 would take them for its equals
    arms["level"][have:] = NO_LEVEL
    arms["aside"][have:] = -1
    arms["upper"][have:] = 1.0
    arms["apart"][have:] = 1.0
    arms["proved"][have:] = 1.0
    keys = [np.full(count, -np.inf) for _ in range(3)]
    for new, old in zip(keys, (play.score, play.alone, play.paired), strict=True):
        new[:have] = old
    trees = [build_tournament(values, count) for values in keys]
    return play._replace(
        arms=arms,
        score=keys[0],
        alone=keys[1],
        paired=keys[2],
        score_tree=trees[0],
        alone_tree=trees[1],
        paired_tree=trees[2],
    )


def with_longer_arena(play: Play) -> Play:
    """The same state with room for twice as many runs."""
    return play._replace(levels_run=np.concatenate([play.levels_run, np.zeros_like(play.levels_run)]))


@compiled
def has_room(play: Play, i: int) -> bool:
    """Whether the chosen run of arm i fits into the arena, if need be in a longer block at its end."""
    arms, longer = play.arms, 0
    if play.standing.chosen_run == ASIDE:
        if arms[i].aside < 0:
            longer = play.rules.population
    elif arms[i].runs == arms[i].room:
        longer = max(tuning.FIRST_BLOCK, 2 * arms[i].room)
    return bool(play.standing.levels_used + longer <= play.levels_run.size)


@compiled
def append_level(play: Play, i: int, level: int) -> None:
    """Note the captime level of the next run of arm i, moving its block if it is full."""
    arms = play.arms
    runs = arms[i].runs
    if runs == arms[i].room:
        start = play.standing.levels_used
        old = arms[i].block
        for j in range(runs):
            play.levels_run[start + j] = play.levels_run[old + j]
        arms[i].block = start
        arms[i].room = max(tuning.FIRST_BLOCK, 2 * runs)
        play.standing.levels_used += arms[i].room
    play.levels_run[arms[i].block + runs] = level
    arms[i].runs = runs + 1


@compiled
def note_aside(play: Play, i: int, position: int, level: int) -> None:
    """Note the captime level of a run that arm i made along the leader's order."""
    arms = play.arms
    if arms[i].aside < 0:
        start = play.standing.levels_used
        for j in range(play.rules.population):
            play.levels_run[start + j] = NOT_RUN
        arms[i].aside = start
        play.standing.levels_used += play.rules.population
    play.levels_run[arms[i].aside + position] = level
    arms[i].aside_runs += 1


@compiled
def level_at(play: Play, i: int, position: int) -> int:
    """The captime level up to which arm i was looked at on a position; `NO_LEVEL` if it was not run there.

    For arms that follow the stored order.
    """
    arms, level = play.arms, NO_LEVEL
    j = position - arms[i].first
    if 0 <= j < arms[i].runs:
        level = int(play.levels_run[arms[i].block + j])
    if arms[i].aside >= 0:
        aside = play.levels_run[arms[i].aside + position]
        if aside != NOT_RUN:
            level = max(level, int(aside))
    return level


@compiled
def runs_made(play: Play, i: int) -> int:
    """How many different positions arm i was run on, on its way and aside."""
    return int(play.arms[i].runs + play.arms[i].aside_runs)

"""What `wager` knows of each configuration, as flat arrays that compiled rules read and write.

An arm that was never run costs under 256 bytes. The captime level of every single run is kept (one byte
each) in one arena, in which each arm owns a block that moves and doubles when it is full; together with the
evidence it gives back all observations, so that bounds are recomputed from them and nothing else is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.compiled import compiled
from utilitune.procedures.selection import build_tournament

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.evidence import Evidence
    from utilitune.procedures.wager.captimes import CaptimeGrid
    from utilitune.procedures.wager.shares import Shares

# Slots of the counters.
ROUNDS, RUNS, LEADER, CHALLENGER, ANSWER, USED, SERIOUS, SCAN_AT = range(8)
CHOSEN_ARM, CHOSEN_POSITION, CHOSEN_LEVEL, OUTSIDERS = range(8, 12)
COUNTERS = 12

# Slots of the amounts.
TOTAL_S, EPSILON, ANSWER_EPSILON, AIM, AIM_RUNS = range(5)
AMOUNTS = 5

FIRST_BLOCK = 16
NO_LEVEL = -1


ARM = np.dtype(
    [
        ("first", np.int32),
        ("runs", np.int32),
        ("changes", np.int32),
        ("plan_at", np.int32),
        ("rank", np.int32),
        ("number", np.int32),
        ("lower_seen", np.int32),
        ("upper_seen", np.int32),
        ("apart_seen", np.int32),
        ("cursor", np.int32),
        ("room", np.int32),
        ("block", np.int64),
        ("least", np.float64),
        ("most", np.float64),
        ("time_s", np.float64),
        ("lower", np.float64),
        ("upper", np.float64),
        ("apart", np.float64),
        ("pair_runs", np.float64),
        ("level", np.int16),
        ("sweep", np.int16),
        ("ungauged", np.bool_),
    ],
    align=True,
)
"""One configuration; the symbol of docs/theory.md in brackets.

- ``first``: the first position that counts as evidence for it.
- ``runs``: how many positions it was run on, without gaps from ``first`` on [m_i].
- ``changes``: number of runs and re-runs.
- ``plan_at``: number of runs at which its captime is planned anew.
- ``rank``: its number (from 1) among the configurations that ε has to cover; 0 if it is none of them.
- ``number``: its number (from 1) among the random draws, or among the others.
- ``lower``, ``upper``, ``apart``: lower bound [LCB_i], upper bound [UCB_i], upper bound on its difference to
  the current leader [D_ib]; ``lower_seen``, ``upper_seen``, ``apart_seen``: how much was seen by each.
- ``least``, ``most``: sums of X and of Y over its runs.
- ``time_s``: seconds spent on it.
- ``pair_runs``: how many runs the pair with the leader is expected to need; 0 where unknown.
- ``level``: the captime level planned for its next run; `NO_LEVEL` before the first.
- ``block``, ``room``: where the captime levels of its runs lie in the arena, and how many fit there.
- ``sweep``, ``cursor``: the captime level at which capped runs are repeated once positions have run out, and
  the next run to look at for that.
- ``ungauged``: whether only the sum of X bounds it from below (a proposal on a finite instance list).
"""


class Rules(NamedTuple):
    """Settings as numbers the compiled rules understand.

    Attributes:
        population: Number of instances drawn from without replacement; 0 for independent draws.
        positions: Length of the instance order.
        resume: Whether repeating a capped run pays only the extra seconds.
        epsilon: The ε at which the loop returns; negative for never.
        planned_epsilon: The ε to plan for; negative to plan for a part of what is proved.
        half_life_s: Time scale of the utility function.
    """

    population: int
    positions: int
    resume: bool
    epsilon: float
    planned_epsilon: float
    half_life_s: float


class Play(NamedTuple):
    """Everything the compiled loop reads and writes.

    Attributes:
        arms: One `ARM` record per configuration.
        score: How good a leader each would be.
        alone: Key of each configuration in the tree of those measured by their own upper bound.
        paired: Key of each in the tree of those measured against the leader.
        score_tree: Tournament over `score`; the other two likewise.
        levels_run: The arena with the captime level of every run.
        evidence: Outcomes of runs.
        grid: The captimes.
        shares: How δ is shared.
        rules: Settings.
        pooled: Runs at risk (row 0) and finished (row 1) per captime interval, over all configurations.
        counters: Whole numbers, by slot.
        amounts: Other numbers, by slot.
    """

    arms: NDArray[np.void]
    score: NDArray[np.float64]
    alone: NDArray[np.float64]
    paired: NDArray[np.float64]
    score_tree: NDArray[np.int32]
    alone_tree: NDArray[np.int32]
    paired_tree: NDArray[np.int32]
    levels_run: NDArray[np.uint8]
    evidence: Evidence
    grid: CaptimeGrid
    shares: Shares
    rules: Rules
    pooled: NDArray[np.float64]
    counters: NDArray[np.int64]
    amounts: NDArray[np.float64]


def with_room(play: Play, count: int) -> Play:
    """The same state with room for `count` configurations; new ones are not covered by ε until ranked."""
    have = len(play.arms)
    arms = np.zeros(count, dtype=ARM)
    arms[:have] = play.arms
    arms["level"][have:] = NO_LEVEL
    arms["upper"][have:] = 1.0
    arms["apart"][have:] = 1.0
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


@compiled
def has_room(play: Play, i: int) -> bool:
    """Whether one more run of arm i fits into the arena, if need be in a longer block at its end."""
    if play.arms[i].runs < play.arms[i].room:
        return True
    return bool(play.counters[USED] + max(FIRST_BLOCK, 2 * play.arms[i].room) <= play.levels_run.size)


@compiled
def append_level(play: Play, i: int, level: int) -> None:
    """Note the captime level of the next run of arm i, moving its block if it is full."""
    arms = play.arms
    runs = arms[i].runs
    if runs == arms[i].room:
        start = play.counters[USED]
        old = arms[i].block
        for j in range(runs):
            play.levels_run[start + j] = play.levels_run[old + j]
        arms[i].block = start
        arms[i].room = max(FIRST_BLOCK, 2 * runs)
        play.counters[USED] += arms[i].room
    play.levels_run[arms[i].block + runs] = level
    arms[i].runs = runs + 1

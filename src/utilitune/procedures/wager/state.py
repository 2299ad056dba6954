"""What `wager` knows of each configuration, as flat arrays that compiled rules read and write.

An arm that was never run costs under 256 bytes. The captime level of every single run is kept (one byte
each) in one arena, in which each arm owns a block that moves and doubles when it is full; together with the
evidence it gives back all observations, so that bounds are recomputed from them and nothing else is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.compiled import compiled

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


class Arms(NamedTuple):
    """One entry per configuration; the symbol of docs/theory.md in brackets.

    Attributes:
        first: The first position that counts as evidence for it.
        runs: How many positions it was run on, without gaps from `first` on [m_i].
        changes: Number of runs and re-runs.
        level: The captime level planned for its next run; `NO_LEVEL` before the first.
        plan_at: Number of runs at which its captime is planned anew.
        least: Sum of X over its runs.
        most: Sum of Y over its runs.
        time_s: Seconds spent on it.
        rank: Its number (from 1) among the configurations that ε has to cover; 0 if it is none of them.
        ungauged: Whether only the sum of X bounds it from below (a proposal on a finite instance list).
        lower: Lower bound [LCB_i], computed after `lower_seen` changes.
        upper: Upper bound [UCB_i], computed after `upper_seen` changes.
        apart: Upper bound on its difference to the current leader [D_ib], computed at `apart_seen`.
        pair_runs: How many runs the pair with the leader is expected to need; 0 where unknown.
        block: Where the captime levels of its runs begin in the arena.
        room: How many of them fit there.
        sweep: The captime level at which capped runs are repeated once positions have run out.
        cursor: The next run to look at for that.
        score: How good a leader it would be.
        alone: The key in the tree of arms measured by their own upper bound.
        paired: The key in the tree of arms measured against the leader.
    """

    first: NDArray[np.int32]
    runs: NDArray[np.int32]
    changes: NDArray[np.int32]
    level: NDArray[np.int16]
    plan_at: NDArray[np.int32]
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    time_s: NDArray[np.float64]
    rank: NDArray[np.int32]
    ungauged: NDArray[np.bool_]
    lower: NDArray[np.float64]
    lower_seen: NDArray[np.int32]
    upper: NDArray[np.float64]
    upper_seen: NDArray[np.int32]
    apart: NDArray[np.float64]
    apart_seen: NDArray[np.int32]
    pair_runs: NDArray[np.float64]
    block: NDArray[np.int64]
    room: NDArray[np.int32]
    sweep: NDArray[np.int16]
    cursor: NDArray[np.int32]
    score: NDArray[np.float64]
    alone: NDArray[np.float64]
    paired: NDArray[np.float64]


class Rules(NamedTuple):
    """Settings as numbers the compiled rules understand.

    Attributes:
        population: Number of instances drawn from without replacement; 0 for independent draws.
        positions: Length of the instance order.
        resume: Whether repeating a capped run pays only the extra seconds.
        epsilon: The ε at which the loop returns; negative for never.
        half_life_s: Time scale of the utility function.
    """

    population: int
    positions: int
    resume: bool
    epsilon: float
    half_life_s: float


class Play(NamedTuple):
    """Everything the compiled loop reads and writes."""

    arms: Arms
    levels_run: NDArray[np.uint8]
    evidence: Evidence
    grid: CaptimeGrid
    shares: Shares
    rules: Rules
    pooled_risk: NDArray[np.float64]
    pooled_events: NDArray[np.float64]
    score_tree: NDArray[np.int32]
    alone_tree: NDArray[np.int32]
    paired_tree: NDArray[np.int32]
    counters: NDArray[np.int64]
    amounts: NDArray[np.float64]


def new_arms(count: int) -> Arms:
    """Configurations nobody has run, not covered by ε until they are given a rank."""
    return Arms(
        first=np.zeros(count, dtype=np.int32),
        runs=np.zeros(count, dtype=np.int32),
        changes=np.zeros(count, dtype=np.int32),
        level=np.full(count, NO_LEVEL, dtype=np.int16),
        plan_at=np.zeros(count, dtype=np.int32),
        least=np.zeros(count),
        most=np.zeros(count),
        time_s=np.zeros(count),
        rank=np.zeros(count, dtype=np.int32),
        ungauged=np.zeros(count, dtype=np.bool_),
        lower=np.zeros(count),
        lower_seen=np.zeros(count, dtype=np.int32),
        upper=np.ones(count),
        upper_seen=np.zeros(count, dtype=np.int32),
        apart=np.ones(count),
        apart_seen=np.zeros(count, dtype=np.int32),
        pair_runs=np.zeros(count),
        block=np.zeros(count, dtype=np.int64),
        room=np.zeros(count, dtype=np.int32),
        sweep=np.zeros(count, dtype=np.int16),
        cursor=np.zeros(count, dtype=np.int32),
        score=np.full(count, -np.inf),
        alone=np.full(count, -np.inf),
        paired=np.full(count, -np.inf),
    )


def extended(arms: Arms, count: int) -> Arms:
    """The same arms followed by new ones, `count` in all."""
    fresh = new_arms(count - len(arms.runs))
    return Arms(*(np.concatenate([old, new]) for old, new in zip(arms, fresh, strict=True)))


@compiled
def has_room(play: Play, i: int) -> bool:
    """Whether one more run of arm i fits into the arena, if need be in a longer block at its end."""
    if play.arms.runs[i] < play.arms.room[i]:
        return True
    return bool(play.counters[USED] + max(FIRST_BLOCK, 2 * play.arms.room[i]) <= play.levels_run.size)


@compiled
def append_level(play: Play, i: int, level: int) -> None:
    """Note the captime level of the next run of arm i, moving its block if it is full."""
    arms = play.arms
    runs = arms.runs[i]
    if runs == arms.room[i]:
        start = play.counters[USED]
        old = arms.block[i]
        for j in range(runs):
            play.levels_run[start + j] = play.levels_run[old + j]
        arms.block[i] = start
        arms.room[i] = max(FIRST_BLOCK, 2 * runs)
        play.counters[USED] += arms.room[i]
    play.levels_run[arms.block[i] + runs] = level
    arms.runs[i] = runs + 1

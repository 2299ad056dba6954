"""Which runs `wager` is likely to need soon: those of the leader and of those who keep ε from falling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain.compiled import compiled
from utilitune.procedures.engine import LOOK_AHEAD, NextRuns
from utilitune.procedures.wager.leader import contribution
from utilitune.procedures.wager.observation import position_of
from utilitune.procedures.wager.planning import first_level
from utilitune.procedures.wager.state import NO_LEVEL, Play, level_at

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def next_runs(play: Play, present: int, count: int) -> NextRuns:
    """The next runs of the leader and of up to `count` of the first `present` arms."""
    line = _in_line(play, present, count)
    configuration = np.empty(line.size, dtype=np.int64)
    positions = np.full((line.size, LOOK_AHEAD), -1, dtype=np.int64)
    captime_s = np.empty(line.size)
    first = first_level(play)
    for place in range(line.size):
        arm = play.arms[line[place]]
        configuration[place] = arm.row
        captime_s[place] = play.grid.captime_s[first if arm.level == NO_LEVEL else arm.level]
        _look_ahead(play, line[place], positions[place])
    return NextRuns(configuration, positions, captime_s)


@compiled
def _look_ahead(play: Play, i: int, positions: NDArray[np.int64]) -> None:
    """The next positions of arm i: along the leader's order where it meets the leader, else along its own."""
    arms, b = play.arms, play.standing.leader
    have = 0
    if arms[i].pairing and arms[b].order > 0:
        for j in range(arms[i].met, arms[b].runs):
            position = position_of(play, b, j)
            if have < positions.size and level_at(play, i, position) == NO_LEVEL:
                positions[have] = position
                have += 1
    for j in range(arms[i].runs, play.rules.positions - arms[i].first):
        if have == positions.size:
            return
        positions[have] = position_of(play, i, j)
        have += 1


@compiled
def _in_line(play: Play, present: int, count: int) -> NDArray[np.int64]:
    """The leader, then the arms with the largest contributions to ε; of equal ones the earlier."""
    b = play.standing.leader
    line = np.empty(min(count, present - 1) + 1, dtype=np.int64)
    worth = np.empty(line.size)
    line[0], worth[0] = b, np.inf
    have = 1
    for i in range(present):
        if i == b or play.arms[i].idle:
            continue
        value = contribution(play, i) if play.arms[i].rank > 0 else -np.inf
        if have < line.size:
            have += 1
        elif value <= worth[have - 1]:
            continue
        place = have - 1
        while worth[place - 1] < value:
            line[place], worth[place] = line[place - 1], worth[place - 1]
            place -= 1
        line[place], worth[place] = i, value
    return line[:have]  # arms that repeat others are not in it

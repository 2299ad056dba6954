"""The loop of `wager`, compiled: choose a run, make it, settle what it proves.

    repeat
        b ← the leader, i ← the challenger with the largest contribution to ε
        choose b or i, whichever brings ε down faster per second
        run it on its next position at its planned captime
        recompute the bounds that are due; rate the arm as a leader; settle challenger and ε

`choose` changes nothing that a second call would not repeat, so a run that nobody has made yet can be asked
for and the step taken up again later.
"""

from __future__ import annotations

from typing import NamedTuple

from utilitune.compiled import compiled
from utilitune.procedures.evidence import is_known
from utilitune.procedures.wager.capital import due, refresh_lower, refresh_upper
from utilitune.procedures.wager.captimes import interval_of
from utilitune.procedures.wager.leader import best_candidate, note_score, place, settle
from utilitune.procedures.wager.planning import plan
from utilitune.procedures.wager.state import (
    AIM_RUNS,
    ANSWER_EPSILON,
    CHALLENGER,
    CHOSEN_ARM,
    CHOSEN_LEVEL,
    CHOSEN_POSITION,
    LEADER,
    OUTSIDERS,
    ROUNDS,
    RUNS,
    SCAN_AT,
    TOTAL_S,
    Play,
    append_level,
    has_room,
)
from utilitune.procedures.wager.strategy import set_aim

# Why the loop returned.
PAUSED, PROVED, EXHAUSTED, FULL, UNKNOWN = range(5)

_SWEEP_STEP = 2
_TRIAL_EVERY = 4
_LEADER_LEAST = 8


class Limits(NamedTuple):
    """When the loop pauses."""

    rounds: int
    runs: int
    total_time_s: float


@compiled
def _at_end(play: Play, i: int) -> bool:
    return bool(play.arms[i].first + play.arms[i].runs >= play.rules.positions)


@compiled
def _next_repeat(play: Play, i: int) -> int:
    """The next capped run of arm i to repeat at a higher captime, as an index into its runs; −1 if none."""
    arms, top = play.arms, play.grid.captime_s.size - 1
    if arms[i].sweep == 0:
        arms[i].sweep = min(top, max(1, arms[i].level))
    while True:
        for j in range(arms[i].cursor, arms[i].runs):
            level = play.levels_run[arms[i].block + j]
            run = play.evidence.base[i] + play.evidence.column[arms[i].first + j]
            if level < arms[i].sweep and play.evidence.runtime_s[run] >= play.grid.captime_s[level]:
                arms[i].cursor = j
                return j
        if arms[i].sweep >= top:
            arms[i].cursor = arms[i].runs
            return -1
        arms[i].cursor = 0
        arms[i].sweep = min(top, arms[i].sweep + _SWEEP_STEP)


@compiled
def _set_choice(play: Play, i: int) -> bool:
    """Choose the next run of arm i: its next position, or a capped run to repeat; False if there is none."""
    arms, counters = play.arms, play.counters
    counters[CHOSEN_ARM] = i
    if not _at_end(play, i):
        if arms[i].runs >= arms[i].plan_at:
            plan(play, i)
        counters[CHOSEN_POSITION] = arms[i].first + arms[i].runs
        counters[CHOSEN_LEVEL] = arms[i].level
        return True
    j = _next_repeat(play, i)
    counters[CHOSEN_POSITION] = arms[i].first + j
    counters[CHOSEN_LEVEL] = arms[i].sweep
    return j >= 0


@compiled
def _leader_first(play: Play, b: int, i: int) -> bool:
    """Whether the leader's next run brings ε down faster per second than the challengers'."""
    arms = play.arms
    end_b, end_i = arms[b].first + arms[b].runs, arms[i].first + arms[i].runs
    if end_b <= end_i:
        return True
    return bool(arms[b].runs < _LEADER_LEAST or arms[b].runs < play.amounts[AIM_RUNS])


@compiled
def choose(play: Play, count: int) -> bool:
    """Choose the next run; False if no run of leader or challenger is left that could tell anything.

    Now and then it is the run of a configuration that ε does not cover but that may be a better answer.
    """
    b, i = play.counters[LEADER], play.counters[CHALLENGER]
    outsider = -1
    if play.counters[OUTSIDERS] > 0 and play.counters[ROUNDS] % _TRIAL_EVERY == 0:
        outsider = best_candidate(play, count)
    leader_first = i < 0 or _leader_first(play, b, i)
    chosen = False
    for turn in range(3):
        if turn == 0:
            arm = outsider
        elif i < 0:
            arm = -1
        else:
            arm = b if (turn == 1) == leader_first else i
        chosen = chosen or (arm >= 0 and _set_choice(play, arm))
    return chosen


@compiled
def _pool(play: Play, runtime: float, level: int) -> None:
    """Add one run to the pooled Kaplan–Meier counts."""
    last = level
    if runtime < play.grid.captime_s[level]:
        last = interval_of(play.grid, runtime)
        play.pooled[1, last] += 1.0
    for g in range(last + 1):
        play.pooled[0, g] += 1.0


@compiled
def _observe(play: Play, i: int) -> None:
    """Take in the chosen run of arm i and pay for it."""
    arms, grid, counters = play.arms, play.grid, play.counters
    position, level = counters[CHOSEN_POSITION], counters[CHOSEN_LEVEL]
    j = position - arms[i].first
    run = play.evidence.base[i] + play.evidence.column[position]
    runtime = play.evidence.runtime_s[run]
    cost = min(runtime, grid.captime_s[level])
    if j == arms[i].runs:
        append_level(play, i, level)
    else:
        before = play.levels_run[arms[i].block + j]
        play.levels_run[arms[i].block + j] = level
        arms[i].least -= grid.floor
        arms[i].most -= grid.utility[before]
        if play.rules.resume:
            cost -= grid.captime_s[before]
    finished = runtime < grid.captime_s[level]
    arms[i].least += play.evidence.utility[run] if finished else grid.floor
    arms[i].most += play.evidence.utility[run] if finished else grid.utility[level]
    arms[i].changes += 1
    arms[i].time_s += cost
    play.amounts[TOTAL_S] += cost
    counters[RUNS] += 1
    counters[ROUNDS] += 1
    _pool(play, runtime, level)


@compiled
def commit(play: Play) -> None:
    """Make the chosen run, whose outcome is known, and settle what it proves."""
    arms, i = play.arms, play.counters[CHOSEN_ARM]
    _observe(play, i)
    if i == play.counters[LEADER]:
        if due(arms[i].changes, arms[i].lower_seen, arms[i].runs):
            refresh_lower(play, i)
    elif due(arms[i].changes, arms[i].upper_seen, arms[i].runs):
        refresh_upper(play, i)
        place(play, i)
    note_score(play, i)
    settle(play)
    if play.counters[ROUNDS] >= play.counters[SCAN_AT]:
        set_aim(play)


@compiled
def advance(play: Play, limits: Limits, count: int) -> int:
    """Play rounds with the first `count` arms until a limit, the target or the end of what is known."""
    counters = play.counters
    while True:
        if play.amounts[ANSWER_EPSILON] <= play.rules.epsilon:
            return PROVED
        if (
            counters[ROUNDS] >= limits.rounds
            or counters[RUNS] >= limits.runs
            or play.amounts[TOTAL_S] >= limits.total_time_s
        ):
            return PAUSED
        if not choose(play, count):
            return EXHAUSTED
        i, captime = counters[CHOSEN_ARM], play.grid.captime_s[counters[CHOSEN_LEVEL]]
        if not is_known(play.evidence, i, counters[CHOSEN_POSITION], captime):
            return UNKNOWN
        if not has_room(play, i):
            return FULL
        commit(play)

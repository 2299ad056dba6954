"""The loop of `wager`, compiled: choose a run, make it, settle what it proves.

    repeat
        b ← the leader, i ← the challenger with the largest contribution to ε
        choose b or i, whichever brings ε down faster per second
        run it on its next position at its planned captime
        recompute the bounds that are due; rate the arm as a leader; settle challenger and ε

The chosen run may be one that nobody has made yet. Then the loop returns, and once the run is known it calls
`choose` again, which makes the same choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.domain.compiled import compiled
from utilitune.procedures.evidence import is_known
from utilitune.procedures.wager import tuning
from utilitune.procedures.wager.capital import due, refresh_lower, refresh_upper
from utilitune.procedures.wager.captimes import interval_of
from utilitune.procedures.wager.intervals import pool_intervals
from utilitune.procedures.wager.leader import best_candidate, note_score, place, settle, try_largest_lower
from utilitune.procedures.wager.observation import (
    has_intervals,
    is_open,
    observation,
    position_of,
    run_index,
    seconds_of,
)
from utilitune.procedures.wager.planning import plan
from utilitune.procedures.wager.state import (
    ASIDE,
    NO_LEVEL,
    Play,
    append_level,
    has_room,
    level_at,
    note_aside,
    runs_made,
)
from utilitune.procedures.wager.strategy import set_aim

if TYPE_CHECKING:
    from utilitune.procedures.engine import PauseAt

# Why the loop returned.
PAUSED, PROVED, EXHAUSTED, FULL, UNKNOWN = range(5)


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
            run = run_index(play, i, position_of(play, i, j))
            if level < arms[i].sweep and is_open(play, run, level):
                arms[i].cursor = j
                return j
        if arms[i].sweep >= top:
            arms[i].cursor = arms[i].runs
            return -1
        arms[i].cursor = 0
        arms[i].sweep = min(top, arms[i].sweep + tuning.SWEEP_STEP)


@compiled
def _meets(play: Play, i: int) -> bool:
    """Whether the leader has run along an order of its own on a position where arm i was not run."""
    arms, b = play.arms, play.standing.leader
    while arms[i].met < arms[b].runs:
        if level_at(play, i, position_of(play, b, arms[i].met)) == NO_LEVEL:
            return True
        arms[i].met += 1
    return False


@compiled
def _set_choice(play: Play, i: int) -> bool:
    """Choose the next run of arm i: along the leader's order, its next position, or a capped run to repeat.

    False if there is none.
    """
    arms, standing, b = play.arms, play.standing, play.standing.leader
    standing.chosen_arm = i
    if not _at_end(play, i):
        if runs_made(play, i) >= arms[i].plan_at:
            plan(play, i)
        standing.chosen_level = arms[i].level
        if arms[i].pairing and arms[b].order > 0 and _meets(play, i):
            standing.chosen_run = ASIDE
            standing.chosen_position = position_of(play, b, arms[i].met)
            return True
        standing.chosen_run = arms[i].runs
        standing.chosen_position = position_of(play, i, arms[i].runs)
        if arms[i].aside >= 0:
            standing.chosen_level = max(arms[i].level, level_at(play, i, standing.chosen_position))
        return True
    j = _next_repeat(play, i)
    standing.chosen_run = j
    standing.chosen_position = position_of(play, i, max(0, j))
    standing.chosen_level = arms[i].sweep
    return j >= 0


@compiled
def _leader_first(play: Play, b: int, i: int) -> bool:
    """Whether the leader's next run brings ε down faster per second than the challengers'."""
    arms = play.arms
    end_b, end_i = arms[b].first + arms[b].runs, arms[i].first + arms[i].runs
    if arms[b].order > 0 and arms[i].pairing:
        if not _meets(play, i):
            return True
    elif end_b <= end_i:
        return True
    return bool(arms[b].runs < tuning.LEADER_LEAST or arms[b].runs < play.standing.aim_runs)


@compiled
def _compare_default(play: Play) -> bool:
    """Choose a run of the default where the leader was run, so that the gain over it shows; False if none."""
    arms, standing = play.arms, play.standing
    b, default = standing.leader, play.rules.default
    if arms[default].row == arms[b].row:
        return False
    if arms[b].order == 0:
        behind = arms[default].first + arms[default].runs < arms[b].first + arms[b].runs
        return behind and _set_choice(play, default)
    if not _meets(play, default):
        return False
    if runs_made(play, default) >= arms[default].plan_at:
        plan(play, default)
    standing.chosen_arm = default
    standing.chosen_level = arms[default].level
    standing.chosen_run = ASIDE
    standing.chosen_position = position_of(play, b, arms[default].met)
    return True


@compiled
def _on_trial(play: Play, count: int) -> int:
    """The configuration outside of ε whose turn it is to show that it may lead; −1 if it is nobody's.

    The one that something is to be proved of has its turn, too, until it was run as often as the leader.
    """
    rounds, asked = play.standing.rounds, play.rules.asked
    if play.standing.outsiders == 0 or rounds % tuning.NOMINEE_EVERY != 0:
        return -1
    leads = play.arms[play.standing.leader].runs
    if asked >= 0 and play.arms[asked].runs < leads and not _at_end(play, asked):
        return int(asked)
    outsider = best_candidate(play, count)
    if outsider >= 0 and play.arms[outsider].order == 0 and rounds % tuning.TRIAL_EVERY != 0:
        return -1
    return outsider


@compiled
def choose(play: Play, count: int) -> bool:
    """Choose the next run; False if nobody has a run left that would add anything.

    Now and then it is the run of a configuration that ε does not cover but that may be a better answer, one
    of the default, or one of the configuration that something is to be proved of.
    """
    b, i = play.standing.leader, play.standing.challenger
    compares = play.rules.default >= 0 and (play.standing.rounds + 1) % tuning.COMPARE_EVERY == 0
    if compares and _compare_default(play):
        return True
    outsider = _on_trial(play, count)
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
    if not chosen and outsider < 0 and play.standing.outsiders > 0:
        outsider = best_candidate(play, count)
        chosen = outsider >= 0 and _set_choice(play, outsider)
    asked = play.rules.asked
    return chosen or (asked >= 0 and _set_choice(play, asked))


@compiled
def _pool(play: Play, run: int, level: int) -> None:
    """Add one run to the pooled Kaplan–Meier counts; one that failed outlasts every captime."""
    last, runtime = level, play.evidence.runtime_s[run]
    if runtime < play.grid.captime_s[level]:
        last = interval_of(play.grid.captime_s, runtime)
        play.pooled[1, last] += 1.0
    elif not is_open(play, run, level):
        last = play.grid.captime_s.size - 1
    for g in range(last + 1):
        play.pooled[0, g] += 1.0
    if has_intervals(play):
        pool_intervals(play, run, level)


@compiled
def _observe(play: Play, i: int) -> None:
    """Take in the chosen run of arm i and pay for it."""
    arms, grid, standing = play.arms, play.grid, play.standing
    position, level = standing.chosen_position, standing.chosen_level
    j = standing.chosen_run
    run = run_index(play, i, position)
    cost = seconds_of(play, run, level)
    if j == ASIDE:
        note_aside(play, i, position, level)
    elif j == arms[i].runs:
        if arms[i].aside >= 0:  # a nominee has no runs aside, and its positions follow its own order
            arms[i].aside_runs -= level_at(play, i, position) != NO_LEVEL
        append_level(play, i, level)
    else:
        before = play.levels_run[arms[i].block + j]
        play.levels_run[arms[i].block + j] = level
        least, most = observation(play, run, before)
        arms[i].least -= least
        arms[i].most -= most
        if play.rules.resume:
            cost -= grid.captime_s[before]
    if j != ASIDE:
        least, most = observation(play, run, level)
        arms[i].least += least
        arms[i].most += most
    arms[i].changes += 1
    arms[i].time_s += cost
    standing.total_s += cost
    standing.runs += 1
    standing.rounds += 1
    _pool(play, run, level)


@compiled
def commit(play: Play, count: int) -> None:
    """Make the chosen run, whose outcome is known, and settle what it proves."""
    arms, i = play.arms, play.standing.chosen_arm
    _observe(play, i)
    if play.standing.chosen_run != ASIDE:
        if i == play.standing.leader:
            if due(arms[i].changes, arms[i].lower_seen, arms[i].runs):
                refresh_lower(play, i)
        elif due(arms[i].changes, arms[i].upper_seen, arms[i].runs):
            refresh_upper(play, i)
            place(play, i)
        note_score(play, i)
    settle(play)
    if play.standing.rounds >= play.standing.next_aim_at:
        set_aim(play)
        try_largest_lower(play, count, False)  # noqa: FBT003 -- compiled


@compiled
def advance(play: Play, pause: PauseAt, count: int) -> int:
    """Play rounds with the first `count` arms until a limit, the target or the end of what is known."""
    standing = play.standing
    while True:
        if standing.answer_epsilon <= play.rules.epsilon:
            return PROVED
        if (
            standing.rounds >= pause.rounds
            or standing.runs >= pause.runs
            or standing.total_s >= pause.total_time_s
        ):
            return PAUSED
        if not choose(play, count):
            return EXHAUSTED
        i, captime = standing.chosen_arm, play.grid.captime_s[standing.chosen_level]
        if not is_known(play.evidence, play.arms[i].row, standing.chosen_position, captime):
            return UNKNOWN
        if not has_room(play, i):
            return FULL
        commit(play, count)

"""The loop of UP, OUP and COUP, compiled; it reads like the paper's Algorithm 1.

`advance_optimistic` and `advance_round_robin` pick a configuration, play one round with it and update
answer and bounds, until a limit is reached or a run is missing. Rules come from their own modules: widths and
bounds from `bounds.hoeffding`, doubling from `captime`, the choice from `selection`. A round touches
one configuration only, so its cost does not depend on how many there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain.compiled import compiled, inlined
from utilitune.procedures.bounds.hoeffding import confidence_width, lower_bound, upper_bound
from utilitune.procedures.captime import CaptimeLevels, doubles
from utilitune.procedures.evidence import Evidence, is_known
from utilitune.procedures.selection import runner_up, update_tournament

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.engine import PauseAt
    from utilitune.procedures.paper.arms import Arms

# Why the loop returned.
PAUSED, NEEDS_RUNS, PROVED, ONE_LEFT, NO_INSTANCES = range(5)


class Composition(NamedTuple):
    """The composition, as numbers the compiled loop understands."""

    doubling: int
    width_scale: float
    resume: bool
    positions: int
    epsilon: float
    strict: bool


class Standing:
    """Where the game stands, as one record.

    Attributes:
        rounds: Rounds played [r].
        runs: Runs made, repeated ones included.
        total_s: Seconds spent on all of them.
        best: The configuration with the largest lower bound, which is the answer.
        turn: UP: the configuration whose turn it is; 0 at the start of a sweep over all.
        needed_arm: The configuration of the round that lacks runs.
        needed_level: The captime level of that round.
    """

    rounds: int
    runs: int
    total_s: float
    best: int
    turn: int
    needed_arm: int
    needed_level: int


class Play(NamedTuple):
    """Everything the loop reads and writes."""

    arms: Arms
    evidence: Evidence
    levels: CaptimeLevels
    rules: Composition
    standing: Standing


@inlined
def _pay(play: Play, i: int, seconds: float) -> None:
    """Account for one run that costs time."""
    play.arms.time_s[i] += seconds
    play.standing.total_s += seconds
    play.standing.runs += 1


@inlined
def _count_if_finished(play: Play, i: int, run: int, captime: float) -> None:
    """Finished means t < κ, strictly."""
    if play.evidence.runtime_s[run] < captime:
        play.arms.finished[i] += 1
        play.arms.finished_utility[i] += play.evidence.utility[run]


@compiled
def missing_runs(play: Play, i: int, level: int) -> NDArray[np.int64]:
    """Positions of the next round of configuration i at a captime level whose outcome is not known."""
    captime = play.levels.captime_s[level]
    end = play.arms.runs[i] + 1
    first = 0 if level > play.arms.level[i] else end - 1
    found = np.empty(end - first, dtype=np.int64)
    count = 0
    for j in range(first, end):
        if not is_known(play.evidence, i, j, captime):
            found[count] = j
            count += 1
    return found[:count]


@compiled
def update_bounds(play: Play, i: int) -> None:
    """Lines 15–18: tighten both bounds of configuration i with its current captime."""
    arms = play.arms
    m = arms.runs[i]
    worth = play.levels.utility[arms.level[i]]
    width = confidence_width(play.rules.width_scale, m, arms.level[i])
    mean = (arms.finished_utility[i] + (m - arms.finished[i]) * worth) / m
    arms.upper[i] = min(arms.upper[i], upper_bound(mean, worth, width))
    arms.lower[i] = max(arms.lower[i], lower_bound(mean, worth, width, arms.finished[i] / m))


@compiled
def _rerun_capped(play: Play, i: int) -> None:
    """Lines 10–11: the captime of i has just doubled; run its capped instances again."""
    level = play.arms.level[i]
    captime = play.levels.captime_s[level]
    previous = play.levels.captime_s[level - 1]
    paid_before = previous if play.rules.resume else 0.0
    for j in range(play.arms.runs[i] - 1):
        run = play.evidence.base[i] + play.evidence.column[j]
        runtime = play.evidence.runtime_s[run]
        if runtime >= previous:
            _pay(play, i, min(runtime, captime) - paid_before)
            _count_if_finished(play, i, run, captime)


@compiled
def _play_round(play: Play, i: int) -> int:
    """Lines 8–18 for configuration i; nothing changes if a run it needs is not known."""
    arms, evidence, levels, rules = play.arms, play.evidence, play.levels, play.rules
    m = arms.runs[i] + 1
    if m > rules.positions:
        return NO_INSTANCES
    level = arms.level[i]
    share = arms.finished[i] / arms.runs[i] if arms.runs[i] > 0 else 0.0
    width = confidence_width(rules.width_scale, m, level)
    if level + 1 < levels.captime_s.size and doubles(rules.doubling, levels.utility[level], share, width):
        level += 1
    if evidence.known_s.size > 1 and missing_runs(play, i, level).size > 0:
        play.standing.needed_arm = i
        play.standing.needed_level = level
        return NEEDS_RUNS
    arms.runs[i] = m
    if level > arms.level[i]:
        arms.level[i] = level
        _rerun_capped(play, i)
    run = evidence.base[i] + evidence.column[m - 1]
    _pay(play, i, min(evidence.runtime_s[run], levels.captime_s[level]))
    _count_if_finished(play, i, run, levels.captime_s[level])
    update_bounds(play, i)
    play.standing.rounds += 1
    return PAUSED


@inlined
def _proved(rules: Composition, epsilon: float) -> bool:
    """Whether the target is reached: ε ≤ target, or ε < ε_p for the phases of COUP."""
    return epsilon < rules.epsilon if rules.strict else epsilon <= rules.epsilon


@inlined
def _over(pause: PauseAt, play: Play) -> bool:
    standing = play.standing
    spent = standing.rounds >= pause.rounds or standing.runs >= pause.runs
    return spent or standing.total_s >= pause.total_time_s


@inlined
def _note_best(play: Play, i: int) -> None:
    """Line 19: the answer is the largest lower bound; ties go to the lowest index."""
    lower, best = play.arms.lower, play.standing.best
    if lower[i] > lower[best] or (lower[i] == lower[best] and i < best):
        play.standing.best = i


@compiled
def advance_optimistic(play: Play, pause: PauseAt, tree: NDArray[np.int32], eliminates: bool) -> int:
    """OUP's loop (Algorithm 1 lines 6–28) and that of a COUP phase (Algorithm 2 lines 15–28).

    A configuration whose upper bound is below the best lower bound is out (line 21); as the largest
    upper bound is never such a one, nobody needs to be struck off a list.
    """
    arms, standing = play.arms, play.standing
    while True:
        i = tree[1]
        best_lower = arms.lower[standing.best]
        if _proved(play.rules, arms.upper[i] - best_lower):
            return PROVED
        if eliminates:
            rival = runner_up(tree, arms.upper) if i == standing.best else i
            if rival < 0 or arms.upper[rival] < best_lower:
                return ONE_LEFT
        if _over(pause, play):
            return PAUSED
        state = _play_round(play, i)
        if state != PAUSED:
            return state
        update_tournament(tree, arms.upper, i)
        _note_best(play, i)


@compiled
def _strike_off(play: Play) -> tuple[int, float]:
    """UP's elimination: who is left, and the largest upper bound among them."""
    arms, best = play.arms, play.standing.best
    left, largest = 0, arms.lower[best]
    for i in range(arms.runs.size):
        if arms.upper[i] < arms.lower[best] and i != best:
            arms.alive[i] = False
        if arms.alive[i]:
            left += 1
            largest = max(largest, arms.upper[i])
    return left, largest


@compiled
def advance_round_robin(play: Play, pause: PauseAt) -> int:
    """UP's loop: every surviving configuration plays one round, then the hopeless ones are struck off."""
    arms, standing = play.arms, play.standing
    while True:
        if standing.turn == 0:
            left, largest = _strike_off(play)
            if _proved(play.rules, largest - arms.lower[standing.best]):
                return PROVED
            if left == 1:
                return ONE_LEFT
        while standing.turn < arms.runs.size:
            i = standing.turn
            if arms.alive[i]:
                if _over(pause, play):
                    return PAUSED
                state = _play_round(play, i)
                if state != PAUSED:
                    return state
                _note_best(play, i)
            standing.turn += 1
        standing.turn = 0

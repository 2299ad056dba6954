"""Captimes that make the capital grow fastest per second.

A longer captime makes every run more decisive and more expensive. For each captime κ_g the expected growth of
the log-capital is estimated from the Kaplan–Meier estimate of the arm's runtimes: with
d = value/hypothesis − 1, betting the fraction c gains about c·E d − c²·E d²/2 per run, at its best for
c = E d/E d². The captime with the largest growth per second is taken. For a pair, the runs both arms have
made are replayed under each captime, capped runs being replaced by what is expected of them. None of this
touches the validity of a bound.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from utilitune.compiled import compiled
from utilitune.procedures.wager.capital import common_span
from utilitune.procedures.wager.captimes import interval_of, shrunk_finish
from utilitune.procedures.wager.shares import paired_threshold, upper_threshold
from utilitune.procedures.wager.state import (
    AIM,
    AIM_RUNS,
    CHALLENGER,
    EPSILON,
    LEADER,
    NO_LEVEL,
    SERIOUS,
    Play,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST_BET = 0.95
_MOST_REPLAYED = 256
_GUARD_RUNS = 64.0
_FIRST_WORTH = 1.5
_MOST_WORTH = 0.5
_FEWEST_PAIRS = 8
_QUICK = 0.2
_LEAST_SCALE = 1e-3
_LEAST_REST = 0.02
MIXTURE = 3.0  # a mixture of bets needs a little more capital than its best bet alone
_HOPELESS = 1e9
_REPLAN_SHARE = 8


@compiled
def planning_epsilon(play: Play) -> float:
    """The ε to plan for: the target, or a quarter of what is proved."""
    if play.rules.planned_epsilon > 0.0:
        return play.rules.planned_epsilon
    return float(min(0.25, 0.25 * play.amounts[EPSILON]))


@compiled
def finish_estimate(play: Play, i: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Kaplan–Meier estimate of arm i: finish probability per interval, and survival beyond each captime."""
    arms, grid = play.arms, play.grid
    size = grid.captime_s.size
    ended = np.zeros(size + 1)
    events = np.zeros(size)
    for j in range(arms[i].runs):
        level = play.levels_run[arms[i].block + j]
        run = play.evidence.base[i] + play.evidence.column[arms[i].first + j]
        runtime = play.evidence.runtime_s[run]
        if runtime < grid.captime_s[level]:
            level = interval_of(grid, runtime)
            events[level] += 1.0
        ended[level] += 1.0
    risk = np.zeros(size)
    seen = 0.0
    for g in range(size - 1, -1, -1):
        seen += ended[g]
        risk[g] = seen
    return shrunk_finish(risk, events, play.pooled)


@compiled
def run_costs(play: Play, finish: NDArray[np.float64], beyond: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected seconds of a run at each captime."""
    grid = play.grid
    costs = np.empty(finish.size)
    spent = 0.0
    for g in range(finish.size):
        spent += finish[g] * grid.middle_s[g]
        costs[g] = spent + beyond[g] * grid.captime_s[g]
    return costs


@compiled
def growth_rate(first: float, second: float) -> float:
    """Growth of the log-capital per run, for the best bet on something with these two moments."""
    if first <= 0.0:
        return 0.0
    bet = min(_LARGEST_BET, first / second)
    return bet * first - bet * bet * second / 2.0


@compiled
def growth_alone(
    play: Play, i: int, finish: NDArray[np.float64], beyond: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Growth at each captime of the bet on arm i alone: on LCB_b if it leads, else on its UCB_i."""
    grid, leading = play.grid, i == play.counters[LEADER]
    reach = max(play.arms[play.counters[LEADER]].lower, play.amounts[AIM])
    scale = max(reach, _LEAST_SCALE) if leading else max(1.0 - reach - planning_epsilon(play), _LEAST_REST)
    growth = np.empty(finish.size)
    first, second = 0.0, 0.0
    for g in range(finish.size):
        finished = grid.middle_utility[g] if leading else 1.0 - grid.middle_utility[g]
        capped = grid.floor if leading else 1.0 - grid.utility[g]
        finished = finished / scale - 1.0
        capped = capped / scale - 1.0
        first += finish[g] * finished
        second += finish[g] * finished**2
        growth[g] = growth_rate(first + beyond[g] * capped, second + beyond[g] * capped**2)
    return growth


@compiled
def _expected(play: Play, i: int, capped: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entry [c, g]: expected value at captime g of a run of arm i that is known to last beyond captime c.

    Args:
        play: The state of play.
        i: Whose run.
        capped: What a run capped at each captime counts.
    """
    finish, beyond = finish_estimate(play, i)
    size = finish.size
    table = np.empty((size, size))
    for c in range(size):
        gained = 0.0
        for g in range(size):
            if g <= c:
                table[c, g] = capped[g]
                continue
            gained += finish[g] * play.grid.middle_utility[g]
            table[c, g] = (gained + beyond[g] * capped[g]) / max(beyond[c], 1e-12)
    return table


@compiled
def _values_at(
    play: Play, i: int, position: int, expected: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """What one run counts under every captime; what was not observed is replaced by its expectation."""
    arms, grid = play.arms, play.grid
    level = play.levels_run[arms[i].block + position - arms[i].first]
    run = play.evidence.base[i] + play.evidence.column[position]
    runtime = play.evidence.runtime_s[run]
    ended = out.size
    source = int(level)
    if runtime < grid.captime_s[level]:
        ended = interval_of(grid, runtime)
        source = out.size - 1
    for g in range(out.size):
        out[g] = expected[source, g] if g < ended else play.evidence.utility[run]


@compiled
def growth_paired(play: Play, i: int, b: int, planned: int) -> NDArray[np.float64]:
    """Growth of the pair (i, b) at each captime of the arm `planned`, the other keeping its own."""
    size = play.grid.captime_s.size
    most = _expected(play, i, play.grid.utility)
    least = _expected(play, b, np.full(size, play.grid.floor))
    first, second = np.zeros(size), np.zeros(size)
    y, x = np.empty(size), np.empty(size)
    scale = 1.0 - planning_epsilon(play)
    start, end = common_span(play, i, b)
    start = max(start, end - _MOST_REPLAYED)
    level_i, level_b = max(0, play.arms[i].level), max(0, play.arms[b].level)
    for position in range(start, end):
        _values_at(play, i, position, most, y)
        _values_at(play, b, position, least, x)
        for g in range(size):
            most_g = y[g] if planned == i else y[level_i]
            least_g = x[level_b] if planned == i else x[g]
            gain = (1.0 - most_g + least_g) / scale - 1.0
            first[g] += gain
            second[g] += gain * gain
    growth = np.empty(size)
    count = max(1, end - start)
    for g in range(size):
        growth[g] = growth_rate(first[g] / count, second[g] / count)
    return growth


@compiled
def _fastest(growth: NDArray[np.float64], costs: NDArray[np.float64], shared_s: float) -> tuple[int, float]:
    """The captime level with the largest growth per second, and that growth."""
    best, rate = NO_LEVEL, 0.0
    for g in range(growth.size):
        here = growth[g] / (costs[g] + shared_s)
        if here > rate:
            best, rate = g, here
    return best, rate


@compiled
def _guarded(play: Play, i: int, level: int) -> int:
    """At least the captime k0·sqrt(m/64) from m = 64 on, so that censoring cannot stall an arm for ever."""
    if play.arms[i].runs < _GUARD_RUNS:
        return level
    least_s = play.rules.half_life_s * math.sqrt(play.arms[i].runs / _GUARD_RUNS)
    return min(max(level, interval_of(play.grid, least_s)), play.grid.captime_s.size - 1)


@compiled
def first_level(play: Play) -> int:
    """The captime of an arm nobody has run: where an answer is worth about as much as the ε planned for."""
    worth = play.grid.floor + min(_MOST_WORTH, _FIRST_WORTH * planning_epsilon(play))
    level = 0
    while level < play.grid.utility.size - 1 and play.grid.utility[level] > worth:
        level += 1
    return level


@compiled
def plan(play: Play, i: int) -> None:
    """Plan the captime of arm i for the test, alone or paired, that will be over sooner.

    The leader is planned for its own bound while that is being raised, else for the pair with the challenger;
    as its runs serve against all serious challengers, their cost is weighed against that of all of them.
    """
    arms, b, other = play.arms, play.counters[LEADER], play.counters[CHALLENGER]
    leading = i == b
    if not leading:
        other = i
    finish, beyond = finish_estimate(play, i)
    costs = run_costs(play, finish, beyond)
    growth = growth_alone(play, i, finish, beyond)
    level, rate = _fastest(growth, costs, 0.0)
    pairs = 0
    if other >= 0 and other != b and arms[other].rank > 0:
        start, end = common_span(play, other, b)
        pairs = end - start
    if leading and arms[b].runs >= play.amounts[AIM_RUNS]:
        level, rate = NO_LEVEL, 0.0
    elif not leading and pairs < _FEWEST_PAIRS and level != NO_LEVEL and growth[level] < _QUICK:
        level = NO_LEVEL
    if pairs >= _FEWEST_PAIRS and not (leading and level != NO_LEVEL):
        growth = growth_paired(play, other, b, i)
        shared_s = arms[b].time_s / arms[b].runs / play.counters[SERIOUS]
        if leading:
            shared_s = arms[other].time_s / max(1, arms[other].runs) * play.counters[SERIOUS]
        found, paired_rate = _fastest(growth, costs, shared_s)
        needed = math.log(MIXTURE * paired_threshold(play.shares, arms[other].rank, arms[b].number))
        if not leading:
            arms[i].pair_runs = _HOPELESS if found == NO_LEVEL else needed / growth[found]
            rate /= math.log(MIXTURE * upper_threshold(play.shares, arms[i].rank))
        if leading or paired_rate / needed >= rate:
            level = found
    if level == NO_LEVEL:
        level = max(arms[i].level, first_level(play))
    arms[i].level = _guarded(play, i, level)
    arms[i].plan_at = arms[i].runs + max(1, arms[i].runs // _REPLAN_SHARE)

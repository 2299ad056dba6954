"""Captimes that make the capital grow fastest per second.

A longer captime makes every run more decisive and more expensive. For each captime κ_g the expected growth
of the log-capital is estimated from the Kaplan–Meier estimate of the arm's runtimes: with d = value/hypothesis − 1,
betting the fraction c gains about c·E d − c²·E d²/2 per run, at its best for c = E d/E d². The captime with the
largest growth per second is taken. For a pair, the runs both arms have made are replayed under each captime,
capped runs being replaced by what is expected of them. None of this touches the validity of a bound.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numba
import numpy as np

from utilitune.procedures.wager.capital import common_span
from utilitune.procedures.wager.captimes import interval_of, shrunk_finish
from utilitune.procedures.wager.shares import paired_threshold, upper_threshold
from utilitune.procedures.wager.state import EPSILON, LEADER, NO_LEVEL, SERIOUS, Play

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST_BET = 0.95
_MOST_REPLAYED = 256
_GUARD_RUNS = 64.0
_FIRST_WORTH = 1.5
_FEWEST_PAIRS = 8


@numba.njit(cache=True)
def finish_estimate(play: Play, i: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Kaplan–Meier estimate of arm i: finish probability per interval, and survival beyond each captime."""
    arms, grid = play.arms, play.grid
    size = grid.captime_s.size
    ended = np.zeros(size + 1)
    events = np.zeros(size)
    for j in range(arms.runs[i]):
        level = play.levels_run[arms.block[i] + j]
        run = play.evidence.base[i] + play.evidence.column[arms.first[i] + j]
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
    return shrunk_finish(risk, events, play.pooled_risk, play.pooled_events)


@numba.njit(cache=True)
def run_costs(play: Play, finish: NDArray[np.float64], beyond: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected seconds of a run at each captime."""
    grid = play.grid
    costs = np.empty(finish.size)
    spent = 0.0
    for g in range(finish.size):
        spent += finish[g] * grid.middle_s[g]
        costs[g] = spent + beyond[g] * grid.captime_s[g]
    return costs


@numba.njit(cache=True, inline="always")
def _growth(first: float, second: float) -> float:
    """Growth of the log-capital per run, for the best bet on something with these two moments."""
    if first <= 0.0:
        return 0.0
    bet = min(_LARGEST_BET, first / second)
    return bet * first - bet * bet * second / 2.0


@numba.njit(cache=True)
def growth_alone(
    play: Play, finish: NDArray[np.float64], beyond: NDArray[np.float64], hypothesis: float, lower: bool
) -> NDArray[np.float64]:
    """Growth at each captime of the bet that the mean is above (X) or below (Y) a hypothesis."""
    grid = play.grid
    growth = np.empty(finish.size)
    first, second = 0.0, 0.0
    scale = hypothesis if lower else 1.0 - hypothesis
    scale = max(scale, 1e-3)
    for g in range(finish.size):
        value = grid.middle_utility[g] if lower else 1.0 - grid.middle_utility[g]
        gain = value / scale - 1.0
        first += finish[g] * gain
        second += finish[g] * gain * gain
        capped = (grid.floor if lower else 1.0 - grid.utility[g]) / scale - 1.0
        growth[g] = _growth(first + beyond[g] * capped, second + beyond[g] * capped * capped)
    return growth


@numba.njit(cache=True)
def _expected(
    play: Play, finish: NDArray[np.float64], beyond: NDArray[np.float64], least: bool
) -> NDArray[np.float64]:
    """Entry [c, g]: expected X (or Y) at captime g of a run known to last beyond captime c < g."""
    grid = play.grid
    size = finish.size
    table = np.empty((size, size))
    for c in range(size):
        gained = 0.0
        for g in range(size):
            if g > c:
                gained += finish[g] * grid.middle_utility[g]
            rest = grid.floor if least else grid.utility[g]
            table[c, g] = rest if g <= c else (gained + beyond[g] * rest) / max(beyond[c], 1e-12)
    return table


@numba.njit(cache=True)
def _values_at(
    play: Play, i: int, position: int, expected: NDArray[np.float64], out: NDArray[np.float64], least: bool
) -> None:
    """X (or Y) of one run under every captime; what was not observed is replaced by its expectation."""
    arms, grid = play.arms, play.grid
    level = play.levels_run[arms.block[i] + position - arms.first[i]]
    run = play.evidence.base[i] + play.evidence.column[position]
    runtime = play.evidence.runtime_s[run]
    if runtime >= grid.captime_s[level]:
        out[:] = expected[level]
        return
    ended = interval_of(grid, runtime)
    for g in range(out.size):
        if g >= ended:
            out[g] = play.evidence.utility[run]
        else:
            out[g] = grid.floor if least else grid.utility[g]


@numba.njit(cache=True)
def growth_paired(play: Play, i: int, b: int, planned: int, epsilon: float) -> NDArray[np.float64]:
    """Growth of the pair (i, b) at each captime of the arm `planned`, the other keeping its own."""
    size = play.grid.captime_s.size
    finish, beyond = finish_estimate(play, i)
    most = _expected(play, finish, beyond, False)
    finish, beyond = finish_estimate(play, b)
    least = _expected(play, finish, beyond, True)
    first, second = np.zeros(size), np.zeros(size)
    y, x = np.empty(size), np.empty(size)
    start, end = common_span(play, i, b)
    start = max(start, end - _MOST_REPLAYED)
    for position in range(start, end):
        _values_at(play, i, position, most, y, False)
        _values_at(play, b, position, least, x, True)
        if planned == i:
            x[:] = x[max(0, play.arms.level[b])]
        else:
            y[:] = y[max(0, play.arms.level[i])]
        for g in range(size):
            gain = (1.0 - y[g] + x[g]) / (1.0 - epsilon) - 1.0
            first[g] += gain
            second[g] += gain * gain
    growth = np.empty(size)
    count = max(1, end - start)
    for g in range(size):
        growth[g] = _growth(first[g] / count, second[g] / count)
    return growth


@numba.njit(cache=True, inline="always")
def planning_epsilon(play: Play) -> float:
    """The ε to plan for: the target, or a quarter of what is proved."""
    if play.rules.epsilon > 0.0:
        return play.rules.epsilon
    return min(0.25, 0.25 * play.amounts[EPSILON])


@numba.njit(cache=True, inline="always")
def _fastest(growth: NDArray[np.float64], costs: NDArray[np.float64], shared_s: float) -> tuple[int, float]:
    """The captime level with the largest growth per second, and that growth."""
    best, rate = NO_LEVEL, 0.0
    for g in range(growth.size):
        here = growth[g] / (costs[g] + shared_s)
        if here > rate:
            best, rate = g, here
    return best, rate


@numba.njit(cache=True)
def _guarded(play: Play, i: int, level: int) -> int:
    """At least the captime k0·sqrt(m/64) from m = 64 on, so that censoring cannot stall an arm for ever."""
    if play.arms.runs[i] < _GUARD_RUNS:
        return level
    least_s = play.rules.half_life_s * math.sqrt(play.arms.runs[i] / _GUARD_RUNS)
    guard = np.searchsorted(play.grid.captime_s, least_s, side="left")
    return min(max(level, guard), play.grid.captime_s.size - 1)


@numba.njit(cache=True)
def first_level(play: Play) -> int:
    """The captime of an arm nobody has run: where an answer is worth about as much as the ε planned for."""
    worth = play.grid.floor + _FIRST_WORTH * planning_epsilon(play)
    level = 0
    while level < play.grid.utility.size - 1 and play.grid.utility[level] > worth:
        level += 1
    return level


@numba.njit(cache=True)
def plan_leader(play: Play, b: int, i: int) -> None:
    """Plan the captime of leader b, whose runs serve against all serious challengers; i is the first of them."""
    arms = play.arms
    start, end = common_span(play, i, b)
    if end - start < _FEWEST_PAIRS:
        arms.level[b] = _guarded(play, b, max(arms.level[b], first_level(play)))
        return
    finish, beyond = finish_estimate(play, b)
    costs = run_costs(play, finish, beyond)
    rival = arms.time_s[i] / max(1, arms.runs[i])
    growth = growth_paired(play, i, b, b, planning_epsilon(play))
    level, _ = _fastest(growth, costs, rival * play.counters[SERIOUS])
    if level == NO_LEVEL:
        level = max(arms.level[b], 0)
    arms.level[b] = _guarded(play, b, level)


@numba.njit(cache=True)
def plan_challenger(play: Play, i: int) -> None:
    """Plan the captime of challenger i for the test, alone or paired, that will be over sooner."""
    arms, b = play.arms, play.counters[LEADER]
    start, end = common_span(play, i, b)
    if end - start < _FEWEST_PAIRS or i == b or arms.rank[i] == 0:
        arms.level[i] = _guarded(play, i, max(arms.level[i], first_level(play)))
        return
    finish, beyond = finish_estimate(play, i)
    costs = run_costs(play, finish, beyond)
    epsilon = planning_epsilon(play)
    reach = (arms.lower[b] + arms.least[b] / arms.runs[b]) / 2.0
    growth = growth_alone(play, finish, beyond, min(0.98, reach + epsilon), False)
    level, rate = _fastest(growth, costs, 0.0)
    shared = arms.time_s[b] / arms.runs[b] / play.counters[SERIOUS]
    growth = growth_paired(play, i, b, i, epsilon)
    found, paired_rate = _fastest(growth, costs, shared)
    paired_rate /= math.log(8.0 * paired_threshold(play.shares, arms.rank[i], b + 1))
    rate /= math.log(8.0 * upper_threshold(play.shares, arms.rank[i]))
    arms.loner[i] = rate > paired_rate
    if paired_rate >= rate:
        level = found
    if level == NO_LEVEL:
        level = max(arms.level[i], arms.level[b])
    arms.level[i] = _guarded(play, i, level)

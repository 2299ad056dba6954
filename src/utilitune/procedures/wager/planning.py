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

from utilitune.compiled import compiled, inlined
from utilitune.procedures.wager.capital import common_span
from utilitune.procedures.wager.captimes import interval_of, shrunk_finish
from utilitune.procedures.wager.shares import paired_threshold, upper_threshold
from utilitune.procedures.wager.state import AIM, AIM_RUNS, EPSILON, LEADER, NO_LEVEL, SERIOUS, Play

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST_BET = 0.95
_MOST_REPLAYED = 256
_GUARD_RUNS = 64.0
_FIRST_WORTH = 1.5
_FEWEST_PAIRS = 8
_QUICK = 0.2
_LEAST_SCALE = 1e-3


@inlined
def planning_epsilon(play: Play) -> float:
    """The ε to plan for: the target, or a quarter of what is proved."""
    if play.rules.epsilon > 0.0:
        return play.rules.epsilon
    return float(min(0.25, 0.25 * play.amounts[EPSILON]))


@compiled
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


@inlined
def growth_rate(first: float, second: float) -> float:
    """Growth of the log-capital per run, for the best bet on something with these two moments."""
    if first <= 0.0:
        return 0.0
    bet = min(_LARGEST_BET, first / second)
    return bet * first - bet * bet * second / 2.0


@compiled
def growth_alone(
    finish: NDArray[np.float64],
    beyond: NDArray[np.float64],
    gain_finished: NDArray[np.float64],
    gain_capped: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Growth at each captime of a bet on single runs.

    Args:
        finish: Probability to finish within each interval.
        beyond: Probability to last beyond each captime.
        gain_finished: d of a run that finishes within each interval.
        gain_capped: d of a run capped at each captime.
    """
    growth = np.empty(finish.size)
    first, second = 0.0, 0.0
    for g in range(finish.size):
        first += finish[g] * gain_finished[g]
        second += finish[g] * gain_finished[g] ** 2
        growth[g] = growth_rate(
            first + beyond[g] * gain_capped[g],
            second + beyond[g] * gain_capped[g] ** 2,
        )
    return growth


@compiled
def growth_upper(
    play: Play, finish: NDArray[np.float64], beyond: NDArray[np.float64], hypothesis: float
) -> NDArray[np.float64]:
    """Growth at each captime of the bet that the mean utility is below a hypothesis."""
    scale = max(1.0 - hypothesis, _LEAST_SCALE)
    return growth_alone(
        finish,
        beyond,
        (1.0 - play.grid.middle_utility) / scale - 1.0,
        (1.0 - play.grid.utility) / scale - 1.0,
    )


@compiled
def growth_lower(
    play: Play, finish: NDArray[np.float64], beyond: NDArray[np.float64], hypothesis: float
) -> NDArray[np.float64]:
    """Growth at each captime of the bet that the mean utility is above a hypothesis."""
    scale = max(hypothesis, _LEAST_SCALE)
    capped = np.full(finish.size, play.grid.floor / scale - 1.0)
    return growth_alone(finish, beyond, play.grid.middle_utility / scale - 1.0, capped)


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
    level = play.levels_run[arms.block[i] + position - arms.first[i]]
    run = play.evidence.base[i] + play.evidence.column[position]
    runtime = play.evidence.runtime_s[run]
    if runtime >= grid.captime_s[level]:
        out[:] = expected[level]
        return
    ended = interval_of(grid, runtime)
    out[:ended] = expected[out.size - 1, :ended]
    out[ended:] = play.evidence.utility[run]


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
    for position in range(start, end):
        _values_at(play, i, position, most, y)
        _values_at(play, b, position, least, x)
        if planned == i:
            x[:] = x[max(0, play.arms.level[b])]
        else:
            y[:] = y[max(0, play.arms.level[i])]
        for g in range(size):
            gain = (1.0 - y[g] + x[g]) / scale - 1.0
            first[g] += gain
            second[g] += gain * gain
    growth = np.empty(size)
    count = max(1, end - start)
    for g in range(size):
        growth[g] = growth_rate(first[g] / count, second[g] / count)
    return growth


@inlined
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
    if play.arms.runs[i] < _GUARD_RUNS:
        return level
    least_s = play.rules.half_life_s * math.sqrt(play.arms.runs[i] / _GUARD_RUNS)
    guard = int(np.searchsorted(play.grid.captime_s, least_s, side="left"))
    return min(max(level, guard), play.grid.captime_s.size - 1)


@compiled
def first_level(play: Play) -> int:
    """The captime of an arm nobody has run: where an answer is worth about as much as the ε planned for."""
    worth = play.grid.floor + _FIRST_WORTH * planning_epsilon(play)
    level = 0
    while level < play.grid.utility.size - 1 and play.grid.utility[level] > worth:
        level += 1
    return level


@compiled
def plan_leader(play: Play, b: int, i: int) -> None:
    """Plan the captime of leader b: for its own bound while that is raised, else for the pair with i.

    Its runs serve against all serious challengers, so their cost is weighed against that of all of them.
    """
    arms = play.arms
    finish, beyond = finish_estimate(play, b)
    costs = run_costs(play, finish, beyond)
    start, end = common_span(play, i, b)
    level = NO_LEVEL
    if arms.runs[b] < play.amounts[AIM_RUNS]:
        growth = growth_lower(play, finish, beyond, play.amounts[AIM])
        level, _ = _fastest(growth, costs, 0.0)
    elif end - start >= _FEWEST_PAIRS:
        rival = arms.time_s[i] / max(1, arms.runs[i])
        growth = growth_paired(play, i, b, b)
        level, _ = _fastest(growth, costs, rival * play.counters[SERIOUS])
    if level == NO_LEVEL:
        level = max(arms.level[b], first_level(play))
    arms.level[b] = _guarded(play, b, level)


@compiled
def plan_challenger(play: Play, i: int) -> None:
    """Plan the captime of challenger i for the test, alone or paired, that will be over sooner."""
    arms, b = play.arms, play.counters[LEADER]
    finish, beyond = finish_estimate(play, i)
    costs = run_costs(play, finish, beyond)
    reach = max(arms.lower[b], play.amounts[AIM])
    growth = growth_upper(play, finish, beyond, min(0.98, reach + planning_epsilon(play)))
    level, rate = _fastest(growth, costs, 0.0)
    start, end = common_span(play, i, b)
    if end - start >= _FEWEST_PAIRS and i != b and arms.rank[i] > 0:
        shared = arms.time_s[b] / arms.runs[b] / play.counters[SERIOUS]
        growth = growth_paired(play, i, b, i)
        found, paired_rate = _fastest(growth, costs, shared)
        needed = math.log(3.0 * paired_threshold(play.shares, arms.rank[i], b + 1))
        arms.pair_runs[i] = 1e9 if found == NO_LEVEL else needed / growth[found]
        if paired_rate / needed >= rate / math.log(3.0 * upper_threshold(play.shares, arms.rank[i])):
            level = found
    elif level != NO_LEVEL and growth[level] < _QUICK:
        level = NO_LEVEL
    if level == NO_LEVEL:
        level = max(arms.level[i], first_level(play))
    arms.level[i] = _guarded(play, i, level)

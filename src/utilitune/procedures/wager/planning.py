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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.compiled import compiled, inlined
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
_MOST_REPLAYED = 128
_GUARD_RUNS = 64.0
_FIRST_WORTH = 1.5
_MOST_WORTH = 0.5
_FEWEST_PAIRS = 8
_QUICK = 0.05
_LEAST_SCALE = 1e-3
_LEAST_REST = 0.02
MIXTURE = 3.0  # a mixture of bets needs a little more capital than its best bet alone
_HOPELESS = 1e9
_REPLAN_SHARE = 6


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


class Curve(NamedTuple):
    """What a run of one arm is expected to count under each captime.

    Attributes:
        gained: Expected utility of finishing by each captime.
        beyond: Probability to last beyond each captime.
        capped: What a run capped at each captime counts.
    """

    gained: NDArray[np.float64]
    beyond: NDArray[np.float64]
    capped: NDArray[np.float64]


@compiled
def _curve(play: Play, i: int, finish: NDArray[np.float64], beyond: NDArray[np.float64]) -> Curve:
    """The curve of X for the leader, of Y for others."""
    gained, capped = np.empty(finish.size), np.empty(finish.size)
    total = 0.0
    for g in range(finish.size):
        total += finish[g] * play.grid.middle_utility[g]
        gained[g] = total
        capped[g] = play.grid.floor if i == play.counters[LEADER] else play.grid.utility[g]
    return Curve(gained, beyond, capped)


@inlined
def _value(play: Play, run: int, level: int, g: int, curve: Curve) -> float:
    """What a run made at captime `level` would count at captime g; what was not seen, by expectation."""
    runtime = play.evidence.runtime_s[run]
    if runtime < play.grid.captime_s[level]:
        return float(play.evidence.utility[run] if runtime < play.grid.captime_s[g] else curve.capped[g])
    if g <= level:
        return float(curve.capped[g])
    rest = curve.gained[g] - curve.gained[level] + curve.beyond[g] * curve.capped[g]
    return float(rest / max(curve.beyond[level], 1e-12))


@compiled
def growth_paired(play: Play, planned: int, other: int, curve: Curve) -> NDArray[np.float64]:
    """Growth of a pair at each captime of the arm `planned` with this curve; the other keeps its own."""
    arms, column = play.arms, play.evidence.column
    sign = 1.0 if planned == play.counters[LEADER] else -1.0
    finish, beyond = finish_estimate(play, other)
    other_curve = _curve(play, other, finish, beyond)
    other_level = max(0, arms[other].level)
    size = play.grid.captime_s.size
    first, second = np.zeros(size), np.zeros(size)
    scale = 1.0 - planning_epsilon(play)
    start, end = common_span(play, planned, other)
    start = max(start, end - _MOST_REPLAYED)
    for position in range(start, end):
        level = play.levels_run[arms[other].block + position - arms[other].first]
        run = play.evidence.base[other] + column[position]
        fixed = 1.0 - sign * _value(play, run, level, other_level, other_curve)
        level = play.levels_run[arms[planned].block + position - arms[planned].first]
        run = play.evidence.base[planned] + column[position]
        for g in range(size):
            gain = (fixed + sign * _value(play, run, level, g, curve)) / scale - 1.0
            first[g] += gain
            second[g] += gain * gain
    count = max(1, end - start)
    for g in range(size):
        first[g] = growth_rate(first[g] / count, second[g] / count)
    return first


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
    least_s = 0.0
    if i == play.counters[LEADER]:
        least_s = play.rules.half_life_s  # shorter runs would say little of how good it is
    if play.arms[i].runs >= _GUARD_RUNS:
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
        growth = growth_paired(play, i, other if leading else b, _curve(play, i, finish, beyond))
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

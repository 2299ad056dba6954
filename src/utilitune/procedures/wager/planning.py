"""Captimes that make the capital grow fastest per second.

A longer captime makes every run more decisive and more expensive. For each captime κ_g the expected growth of
the log-capital is estimated from the Kaplan–Meier estimate of the arm's runtimes: with
d = value/hypothesis − 1, betting the fraction c gains about c·E d − c²·E d²/2 per run, at its best for
c = E d/E d². The captime with the largest growth per second is taken. For a pair, the runs both arms have
made are replayed under each captime, capped runs being replaced by what is expected of them. Where a run has
an interval at each captime, the same is done with its runs for an arm alone (`intervals`). None of this
touches the validity of a bound.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain.compiled import compiled
from utilitune.procedures.wager import tuning
from utilitune.procedures.wager.capital import common_span
from utilitune.procedures.wager.captimes import interval_of, shrunk_finish
from utilitune.procedures.wager.intervals import continued, moments_alone
from utilitune.procedures.wager.observation import (
    has_intervals,
    observations,
    open_runs,
    position_of,
    runs_along,
)
from utilitune.procedures.wager.shares import paired_threshold, upper_threshold
from utilitune.procedures.wager.state import NO_LEVEL, Play, level_at, runs_made

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def planning_epsilon(play: Play) -> float:
    """The ε to plan for: the target, or a quarter of what is proved."""
    if play.rules.planned_epsilon > 0.0:
        return play.rules.planned_epsilon
    return float(min(tuning.MOST_PLANNED_EPSILON, tuning.PLANNED_SHARE * play.standing.epsilon))


@compiled
def finish_estimate(play: Play, i: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Kaplan–Meier estimate of arm i: finish probability per interval, and survival beyond each captime."""
    captime_s, runtime_s = play.grid.captime_s, play.evidence.runtime_s
    size = captime_s.size
    ended = np.zeros(size + 1)
    events = np.zeros(size)
    runs, levels = runs_along(play, i, 0, play.arms[i].runs)
    unfinished = open_runs(play, runs, levels)
    for j in range(runs.size):
        level, runtime = levels[j], runtime_s[runs[j]]
        if runtime < captime_s[level]:
            level = interval_of(captime_s, runtime)
            events[level] += 1.0
        elif not unfinished[j]:
            level = size - 1
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
def seconds_each(play: Play, i: int) -> float:
    """Mean seconds spent on each position arm i was run on; nothing before its first run."""
    return float(play.arms[i].time_s / max(1, runs_made(play, i)))


@compiled
def growth_rate(first: float, second: float) -> float:
    """Growth of the log-capital per run, for the best bet on something with these two moments."""
    if first <= 0.0:
        return 0.0
    bet = min(tuning.LARGEST_BET, first / second)
    return bet * first - bet * bet * second / 2.0


@compiled
def _might_lead(play: Play, i: int) -> bool:
    """Whether runs of arm i count for what it is worth: it leads, or it can only matter by leading.

    The default, what else was given, and nominees need not be ruled out. Of a model's many proposals most are
    dropped after a run or two, and get short ones.
    """
    arms = play.arms
    known_all_along = arms[i].first == 0 and not arms[i].ungauged
    return bool(i == play.standing.leader or (arms[i].rank == 0 and known_all_along))


@compiled
def growth_alone(
    play: Play, i: int, finish: NDArray[np.float64], beyond: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Growth at each captime of the bet on arm i alone: on LCB_i if it leads or might lead, else on UCB_i."""
    grid, leading = play.grid, _might_lead(play, i)
    reach = max(play.arms[play.standing.leader].lower, play.standing.aim)
    scale = max(reach, tuning.LEAST_LOWER_HYPOTHESIS)
    if not leading:
        scale = max(1.0 - reach - planning_epsilon(play), tuning.LEAST_UPPER_HYPOTHESIS)
    growth = np.empty(finish.size)
    if has_intervals(play):
        firsts, seconds = moments_alone(play, i, scale)
        for g in range(finish.size):
            growth[g] = growth_rate(firsts[g], seconds[g])
        return growth
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
        leads: Whether it is the leader, of whose runs X counts; of others Y does.
    """

    gained: NDArray[np.float64]
    beyond: NDArray[np.float64]
    capped: NDArray[np.float64]
    leads: bool


@compiled
def _curve(play: Play, i: int, finish: NDArray[np.float64], beyond: NDArray[np.float64]) -> Curve:
    """The curve of X for the leader, of Y for others."""
    gained, capped = np.empty(finish.size), np.empty(finish.size)
    leads = bool(i == play.standing.leader)
    total = 0.0
    for g in range(finish.size):
        total += finish[g] * play.grid.middle_utility[g]
        gained[g] = total
        capped[g] = play.grid.floor if leads else play.grid.utility[g]
    return Curve(gained, beyond, capped, leads)


@compiled
def _expected(
    play: Play, runs: NDArray[np.int64], levels: NDArray[np.int64], curve: Curve, captimes: tuple[int, int]
) -> NDArray[np.float64]:
    """What runs made at these levels would count at each captime (column) from the first up to the second.

    What was seen counts; what was not, because the run was capped, by its expected value.
    """
    if has_intervals(play):
        return _expected_intervals(play, runs, levels, curve, captimes)
    gained, beyond, capped = curve.gained, curve.beyond, curve.capped
    first, last = captimes
    values = np.empty((runs.size, last - first))
    unfinished = open_runs(play, runs, levels)
    same = np.empty(runs.size, dtype=np.int64)
    for g in range(first, last):
        same[:] = g
        least, most = observations(play, runs, same)
        for k in range(runs.size):
            level = levels[k]
            if not unfinished[k]:
                values[k, g - first] = least[k] if curve.leads else most[k]
            elif g <= level:
                values[k, g - first] = capped[g]
            else:
                rest = gained[g] - gained[level] + beyond[g] * capped[g]
                values[k, g - first] = rest / max(beyond[level], 1e-12)
    return values


@compiled
def _expected_intervals(
    play: Play, runs: NDArray[np.int64], levels: NDArray[np.int64], curve: Curve, captimes: tuple[int, int]
) -> NDArray[np.float64]:
    """The same where X and Y at each captime stand in the evidence."""
    first, last = captimes
    values = np.empty((runs.size, last - first))
    for k in range(runs.size):
        for g in range(first, last):
            x, y = continued(play, runs[k], levels[k], g)
            values[k, g - first] = x if curve.leads else y
    return values


@compiled
def common_runs(play: Play, i: int, b: int) -> NDArray[np.int64]:
    """The latest positions that challenger i and leader b were both run on, with the level of each run.

    One line (position, level of i, level of b) per position, in the leader's order.
    """
    arms = play.arms
    if arms[b].order == 0:
        start, end = common_span(play, i, b)
        start = max(start, end - tuning.MOST_REPLAYED)
        found = np.empty((end - start, 3), dtype=np.int64)
        for position in range(start, end):
            found[position - start, 0] = position
            found[position - start, 1] = play.levels_run[arms[i].block + position - arms[i].first]
            found[position - start, 2] = play.levels_run[arms[b].block + position - arms[b].first]
        return found
    found = np.empty((min(tuning.MOST_REPLAYED, arms[b].runs), 3), dtype=np.int64)
    free = found.shape[0]
    for j in range(arms[b].runs - 1, -1, -1):
        position = position_of(play, b, j)
        level = level_at(play, i, position)
        if level != NO_LEVEL and free > 0:
            free -= 1
            found[free, 0], found[free, 1] = position, level
            found[free, 2] = play.levels_run[arms[b].block + j]
    return found[free:]


@compiled
def growth_paired(play: Play, planned: int, other: int, curve: Curve) -> NDArray[np.float64]:
    """Growth of a pair at each captime of the arm `planned` with this curve; the other keeps its own."""
    leads = planned == play.standing.leader
    sign = 1.0 if leads else -1.0
    finish, beyond = finish_estimate(play, other)
    other_curve = _curve(play, other, finish, beyond)
    level = max(0, play.arms[other].level)
    size = play.grid.captime_s.size
    first, second = np.zeros(size), np.zeros(size)
    scale = 1.0 - planning_epsilon(play)
    common = common_runs(play, other, planned) if leads else common_runs(play, planned, other)
    places = play.evidence.column[np.ascontiguousarray(common[:, 0])]
    levels = np.ascontiguousarray(common[:, 1 if leads else 2])
    runs = play.evidence.base[play.arms[other].row] + places
    fixed = _expected(play, runs, levels, other_curve, (level, level + 1))
    levels = np.ascontiguousarray(common[:, 2 if leads else 1])
    runs = play.evidence.base[play.arms[planned].row] + places
    values = _expected(play, runs, levels, curve, (0, size))
    for place in range(common.shape[0]):
        for g in range(size):
            gain = (1.0 - sign * fixed[place, 0] + sign * values[place, g]) / scale - 1.0
            first[g] += gain
            second[g] += gain * gain
    count = max(1, common.shape[0])
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
    if _might_lead(play, i):
        least_s = play.rules.half_life_s  # shorter runs would say little of how good it is
    if play.arms[i].runs >= tuning.GUARD_RUNS:
        least_s = play.rules.half_life_s * math.sqrt(play.arms[i].runs / tuning.GUARD_RUNS)
    return min(max(level, interval_of(play.grid.captime_s, least_s)), play.grid.captime_s.size - 1)


@compiled
def first_level(play: Play) -> int:
    """The captime of an arm nobody has run: where an answer is worth about as much as the ε planned for."""
    worth = play.grid.floor + min(tuning.MOST_FIRST_WORTH, tuning.FIRST_WORTH * planning_epsilon(play))
    level = 0
    while level < play.grid.utility.size - 1 and play.grid.utility[level] > worth:
        level += 1
    return level


@compiled
def plan(play: Play, i: int) -> None:
    """Plan the captime of arm i for its own bound or for its pair with the leader, whichever is done sooner.

    The leader is planned for its own bound while that is being raised, then for the pair with the challenger.
    Its runs serve against all serious challengers, so their cost is compared to the cost of all of these.
    """
    arms, b, other = play.arms, play.standing.leader, play.standing.challenger
    leading = i == b
    if not leading:
        other = i
    finish, beyond = finish_estimate(play, i)
    costs = run_costs(play, finish, beyond)
    growth = growth_alone(play, i, finish, beyond)
    level, rate = _fastest(growth, costs, 0.0)
    pairs = 0
    if other >= 0 and other != b and arms[other].rank > 0:
        pairs = common_runs(play, other, b).shape[0]
    few = pairs < tuning.FEWEST_PLANNED_PAIRS
    arms[i].pairing = False
    if leading and arms[b].runs >= play.standing.aim_runs:
        level, rate = NO_LEVEL, 0.0
    elif not _might_lead(play, i) and few and level != NO_LEVEL and growth[level] < tuning.QUICK_GROWTH:
        level = NO_LEVEL
        arms[i].pairing = True
    if not few and not (leading and level != NO_LEVEL):
        growth = growth_paired(play, i, other if leading else b, _curve(play, i, finish, beyond))
        shared_s = seconds_each(play, b) / play.standing.serious
        if leading:
            shared_s = seconds_each(play, other) * play.standing.serious
        found, paired_rate = _fastest(growth, costs, shared_s)
        needed = math.log(tuning.MIXTURE * paired_threshold(play.shares, arms[other].rank, arms[b].weight))
        if not leading:
            arms[i].pair_runs = tuning.HOPELESS_RUNS if found == NO_LEVEL else needed / growth[found]
            rate /= math.log(tuning.MIXTURE * upper_threshold(play.shares, arms[i].rank))
        if leading or paired_rate / needed >= rate:
            level = found
            arms[i].pairing = not leading
    if level == NO_LEVEL:
        level = max(arms[i].level, first_level(play))
    arms[i].level = _guarded(play, i, level)
    made = runs_made(play, i)
    arms[i].plan_at = made + max(1, made // tuning.REPLAN_SHARE)

"""How far the leader's own lower bound should be raised, weighed against what the challengers would cost.

A higher LCB_b brings every arm down at once that is measured by its own upper bound; pairs need the leader
only on the positions of the challenger. From time to time, a few values L are compared as aims for LCB_b: the
seconds the leader needs to get there, plus, for every arm that would still contribute more than ε, the
seconds of the cheaper of its two tests. Runs needed are (log-capital needed)/(growth per run); an arm with
little evidence of its own is taken for an average one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain.compiled import compiled
from utilitune.procedures.wager import tuning
from utilitune.procedures.wager.capital import least_values, most_values
from utilitune.procedures.wager.leader import contribution
from utilitune.procedures.wager.planning import growth_rate, planning_epsilon, seconds_each
from utilitune.procedures.wager.shares import lower_threshold, paired_threshold, upper_threshold
from utilitune.procedures.wager.state import runs_made

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.wager.state import Play


class Typical(NamedTuple):
    """What is assumed of a configuration with little evidence of its own.

    Attributes:
        least: Mean X of the leader.
        variance_least: Variance of the leader's X.
        variance_most: Variance of the leader's Y.
        most: Mean Y over configurations.
        seconds: Mean seconds of a run over configurations.
    """

    least: float
    variance_least: float
    variance_most: float
    most: float
    seconds: float


@compiled
def _runs_needed(threshold: float, mean: float, variance: float, hypothesis: float) -> float:
    """Runs until a bet on values in [0, 1] with this mean and variance refutes the hypothesis.

    The growth per run is at least the Kullback–Leibler divergence of two coins with these means; where the
    variance is small, the second-order estimate is larger.
    """
    if mean <= hypothesis:
        return tuning.HOPELESS_RUNS
    first = mean / hypothesis - 1.0
    growth = growth_rate(first, first * first + variance / (hypothesis * hypothesis))
    if mean < 1.0:
        coin = mean * math.log(mean / hypothesis) + (1.0 - mean) * math.log((1.0 - mean) / (1.0 - hypothesis))
        growth = max(growth, coin)
    return math.log(tuning.MIXTURE * threshold) / growth


@compiled
def _typical(play: Play) -> Typical:
    """Moments of the leader's runs, and averages over all configurations that were run."""
    arms, b = play.arms, play.standing.leader
    x, y = least_values(play, b), most_values(play, b)
    square_x, square_y = 0.0, 0.0
    for j in range(x.size):
        square_x += x[j] ** 2
        square_y += y[j] ** 2
    runs = float(arms[b].runs)
    least, leader_most = arms[b].least / runs, arms[b].most / runs
    doubt = tuning.DOUBT / runs
    count, most, seconds = 0.0, 0.0, 0.0
    for i in range(arms.size):
        if arms[i].runs > 0:
            count += 1.0
            most += arms[i].most / arms[i].runs
            seconds += seconds_each(play, i)
    return Typical(
        least=least,
        variance_least=max(0.0, square_x / runs - least**2) + doubt,
        variance_most=max(0.0, square_y / runs - leader_most**2) + doubt,
        most=most / count,
        seconds=seconds / count,
    )


@compiled
def _leader_runs(play: Play, aims: NDArray[np.float64], mean: float, variance: float) -> NDArray[np.float64]:
    """How many runs the leader will have had when its lower bound reaches each aim."""
    b = play.standing.leader
    runs = np.full(aims.size, float(play.arms[b].runs))
    threshold = lower_threshold(play.shares, play.arms[b].weight)
    for k in range(aims.size):
        if aims[k] > play.arms[b].lower:
            least = tuning.LEAST_STEP * runs[k] + 1.0  # it is not there yet, whatever the estimate says
            runs[k] = max(least, _runs_needed(threshold, mean, variance, aims[k]))
    return runs


@compiled
def _add_prices(
    play: Play, i: int, aims: NDArray[np.float64], typical: Typical, prices: NDArray[np.float64]
) -> None:
    """Add, for each aim, the seconds arm i would still need: nothing, or the cheaper of its two tests."""
    arms, b = play.arms, play.standing.leader
    epsilon = planning_epsilon(play)
    runs = float(arms[i].runs)
    y = (arms[i].most + tuning.PRIOR_RUNS * typical.most) / (runs + tuning.PRIOR_RUNS)
    made = runs_made(play, i)
    seconds = (arms[i].time_s + tuning.PRIOR_RUNS * typical.seconds) / (made + tuning.PRIOR_RUNS)
    paired = arms[i].pair_runs
    if paired == 0.0:
        threshold = paired_threshold(play.shares, arms[i].rank, arms[b].weight)
        variance = tuning.PAIRED_VARIANCE * (typical.variance_least + typical.variance_most)
        paired = _runs_needed(
            threshold, (1.0 - y + typical.least) / 2.0, variance / 4.0, (1.0 - epsilon) / 2.0
        )
    paired += max(0, arms[b].first - arms[i].first)  # it has to get to the leader's first position
    together = runs if arms[b].order == 0 else float(arms[i].met)
    paired_s = max(1.0, paired - together) * seconds
    threshold = upper_threshold(play.shares, arms[i].rank)
    for k in range(aims.size):
        if arms[i].upper > aims[k] + epsilon:
            hypothesis = max(tuning.LEAST_PRICED_HYPOTHESIS, 1.0 - aims[k] - epsilon)
            alone = _runs_needed(threshold, 1.0 - y, typical.variance_most, hypothesis)
            prices[k] += min(paired_s, max(1.0, alone - runs) * seconds)


@compiled
def set_aim(play: Play) -> None:
    """Choose the aim for the leader's lower bound, and count the arms that stand in the way of ε."""
    arms, b = play.arms, play.standing.leader
    rounds = play.standing.rounds
    latest = max(tuning.MOST_AIM_ROUNDS, arms.size // tuning.AIM_SHARE)
    wait = max(tuning.FEWEST_AIM_ROUNDS, min(rounds // tuning.AIM_SHARE, latest))
    play.standing.next_aim_at = rounds + wait
    epsilon = planning_epsilon(play)
    typical = _typical(play)
    low, lead_s = arms[b].lower, seconds_each(play, b)
    aims = np.empty(tuning.AIMS + 1)
    for k in range(tuning.AIMS):
        aims[k] = low + max(0.0, typical.least - low) * k / tuning.AIMS
    aims[tuning.AIMS] = max(low, 1.0 - epsilon)  # then nobody needs to be ruled out
    cautious = typical.least - math.sqrt(typical.variance_least / arms[b].runs)
    runs = _leader_runs(play, aims, cautious, typical.variance_least)
    leader_s, prices = np.empty(tuning.AIMS + 1), np.empty(tuning.AIMS + 1)
    for k in range(tuning.AIMS + 1):
        leader_s[k] = (runs[k] - arms[b].runs) * lead_s
        prices[k] = leader_s[k]
    serious = 0
    for i in range(arms.size):
        if arms[i].rank > 0 and i != b and contribution(play, i) > epsilon:
            serious += 1
            _add_prices(play, i, aims, typical, prices)
    play.standing.serious = max(1, serious)
    others_s = play.standing.total_s - arms[b].time_s
    share = tuning.LEADER_SHARE if play.shares.configurations > 0 else tuning.GROWING_LEADER_SHARE
    allowed_s = share * others_s - arms[b].time_s
    shortcut_s = tuning.SHORTCUT * serious * typical.seconds
    best = 0
    for k in range(1, tuning.AIMS + 1):
        shortcut = k == tuning.AIMS and arms[b].time_s + leader_s[k] <= shortcut_s
        if (leader_s[k] <= allowed_s or shortcut) and prices[k] < prices[best]:
            best = k
    play.standing.aim = aims[best]
    play.standing.aim_runs = runs[best]

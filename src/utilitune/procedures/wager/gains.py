"""What is proved about the difference between an answer and another one, from all that is known of both.

A bound of an arm or a pair uses the runs of these arms, looked at as long as was planned. The gain over the
default, and how far a draw may be ahead of an answer that does not lead, are asked for only when somebody
looks, so they may take more trouble:

* A configuration may stand for several arms: it is the default and was drawn as well, or it was drawn and
  nominated. What one of them has seen, all know: X and Y bound the worth of a run whoever made it.
* Where only one of the two was run, the other tells nothing (X = u(∞), Y = u(0)). On a list this still
  counts, since the sum over the whole list is bounded by what is known of it.
* Where solutions are compared with those of the default, it is known wherever another configuration is.
* On a list, what a search has looked at is known, too (`beside`).

The order along which the pair is judged, and its share of δ, are those of the answer's arm, as in
docs/theory.md, "The gain over the default".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain.compiled import compiled
from utilitune.procedures.bounds.betting import PAIRED_WEIGHTS, raised_past_gaps
from utilitune.procedures.wager.observation import observations, position_of
from utilitune.procedures.wager.shares import paired_threshold
from utilitune.procedures.wager.state import NO_LEVEL, level_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.wager.state import Play

    Known = tuple[NDArray[np.float64], NDArray[np.float64]]


class Looks(NamedTuple):
    """Up to which level others have looked at each position; empty where nobody has.

    Attributes:
        answer: Of the answer.
        other: Of the configuration that it is compared with.
        default_is_known: Whether that one is the default and known to its end wherever the answer is.
    """

    answer: NDArray[np.int64]
    other: NDArray[np.int64]
    default_is_known: bool = False


def gaps_to_default(play: Play, answer: int, count: int, looks: Looks) -> tuple[float, float]:
    """Upper bounds on U_b − U_d and on U_d − U_b, for the arm b of an answer and the default d.

    Args:
        play: The state.
        answer: The arm b.
        count: How many arms there are.
        looks: What others have looked at.
    """
    return _gaps(play, answer, count, looks)


def apart_from(play: Play, draw: int, answer: int, count: int, looks: Looks) -> float:
    """An upper bound on U_k − U_b, for the arm k of a random draw and the arm b of an answer.

    It is D_kb of docs/theory.md for any b. The loop keeps it for the leader only, as what it has run so far.

    Args:
        play: The state.
        draw: The arm k.
        answer: The arm b.
        count: How many arms there are.
        looks: What others have looked at.
    """
    return _apart(play, draw, answer, count, looks)


@compiled
def _gaps(play: Play, b: int, count: int, looks: Looks) -> tuple[float, float]:
    """Upper bounds on U_b − U_d and on U_d − U_b, d being the default, at the share of gains over it."""
    arms, d = play.arms, play.rules.default
    if arms[b].row == arms[d].row:
        return 0.0, 0.0
    if arms[b].ungauged or arms[d].ungauged or play.shares.gain == 0.0:
        return 1.0, 1.0
    (x_b, y_b), (x_d, y_d), shared = _both(play, b, d, count, looks)
    threshold = 1.0 / (play.shares.gain * min(arms[b].weight, arms[d].weight))
    population = play.rules.population
    return (
        _bound(1.0 - y_b + x_d, shared, population, threshold),
        _bound(1.0 - y_d + x_b, shared, population, threshold),
    )


@compiled
def _apart(play: Play, k: int, b: int, count: int, looks: Looks) -> float:
    """D_kb from all that is known of both."""
    arms = play.arms
    if arms[b].row == arms[k].row:
        return 0.0
    if arms[b].ungauged:
        return 1.0
    (x_b, _), (_, y_k), shared = _both(play, b, k, count, looks)
    threshold = paired_threshold(play.shares, arms[k].rank, arms[b].weight)
    return _bound(1.0 - y_k + x_b, shared, play.rules.population, threshold)


@compiled
def _both(play: Play, b: int, d: int, count: int, looks: Looks) -> tuple[Known, Known, int]:
    """X and Y of two arms along the order of the pair, and how far both were run."""
    everywhere = looks.answer.size > 0 or looks.other.size > 0
    positions = _positions(play, b, d, count, everywhere)
    of_b, of_d = _levels(play, b, count, positions), _levels(play, d, count, positions)
    if looks.answer.size > 0:
        of_b = np.maximum(of_b, looks.answer[positions])
    if looks.other.size > 0:
        of_d = np.maximum(of_d, looks.other[positions])
    if looks.default_is_known:
        of_d = np.where(of_b != NO_LEVEL, play.grid.captime_s.size - 1, of_d)
    together = np.flatnonzero((of_b != NO_LEVEL) & (of_d != NO_LEVEL))
    shared = int(together[-1] + 1) if together.size else 0
    return _looks(play, b, positions, of_b), _looks(play, d, positions, of_d), shared


@compiled
def _bound(values: NDArray[np.float64], shared: int, population: int, threshold: float) -> float:
    """An upper bound on a difference, from the values up to the last one that both have, or from all."""
    bound = raised_past_gaps(values[:shared], population, 0.0, threshold, PAIRED_WEIGHTS)
    if population > 0:  # on a sample, what one did alone tells next to nothing about the difference
        bound = raised_past_gaps(values, population, bound, threshold, PAIRED_WEIGHTS)
    return 1.0 - bound


@compiled
def _positions(play: Play, i: int, b: int, count: int, everywhere: bool) -> NDArray[np.int64]:
    """The positions on which either may have been run, in the order along which the pair is judged.

    If both were nominated, the order of the later one is as good as drawn after both.
    """
    arms = play.arms
    order = max(arms[i].order, arms[b].order)
    if order > 0:
        along: NDArray[np.int64] = play.orders[order - 1].astype(np.int64)
        return along
    start = max(arms[i].first, arms[b].first)
    if everywhere:
        return np.arange(start, play.rules.population)
    return np.arange(start, max(start, _known_until(play, i, count), _known_until(play, b, count)))


@compiled
def _known_until(play: Play, i: int, count: int) -> int:
    """The position behind the last one on which the configuration of arm i was run."""
    arms, end = play.arms, 0
    for k in range(count):
        if arms[k].row != arms[i].row:
            continue
        if arms[k].order > 0 or arms[k].aside >= 0:
            return play.rules.population
        end = max(end, arms[k].first + arms[k].runs)
    return end


@compiled
def _levels(play: Play, i: int, count: int, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """How long the configuration of arm i was looked at on these positions, by any arm that stands for it."""
    arms = play.arms
    known = np.full(positions.max() + 1 if positions.size else 0, NO_LEVEL)
    for k in range(count):
        if arms[k].row != arms[i].row:
            continue
        if arms[k].order == 0:
            for position in range(known.size):
                known[position] = max(known[position], level_at(play, k, position))
        else:
            for j in range(arms[k].runs):
                position = position_of(play, k, j)
                if position < known.size:
                    known[position] = max(known[position], int(play.levels_run[arms[k].block + j]))
    return known[positions]


@compiled
def _looks(
    play: Play, i: int, positions: NDArray[np.int64], levels: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """X and Y of arm i on these positions, each looked at up to its level."""
    base, runs = play.evidence.base[play.arms[i].row], np.zeros(positions.size, dtype=np.int64)
    for k in range(positions.size):
        if levels[k] != NO_LEVEL:
            runs[k] = base + play.evidence.column[positions[k]]
    return observations(play, runs, levels)

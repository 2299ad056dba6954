"""What others have looked at beside the procedure, on a list, and what that proves.

A run is a fact about a configuration and an instance, whoever asked for it and why. A search runs its best
finds, and the default, on many instances before the procedure comes to them. On a list these runs count at
once: the sum over the list is bounded by counting, and along the order of an arm an instance without a run
is an observation that tells nothing (docs/theory.md, section 7.1).

The same holds of runs that were made ahead of need, or by an earlier start (`AllRuns`).

What is found here is only said, when somebody asks. What the procedure runs next does not depend on it, as
it cannot depend on how far a search has come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.procedures.bounds.betting import WEIGHTS, raised_past_gaps
from utilitune.procedures.wager.observation import observations
from utilitune.procedures.wager.seen import looks_of
from utilitune.procedures.wager.shares import lower_threshold, upper_threshold
from utilitune.procedures.wager.state import NO_LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.evidence import LiveEvidence, RecordedEvidence
    from utilitune.procedures.wager.shares import Shares
    from utilitune.procedures.wager.state import Play

_ROUNDING = 1e-9
_STAMPS = 4
NO_LOOKS = np.zeros(0, dtype=np.int64)
NOBODY_LOOKED = np.zeros(0)


class _Known(NamedTuple):
    """What all looks at one configuration prove.

    Attributes:
        least: The least it can be worth on the list, by counting.
        most: The most.
        bounds: For each arm that stands for it, its lower and its upper bound.
    """

    least: float
    most: float
    bounds: dict[int, tuple[float, float]]


class Beside:
    """The looks of others at configurations in play.

    Args:
        population: How many instances the list has.
    """

    def __init__(self, population: int) -> None:
        self._population = population
        self._captimes_s: dict[int, NDArray[np.float64]] = {}
        self._kept: dict[int, tuple[object, _Known]] = {}

    def note(self, row: int, position: int, captime_s: float) -> None:
        """Somebody has looked at the run of a configuration on a position, up to a captime."""
        captimes_s = self._captimes_s.get(row)
        if captimes_s is None:
            captimes_s = self._captimes_s[row] = np.zeros(self._population)
        captimes_s[position] = max(captimes_s[position], captime_s)

    def captimes_s(self, row: int) -> NDArray[np.float64]:
        """Up to which captime each run of a configuration was looked at; empty where none was."""
        return self._captimes_s.get(row, NOBODY_LOOKED)

    def levels(self, play: Play, row: int) -> NDArray[np.int64]:
        """Up to which captime level others have looked at each position; empty where nobody has.

        A run that was seen to its end is known at the first captime behind that.
        """
        captimes_s = self.captimes_s(row)
        if not captimes_s.size:
            return NO_LOOKS
        found = np.full(self._population, NO_LEVEL, dtype=np.int64)
        at = np.flatnonzero(captimes_s > 0.0)
        evidence, grid_s = play.evidence, play.grid.captime_s
        runs = evidence.base[row] + evidence.column[at]
        failed_s = evidence.failed_s[runs if evidence.failed_s.size > 1 else 0]
        ended_s = np.minimum(evidence.runtime_s[runs], failed_s)
        behind = np.minimum(np.searchsorted(grid_s, ended_s, side="right"), grid_s.size - 1)
        reached = np.searchsorted(grid_s, captimes_s[at], side="right") - 1
        found[at] = np.where(ended_s < captimes_s[at], behind, reached)
        return found

    def sharpen(self, play: Play, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """Tighten the bounds of all arms, one entry each, by what all looks together prove."""
        for row in self._captimes_s:
            known = self._known(play, row, lower.size)
            if known is not None:
                for arm, (least, most) in known.bounds.items():
                    lower[arm], upper[arm] = max(lower[arm], least), min(upper[arm], most)

    def most_of(self, play: Play, row: int, count: int) -> float:
        """What a configuration can be worth on the list at most, by counting."""
        known = self._known(play, row, count)
        return play.grid.ceiling if known is None else known.most

    def _known(self, play: Play, row: int, count: int) -> _Known | None:
        """What all looks at a configuration prove; worked out again when there are new ones."""
        captimes_s = self.captimes_s(row)
        if not captimes_s.any():
            return None
        arms = np.flatnonzero(play.arms["row"][:count] == row)
        stamp = captimes_s.tobytes(), arms.tobytes(), play.arms["changes"][arms].tobytes(), play.shares
        kept = self._kept.get(row)
        if kept is None or kept[0] != stamp:
            kept = self._kept[row] = stamp, self._worked_out(play, row, arms)
        return kept[1]

    def _worked_out(self, play: Play, row: int, arms: NDArray[np.int64]) -> _Known:
        levels = self.levels(play, row)
        for i in arms:
            at, own = looks_of(play, play.arms[i])
            levels[at] = np.maximum(levels[at], own)
        runs = np.full(self._population, play.evidence.base[row])
        known = np.flatnonzero(levels != NO_LEVEL)
        runs[known] += play.evidence.column[known]
        least, most = observations(play, runs, levels)
        counted = float(least.mean()) / (1.0 + _ROUNDING), float(most.mean()) * (1.0 + _ROUNDING)
        bounds = {int(i): _bounds(play, int(i), levels, (least, most), counted) for i in arms}
        return _Known(*counted, bounds)


class AllRuns(Beside):
    """All runs that there are of configurations in play, whoever made them and why.

    Args:
        population: How many instances the list has.
        evidence: Where they are.
    """

    def __init__(self, population: int, evidence: RecordedEvidence | LiveEvidence) -> None:
        super().__init__(population)
        self._evidence = evidence
        self._lower, self._upper = np.zeros(0), np.zeros(0)
        self._stamps = np.zeros((0, _STAMPS))
        self._shares: Shares | None = None

    def captimes_s(self, row: int) -> NDArray[np.float64]:
        """How far each run of a configuration is known; infinite for one that is over."""
        evidence = self._evidence.arrays
        if row >= evidence.base.size:
            return NOBODY_LOOKED
        found = np.zeros(self._population)
        room = min(int(evidence.room[row if evidence.room.size > 1 else 0]), self._population)
        runs = evidence.base[row] + evidence.column[:room]
        known_s = evidence.known_s[runs if evidence.known_s.size > 1 else 0]
        found[:room] = np.where(np.isfinite(evidence.runtime_s[runs]), np.inf, known_s)
        return found

    def sharpen(self, play: Play, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """As for any looks. There may be hundreds of configurations, so only what is new is worked out."""
        count, rows = lower.size, play.arms["row"][: lower.size]
        stamps = np.column_stack([play.arms["changes"][:count], self._tallies(rows)])
        told = len(self._stamps) if self._shares == play.shares else 0
        changed = np.ones(count, dtype=np.bool_)
        changed[:told] = (stamps[:told] != self._stamps[:told]).any(axis=1)
        self._lower = np.concatenate([self._lower[:told], np.full(count - told, -np.inf)])
        self._upper = np.concatenate([self._upper[:told], np.full(count - told, np.inf)])
        for row in np.unique(rows[changed]).tolist():
            known = self._known(play, row, count)
            for arm, bounds in known.bounds.items() if known is not None else ():
                self._lower[arm], self._upper[arm] = bounds
        self._stamps, self._shares = stamps, play.shares
        np.maximum(lower, self._lower, out=lower)
        np.minimum(upper, self._upper, out=upper)

    def _tallies(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each of these configurations figures that change when more is known of any of its runs."""
        evidence, found = self._evidence.arrays, np.zeros((rows.size, _STAMPS - 1))
        has_runs = rows < evidence.base.size
        if not has_runs.any():
            return found
        base = evidence.base[rows[has_runs]]
        rooms = evidence.room[rows[has_runs] if evidence.room.size > 1 else np.zeros_like(base)]
        starts = np.cumsum(rooms) - rooms
        runs = np.repeat(base - starts, rooms) + np.arange(int(rooms.sum()))
        known_s = evidence.known_s[runs if evidence.known_s.size > 1 else np.zeros_like(runs)]
        over, endless = np.isfinite(evidence.runtime_s[runs]), np.isinf(known_s)
        tallied = over, endless, np.where(endless, 0.0, known_s)
        found[has_runs] = np.column_stack(
            [np.add.reduceat(values, starts, dtype=np.float64) for values in tallied]
        )
        return found


def _bounds(
    play: Play,
    i: int,
    levels: NDArray[np.int64],
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
    counted: tuple[float, float],
) -> tuple[float, float]:
    """The lower and the upper bound of an arm, along its order as far as it is known."""
    arm, (least, most) = play.arms[i], counted
    if arm["idle"] or arm["ungauged"]:
        return least, most
    order = play.orders[arm["order"] - 1] if arm["order"] else np.arange(levels.size)
    along = order[: int(np.flatnonzero(levels[order] != NO_LEVEL).max(initial=-1)) + 1]
    population = play.rules.population
    threshold = lower_threshold(play.shares, float(arm["weight"]))
    least = raised_past_gaps(values[0][along], population, least, threshold, WEIGHTS)
    if arm["rank"]:
        threshold = upper_threshold(play.shares, int(arm["rank"]))
        most = 1.0 - raised_past_gaps(1.0 - values[1][along], population, 1.0 - most, threshold, WEIGHTS)
    return least, most

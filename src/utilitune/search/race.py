"""One candidate against a rival, usually the incumbent, on instances that the rival has been run on.

The candidate takes these instances in an order of its own, in rungs of 1, 2, 4, 8, … of them. What counts is
the mean of  d = worth of the candidate − worth of the rival  on the same instances, so that easy and hard
instances favour nobody. After each rung a candidate that is clearly behind is dropped. One that has met the
rival on all instances repeats, at the full captime, its runs that were stopped sooner; if it is then still
ahead, it has won.

Captimes are short on purpose. A run is stopped where its worth is far below the rival's on that instance, or
where the rung could no longer be passed even if all runs still to come gained what is plausible.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from utilitune.search.base import WantedRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.search.captimes import Captimes
    from utilitune.search.pool import Pool, Result
    from utilitune.search.settings import SearchSettings


class Track(NamedTuple):
    """What all races of a search have in common.

    Attributes:
        pool: The candidates and their runs.
        captimes: Captimes by worth.
        settings: The numbers of the rules.
    """

    pool: Pool
    captimes: Captimes
    settings: SearchSettings


class Race:
    """A race under way.

    Args:
        track: What all races have in common.
        candidate: Who races.
        rival: Whom it races against; it has been looked at on all of the positions.
        positions: The instances, in the order of this race.
        deviation: The standard deviation of differences that is expected.
        known: How many of the first positions were run before; the first rung ends behind them.

    Attributes:
        over: Whether it is decided.
        won: Whether the candidate was better on all positions at the full captime.
        results: What the candidate showed, by position.
        captimes_s: Up to which captime its runs were looked at, by position; those of earlier jobs left out.
        differences: Worth of the candidate minus that of the rival, by position.
        spent_s: Seconds in the runs that were looked at.
    """

    def __init__(
        self,
        track: Track,
        candidate: int,
        rival: int,
        positions: Sequence[int],
        *,
        deviation: float,
        known: int = 0,
    ) -> None:
        self.candidate = candidate
        self.rival = rival
        self.positions = list(positions)
        self.over = self.won = False
        self.results: dict[int, Result] = {}
        self.captimes_s: dict[int, float] = {}
        self.differences: dict[int, float] = {}
        self.spent_s = 0.0
        self._before = dict(track.pool.looked_at[candidate])
        self._rivals = track.pool.looked_at[rival]
        self._pool, self._captimes, self._settings = track
        self._deviation = deviation
        self._sum = 0.0
        self._rung = min(max(self._settings.first_rung, known), len(self.positions))
        self._stopped: list[int] = []
        self._needed: WantedRun | None = None

    def step(self) -> None:
        """Look at every run that is known and go on, until one is missing or the race is over."""
        self._needed = None
        while not self.over and self._needed is None:
            if len(self.differences) < len(self.positions):
                self._next_position()
            else:
                self._confirm()

    def wanted(self) -> WantedRun | None:
        """The run without which it cannot go on."""
        return self._needed

    def likely(self) -> list[WantedRun]:
        """The runs it will make next if all goes well: the rest of the rung, or all repetitions."""
        if self._needed is None:
            return []
        done = len(self.differences)
        if done == len(self.positions):
            return [WantedRun(self.candidate, each, self._captimes.full_s) for each in self._stopped[1:]]
        following = self.positions[done + 1 : self._rung]
        return [WantedRun(self.candidate, each, self._usual_captime_s(each)) for each in following]

    def _next_position(self) -> None:
        position = self.positions[len(self.differences)]
        required = self._required()
        if required > self._settings.plausible_gain:
            self._end(won=False)
            return
        captime_s = self._usual_captime_s(position, required)
        result = self._look(position, captime_s)
        if result is None:
            return
        if result.stopped and result.time_s < self._captimes.full_s:
            self._stopped.append(position)
        self._note(position, result)
        if len(self.differences) == self._rung:
            self._end_rung()

    def _required(self) -> float:
        """What the next run must at least gain so that the rung can be passed."""
        to_come = self._rung - len(self.differences) - 1
        return self._threshold(self._rung) - self._sum - to_come * self._settings.plausible_gain

    def _threshold(self, count: int) -> float:
        """The sum of differences at which a rung is passed."""
        if count == len(self.positions):
            return 0.0
        return -self._settings.rejection * self._deviation * math.sqrt(count)

    def _usual_captime_s(self, position: int, required: float = -math.inf) -> float:
        reference = self._rivals[position].worth
        level = reference + max(required, -self._settings.leeway)
        return self._captimes.at_worth(level)

    def _end_rung(self) -> None:
        if self._sum < self._threshold(self._rung):
            self._end(won=False)
        else:
            self._rung = min(2 * self._rung, len(self.positions))

    def _confirm(self) -> None:
        """Repeat what was stopped at the full captime, one by one, as long as the candidate is ahead."""
        if self._sum <= 0.0 or not self._stopped:
            self._end(won=self._sum > 0.0)
            return
        position = self._stopped[0]
        result = self._look(position, self._captimes.full_s)
        if result is not None:
            del self._stopped[0]
            self._sum -= self.differences[position]
            self._note(position, result)

    def _look(self, position: int, captime_s: float) -> Result | None:
        before = self._before.get(position)
        if before is not None and (not before.stopped or before.time_s >= captime_s):
            return before
        result = self._pool.look(self.candidate, position, captime_s)
        if result is None:
            self._needed = WantedRun(self.candidate, position, captime_s)
        else:
            self.spent_s += result.time_s
            self.captimes_s[position] = captime_s
        return result

    def _note(self, position: int, result: Result) -> None:
        self.results[position] = result
        difference = result.worth - self._rivals[position].worth
        self.differences[position] = difference
        self._sum += difference

    def _end(self, *, won: bool) -> None:
        self.over, self.won = True, won

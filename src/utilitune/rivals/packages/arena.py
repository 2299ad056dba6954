"""Where a peer plays: it asks for runs, each is made and charged once, and the budget ends the game.

The rules are those of every rival: a run pays its runtime up to the captime, and a run that is known is
free. No run is started once the budget is spent, so that it is exceeded by less than one run per slot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from utilitune.rivals.rival import RivalStanding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from utilitune.domain import StopReason
    from utilitune.domain.stopping import Budget
    from utilitune.spaces import Assignment, ParameterSpace
    from utilitune.spaces.parameters import Value


_OF_ENDLESS = 1000
_DEFAULT = 0  # the number of the configuration that every peer begins with


@dataclass(frozen=True, slots=True)
class Played:
    """One run, as a peer is told of it.

    Attributes:
        score: What it is worth, larger is better.
        time_s: What it cost.
        captime_s: Where it would have been stopped.
    """

    score: float
    time_s: float
    captime_s: float = math.inf

    def settles(self, captime_s: float) -> bool:
        """Whether a run with this captime would tell no more: it ended, or was stopped no earlier."""
        return self.time_s < self.captime_s or self.captime_s >= captime_s


class Ground(Protocol):
    """What a peer plays on: recorded rows, or a live program."""

    space: ParameterSpace
    """What peers may set."""
    positions: int | None
    """How many instances there are; None without end."""
    slots: int
    """How many runs it makes at a time."""

    @property
    def given(self) -> Sequence[Assignment]:
        """What peers begin with, the default first."""

    @property
    def features(self) -> Sequence[Sequence[float]] | None:
        """What is known of each instance, in their order; None where nothing is."""

    def number(self, assignment: Mapping[str, Value]) -> int:
        """The number of the configuration that is run for a proposal."""

    captime_s: float
    """Where runs are stopped."""

    def run(
        self, configuration: int, positions: Sequence[int], captime_s: float | None = None
    ) -> Sequence[Played]:
        """Run a configuration on instances, at most as many as there are slots.

        Args:
            configuration: Its number.
            positions: The instances.
            captime_s: Where to stop these runs, if before `captime_s` of all.
        """


class HaltError(Exception):
    """Nothing more may be run, for this reason. A peer must not catch it."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.advice)
        self.reason = reason


class Arena:
    """A ground, a budget, and an account of both.

    Args:
        ground: What is run.
        budget: The budget.
        instances: How many instances may be used, the first ones; all if left out, and a thousand of
            those that have no end.
    """

    def __init__(self, ground: Ground, budget: Budget, instances: int | None = None) -> None:
        self.space = ground.space
        self.given = ground.given
        self.budget = budget
        there_are = ground.positions or instances or _OF_ENDLESS
        self.positions = min(instances or there_are, there_are)
        self.captime_s = ground.captime_s
        self._ground = ground
        self._known: dict[int, dict[int, Played]] = {}
        self._total_s = 0.0
        self._runs = 0
        self._asked_since_new = 0

    def number(self, assignment: Mapping[str, Value]) -> int:
        """The number of the configuration that is run for a proposal."""
        return self._ground.number(assignment)

    def run(
        self, configuration: int, positions: Sequence[int], captime_s: float | None = None
    ) -> list[Played]:
        """Run a configuration on instances, as far as that is not known already.

        Args:
            configuration: Its number.
            positions: The instances.
            captime_s: Where to stop these runs, if before the captime of all.

        Raises:
            HaltError: The budget is spent, or somebody asked for an end.
        """
        known = self._known.setdefault(configuration, {})
        limit_s = self.captime_s if captime_s is None else min(captime_s, self.captime_s)
        missing = [each for each in positions if each not in known or not known[each].settles(limit_s)]
        self._asked_since_new = 0 if missing else self._asked_since_new + 1
        while missing:
            self._check_budget()
            count = min(self._ground.slots, self.budget.run_limit - self._runs)
            batch, missing = missing[:count], missing[count:]
            for position, played in zip(batch, self._ground.run(configuration, batch, limit_s), strict=True):
                known[position] = played
                self._total_s += played.time_s
                self._runs += 1
        return [known[position] for position in positions]

    @property
    def features(self) -> Sequence[Sequence[float]] | None:
        """What is known of each instance; None where nothing is."""
        return self._ground.features

    def idle(self, times: int) -> bool:
        """Whether so many times in a row all that was asked for was known already, and so cost nothing."""
        return self._asked_since_new >= times

    def has_run_all(self, positions: int) -> bool:
        """Whether every configuration that can be set was run on each of the first instances, so many.

        Where there is no end of configurations, or very many, that is never so.
        """
        size = self.space.size
        if size is None or len(self._known) < size:
            return False
        return all(
            position in known and known[position].settles(self.captime_s)
            for known in self._known.values()
            for position in range(positions)
        )

    def spent_share(self) -> float:
        """The share of the budget that is spent."""
        return self.budget.used_share(self._total_s, self._runs)

    def mean(self, configuration: int) -> float:
        """Mean score of a configuration over all its runs."""
        known = self._known[configuration]
        return sum(played.score for played in known.values()) / len(known)

    def leader(self) -> int:
        """The configuration with the best mean among those with the most runs."""
        return max(self._tried(), key=lambda number: (len(self._known[number]), self.mean(number)))

    def standing(self, best: int | None = None) -> RivalStanding:
        """Where a peer stands whose answer is `best`; where it has none yet, the leader or the default."""
        tried = len(self._tried())
        answer = best if best is not None else self.leader() if tried else _DEFAULT
        return RivalStanding(answer, self._total_s, self._runs, configurations=tried, alive=tried)

    @property
    def untouched(self) -> bool:
        """Whether nothing was run yet."""
        return not self._tried()

    def _tried(self) -> list[int]:
        return [number for number, known in self._known.items() if known]

    def _check_budget(self) -> None:
        reason = self.budget.spent(self._total_s, self._runs)
        if reason is not None:
            raise HaltError(reason)

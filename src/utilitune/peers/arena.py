"""Where a peer plays: it asks for runs, each is made and charged once, and the budget ends the game.

The rules are those of every rival: a run pays its runtime up to the captime, and a run that is known is
free. No run is started once the budget is spent, so that it is exceeded by less than one run per slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from utilitune.baselines.rival import Standing, spent
from utilitune.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from utilitune.baselines.rival import Allowance
    from utilitune.domain import StopReason
    from utilitune.spaces import Assignment, ParameterSpace
    from utilitune.spaces.parameters import Value


_DEFAULT = 0  # the number of the configuration that every peer begins with


@dataclass(frozen=True, slots=True)
class Played:
    """One run, as a peer is told of it.

    Attributes:
        score: What it is worth, larger is better.
        time_s: What it cost.
    """

    score: float
    time_s: float


class Ground(Protocol):
    """What is run."""

    space: ParameterSpace
    """What peers may set."""
    positions: int | None
    """How many instances there are; None without end."""
    slots: int
    """How many runs it makes at a time."""

    @property
    def given(self) -> Sequence[Assignment]:
        """What peers begin with, the default first."""

    def number(self, assignment: Mapping[str, Value]) -> int:
        """The number of the configuration that is run for a proposal."""

    def run(self, configuration: int, positions: Sequence[int]) -> Sequence[Played]:
        """Run a configuration on instances, at most as many as there are slots."""


class HaltError(Exception):
    """Nothing more may be run; says why. A peer lets it pass."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.advice)
        self.reason = reason


class Arena:
    """A ground, a budget, and an account of both.

    Args:
        ground: What is run.
        allowance: The budget.
        instances: How many instances may be used, the first ones.
    """

    def __init__(self, ground: Ground, allowance: Allowance, instances: int) -> None:
        if not (allowance.total_time_s > 0 and allowance.runs > 0):
            raise UsageError("a peer needs a budget for one run at least: give it more time or runs")
        self.space = ground.space
        self.given = ground.given
        self.allowance = allowance
        self.positions = instances if ground.positions is None else min(instances, ground.positions)
        self._ground = ground
        self._known: dict[int, dict[int, Played]] = {}
        self._total_s = 0.0
        self._runs = 0

    def number(self, assignment: Mapping[str, Value]) -> int:
        """The number of the configuration that is run for a proposal."""
        return self._ground.number(assignment)

    def run(self, configuration: int, positions: Sequence[int]) -> list[Played]:
        """Run a configuration on instances, as far as that is not known already.

        Raises:
            HaltError: The budget is spent, or somebody asked for an end.
        """
        known = self._known.setdefault(configuration, {})
        missing = [position for position in positions if position not in known]
        while missing:
            self._check_budget()
            count = min(self._ground.slots, self.allowance.runs - self._runs)
            batch, missing = missing[:count], missing[count:]
            for position, played in zip(batch, self._ground.run(configuration, batch), strict=True):
                known[position] = played
                self._total_s += played.time_s
                self._runs += 1
        return [known[position] for position in positions]

    def mean(self, configuration: int) -> float:
        """Mean score of a configuration over all its runs."""
        known = self._known[configuration]
        return sum(played.score for played in known.values()) / len(known)

    def leader(self) -> int:
        """The configuration with the best mean among those with the most runs."""
        return max(self._tried(), key=lambda number: (len(self._known[number]), self.mean(number)))

    def standing(self, best: int | None = None) -> Standing:
        """Where a peer stands whose answer is `best`; where it has none yet, the leader or the default."""
        tried = len(self._tried())
        answer = best if best is not None else self.leader() if tried else _DEFAULT
        return Standing(answer, self._total_s, self._runs, configurations=tried, alive=tried)

    @property
    def untouched(self) -> bool:
        """Whether nothing was run yet."""
        return not self._tried()

    def _tried(self) -> list[int]:
        return [number for number, known in self._known.items() if known]

    def _check_budget(self) -> None:
        if self._total_s >= self.allowance.total_time_s or self._runs >= self.allowance.runs:
            raise HaltError(spent(self.standing(), self.allowance))

"""What all peers share: their settings, and how one is played to its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from utilitune.domain import require_whole
from utilitune.domain.stopping import interrupted
from utilitune.errors import MissingExtraError, UsageError
from utilitune.rivals.packages.arena import Arena, HaltError
from utilitune.rivals.packages.recorded import RecordedGround
from utilitune.rivals.rival import (
    RankedBy,
    check_optional_captime,
    require_objective,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from utilitune.domain import StopReason
    from utilitune.domain.stopping import Budget
    from utilitune.rivals.rival import RecordedRuns, RivalStanding

LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Peer(ABC):
    """A peer and its settings; on recorded runs it is a rival like the others.

    Attributes:
        instances: How many instances it may use; all if left out.
        captime_s: Where runs are stopped; the cutoff of the recording, or the scenario's largest captime, if
            left out.
        objective: What it optimises.
        seed: What its random choices follow from; the scenario's seed if left out.
    """

    instances: int | None = None
    captime_s: float | None = None
    objective: RankedBy = RankedBy.UTILITY
    seed: int | None = None

    name: ClassVar[str]
    anytime: ClassVar[bool] = True
    plans_ahead: ClassVar[bool] = False
    """Whether it must know its budget before it begins."""
    one_run_at_a_time: ClassVar[bool] = False
    """Whether it waits for every run before it asks for the next, so that further workers would be idle."""

    def __post_init__(self) -> None:
        if self.instances is not None:
            require_whole("the number of instances", self.instances)
        check_optional_captime(self.captime_s)
        require_objective(self.objective)
        require_whole("the seed", self.own_seed, least=0)
        if self.own_seed > LARGEST_SEED:
            raise UsageError(f"the seed must be at most {LARGEST_SEED}, not {self.seed}")

    @property
    def own_seed(self) -> int:
        """The seed it was given, or 0."""
        return self.seed or 0

    @classmethod
    @abstractmethod
    def is_installed(cls) -> bool:
        """Whether its package is there."""

    @abstractmethod
    def require_installed(self) -> None:
        """Raise a `MissingExtraError` that says how to get its package."""

    @abstractmethod
    def propose(self, arena: Arena) -> Generator[int, None, StopReason]:
        """Propose and have run; yield its answer whenever it is worth looking at, return why it is done."""

    def play(self, runs: RecordedRuns, budget: Budget) -> Generator[RivalStanding, None, StopReason]:
        """Play on recorded runs."""
        self.require_installed()
        ground = RecordedGround(runs, self.objective, runs.captime_s(self.captime_s))
        arena = Arena(ground, budget, self.instances)
        try:
            return (yield from self.play_on(arena))
        except KeyboardInterrupt:
            if self.anytime or arena.untouched:  # what was answered last counts, if anything
                raise
        yield arena.standing()
        return interrupted(goes_on=False)

    def play_on(self, arena: Arena) -> Generator[RivalStanding, None, StopReason]:
        """Play until it is done or the budget is spent; the last standing is its answer."""
        best: int | None = None
        latest: RivalStanding | None = None
        steps = self.propose(arena)
        try:
            while True:
                best = next(steps)
                latest = arena.standing(best)
                yield latest
        except StopIteration as end:
            reason: StopReason = end.value
        except HaltError as halt:
            reason = halt.reason
        finally:
            steps.close()
        final = arena.standing(best)
        if final != latest:
            yield final
        return reason


@dataclass(frozen=True)
class PythonPeer(Peer):
    """A peer that is a Python package and makes trials one after the other.

    Attributes:
        trials: Most trials; if left out, it goes on until its budget is spent or it proposes nothing new.
    """

    trials: int | None = None

    title: ClassVar[str]
    """What people call it."""
    package: ClassVar[str]
    """The module that it is imported as."""
    extra: ClassVar[str]
    """Our extra that brings it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trials is not None:
            require_whole("the number of trials", self.trials)

    @classmethod
    def is_installed(cls) -> bool:
        """Whether its package is there."""
        return find_spec(cls.package) is not None

    def require_installed(self) -> None:
        """Refuse to play without its package."""
        if not self.is_installed():
            raise MissingExtraError(self.title, self.extra)

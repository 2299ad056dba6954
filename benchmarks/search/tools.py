"""Who searches: every tool as one method, `search`, which yields its answer whenever that may have changed.

Peers are those of `utilitune peer`, with their advised settings, on a ground whose runs are computed. All
tools get the same task, budget and seed, begin with the default, and see training instances only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from benchmarks.search.answers import Answer
from benchmarks.search.own import OwnTool
from benchmarks.search.task import Course, SpentError

from utilitune.domain.stopping import Budget
from utilitune.rivals.packages import Irace, OptunaTpe, Smac
from utilitune.rivals.packages.arena import Arena, Played
from utilitune.rivals.packages.captimes import advised_captime_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.search.task import Task

    from utilitune.rivals.packages import Peer
    from utilitune.spaces import Assignment, Value


class Tool(Protocol):
    """A searcher."""

    name: str
    anytime: bool
    """Whether a search with a larger budget begins like one with a smaller budget."""

    def is_installed(self) -> bool:
        """Whether it can be measured here."""

    def search(self, task: Task, budget_s: float, seed: int) -> Iterator[Answer]:
        """Search until the budget is spent; the last answer counts."""


class VirtualGround:
    """A task as what a peer plays on."""

    slots = 1
    features = None

    def __init__(self, task: Task, captime_s: float) -> None:
        self.space = task.space
        self.given = (task.default,)
        self.positions: int | None = task.training
        self.configurations: list[Assignment] = []
        self._numbers: dict[Assignment, int] = {}
        self._task = task
        self.captime_s = min(captime_s, task.largest_captime_s)
        self.number(task.default)

    def number(self, assignment: Mapping[str, Value]) -> int:
        """The number of a configuration."""
        valid = self.space.validate(assignment)
        if valid not in self._numbers:
            self._numbers[valid] = len(self.configurations)
            self.configurations.append(valid)
        return self._numbers[valid]

    def run(
        self, configuration: int, positions: Sequence[int], captime_s: float | None = None
    ) -> Sequence[Played]:
        """Compute the runs."""
        limit_s = self.captime_s if captime_s is None else min(captime_s, self.captime_s)
        full_s = self._task.runtimes_s(self.configurations[configuration])[list(positions)]
        times_s = np.minimum(full_s, limit_s)
        return [
            Played(float(score), float(time_s), limit_s)
            for score, time_s in zip(self._task.utility(times_s), times_s, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class PeerTool:
    """A peer of `utilitune peer`.

    Attributes:
        name: Its name.
        kind: The peer, which is played with its own defaults.
        anytime: See `Tool`.
    """

    name: str
    kind: type[Peer]
    anytime: bool = True

    def is_installed(self) -> bool:
        """Whether its package is there."""
        return self.kind.is_installed()

    def search(self, task: Task, budget_s: float, seed: int) -> Iterator[Answer]:
        """Let the peer play."""
        peer = self.kind(seed=seed)
        captime_s = advised_captime_s(self.name, task.utility, task.largest_captime_s)
        ground = VirtualGround(task, captime_s)
        arena = Arena(ground, Budget(max_time_s=budget_s), peer.instances)
        for standing in peer.play_on(arena):
            yield Answer(standing.total_time_s, ground.configurations[standing.best_index])


@dataclass(frozen=True, slots=True)
class RandomTool:
    """Random draws raced in rungs: each meets the incumbent on the same instances, and leaves when behind.

    The plainest searcher that is not foolish; everything a model or a neighbourhood adds shows against it.
    """

    name: ClassVar[str] = "random"
    anytime: ClassVar[bool] = True
    first_rung: ClassVar[int] = 2

    def is_installed(self) -> bool:
        """Always."""
        return True

    def search(self, task: Task, budget_s: float, seed: int) -> Iterator[Answer]:
        """Race draws against the incumbent until the budget is spent."""
        generator = np.random.default_rng([seed, 11])
        captime_s = advised_captime_s(self.name, task.utility, task.largest_captime_s)
        course = Course(task, budget_s)
        incumbent = task.default
        yield Answer(0.0, incumbent)
        try:
            while True:
                (draw,) = task.space.sample(generator, 1)
                if self._wins(course, draw, incumbent, captime_s, generator):
                    incumbent = draw
                yield Answer(course.spent_s, incumbent)
        except SpentError:
            yield Answer(course.spent_s, incumbent)

    def _wins(
        self,
        course: Course,
        draw: Assignment,
        incumbent: Assignment,
        captime_s: float,
        generator: np.random.Generator,
    ) -> bool:
        utility, order = course.task.utility, generator.permutation(course.task.training)
        owed = min(len(order), max(8, round(0.06 * course.spent_s / course.task.default_run_s)))
        rung, gains = self.first_rung, []
        for count, instance in enumerate(order[:owed].tolist(), 1):
            theirs_s = course.run(incumbent, instance, captime_s).time_s
            its_s = course.run(draw, instance, captime_s).time_s
            gains.append(float(utility(its_s)) - float(utility(theirs_s)))
            if count >= min(rung, owed):
                if np.mean(gains) < 0:
                    return False
                rung *= 2
        return bool(np.mean(gains) > 0)


TOOLS: tuple[Tool, ...] = (
    OwnTool(),
    RandomTool(),
    PeerTool("optuna-tpe", OptunaTpe, anytime=False),
    PeerTool("irace", Irace, anytime=False),
    PeerTool("smac", Smac),
)

"""A virtual task: a program with parameters whose runtimes are computed, not measured.

A tool searches the *training* instances on a virtual clock and is judged on *test* instances that it never
sees. One run is a fact: the same configuration, instance and seed always take the same time. Which law the
times follow is a part of its own (`Law`), so that fitted recordings and made-up landscapes look alike.

`Course` is the virtual clock: it makes runs up to a captime, charges them, and ends when the budget is
spent. Budgets are told in *default runs*, the mean time of the default on the training instances.

Tasks for judging are never used to choose rules or settings of any tool; those for tuning are others.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from utilitune.spaces import Assignment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from utilitune.spaces import ParameterSpace, Value
    from utilitune.utility import Utility


class Law(Protocol):
    """What runtimes follow."""

    def log_times(self, units: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
        """Natural logarithms of a configuration's runtimes on all instances, training ones first.

        Args:
            units: The configuration, each parameter scaled to [0, 1], −1 where it is inactive.
            generator: Where all chance comes from; it follows from configuration and seed.
        """


@dataclass(frozen=True, eq=False)
class Task:
    """A program to configure.

    Attributes:
        name: Its name.
        space: Its parameters; the default is the space's.
        utility: What a run is worth.
        largest_captime_s: No run needs more time than this.
        training: Number of training instances, numbered from 0.
        testing: Number of test instances, numbered on from the training ones.
        law: What the runtimes follow.
        best_known: The best configuration that is known; the default where nobody has looked.
        seed: Makes the chance of this task differ from that of others.
    """

    name: str
    space: ParameterSpace
    utility: Utility
    largest_captime_s: float
    training: int
    testing: int
    law: Law
    best_known: Assignment | None = None
    seed: int = 0
    _known: dict[tuple[Assignment, int], NDArray[np.float64]] = field(default_factory=dict, repr=False)

    @property
    def default(self) -> Assignment:
        """The configuration the program comes with."""
        return self.space.default()

    def runtimes_s(self, configuration: Mapping[str, Value], seed: int = 0) -> NDArray[np.float64]:
        """Full runtimes on all instances, training ones first."""
        valid = configuration if isinstance(configuration, Assignment) else self.space.validate(configuration)
        found = self._known.get((valid, seed))
        if found is None:
            found = self.times_at(self.space.encode([self.space.validate(valid)])[0], seed)
            if len(self._known) > 20_000:
                self._known.clear()
            self._known[valid, seed] = found
        return found

    def times_at(self, units: NDArray[np.float64], seed: int = 0) -> NDArray[np.float64]:
        """The same for a configuration in the form that the law reads."""
        digest = hashlib.blake2b(units.tobytes(), digest_size=8).digest()
        generator = np.random.default_rng([self.seed, seed, int.from_bytes(digest, "little")])
        return np.exp(np.clip(self.law.log_times(units, generator), -30.0, 30.0))

    def runtime_s(self, configuration: Mapping[str, Value], instance: int, seed: int = 0) -> float:
        """The full runtime of one run."""
        return float(self.runtimes_s(configuration, seed)[instance])

    @cached_property
    def default_run_s(self) -> float:
        """Mean time of a default run on the training instances, stopped at the largest captime."""
        times_s = self.runtimes_s(self.default)[: self.training]
        return float(np.minimum(times_s, self.largest_captime_s).mean())

    def test_utility(self, configuration: Mapping[str, Value]) -> float:
        """Mean utility on the test instances: what a tool's answer is really worth."""
        return float(np.mean(self.utility(self.runtimes_s(configuration)[self.training :])))

    def training_utility(self, configuration: Mapping[str, Value]) -> float:
        """Mean utility on the training instances, which no tool can know without all the runs."""
        return float(np.mean(self.utility(self.runtimes_s(configuration)[: self.training])))

    def score(self, configuration: Mapping[str, Value]) -> float:
        """Test utility on a scale where 0 is the default and 1 the best that is known."""
        low = self.test_utility(self.default)
        high = self.test_utility(self.best_known or self.default)
        return (self.test_utility(configuration) - low) / (high - low) if high > low else 0.0


class SpentError(Exception):
    """The budget of a course is spent; no further run is made."""


@dataclass(frozen=True, slots=True)
class VirtualRun:
    """One run as a tool sees it.

    Attributes:
        time_s: How long it ran.
        finished: Whether it ended by itself, not at the captime.
    """

    time_s: float
    finished: bool


class Course:
    """A task under a virtual clock.

    A run of the same configuration and instance is charged once: asking again with a larger captime pays
    the whole run again, asking again for what is known pays nothing.

    Args:
        task: What is run.
        budget_s: Seconds of run time; a run that is started may exceed it.
    """

    def __init__(self, task: Task, budget_s: float) -> None:
        self.task = task
        self.budget_s = budget_s
        self.spent_s = 0.0
        self.runs = 0
        self._known: dict[tuple[Assignment, int], VirtualRun] = {}

    def run(self, configuration: Assignment, instance: int, captime_s: float | None = None) -> VirtualRun:
        """Run a configuration on a training instance.

        Raises:
            SpentError: The budget is spent.
        """
        if not 0 <= instance < self.task.training:
            raise ValueError(f"{instance} is no training instance")
        limit_s = min(self.task.largest_captime_s, captime_s or self.task.largest_captime_s)
        known = self._known.get((configuration, instance))
        if known is not None and (known.finished or known.time_s >= limit_s):
            return known if known.time_s <= limit_s else VirtualRun(limit_s, finished=False)
        if self.spent_s >= self.budget_s:
            raise SpentError
        full_s = self.task.runtime_s(configuration, instance)
        made = VirtualRun(min(full_s, limit_s), finished=full_s <= limit_s)
        self._known[configuration, instance] = made
        self.spent_s += made.time_s
        self.runs += 1
        return made

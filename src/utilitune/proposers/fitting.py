"""Proposals at the moment they are asked for, and when a model is fitted anew.

The model is fitted on the first K runs, where K is the last number of the sequence 30, 39, 50, … (each three
tenths above the one before) that was reached. A proposal then follows from those runs, the number of the
proposal and the seed alone: a run that is stopped and resumed proposes the same configurations, and fits cost
little compared with the runs between them.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Generic, NamedTuple

import numpy as np

from utilitune.proposers.base import Kind, Runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.proposers.base import Proposer

FEWEST_RUNS = 30
"""Runs below which no model is fitted."""

FEWEST_CONFIGURATIONS = 5
"""Configurations with runs below which no model is fitted."""

_GROWTH = 1.3
_STREAM = 2


def next_size(size: int) -> int:
    """The number of runs on which a model is fitted after it was fitted on `size`."""
    return max(FEWEST_RUNS, int(_GROWTH * size))


def fitted_runs(count: int) -> int:
    """How many of `count` runs the model is fitted on; 0 while they are too few."""
    size = 0
    while next_size(size) <= count:
        size = next_size(size)
    return size


class Task(NamedTuple, Generic[Kind]):
    """All a proposal follows from, besides the proposer's own seed.

    Attributes:
        runs: The runs that the model is fitted on, as they were made.
        known: Every configuration in play.
        number: How many proposals were made before.
    """

    runs: Runs
    known: Sequence[Kind]
    number: int


class History(Generic[Kind]):
    """What happened so far: the runs and the configurations in play, both in the order of their making.

    Attributes:
        known: The configurations.
        proposed: How many of them were proposals.
        size: How many runs a model should be fitted on by now; 0 while there is too little to learn from.
    """

    def __init__(self) -> None:
        self.known: list[Kind] = []
        self.proposed = 0
        self.size = 0
        self._whose, self._where = array("q"), array("q")
        self._runtime_s, self._known_s = array("d"), array("d")
        self._played: set[int] = set()
        self._runs = Runs.of([])

    def join(self, configuration: Kind, *, proposed: bool) -> None:
        """One more configuration is in play."""
        self.known.append(configuration)
        self.proposed += proposed

    def observe(self, configuration: int, position: int, runtime_s: float, known_s: float) -> None:
        """One more run was made."""
        self._whose.append(configuration)
        self._where.append(position)
        self._runtime_s.append(runtime_s)
        self._known_s.append(known_s)
        self._played.add(configuration)
        if len(self._whose) >= next_size(self.size) and len(self._played) >= FEWEST_CONFIGURATIONS:
            self.size = fitted_runs(len(self._whose))

    def task(self) -> Task[Kind] | None:
        """What the next proposal follows from; None while there is too little to learn from."""
        if not self.size:
            return None
        if len(self._runs.position) != self.size:
            first = slice(0, self.size)
            self._runs = Runs(
                np.array(self._whose[first]),
                np.array(self._where[first]),
                np.array(self._runtime_s[first]),
                np.array(self._known_s[first]),
            )
        return Task(self._runs, tuple(self.known), self.proposed)


class Model(Generic[Kind]):
    """A proposer that is fitted anew only when a task brings more runs than it has learnt from.

    Args:
        proposer: The model.
        seed: What every proposal follows from.
    """

    def __init__(self, proposer: Proposer[Kind], seed: int) -> None:
        self._proposer = proposer
        self._seed = seed
        self._size = 0

    def proposals(self, task: Task[Kind], count: int) -> list[Kind]:
        """The next `count` proposals that follow from a task, or as many as there are."""
        if len(task.runs.position) != self._size:
            self._proposer.learn(task.runs.latest(), task.known)
            self._size = len(task.runs.position)
        found: list[Kind] = []
        for number in range(task.number, task.number + count):
            sequence = np.random.SeedSequence(self._seed, spawn_key=(_STREAM, number))
            proposal = self._proposer.propose((*task.known, *found), np.random.default_rng(sequence))
            if proposal is None:
                break
            found.append(proposal)
        return found


class PromptProposals(History[Kind]):
    """Proposals computed when they are asked for: for replays and virtual clocks.

    Args:
        proposer: The model.
        seed: What every proposal follows from.
    """

    def __init__(self, proposer: Proposer[Kind], seed: int) -> None:
        super().__init__()
        self._model = Model(proposer, seed)

    def take(self) -> Kind | None:
        """A proposal from all that is known now."""
        task = self.task()
        found = [] if task is None else self._model.proposals(task, 1)
        return found[0] if found else None

    def close(self) -> None:
        """Nothing is held."""

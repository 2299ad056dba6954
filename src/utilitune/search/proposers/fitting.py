"""Proposals at the moment they are asked for, and when a model is fitted anew.

The model is fitted on what the procedure has consumed when that comes to 30, 39, 50, … runs (each number
three tenths above the one before). A proposal then follows from those runs, the configurations in play, the
number of the proposal and the seed alone: several workers, a run that is stopped and resumed, and a single
worker get the same proposals. And fits cost little compared with the runs between them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic

import numpy as np

from utilitune.search.proposers.base import Kind

if TYPE_CHECKING:
    from utilitune.search.proposers.base import Proposer, Runs

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


class ImmediateProposals(Generic[Kind]):
    """Proposals whose model is fitted when one is asked for: for virtual clocks.

    Args:
        proposer: The model.
        seed: What every proposal follows from.

    Attributes:
        learn_at: How many runs the procedure shall have consumed when `learn` is called next.
    """

    def __init__(self, proposer: Proposer[Kind], seed: int) -> None:
        self.learn_at = FEWEST_RUNS
        self._proposer = proposer
        self._seed = seed
        self._joined: list[Kind] = []
        self._known: set[Kind] = set()
        self._proposed = 0
        self._has_learnt = False
        # Only the newest lesson is worth a fit; one thread may put it here and another take it out.
        self._waiting: deque[tuple[Runs, tuple[Kind, ...]]] = deque(maxlen=1)

    def join(self, configuration: Kind, *, proposed: bool) -> None:
        """One more configuration is in play."""
        self._joined.append(configuration)
        self._known.add(configuration)
        self._proposed += proposed

    def learn(self, runs: Runs) -> None:
        """Learn from all runs consumed so far, unless they are of too few configurations."""
        self.learn_at = next_size(self.learn_at)
        if len(np.unique(runs.configuration)) >= FEWEST_CONFIGURATIONS:
            self._has_learnt = True
            self._waiting.append((runs, tuple(self._joined)))

    def take(self) -> Kind | None:
        """A proposal from what was learnt last; None if that is nothing, or the space has nothing left."""
        if not self._has_learnt:
            return None
        self._fit()
        sequence = np.random.SeedSequence(self._seed, spawn_key=(_STREAM, self._proposed))
        return self._proposer.propose(self._known, np.random.default_rng(sequence))

    def close(self) -> None:
        """Nothing more will be asked."""
        self._waiting.clear()

    def _fit(self) -> None:
        """Fit the model on the newest lesson, if it has not heard it yet."""
        while self._waiting:
            self._proposer.learn(*self._waiting.pop())

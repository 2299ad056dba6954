"""From capped runs to the rows a regression is fitted to.

A run that was stopped at c seconds is worth something between u(∞) and u(c); nobody knows what. Counting it
as u(c) would make configurations look good that were only ever stopped early, counting it as u(∞) would
punish them for it. As in Schmee & Hahn (1979) and SMAC (Hutter, Hoos & Leyton-Brown 2011), its worth is the
expectation under the model, given that it lies in that range; fitting and imputing alternate.

A `Design` says what a row is. With instance features it is one run: parameters and features together.
Without, it is one configuration, with instance hardness taken out by the additive model

    u(t_ij) ≈ a_i + h_j,

so that configurations run on other instances can be compared. In both, a run weighs as much as it tells:
1 − (Y − X) for a worth known to lie in [X, Y], that is 1 if it finished and next to nothing if it was stopped
when nearly everything was still possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from utilitune.search.proposers.base import Runs
from utilitune.search.proposers.instance_features import completed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.utility import Utility

_SWEEPS = 4
_HARDNESS_PRIOR = 1.0  # runs on an average instance that are added to every instance
_EQUAL_WEIGHT_RUNS = 4.0  # with as many full runs a configuration has half the largest weight
_LEAST_WEIGHT = 1e-3
_MOST_ROWS = 6000
_REFERENCES = 12


class Worths(NamedTuple):
    """What each run can be worth: at least X, at most Y."""

    least: NDArray[np.float64]
    most: NDArray[np.float64]

    @classmethod
    def of(cls, runs: Runs, utility: Utility) -> Worths:
        """The range of every run; a finished run has but one value."""
        finished = np.isfinite(runs.runtime_s)
        least = utility(runs.runtime_s)
        return cls(least, np.where(finished, least, utility(runs.known_s)))

    @property
    def information(self) -> NDArray[np.float64]:
        """How much each run tells, from 0 to 1."""
        return 1.0 - (self.most - self.least)

    def imputed(self, expected: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
        """E[V | X ≤ V ≤ Y] for V normal with these expectations and this standard deviation.

        With α = (X − μ)/σ and β = (Y − μ)/σ this is μ + σ·(φ(α) − φ(β))/(Φ(β) − Φ(α)).
        """
        from scipy.special import ndtr

        alpha, beta = (self.least - expected) / deviation, (self.most - expected) / deviation
        mass = ndtr(beta) - ndtr(alpha)
        density = np.exp(-0.5 * np.minimum(alpha**2, 1e3)) - np.exp(-0.5 * np.minimum(beta**2, 1e3))
        possible = mass > 1e-9
        shift = deviation * density / np.sqrt(2 * np.pi) / np.where(possible, mass, 1.0)
        values: NDArray[np.float64] = np.clip(
            expected + np.where(possible, shift, 0.0), self.least, self.most
        )
        return values


class Design(Protocol):
    """What the rows of a regression are; runs and rows are in a fixed order.

    Attributes:
        features: One line per row.
        weight: How much each row counts.
        references: Instance features to average a prediction over; one empty line where there are none.
    """

    features: NDArray[np.float64]
    weight: NDArray[np.float64]
    references: NDArray[np.float64]

    def target(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value of each row, from the worth of each run."""
        ...

    def expected(self, predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        """The worth of each run, from the prediction for each row."""
        ...


class PerConfiguration:
    """A row is a configuration; its value is a_i of the additive model.

    Args:
        runs: The runs.
        information: How much each of them tells.
        features: One line per configuration.
    """

    def __init__(self, runs: Runs, information: NDArray[np.float64], features: NDArray[np.float64]) -> None:
        played, self._row = np.unique(runs.configuration, return_inverse=True)
        _, self._column = np.unique(runs.position, return_inverse=True)
        self._counts = np.bincount(self._row)
        self._shared = np.bincount(self._column) + _HARDNESS_PRIOR
        self._hardness = np.zeros(len(self._shared))
        told = np.bincount(self._row, information)
        self.features = features[played]
        self.weight = np.maximum(told / (told + _EQUAL_WEIGHT_RUNS), _LEAST_WEIGHT)
        self.references = np.empty((1, 0))

    def target(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """a_i after a few sweeps over configurations and instances."""
        for _ in range(_SWEEPS):
            level = np.bincount(self._row, values - self._hardness[self._column]) / self._counts
            self._hardness = np.bincount(self._column, values - level[self._row]) / self._shared
        return level

    def expected(self, predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        """The prediction for its configuration plus the hardness of its instance."""
        return predicted[self._row] + self._hardness[self._column]


class PerRun:
    """A row is a run, described by its configuration and its instance.

    Args:
        runs: The runs, thinned out where they are many.
        information: How much each of them tells.
        features: One line per configuration.
        instance_features: One line per position of the instance order; of those without runs nothing is used.
    """

    def __init__(
        self,
        runs: Runs,
        information: NDArray[np.float64],
        features: NDArray[np.float64],
        instance_features: NDArray[np.float64],
    ) -> None:
        seen, line = np.unique(runs.position, return_inverse=True)
        known = completed(instance_features[seen])
        self.features = np.hstack([features[runs.configuration], known[line]])
        self.weight = np.maximum(information, _LEAST_WEIGHT)
        spaced = np.linspace(0, len(seen) - 1, min(_REFERENCES, len(seen))).astype(np.int64)
        self.references = known[spaced]

    def target(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The worths themselves."""
        return values

    def expected(self, predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        """The predictions themselves."""
        return predicted


def thinned(runs: Runs, generator: np.random.Generator) -> Runs:
    """The runs, or a fair selection if there are too many: configurations with few runs keep them all."""
    if len(runs.configuration) <= _MOST_ROWS:
        return runs
    order = generator.permutation(len(runs.configuration))
    by_configuration = order[np.argsort(runs.configuration[order], kind="stable")]
    _, starts, counts = np.unique(runs.configuration[by_configuration], return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(starts, counts)
    kept = np.sort(by_configuration[np.argsort(rank, kind="stable")[:_MOST_ROWS]])
    return Runs(runs.configuration[kept], runs.position[kept], runs.runtime_s[kept], runs.known_s[kept])

"""A model in which every parameter adds its own part: little data teach it much.

Most programs have a few parameters that matter, and these mostly act by themselves. So

    value  ≈  constant + Σ_p  part_p(value of p) ,

where the part of a number is a parabola on its (log) range and that of a choice is a number per value; a
parameter that is not active adds nothing. What differs between parameters is how much they matter: the parts
of parameter p are N(0, a_p) beforehand, and every a_p is learnt (automatic relevance determination, MacKay
1992), so that those without effect are left out. All runs of all candidates tell about a part, where trees
have only those in a leaf. What parts cannot say is left to the trees (`forest`).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_ROUNDS = 4
_LEAST = 1e-8
_GRID = 21


class AdditiveModel:
    """Parts of parameters, learnt from weighted rows.

    Args:
        values: Number of values of each parameter that is an unordered choice; 0 for the others.

    Attributes:
        part: What the parameters add: slopes of all numbers, their bends, then a number per value of choices.
        misfit: Variance of what the parts leave unexplained in a row of weight 1.
    """

    def __init__(self, values: Sequence[int]) -> None:
        self._choices = [(place, count) for place, count in enumerate(values) if count]
        self._numbers = np.array([place for place, count in enumerate(values) if not count], dtype=np.intp)
        owners = [*self._numbers, *self._numbers]
        for place, count in self._choices:
            owners.extend([place] * count)
        self._owner = np.array(owners, dtype=np.intp)
        self._size = np.maximum(np.bincount(self._owner, minlength=len(values)), 1)
        self._matter = np.full(len(values), np.nan)
        self.misfit = np.nan
        self._constant = 0.0
        self.part = np.zeros(len(owners))
        self._cover = np.zeros((len(owners), len(owners)))
        self._factor = self._cover

    def fit(
        self, features: NDArray[np.float64], target: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> None:
        """Learn from rows; how much each parameter matters is learnt on from the fit before."""
        basis = self._basis(features)
        total = weight.sum()
        self._constant = float(weight @ target / total)
        shift = weight @ basis / total
        centred, rest = basis - shift, target - self._constant
        variance = max(float(weight @ rest**2) / total, _LEAST)
        if np.isnan(self.misfit):
            self._matter[:] = variance / 20
        noise = 0.7 * variance
        gram, moment = (centred.T * weight) @ centred, (centred.T * weight) @ rest
        for _ in range(_ROUNDS):
            prior = np.maximum(self._matter, _LEAST * variance)[self._owner]
            root = np.sqrt(prior)
            precision = root[:, None] * gram * root / noise + np.eye(root.size)
            inverse = np.linalg.inv(precision)
            self._cover = root[:, None] * inverse * root
            self.part = self._cover @ moment / noise
            square = self.part**2 + np.diag(self._cover)
            self._matter = np.bincount(self._owner, square, minlength=self._size.size) / self._size
            known = root.size - float(np.trace(inverse))
            left = float(weight @ (rest - centred @ self.part) ** 2)
            noise = max(left / max(total - known, 0.3 * total), _LEAST * max(variance, 1.0))
        self.misfit = noise
        self._factor = root[:, None] * _factor_of_inverse(precision)
        self._constant -= float(shift @ self.part)

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each row is expected to show."""
        return self._constant + self._basis(features) @ self.part

    def difference(self, features: NDArray[np.float64]) -> tuple[float, float]:
        """Mean and variance of the first of two rows minus the second, misfits included."""
        apart = np.subtract(*self._basis(features))
        return float(apart @ self.part), float(apart @ self._cover @ apart) + 2.0 * self.misfit

    def drawn(self, generator: np.random.Generator) -> AdditiveModel:
        """The model with parts as they may be, drawn from what is believed (Thompson 1933)."""
        one = copy(self)
        one.part = self.part + self._factor @ generator.normal(size=self.part.size)
        return one

    def best_values(self, features: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The best value of each parameter, as a share of its range, and what it gains per row.

        What is not active gains nothing.
        """
        part = self.part
        best = np.zeros(features.shape[1])
        gain = np.zeros_like(features)
        line = np.linspace(-1.0, 1.0, _GRID)
        count = self._numbers.size
        slope, bend = part[:count, None], part[count : 2 * count, None]
        worth = slope * line + bend * (1.5 * line**2 - 0.5)
        if count:
            best[self._numbers] = (line[worth.argmax(axis=1)] + 1.0) / 2.0
            here = 2.0 * features[:, self._numbers] - 1.0
            own = slope[:, 0] * here + bend[:, 0] * (1.5 * here**2 - 0.5)
            gain[:, self._numbers] = worth.max(axis=1) - own
        first = 2 * count
        for place, values in self._choices:
            added = part[first : first + values]
            best[place] = added.argmax() / max(1, values - 1)
            code = np.rint(np.maximum(features[:, place], 0.0) * (values - 1)).astype(np.intp)
            gain[:, place] = added.max() - added[code]
            first += values
        return best, np.where(features >= 0, np.maximum(gain, 0.0), 0.0)

    def _basis(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        units = features[:, self._numbers]
        active = units >= 0
        line = np.where(active, 2.0 * units - 1.0, 0.0)
        columns = [line, np.where(active, 1.5 * line**2 - 0.5, 0.0)]
        for place, count in self._choices:
            code = np.rint(features[:, place] * (count - 1))
            chosen = (code[:, None] == np.arange(count)) & (features[:, [place]] >= 0)
            columns.append(chosen.astype(np.float64))
        return np.hstack(columns)


def _factor_of_inverse(precision: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lower triangle L with L·Lᵀ = precision⁻¹.

    It is made without the inverse. A precision of at least 1 has a factor U·Uᵀ however well the parts explain
    everything, while its inverse, once rounded, may have none.
    """
    upper = np.linalg.cholesky(precision[::-1, ::-1])[::-1, ::-1]
    return np.linalg.inv(upper).T

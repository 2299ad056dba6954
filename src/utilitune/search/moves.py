"""Steps in a parameter space, many at once: neighbours and crossings of configurations, and their features.

All of it works on codes, one column per configuration and one row per parameter. Only the entries that
change are computed, so that hundreds of neighbours cost about as much as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.spaces.parameters import ChoiceParameter, NumberParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.search.settings import SuggestionSettings
    from utilitune.spaces import ParameterSpace
    from utilitune.spaces.parameters import Parameter

_INACTIVE = -0.5


class Moves:
    """Steps in one space.

    Args:
        space: The parameters.
        settings: How far steps go.
    """

    def __init__(self, space: ParameterSpace, settings: SuggestionSettings) -> None:
        self._space = space
        self._settings = settings
        self._parameters = parameters = list(space.parameters.values())
        numbers = [each for each in parameters if isinstance(each, NumberParameter)]
        self._is_number = np.array([isinstance(each, NumberParameter) for each in parameters])
        self._is_leap = np.array(
            [isinstance(each, ChoiceParameter) and not each.ordered for each in parameters]
        )
        self._low = np.array([_ends(each)[0] for each in parameters])
        self._high = np.array([_ends(each)[1] for each in parameters])
        self._is_log = np.array([isinstance(each, NumberParameter) and each.log for each in parameters])
        self._is_whole = np.array(
            [not isinstance(each, NumberParameter) or each.integer for each in parameters]
        )
        self._digits = [
            (row, each.digits)
            for row, each in enumerate(parameters)
            if isinstance(each, NumberParameter) and each.digits is not None
        ]
        self._has_logs = any(each.log for each in numbers)
        self.values = [
            len(each.choices) if isinstance(each, ChoiceParameter) and not each.ordered else 0
            for each in parameters
        ]
        self._default = space.codes([{each.name: each.default for each in parameters}])[:, 0]

    def features(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """One line per configuration, each parameter on its own scale in [0, 1]; below 0 where inactive."""
        low, high = self._low[:, None], self._high[:, None]
        units = (codes - low) / np.maximum(high - low, 1e-300)
        if self._has_logs:
            rows = np.flatnonzero(self._is_log)
            units[rows] = np.log(codes[rows] / low[rows]) / np.log(high[rows] / low[rows])
        return np.ascontiguousarray(np.where(np.isnan(units), _INACTIVE, units).T)

    def neighbours(self, parents: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
        """A neighbour of each of these configurations; forbidden ones are left out."""
        settings = self._settings
        count = parents.shape[1]
        codes = self._filled(parents.copy(), generator)
        active = ~np.isnan(parents)
        ranked = np.argsort(~active, axis=0, kind="stable")  # the active ones first
        most = len(settings.changes)
        picks = (generator.random((most, count)) * active.sum(axis=0)).astype(np.intp)
        changes = 1 + generator.choice(most, count, p=settings.changes)
        columns = np.broadcast_to(np.arange(count), picks.shape)
        chosen = np.arange(most)[:, None] < changes
        rows, columns = ranked[picks, columns][chosen], columns[chosen]
        codes[rows, columns] = self._changed(rows, codes[rows, columns], generator)
        return self._space.allowed_codes(codes)

    def leaps(
        self,
        parents: NDArray[np.float64],
        best: NDArray[np.float64],
        gain: NDArray[np.float64],
        generator: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Each of these configurations with some of its values set to the best, those that gain most first.

        Args:
            parents: The configurations.
            best: The best value of each parameter, as a share of its range.
            gain: What it gains, one line per configuration.
            generator: Where all chance comes from.
        """
        count = parents.shape[1]
        codes = self._filled(parents.copy(), generator)
        with np.errstate(divide="ignore"):
            keys = np.log(gain) + generator.gumbel(size=gain.shape)
        rank = np.argsort(np.argsort(-keys, axis=1, kind="stable"), axis=1, kind="stable")
        most = generator.integers(1, self._settings.most_leaps, size=(count, 1), endpoint=True)
        chosen = (rank < most) & (gain > 0)
        columns, rows = np.nonzero(chosen)
        codes[rows, columns] = self._at(rows, best[rows])
        return self._space.allowed_codes(codes)

    def crossings(
        self, first: NDArray[np.float64], second: NDArray[np.float64], generator: np.random.Generator
    ) -> NDArray[np.float64]:
        """From each pair a configuration that takes every value from one of the two."""
        ours, theirs = ~np.isnan(first), ~np.isnan(second)
        pick = np.where(ours & theirs, generator.random(first.shape) < 0.5, ours)
        return self._space.allowed_codes(self._filled(np.where(pick, first, second), generator))

    def _changed(
        self, rows: NDArray[np.intp], codes: NDArray[np.float64], generator: np.random.Generator
    ) -> NDArray[np.float64]:
        """Other values of these parameters: a step away, or drawn anew."""
        size = len(rows)
        low, high, log = self._low[rows], self._high[rows], self._is_log[rows]
        width = generator.choice(self._settings.steps, size) * generator.normal(size=size)
        with np.errstate(divide="ignore", invalid="ignore"):
            unit = np.where(
                log, np.log(codes / low) / np.log(high / low), (codes - low) / np.maximum(high - low, 1e-300)
            )
        anew = self._is_leap[rows] | (generator.random(size) < self._settings.uniform_share)
        draws = generator.random(size)
        moved = self._at(rows, np.where(anew & self._is_number[rows], draws, np.clip(unit + width, 0.0, 1.0)))
        stays = self._is_whole[rows] & (moved == codes)
        moved = np.where(stays, np.clip(codes + np.copysign(1.0, width), low, high), moved)
        values = high - low + 1.0
        other = low + np.mod(codes - low + 1.0 + np.floor(draws * (values - 1.0)), values)
        return np.where(anew & ~self._is_number[rows] & (values > 1), other, moved)

    def _at(self, rows: NDArray[np.intp], unit: NDArray[np.float64]) -> NDArray[np.float64]:
        """Codes at these shares of the ranges."""
        low, high = self._low[rows], self._high[rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            codes = np.where(self._is_log[rows], low * (high / low) ** unit, low + unit * (high - low))
        codes = np.where(self._is_whole[rows], np.round(codes), codes)
        for row, digits in self._digits:
            chosen = rows == row
            codes[chosen] = np.round(codes[chosen], digits)
        return np.asarray(np.clip(codes, low, high))

    def _filled(self, codes: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
        """With a value for what is inactive: its default or, half of the time, a random one."""
        rows, columns = np.nonzero(np.isnan(codes))
        if rows.size:
            drawn = self._at(rows, generator.random(rows.size))
            codes[rows, columns] = np.where(generator.random(rows.size) < 0.5, self._default[rows], drawn)
        return codes


def _ends(parameter: Parameter) -> tuple[float, float]:
    """The smallest and the largest code."""
    if isinstance(parameter, NumberParameter):
        return float(parameter.low), float(parameter.high)
    return 0.0, float(len(parameter.choices) - 1)

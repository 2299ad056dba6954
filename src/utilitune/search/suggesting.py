"""Which candidate to race next: half by a model, else a neighbour or a crossing of the best, or chance.

The model learns one row per candidate: its parameters, and how quick it was apart from how easy its
instances were (`merits`), in logarithms of time. These are smoother than utilities, which saturate. Where the
worth of a run does not follow from its time, the worth takes its place. The suggestion has the largest
expected improvement among neighbours and crossings of the best, random draws, and what a short climb from the
best of these finds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from utilitune.search.additive import AdditiveModel
from utilitune.search.base import Belief
from utilitune.search.forest import Growth, Trees, grow, predict
from utilitune.search.merits import merits
from utilitune.search.moves import Moves
from utilitune.search.one_thread import on_one_thread
from utilitune.search.settings import SuggestionSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from utilitune.search.pool import Pool
    from utilitune.spaces import Assignment, ParameterSpace

    Worths = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_TRIALS = 20
_FEWEST_RUNS = 3
_DECIMALS = 9
"""Promises are compared up to so many decimals, so that no processor's rounding decides a search."""


class RandomSuggester:
    """Candidates by chance."""

    def suggest(self, pool: Pool, incumbent: int, generator: np.random.Generator) -> Assignment | None:  # noqa: ARG002 -- the seam
        """A random configuration that is no candidate yet; None if there seems to be none."""
        return _first_new(pool, pool.space.sample_codes(generator, _TRIALS))


class MixedSuggester:
    """Candidates by a model, near the best, between the best, and by chance.

    Args:
        space: The parameters.
        by_time: Whether the worth of a run follows from its time.
        seed: What the trees of the model follow from.
        settings: The shares, and the numbers of the rules.
    """

    def __init__(
        self,
        space: ParameterSpace,
        *,
        by_time: bool = True,
        seed: int = 0,
        settings: SuggestionSettings | None = None,
    ) -> None:
        self.settings = settings or SuggestionSettings()
        self._moves = Moves(space, self.settings)
        self._by_time = by_time
        self._seed = seed
        self._trees: Trees | None = None
        self._rest: Trees | None = None
        self._parts = AdditiveModel(self._moves.values)
        self._worths = AdditiveModel(self._moves.values)
        self._best = 0.0
        self._fitted_rows = 0
        self._fitted_incumbent = -1
        self._elites: list[int] = []

    def suggest(self, pool: Pool, incumbent: int, generator: np.random.Generator) -> Assignment | None:
        """A configuration that is no candidate yet; None if there seems to be none."""
        with on_one_thread():
            self._learn(pool, incumbent)
            found = self._suggested(pool, incumbent, generator)
        return found or RandomSuggester().suggest(pool, incumbent, generator)

    def _suggested(self, pool: Pool, incumbent: int, generator: np.random.Generator) -> Assignment | None:
        """By the model, near the best, or between the best; None where that finds nothing, or by chance."""
        settings, kind = self.settings, generator.random()
        found: Assignment | None = None
        if kind < settings.model and self._trees is not None:
            found = self._by_model(pool, incumbent, self._trees, generator)
        elif kind < settings.model + settings.neighbour:
            parents = pool.codes(self._parents(incumbent, _TRIALS, generator))
            found = _first_new(pool, self._moves.neighbours(parents, generator))
        elif kind < settings.model + settings.neighbour + settings.crossing:
            found = _first_new(pool, self._crossings(pool, incumbent, _TRIALS, generator))
        return found

    def belief(self, pool: Pool, candidate: int, rival: int) -> Belief | None:
        """How much more a candidate is worth than a rival, by what their parameters add."""
        if self._trees is None:
            return None
        with on_one_thread():
            return Belief(*self._worths.difference(self._moves.features(pool.codes([candidate, rival]))))

    # -- the best --------------------------------------------------------------------------------------

    def _parents(self, incumbent: int, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Whom to vary: the incumbent most often, else one of the elites."""
        others = np.array(self._elites or [incumbent])
        drawn = others[generator.integers(len(others), size=count)]
        return np.where(generator.random(count) < self.settings.incumbent_share, incumbent, drawn)

    def _crossings(
        self, pool: Pool, incumbent: int, count: int, generator: np.random.Generator
    ) -> NDArray[np.float64]:
        first = pool.codes(self._parents(incumbent, count, generator))
        others = np.array(self._elites or [incumbent])
        second = pool.codes(others[generator.integers(len(others), size=count)])
        return self._moves.crossings(first, second, generator)

    # -- the model -------------------------------------------------------------------------------------

    def _learn(self, pool: Pool, incumbent: int) -> None:
        """Fit the trees anew if enough is new."""
        settings = self.settings
        is_new = incumbent != self._fitted_incumbent
        growth = settings.refit_growth_incumbent if is_new else settings.refit_growth
        if len(pool) < max(settings.fewest_rows, growth * self._fitted_rows):
            return
        self._fitted_rows, self._fitted_incumbent = len(pool), incumbent
        rows = [each for each in range(len(pool)) if pool.looked_at[each]][-settings.most_rows :]
        target, runs = self._merits(pool, rows, by_time=self._by_time)
        weight = runs / (runs + settings.runs_half_weight)
        features = self._moves.features(pool.codes(rows))
        columns = max(1, math.ceil(settings.feature_share * features.shape[1]))
        self._trees = grow(
            features, target, weight, Growth(settings.trees, settings.leaf, columns), self._seed + len(rows)
        )
        mean, _ = predict(self._trees, features)
        self._parts.fit(features, target, weight)
        finer = Growth(settings.rest_trees, settings.rest_leaf, columns)
        rest = target - self._parts.predict(features)
        self._rest = grow(features, rest, weight, finer, self._seed + len(rows))
        worth, _ = self._merits(pool, rows, by_time=False)
        self._worths.fit(features, worth, runs / (runs + settings.worths_half_weight))
        serious = np.flatnonzero(runs >= _FEWEST_RUNS)
        self._best = float(mean[serious].max()) if serious.size else 0.0
        order = serious[np.argsort(-(target * weight + mean * (1 - weight))[serious], kind="stable")]
        self._elites = [rows[place] for place in order[: settings.elites]]

    def _merits(
        self, pool: Pool, rows: list[int], *, by_time: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How good each was, apart from how easy its instances were, and on how many of them."""
        runs = [
            (row, position, -result.log_time if by_time else result.worth)
            for row, candidate in enumerate(rows)
            for position, result in pool.looked_at[candidate].items()
        ]
        row, position, value = (np.array(column) for column in zip(*runs, strict=True))
        return merits(row, position, value, self.settings.largest_ratio)

    def _by_model(
        self, pool: Pool, incumbent: int, trees: Trees, generator: np.random.Generator
    ) -> Assignment | None:
        """What promises most: half of the time by the trees, otherwise by parts as they may be."""
        settings = self.settings

        def by_trees(codes: NDArray[np.float64]) -> NDArray[np.float64]:
            return expected_improvement(*predict(trees, self._moves.features(codes)), self._best)

        parents = pool.codes(self._parents(incumbent, settings.mutants, generator))
        codes = np.hstack(
            [
                self._moves.neighbours(parents, generator),
                self._crossings(pool, incumbent, settings.crossings, generator),
                pool.space.sample_codes(generator, settings.randoms),
            ]
        )
        if self._rest is None or generator.random() >= settings.parts:
            return self._climbed(pool, codes, by_trees, generator)
        rest, drawn = self._rest, self._parts.drawn(generator)

        def by_parts(codes: NDArray[np.float64]) -> NDArray[np.float64]:
            features = self._moves.features(codes)
            return drawn.predict(features) + predict(rest, features)[0]

        sources = pool.codes(self._parents(incumbent, settings.leaps, generator))
        best, gain = drawn.best_values(self._moves.features(sources))
        codes = np.hstack([codes, self._moves.leaps(sources, best, gain, generator)])
        return self._climbed(pool, codes, by_parts, generator)

    def _climbed(
        self, pool: Pool, codes: NDArray[np.float64], worths: Worths, generator: np.random.Generator
    ) -> Assignment | None:
        """The most promising of these, or what a short climb from it finds."""
        settings = self.settings
        found, worth = _most_promising(pool, codes, worths)
        for _ in range(settings.climbs):
            if found is None:
                break
            around = self._moves.neighbours(np.repeat(found, settings.climbing, axis=1), generator)
            better, better_worth = _most_promising(pool, around, worths)
            if better is None or better_worth <= worth:
                continue
            found, worth = better, better_worth
        return None if found is None else pool.space.assignments(found)[0]


def _most_promising(
    pool: Pool, codes: NDArray[np.float64], worths: Worths
) -> tuple[NDArray[np.float64] | None, float]:
    """The configuration that promises most and is no candidate yet."""
    values = np.round(worths(codes), _DECIMALS)
    for place in np.argsort(-values, kind="stable")[:_TRIALS].tolist():
        if pool.is_new(codes[:, place]):
            return codes[:, [place]], float(values[place])
    return None, -math.inf


def expected_improvement(
    mean: NDArray[np.float64], spread: NDArray[np.float64], best: float
) -> NDArray[np.float64]:
    """E[max(0, V − best)] for V normal:  (μ − b)·Φ(z) + σ·φ(z)  with  z = (μ − b)/σ."""
    from scipy.special import ndtr

    sigma = np.maximum(spread, 1e-6)
    z = (mean - best) / sigma
    return np.asarray((mean - best) * ndtr(z) + sigma * np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi))


def _first_new(pool: Pool, codes: NDArray[np.float64]) -> Assignment | None:
    """The first of these configurations that is no candidate yet."""
    for place in range(codes.shape[1]):
        if pool.is_new(codes[:, place]):
            return pool.space.assignments(codes[:, [place]])[0]
    return None

"""Made-up programs whose effects are random trees, as those of a surrogate are; they serve tuning only.

The law is that of a surrogate (`surrogate`), its trees are drawn instead of fitted: parameters matter very
unequally, and nearly all of them act together with others. The default is the best of some draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.search.landscapes import Recipe, space_of
from benchmarks.search.surrogate import DEPTH, SurrogateLaw, Trees
from benchmarks.search.task import Task

from utilitune.spaces import ParameterSpace
from utilitune.utility import LogLaplace

if TYPE_CHECKING:
    from collections.abc import Sequence

TRAINING, TESTING = 100, 300
COMPONENTS = 4
TREES = 60


@dataclass(frozen=True, slots=True)
class Forest:
    """What such a task is made of.

    Attributes:
        name: Its name.
        seed: All of it follows from this.
        parameters: Number of parameters.
        choices: Share of them that are choices.
        children: How many are active only for some values of a choice.
        noise: Standard deviation of chance, in natural logarithms of time.
        scale: The same of the effects.
        draws: The default is the best of so many.
    """

    name: str
    seed: int
    parameters: int
    choices: float
    children: int = 10
    noise: float = 0.6
    scale: float = 0.5
    draws: int = 60

    def task(self) -> Task:
        """The task."""
        generator = np.random.default_rng([self.seed, 5])
        recipe = Recipe(
            self.name,
            self.seed,
            parameters=self.parameters,
            important=8,
            choices=self.choices,
            children=self.children,
        )
        space = space_of(recipe, generator)
        matters = generator.dirichlet(np.full(self.parameters, 0.25))
        trees = tuple(_trees(matters, generator) for _ in range(COMPONENTS))
        law = self._law(trees, generator)
        task = Task(
            self.name,
            self._with_default(space, trees[0], generator),
            LogLaplace(1.0),
            1e9,
            TRAINING,
            TESTING,
            law,
            seed=self.seed,
        )
        half_s = float(np.median(task.runtimes_s(task.default)[:TRAINING]))
        return replace(task, utility=LogLaplace(half_s), largest_captime_s=30.0 * half_s, _known={})

    def _law(self, trees: Sequence[Trees], generator: np.random.Generator) -> SurrogateLaw:
        count = TRAINING + TESTING
        minds = np.empty((count, COMPONENTS))
        minds[:, 0] = self.scale * generator.lognormal(0.0, 0.3, count)
        minds[:, 1:] = generator.normal(0.0, 0.5 * self.scale, (count, COMPONENTS - 1))
        return SurrogateLaw(tuple(trees), generator.normal(2.0, 1.2, count), minds, self.noise)

    def _with_default(
        self, space: ParameterSpace, main: Trees, generator: np.random.Generator
    ) -> ParameterSpace:
        """The space with the best of some draws as its default."""
        draws = space.sample(generator, self.draws)
        best = draws[int(np.argmin([main(units) for units in space.encode(draws)]))]
        parameters = [
            replace(each, default=best[each.name]) if each.name in best else each
            for each in space.parameters.values()
        ]
        return ParameterSpace(parameters, space.conditions)


FORESTS = (
    Forest("forest-choices", 921, parameters=45, choices=0.85),
    Forest("forest-good", 923, parameters=47, choices=0.9, noise=0.7, scale=0.35, draws=400),
    Forest("forest-decent", 941, parameters=48, choices=0.8, noise=0.7, scale=0.4, draws=150),
    Forest("forest-small-gain", 942, parameters=45, choices=0.85, noise=0.8, scale=0.3, draws=300),
)


def _trees(matters: np.ndarray, generator: np.random.Generator) -> Trees:
    """Full trees that ask for parameters as often as these matter."""
    nodes, inner = 2 ** (DEPTH + 1) - 1, 2**DEPTH - 1
    feature = np.full((TREES, nodes), -1, dtype=np.int16)
    threshold = np.zeros((TREES, nodes), dtype=np.float32)
    value = np.zeros((TREES, nodes), dtype=np.float32)
    feature[:, :inner] = generator.choice(len(matters), (TREES, inner), p=matters)
    threshold[:, :inner] = generator.uniform(-0.2, 0.95, (TREES, inner))
    value[:, inner:] = generator.normal(0.0, 1.0, (TREES, nodes - inner)) / np.sqrt(TREES)
    left = np.where(np.arange(nodes) < inner, 2 * np.arange(nodes) + 1, 0).astype(np.int16)
    right = np.where(left > 0, left + 1, 0).astype(np.int16)
    return Trees(0.0, feature, threshold, np.tile(left, (TREES, 1)), np.tile(right, (TREES, 1)), value)

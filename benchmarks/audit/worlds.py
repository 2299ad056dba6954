"""Unkind populations of runs whose truth is known.

Bounds fail most easily where the variance is largest (a run is worth all or nothing), where configurations
tie or nearly tie, where all of them meet hard instances together, where losses are rare, and where most runs
are stopped long before they would end. So these are the worlds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from utilitune.utility import Utility

NEVER = math.inf
LIMIT_S = 64.0
COIN = "uniform(k0=8)"
PATIENT = "log-laplace(k0=8)"


@dataclass(frozen=True, eq=False)
class World:
    """Configurations, one per row, on the positions of one instance order.

    Attributes:
        runtimes_s: Their runtimes.
        worth: What each is truly worth: its expected utility, or its mean over the list.
        utility: The utility function.
        cutoff_s: Where every run is stopped; what happens later still counts in `worth`.
        space: What a random draw is worth, as sorted values, all equally likely; empty for a fixed set.
    """

    runtimes_s: NDArray[np.float64]
    worth: NDArray[np.float64]
    utility: Utility
    cutoff_s: float = LIMIT_S
    space: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def best_but(self, gamma: float) -> float:
        """OPT^γ: the largest worth that a random draw reaches with probability at least γ."""
        index = math.floor(len(self.space) * (1.0 - gamma) + 1e-9)
        return float(self.space[min(max(index, 0), len(self.space) - 1)])


def _coins(generator: np.random.Generator, chances: NDArray[np.float64], positions: int) -> World:
    """Each run is worth 1 with the configuration's chance, else 0."""
    won = generator.random((len(chances), positions)) < chances[:, None]
    return World(np.where(won, 0.0, NEVER), chances, parse_utility(COIN))


def one_better(generator: np.random.Generator, positions: int) -> World:
    """One configuration is clearly better."""
    return _coins(generator, generator.permutation([0.6] + [0.38] * 7), positions)


def near_ties(generator: np.random.Generator, positions: int) -> World:
    """The best leads by next to nothing."""
    return _coins(generator, generator.permutation([0.5, 0.5, 0.52, 0.5, 0.48, 0.5]), positions)


def rarely_good(generator: np.random.Generator, positions: int) -> World:
    """Chances near 0, where one lucky run weighs much."""
    return _coins(generator, generator.permutation([0.08, 0.03, 0.03, 0.03, 0.03]), positions)


def hard_together(generator: np.random.Generator, positions: int) -> World:
    """Three kinds of instances, on which all configurations are quick, slow or hopeless together."""
    kinds = generator.integers(0, 3, positions)
    table = np.outer(generator.permutation([1.0, 1.5, 1.5, 2.0, 3.0]), [0.5, 8.0, 60.0])
    utility = parse_utility(PATIENT)
    return World(table[:, kinds], utility(table).mean(axis=1), utility)


def rare_losses(generator: np.random.Generator, positions: int) -> World:
    """Quick configurations lose everything now and then; a steady one is a little better on average."""
    lost, quick, steady = 0.06, 1.0, 1.4
    utility = parse_utility(COIN)
    losses = np.array([lost, lost, lost, 0.0])
    times = np.array([quick, quick, quick, steady])
    order = generator.permutation(4)
    losses, times = losses[order], times[order]
    runtimes = np.where(generator.random((4, positions)) < losses[:, None], NEVER, times[:, None])
    return World(runtimes, (1 - losses) * utility(times), utility)


def stopped_early(generator: np.random.Generator, positions: int) -> World:
    """Most runs would end after the cutoff of 6 s, where an answer is still worth much."""
    times = np.array([[1.0, 7.0, 500.0], [3.0, 20.0, 90.0]] * 3)
    chances = np.array([[0.3, 0.2, 0.5], [0.2, 0.6, 0.2]] * 3)
    utility = parse_utility("log-laplace(k0=30)")
    kinds = np.stack([generator.choice(3, positions, p=chance) for chance in chances])
    worth = (utility(times) * chances).sum(axis=1)
    return World(np.take_along_axis(times, kinds, axis=1), worth, utility, cutoff_s=6.0)


FIXED = {
    "one better": one_better,
    "near ties": near_ties,
    "rarely good": rarely_good,
    "hard together": hard_together,
    "rare losses": rare_losses,
    "stopped early": stopped_early,
}


def listed(generator: np.random.Generator, positions: int) -> World:
    """A list of instances in random order; a configuration is worth its mean over the list."""
    names = sorted(FIXED)
    make = FIXED[names[int(generator.integers(len(names)))]]
    world = make(generator, positions)
    order = generator.permutation(positions)
    sorted_runs = world.runtimes_s[:, np.argsort(world.runtimes_s.sum(axis=0), kind="stable")]
    runtimes = sorted_runs[:, order]  # from any stored order, here the easy ones first
    return World(runtimes, world.utility(runtimes).mean(axis=1), world.utility, world.cutoff_s)


def listed_of(sizes: tuple[int, ...]) -> Callable[[np.random.Generator, int], World]:
    """Lists of one of these sizes."""

    def make(generator: np.random.Generator, positions: int) -> World:
        del positions
        return listed(generator, int(generator.choice(sizes)))

    return make


def _drawn(generator: np.random.Generator, space: NDArray[np.float64], rows: int, positions: int) -> World:
    chances = generator.choice(space, rows)
    drawn = _coins(generator, chances, positions)
    return World(drawn.runtimes_s, chances, drawn.utility, space=np.sort(space))


def even_space(generator: np.random.Generator, positions: int, rows: int = 120) -> World:
    """A random draw is worth anything from 0 to 1, all equally likely."""
    return _drawn(generator, (np.arange(2000) + 0.5) / 2000, rows, positions)


def lucky_few(generator: np.random.Generator, positions: int, rows: int = 120) -> World:
    """One draw in ten is good, all others are alike."""
    return _drawn(generator, np.repeat([0.4, 0.75], [900, 100]), rows, positions)


def nine_levels(generator: np.random.Generator, positions: int, rows: int = 120) -> World:
    """Nine configurations in all, drawn again and again: repeated draws have the same runs."""
    chances = np.array([0.3, 0.35, 0.4, 0.45, 0.5, 0.5, 0.5, 0.55, 0.62])
    base = _coins(generator, chances, positions)
    drawn = generator.integers(0, 9, rows)
    return World(base.runtimes_s[drawn], chances[drawn], base.utility, space=chances)


GROWING = {"even space": even_space, "lucky few": lucky_few, "nine levels": nine_levels}


def growing_list(generator: np.random.Generator, positions: int, rows: int = 120) -> World:
    """Random draws from 300 configurations on a list of instances."""
    base = rng_levels(generator, positions)
    order = generator.permutation(positions)
    everything = np.where(generator.random((300, positions)) < base[:, None], 1.0, NEVER)[:, order]
    utility = parse_utility(COIN)
    worth = utility(everything).mean(axis=1)
    drawn = generator.integers(0, 300, rows)
    return World(everything[drawn], worth[drawn], utility, space=np.sort(worth))


def rng_levels(generator: np.random.Generator, positions: int) -> NDArray[np.float64]:
    """Chances of 300 configurations."""
    del positions
    return generator.beta(2.0, 2.0, 300)

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
    from collections.abc import Callable, Mapping

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


def _opposed(generator: np.random.Generator, chances: NDArray[np.float64], positions: int) -> World:
    """Coins of which every other one falls where the others do not: their luck differs as much as it can."""
    luck = np.tile(generator.random(positions), (len(chances), 1))
    luck[::2] = 1.0 - luck[::2]
    return World(np.where(luck < chances[:, None], 0.0, NEVER), chances, parse_utility(COIN))


def wide_and_opposed(generator: np.random.Generator, positions: int) -> World:
    """From hopeless to good; the two best nearly tie, and one has luck where the other has none."""
    order = generator.permutation(4)
    pairs = np.array([[0.53, 0.5], [0.2, 0.05], [0.25, 0.03], [0.15, 0.1]])[order]
    return _opposed(generator, pairs.ravel(), positions)


def two_opposed(generator: np.random.Generator, positions: int) -> World:
    """Two nearly tie, and one has luck where the other has none; a third is worth next to nothing."""
    best = generator.permutation([0.51, 0.49])
    return _opposed(generator, np.append(best, 0.02), positions)


def many_just_too_far(generator: np.random.Generator, positions: int) -> World:
    """Of 16, one is better by a little more than the ε that Naive is asked for; one is worth nothing."""
    return _coins(generator, generator.permutation([0.61, *[0.4] * 14, 0.02]), positions)


def one_hopeless(make: Callable[[np.random.Generator, int], World]) -> Callable[..., World]:
    """Another world, and one configuration more that never ends: whoever answers with it must be caught."""

    def made(generator: np.random.Generator, positions: int) -> World:
        world = make(generator, positions)
        runtimes = np.vstack([world.runtimes_s, np.full(positions, NEVER)])
        return World(runtimes, np.append(world.worth, 0.0), world.utility, world.cutoff_s)

    return made


WIDE = {
    "wide and opposed": wide_and_opposed,
    "many just too far": many_just_too_far,
    "two opposed": two_opposed,
    "rare losses": one_hopeless(rare_losses),
    "stopped early": one_hopeless(stopped_early),
}
"""For procedures with wide bounds, on many instances: whatever ε they reach, some answers are farther off."""


def listed_of(
    sizes: tuple[int, ...], kinds: Mapping[str, Callable[..., World]]
) -> Callable[[np.random.Generator], World]:
    """Lists of one of these sizes, in random order; a configuration is worth its mean over the list."""

    def make(generator: np.random.Generator) -> World:
        positions = int(generator.choice(sizes))
        names = sorted(kinds)
        world = kinds[names[int(generator.integers(len(names)))]](generator, positions)
        order = generator.permutation(positions)
        sorted_runs = world.runtimes_s[:, np.argsort(world.runtimes_s.sum(axis=0), kind="stable")]
        runtimes = sorted_runs[:, order]  # from any stored order, here the easy ones first
        return World(runtimes, world.utility(runtimes).mean(axis=1), world.utility, world.cutoff_s)

    return make


@dataclass(frozen=True, eq=False)
class Lasting:
    """Configurations whose runs last any time: Weibull's law, with some that never end.

    Attributes:
        runtimes_s: One row per configuration.
        scales_s: How long its runs last.
        shapes: How much they differ.
        ends: The share that ever ends.
    """

    runtimes_s: NDArray[np.float64]
    scales_s: NDArray[np.float64]
    shapes: NDArray[np.float64]
    ends: NDArray[np.float64]

    def done_by(self, deadline_s: float, *, finite: bool) -> NDArray[np.float64]:
        """The share of runs that end before a deadline: of these runs, or of all like them."""
        if finite:
            return np.asarray((self.runtimes_s < deadline_s).mean(axis=1))
        return self.ends * (1.0 - np.exp(-((deadline_s / self.scales_s) ** self.shapes)))


def lasting(generator: np.random.Generator, positions: int) -> Lasting:
    """Two that cross in the middle, each quick where the other is slow, and two that are worse."""
    shapes = np.array([0.9, 1.1, 1.0, 1.0])
    scales = np.array([1.4, 1.4, 8.0, 40.0]) / np.log(2.0) ** (1.0 / shapes)
    ends = np.array([1.0, 1.0, 0.9, 0.5])
    luck = np.tile(generator.random(positions), (len(ends), 1))
    luck[1::2] = 1.0 - luck[1::2]
    share = np.minimum(luck / ends[:, None], 1.0 - 1e-12)
    times = scales[:, None] * (-np.log1p(-share)) ** (1.0 / shapes[:, None])
    return Lasting(np.where(luck < ends[:, None], times, NEVER), scales, shapes, ends)


def _drawn(generator: np.random.Generator, space: NDArray[np.float64], rows: int, positions: int) -> World:
    chances = generator.choice(space, rows)
    drawn = _coins(generator, chances, positions)
    return World(drawn.runtimes_s, chances, drawn.utility, space=np.sort(space))


def even_space(generator: np.random.Generator, positions: int, rows: int = 120) -> World:
    """A random draw is worth anything from 0 to 1, all equally likely."""
    return _drawn(generator, (np.arange(2000) + 0.5) / 2000, rows, positions)


def one_in_ten(generator: np.random.Generator, positions: int, rows: int = 120) -> World:
    """One draw in ten is good, all others are alike and bad."""
    return _drawn(generator, np.repeat([0.2, 0.9], [900, 100]), rows, positions)


def nine_levels(generator: np.random.Generator, positions: int, rows: int = 120) -> World:
    """Nine configurations in all, drawn again and again: repeated draws have the same runs."""
    chances = np.array([0.02, 0.1, 0.25, 0.4, 0.5, 0.5, 0.6, 0.85, 0.95])
    base = _coins(generator, chances, positions)
    drawn = generator.integers(0, 9, rows)
    return World(base.runtimes_s[drawn], chances[drawn], base.utility, space=chances)


GROWING = {"even space": even_space, "one in ten": one_in_ten, "nine wide levels": nine_levels}


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

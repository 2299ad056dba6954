"""Worlds made to mislead a search: on short runs chance looks like a gain, or hides a loss.

The logarithm of a runtime is the instance's own level plus weight · distance² for every parameter, where
distance is that from the default, plus normal chance. So nothing is better than the default, except where a
world says so. What misleads:

- *coins*: runs are won or lost by chance, and more are lost the farther a configuration is from the default;
- *ties*: everything is worth nearly the same;
- *rare losses*: away from the default nearly all instances gain a little and a few lose everything;
- *few instances*: what is best on those listed is not best on others;
- *heavy tails*: some runs take a multiple of their time;
- *a hard default*: nearly everything else is far worse;
- *small gains*: two parameters gain a little, among many that lose.

The rule of `utilitune.live.hunting` was chosen with `TUNING`; `JUDGING` has other worlds of the same kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.search.task import Task

from utilitune.spaces import ParameterSpace
from utilitune.utility import LogLaplace, Uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOST = 7.0
"""What a lost run adds to the logarithm of its time: over a thousand times as long."""

_MOVED = 0.1
"""A parameter farther than this from its default, on [0, 1], has been moved."""


@dataclass(frozen=True, slots=True)
class World:
    """What a world is made of.

    Attributes:
        name: Its name.
        seed: All of it follows from this.
        parameters: Number of parameters; every third is a choice among four.
        training: Number of training instances.
        testing: Number of test instances.
        hardness: Standard deviation of the levels of instances, in natural logarithms of time.
        noise: Standard deviation of chance, likewise.
        weight: What a parameter costs on average at a distance of 1, likewise.
        gain_weight: What each of two parameters gains instead.
        gain: What is gained on every instance where three parameters or more have been moved.
        rare: For each parameter, the share of instances on which moving it loses the run.
        heavy: Share of runs that take a multiple of their time.
        heavy_scale: The mean logarithm of that multiple.
        coin: Share of runs that the default wins on an average instance; nothing is tossed where it is 1.
        coin_slope: How much a distance of 1 lowers the logarithm of the odds.
        coin_hard: Standard deviation of that logarithm over instances.
        deadline: Whether an answer's worth falls evenly to 0 after three of the default's medians; else half
            of it is lost after one (log-Laplace).
    """

    name: str
    seed: int
    parameters: int = 8
    training: int = 100
    testing: int = 400
    hardness: float = 1.0
    noise: float = 0.5
    weight: float = 0.5
    gain_weight: float = 0.0
    gain: float = 0.0
    rare: float = 0.0
    heavy: float = 0.0
    heavy_scale: float = 2.0
    coin: float = 1.0
    coin_slope: float = 0.3
    coin_hard: float = 1.5
    deadline: bool = False

    def task(self) -> Task:
        """The task."""
        generator = np.random.default_rng([self.seed, 5])
        law = _law(self, space := _space(self, generator), generator)
        task = Task(self.name, space, LogLaplace(1.0), 1e9, self.training, self.testing, law, seed=self.seed)
        half_s = float(np.median(task.runtimes_s(task.default)[: self.training]))
        utility = Uniform(3 * half_s) if self.deadline else LogLaplace(half_s)
        return replace(task, utility=utility, largest_captime_s=30.0 * half_s, _known={})


@dataclass(frozen=True, eq=False, slots=True)
class HostileLaw:
    """Runtimes of a world; see the module.

    Attributes:
        world: What it is made of.
        default: The default, each parameter on [0, 1].
        level: Log time by instance.
        weight: Cost of each parameter's squared distance.
        loses: Whether moving a parameter (row) loses the run on an instance (column).
        luck: What an instance adds to the logarithm of the odds of winning.
    """

    world: World
    default: NDArray[np.float64]
    level: NDArray[np.float64]
    weight: NDArray[np.float64]
    loses: NDArray[np.bool_]
    luck: NDArray[np.float64]

    def log_times(self, units: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
        """Log times on all instances."""
        world, count = self.world, len(self.level)
        distance = np.abs(units - self.default)
        moved = distance > _MOVED
        change = float((self.weight * distance**2).sum()) - world.gain * min(1.0, moved.sum() / 3)
        times = self.level + change + generator.normal(0.0, world.noise, count)
        if world.heavy:
            hit = generator.random(count) < world.heavy
            times += hit * generator.exponential(world.heavy_scale, count)
        times += LOST * (self.loses & moved[:, None]).any(axis=0)
        if world.coin < 1.0:
            odds = np.log(world.coin / (1.0 - world.coin)) - world.coin_slope * distance.sum() + self.luck
            times += LOST * (generator.random(count) > 1.0 / (1.0 + np.exp(-odds)))
        return np.asarray(times)


def _space(world: World, generator: np.random.Generator) -> ParameterSpace:
    tables: dict[str, Any] = {}
    for number in range(world.parameters):
        if number % 3 == 2:
            values = [f"v{each}" for each in range(4)]
            default: Any = values[int(generator.integers(4))]
            tables[f"p{number}"] = {"type": "categorical", "values": values, "default": default}
        else:
            default = float(round(generator.uniform(0.3, 0.7), 3))
            tables[f"p{number}"] = {"type": "float", "range": [0.0, 1.0], "default": default}
    return ParameterSpace.from_tables(tables)


def _law(world: World, space: ParameterSpace, generator: np.random.Generator) -> HostileLaw:
    shape = world.parameters, world.training + world.testing
    weight = world.weight * generator.uniform(0.3, 1.7, world.parameters)
    if world.gain_weight:
        weight[generator.choice(world.parameters, 2, replace=False)] = -world.gain_weight
    loses = generator.random(shape) < world.rare if world.rare else np.zeros(shape, dtype=np.bool_)
    return HostileLaw(
        world,
        space.encode([space.default()])[0],
        level=generator.normal(2.0, world.hardness, shape[1]),
        weight=weight,
        loses=loses,
        luck=generator.normal(0.0, world.coin_hard, shape[1]),
    )


TUNING = (
    World("coin-70", 1101, coin=0.7, noise=0.2, hardness=0.3),
    World("coin-92", 1102, coin=0.92, noise=0.2, hardness=0.3, coin_hard=0.5, coin_slope=0.5),
    World("coin-25-listed", 1103, coin=0.8, noise=0.2, hardness=0.3, training=25),
    World("ties-8", 1104, weight=0.05, noise=0.3, hardness=1.5),
    World("noisy-ties-12", 1105, weight=0.3, noise=1.2, parameters=12),
    World("rare-12", 1106, rare=0.012, gain=0.25, noise=0.3, weight=0.05),
    World("rare-20-deadline", 1107, rare=0.02, gain=0.4, noise=0.3, weight=0.05, deadline=True),
    World("10-listed", 1108, training=10, noise=0.8, weight=0.4),
    World("25-listed", 1109, training=25, noise=0.8, weight=0.4, deadline=True),
    World("heavy-15", 1110, heavy=0.15, heavy_scale=2.5, noise=0.3, weight=0.4),
    World("hard-default-8", 1111, weight=1.5, noise=0.9),
    World("small-gain-8", 1112, weight=0.6, gain_weight=0.6, noise=0.8),
)
JUDGING = (
    World("coin-50", 2101, coin=0.5, noise=0.1, hardness=0.2, parameters=10),
    World("coin-95", 2102, coin=0.95, noise=0.3, hardness=0.5, coin_hard=1.0, coin_slope=0.6, parameters=5),
    World("coin-15-listed", 2103, coin=0.6, noise=0.1, hardness=0.2, training=15, parameters=6),
    World("ties-20", 2104, weight=0.1, hardness=0.6, parameters=20),
    World("noisy-ties-6", 2105, noise=1.6, parameters=6, hardness=0.4),
    World("rare-30", 2106, rare=0.03, gain=0.5, noise=0.4, weight=0.05, parameters=5),
    World(
        "rare-8-deadline",
        2107,
        rare=0.008,
        gain=0.15,
        noise=0.2,
        weight=0.03,
        deadline=True,
        parameters=12,
    ),
    World("12-listed", 2108, training=12, noise=1.2, parameters=10),
    World("40-listed", 2109, training=40, noise=1.0, weight=0.6, deadline=True, parameters=5),
    World("heavy-6", 2110, heavy=0.06, heavy_scale=5.0, noise=0.4, parameters=12),
    World("hard-default-15", 2111, weight=2.5, noise=0.6, parameters=15),
    World("small-gain-12", 2112, weight=0.8, gain_weight=0.4, noise=0.6, parameters=12),
)
WORLDS = {world.name: world for world in (*TUNING, *JUDGING)}

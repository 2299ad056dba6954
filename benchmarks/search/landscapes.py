"""Made-up programs: many parameters of which few matter, with what makes real ones awkward.

The logarithm of a runtime is the instance's own level plus

- *valleys*: an important number costs a·((x − x*)² − (x_default − x*)²), its best place x* differs a little
  from instance to instance and, where there are groups of instances, from group to group;
- *tables*: an important choice adds a number per value;
- *pairs*: a·(x − ½)·(y − ½) for some pairs of important numbers, so that parameters must move together;
- *crumbs*: every other parameter matters next to nothing;
- *cliffs*: in part of its range a parameter multiplies the time by 15 to 150 on some of the instances;
- *chance*: normal, or with rare runs that take a multiple (heavy tails).

With `fixed_share`, a part of the time does not depend on the valleys, as the reading and simplifying of an
instance does not: effects are then no longer additive in the logarithm.

The default is decent, as defaults of real solvers are: nearer to the best than most draws. `away` and `rank`
make it better or worse than that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.search.task import Task

from utilitune.spaces import ChoiceParameter, NumberParameter, ParameterSpace
from utilitune.spaces.parser import parse_expression
from utilitune.utility import LogLaplace, Uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a landscape is made of.

    Attributes:
        name: Its name.
        seed: All of it follows from this.
        parameters: Number of parameters.
        important: How many of them matter.
        choices: Share of parameters that are choices.
        children: How many parameters are active only for some values of a choice.
        pairs: How many pairs of important numbers interact.
        cliffs: How many parameters have a part that is a catastrophe.
        strength: How much an important parameter matters, in natural logarithms of time.
        noise: Standard deviation of chance, likewise.
        tail: Share of runs that take a multiple of their time.
        groups: Groups of instances that want different things.
        hardness: Standard deviation of the levels of instances.
        fixed_share: Share of the default's time that valleys and tables do not change.
        training: Number of training instances.
        testing: Number of test instances.
        deadline: Whether an answer's worth falls evenly to 0 after three of the default's medians; else half
            of it is lost after one (log-Laplace).
        away: How far the best values lie from the default's: 1 for a decent default, more for a poor one.
        rank: How many values of an important choice are better than its default.
    """

    name: str
    seed: int
    parameters: int = 30
    important: int = 5
    choices: float = 0.4
    children: int = 0
    pairs: int = 2
    cliffs: int = 2
    strength: float = 1.6
    noise: float = 0.6
    tail: float = 0.0
    groups: int = 1
    hardness: float = 1.0
    fixed_share: float = 0.0
    training: int = 120
    testing: int = 300
    deadline: bool = False
    away: float = 1.0
    rank: int = 1

    def task(self) -> Task:
        """The task."""
        generator = np.random.default_rng([self.seed, 1])
        space, roles = _space(self, generator)
        law = _law(self, space, roles, generator)
        task = Task(self.name, space, LogLaplace(1.0), 1e9, self.training, self.testing, law, seed=self.seed)
        half_s = float(np.median(task.runtimes_s(task.default)[: self.training]))
        utility = Uniform(3 * half_s) if self.deadline else LogLaplace(half_s)
        return replace(task, utility=utility, largest_captime_s=30.0 * half_s, _known={})


@dataclass(frozen=True, slots=True)
class _Roles:
    """Which parameters (by place) do what."""

    numbers: tuple[int, ...]
    choices: tuple[int, ...]
    cliffs: tuple[int, ...]


def space_of(recipe: Recipe, generator: np.random.Generator) -> ParameterSpace:
    """The parameters of a recipe alone."""
    return _space(recipe, generator)[0]


def _space(recipe: Recipe, generator: np.random.Generator) -> tuple[ParameterSpace, _Roles]:
    """Parameters with their defaults and conditions, and who matters."""
    count, choices = recipe.parameters, round(recipe.choices * recipe.parameters)
    kinds = generator.permutation([True] * choices + [False] * (count - choices))
    parameters = [
        _choice(f"p{place:02}", generator) if is_choice else _number(f"p{place:02}", generator)
        for place, is_choice in enumerate(kinds.tolist())
    ]
    important = generator.permutation(count)[: recipe.important].tolist()
    parents = [place for place in important if kinds[place]] or np.flatnonzero(kinds).tolist()
    free = [place for place in generator.permutation(count).tolist() if place not in parents]
    conditions = {}
    for child in free[: recipe.children]:
        parent = parameters[int(generator.choice(parents))]
        values = [parent.default, *parent.choices[: len(parent.choices) // 2]]
        listed = ", ".join(sorted({f"'{value}'" for value in values}))
        conditions[parameters[child].name] = parse_expression(f"{parent.name} in [{listed}]")
    cliffs = generator.permutation(count)[: recipe.cliffs].tolist()
    roles = _Roles(
        tuple(place for place in important if not kinds[place]),
        tuple(place for place in important if kinds[place]),
        tuple(cliffs),
    )
    return ParameterSpace(parameters, conditions), roles


def _choice(name: str, generator: np.random.Generator) -> ChoiceParameter:
    values = tuple(f"v{number}" for number in range(int(generator.integers(2, 7))))
    return ChoiceParameter(name, values, values[int(generator.integers(len(values)))])


def _number(name: str, generator: np.random.Generator) -> NumberParameter:
    unit = float(generator.uniform(0.05, 0.95))
    if generator.random() < 0.4:
        return NumberParameter(name, 1, 10_000, round(10 ** (4 * unit)), integer=True, log=True)
    if generator.random() < 0.4:
        return NumberParameter(name, 0, 50, round(50 * unit), integer=True)
    return NumberParameter(name, 0.0, 1.0, unit)


@dataclass(frozen=True)
class _Terms:
    """What some parameters add to the logarithm, per instance.

    Attributes:
        places: The numbers' places.
        best: Their best value, per number and instance.
        weight: How much they matter, per number and instance.
        default: Their default.
        pairs: Pairs of places, with their weight.
        tables: Per choice: its place and what each value adds, per instance.
    """

    places: NDArray[np.int64]
    best: NDArray[np.float64]
    weight: NDArray[np.float64]
    default: NDArray[np.float64]
    pairs: tuple[tuple[int, int, float], ...]
    tables: tuple[tuple[int, NDArray[np.float64]], ...]


@dataclass(frozen=True)
class LandscapeLaw:
    """The law of a landscape; see the head of this module."""

    level: NDArray[np.float64]
    terms: _Terms
    crumbs: NDArray[np.float64]
    cliffs: tuple[tuple[int, float, float, NDArray[np.float64]], ...]
    noise: float
    tail: float
    fixed_share: float

    def log_times(self, units: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
        """Natural logarithms of a configuration's runtimes."""
        terms = self.terms
        x = np.where(units[terms.places] < 0, terms.default, units[terms.places])[:, None]
        change = (terms.weight * ((x - terms.best) ** 2 - (terms.default[:, None] - terms.best) ** 2)).sum(
            axis=0
        )
        for one, other, weight in terms.pairs:
            if units[one] >= 0 and units[other] >= 0:
                change = change + weight * (units[one] - 0.5) * (units[other] - 0.5)
        for place, table in terms.tables:
            if units[place] >= 0:
                change = change + table[round(float(units[place]) * (len(table) - 1))]
        change = change + float(self.crumbs @ np.where(units < 0, 0.5, units))
        if self.fixed_share:
            change = np.log(self.fixed_share + (1 - self.fixed_share) * np.exp(np.minimum(change, 30.0)))
        for place, low, high, penalty in self.cliffs:
            if low <= units[place] <= high:
                change = change + penalty
        chance = generator.normal(0.0, self.noise, len(self.level))
        if self.tail:
            hit = generator.random(len(self.level)) < self.tail
            chance = chance + hit * generator.exponential(1.8, len(self.level))
        return self.level + change + chance


def _law(
    recipe: Recipe, space: ParameterSpace, roles: _Roles, generator: np.random.Generator
) -> LandscapeLaw:
    instances = recipe.training + recipe.testing
    default = space.encode([space.default()])[0]
    group = generator.integers(0, recipe.groups, instances)
    mild = 0.4 if recipe.groups > 1 else 0.2
    weights = generator.lognormal(0.0, mild, (len(space.names), instances))
    level = generator.normal(2.3, recipe.hardness, instances)
    terms = _terms(recipe, roles, default, (group, weights), generator)
    crumbs = generator.normal(0.0, 0.02, len(space.names))
    crumbs[list(roles.numbers + roles.choices)] = 0.0
    cliffs = tuple(_cliff(space, place, default[place], instances, generator) for place in roles.cliffs)
    return LandscapeLaw(level, terms, crumbs, cliffs, recipe.noise, recipe.tail, recipe.fixed_share)


def _terms(
    recipe: Recipe,
    roles: _Roles,
    default: NDArray[np.float64],
    instances: tuple[NDArray[np.int64], NDArray[np.float64]],
    generator: np.random.Generator,
) -> _Terms:
    group, weights = instances
    numbers = np.array(roles.numbers, dtype=np.int64)
    started = np.where(default[numbers] < 0, 0.5, default[numbers])
    side = np.where(started > 0.5, -1.0, 1.0)
    distance = recipe.away * generator.uniform(0.1, 0.35, len(numbers))
    best = np.clip(started + side * distance, 0.02, 0.98)
    by_group = best[:, None] + generator.normal(
        0.0, 0.2 if recipe.groups > 1 else 0.0, (len(numbers), recipe.groups)
    )
    best_of = np.clip(by_group[:, group] + generator.normal(0, 0.05, (len(numbers), len(group))), 0.0, 1.0)
    steep = recipe.strength * generator.uniform(2.0, 6.0, len(numbers))
    pairs = []
    for _ in range(recipe.pairs if len(numbers) > 1 else 0):
        one, other = generator.choice(numbers, size=2, replace=False).tolist()
        pairs.append(
            (one, other, float(recipe.strength * generator.choice([-1, 1]) * generator.uniform(0.5, 1.5)))
        )
    tables = []
    for place in roles.choices:
        adds = recipe.strength * generator.uniform(0.0, 1.0, 6)
        own = round(float(max(default[place], 0.0)) * 5)
        adds[own] = np.sort(adds)[recipe.rank]  # a decent default is the second best
        adds -= adds[own]
        shift = generator.normal(0.0, 0.5 if recipe.groups > 1 else 0.0, (6, recipe.groups))
        tables.append((place, (adds[:, None] + shift[:, group]) * weights[place]))
    return _Terms(numbers, best_of, steep[:, None] * weights[numbers], started, tuple(pairs), tuple(tables))


def _cliff(
    space: ParameterSpace, place: int, default: float, instances: int, generator: np.random.Generator
) -> tuple[int, float, float, NDArray[np.float64]]:
    """A part of a parameter's range, away from the default, that is a catastrophe on some instances."""
    parameter = space.parameters[space.names[place]]
    height = np.log(generator.uniform(15, 150)) * (generator.random(instances) < generator.uniform(0.3, 1.0))
    if isinstance(parameter, ChoiceParameter):
        last = len(parameter.choices) - 1
        away = [each / last for each in range(last + 1) if each / last != default]
        value = float(generator.choice(away))
        return place, value - 1e-9, value + 1e-9, height
    if default > 0.5:
        return place, 0.0, float(default * generator.uniform(0.2, 0.6)), height
    return place, float(1 - (1 - max(default, 0.0)) * generator.uniform(0.2, 0.6)), 1.0, height

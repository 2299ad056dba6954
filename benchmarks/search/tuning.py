"""Virtual tasks on which the rules of our own search were chosen; nothing is judged on them.

A runtime is  exp(hardness of the instance + effect of the configuration + their interplay + chance).  A few
parameters matter, some of them only together with another or only where a condition holds, some values are
catastrophic, and a small part of the runs takes many times longer.

`UNKIND` are landscapes like those that judge, with other seeds and shapes: little to gain among much chance,
a part of the time that no parameter changes, a deadline, groups of instances, many choices, heavy tails, and
a default that is nearly the best or far from it. Small budgets find little on `SCARCE` ones. `FORESTS` have
effects that are random trees.

``python -m benchmarks.search.tuning [default runs …]`` plays our search on them.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.search.best_known import best_of
from benchmarks.search.forests import FORESTS
from benchmarks.search.landscapes import Recipe as Unkind
from benchmarks.search.task import Task

from utilitune.search.base import SearchTask, Seen
from utilitune.search.racing import RacingSearch
from utilitune.search.suggesting import MixedSuggester
from utilitune.spaces import ParameterSpace
from utilitune.utility import LogLaplace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from utilitune.spaces import Assignment

TRAINING, TESTING = 120, 300
GROUPS = 3


@dataclass(frozen=True)
class Recipe:
    """What a task is made from.

    Attributes:
        parameters: How many there are.
        important: How many of them matter.
        pairs: How many pairs matter only together.
        hardness: Standard deviation of an instance's log time.
        noise: Standard deviation of a run's log time.
        tail: Share of runs that take about ten times longer.
        catastrophes: Values that make a run hopeless.
        interplay: How much an effect differs between groups of instances.
    """

    parameters: int
    important: int
    pairs: int
    hardness: float
    noise: float
    tail: float
    catastrophes: int
    interplay: float
    seed: int


RECIPES = {
    "small": Recipe(15, 5, 2, 1.5, 0.4, 0.02, 3, 0.2, 1),
    "plain": Recipe(25, 7, 4, 1.2, 0.5, 0.03, 4, 0.3, 2),
    "noisy": Recipe(30, 8, 4, 1.0, 1.2, 0.06, 4, 0.5, 13),
    "hard": Recipe(40, 6, 3, 2.0, 0.6, 0.03, 4, 0.4, 4),
    "wide": Recipe(60, 8, 4, 1.4, 0.5, 0.03, 5, 0.3, 5),
    "mixed": Recipe(45, 8, 5, 1.6, 0.8, 0.08, 5, 0.8, 16),
}

UNKIND = (
    Unkind("fixed-deadline", 811, parameters=28, important=5, fixed_share=0.35, pairs=2, deadline=True),
    Unkind("fixed-third", 812, parameters=32, important=6, fixed_share=0.3, pairs=3),
    Unkind("deadline", 813, parameters=30, important=6, pairs=3, deadline=True),
    Unkind("four-groups", 814, parameters=26, important=6, groups=4, hardness=1.4),
    Unkind("choices", 815, parameters=40, important=8, choices=0.9, children=10),
    Unkind("good-default", 816, parameters=30, important=5, away=0.25, rank=0),
    Unkind("poor-default", 817, parameters=30, important=5, away=1.6, rank=3, cliffs=3, strength=0.8),
    Unkind("tails", 818, parameters=20, important=5, noise=1.0, tail=0.15, hardness=1.2),
    Unkind("many-conditions", 819, parameters=45, important=6, choices=0.6, children=16, pairs=2),
    Unkind("more-conditions", 824, parameters=42, important=7, choices=0.6, children=15, pairs=2),
    Unkind("fixed-quarter", 825, parameters=35, important=6, fixed_share=0.25, pairs=3, deadline=True),
)
SCARCE = (
    Unkind("fixed-wide", 841, parameters=50, important=5, fixed_share=0.3, deadline=True),
    Unkind(
        "fixed-half", 842, parameters=35, important=6, fixed_share=0.45, pairs=3, noise=0.7, deadline=True
    ),
    Unkind("few-of-many", 843, parameters=60, important=4, choices=0.5, cliffs=4, strength=1.2),
)
MADE = (*UNKIND, *SCARCE, *FORESTS)
NAMES = (*RECIPES, *(recipe.name for recipe in MADE))


@dataclass(frozen=True, eq=False)
class Landscape:
    """Effects of parameters on log time; see the module."""

    hardness: NDArray[np.float64]
    group: NDArray[np.int64]
    optimum: NDArray[np.float64]
    slope: NDArray[np.float64]
    by_group: NDArray[np.float64]
    table: NDArray[np.float64]
    categorical: NDArray[np.bool_]
    pairs: NDArray[np.int64]
    pair_slope: NDArray[np.float64]
    catastrophes: tuple[tuple[int, float, float], ...]
    noise: float
    tail: float

    def log_times(self, units: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
        """Log times on all instances."""
        active = units >= 0
        level = np.clip(np.round(units * 5), 0, 5).astype(np.int64)
        bowl = np.minimum(4.0 * (units - self.optimum) ** 2, 1.5)
        shape = np.where(self.categorical, self.table[np.arange(len(units)), level], bowl)
        shape = np.where(active, shape, 0.4)
        effect = (self.by_group * self.slope * shape).sum(axis=1)
        first, second = self.pairs.T
        twist = np.abs(units[first] - self.optimum[first] - 0.5 * (units[second] - self.optimum[second]))
        both = active[first] & active[second]
        shared = float((self.pair_slope * np.where(both, np.minimum(2.0 * twist, 1.2), 0.5)).sum())
        for place, low, high in self.catastrophes:
            if low <= units[place] <= high:
                shared += 3.0
        chance = generator.normal(0.0, self.noise, len(self.hardness))
        chance += np.where(
            generator.random(len(chance)) < self.tail, generator.exponential(2.3, len(chance)), 0
        )
        return np.asarray(self.hardness + effect[self.group] + shared + chance)


def tuning_task(name: str) -> Task:
    """One of the tasks, with the best configuration a long search in its exact means has found."""
    if name not in RECIPES:
        unkind = next(each for each in MADE if each.name == name).task()
        found = max((best_of(unkind, seed) for seed in range(4)), key=unkind.test_utility)
        return replace(unkind, best_known=found)
    recipe = RECIPES[name]
    generator = np.random.default_rng(recipe.seed)
    space = _space(recipe, generator)
    law = _law(recipe, space, generator)
    task = Task(name, space, LogLaplace(60.0, 1.0), 600.0, TRAINING, TESTING, law, seed=recipe.seed)
    return replace(task, best_known=_best(task, np.random.default_rng(recipe.seed + 1)))


def _space(recipe: Recipe, generator: np.random.Generator) -> ParameterSpace:
    tables: dict[str, Any] = {}
    switches: list[str] = []
    for number in range(recipe.parameters):
        name = f"p{number}"
        kind = generator.integers(5)
        if kind == 0 or number == 1:
            values = [f"v{each}" for each in range(int(generator.integers(2, 7)))]
            default: Any = values[int(generator.integers(len(values)))]
            tables[name] = {"type": "categorical", "values": values, "default": default}
        elif kind == 1:
            tables[name] = {"type": "integer", "range": [1, 1000], "log": True, "default": 30}
        elif kind == 2:
            tables[name] = {"type": "integer", "range": [0, 20], "default": int(generator.integers(21))}
        else:
            default = float(np.round(generator.uniform(0.2, 0.8), 3))
            tables[name] = {"type": "float", "range": [0.0, 1.0], "default": default}
        if switches and generator.random() < 0.25:
            parent = switches[int(generator.integers(len(switches)))]
            tables[name]["when"] = f"{parent} in {{'v0', 'v1'}}"
        elif tables[name]["type"] == "categorical":
            switches.append(name)
    for table in tables.values():
        if "when" in table:
            parent = table["when"].split()[0]
            values = tables[parent]["values"]
            table["when"] = (
                f"{parent} == '{values[0]}' or {parent} == '{values[1]}'"
                if len(values) > 2
                else (f"{parent} == '{values[0]}'")
            )
    return ParameterSpace.from_tables(tables)


def _law(recipe: Recipe, space: ParameterSpace, generator: np.random.Generator) -> Landscape:
    count, instances = recipe.parameters, TRAINING + TESTING
    default = space.encode([space.default()])[0]
    important = generator.permutation(count)[: recipe.important]
    slope = generator.exponential(0.03, count)
    slope[important] = generator.uniform(0.4, 1.0, recipe.important)
    optimum = generator.random(count)
    near = np.clip(
        default + generator.choice([-1, 1], count) * generator.uniform(0.15, 0.4, count), 0.02, 0.98
    )
    optimum[important] = np.where(default >= 0, near, optimum)[important]
    categorical = np.array([hasattr(each, "choices") for each in space.parameters.values()])
    table = generator.uniform(0.0, 1.5, (count, 6))
    pairs = generator.choice(important, (recipe.pairs, 2))
    pairs[:, 1] = np.where(
        pairs[:, 0] == pairs[:, 1], generator.integers(count, size=recipe.pairs), pairs[:, 1]
    )
    catastrophes = []
    for place in generator.permutation(count)[: recipe.catastrophes].tolist():
        low = float(generator.uniform(0.0, 0.85))
        if not low <= default[place] <= low + 0.15:
            catastrophes.append((place, low, low + 0.15))
    law = Landscape(
        hardness=generator.normal(0.0, recipe.hardness, instances),
        group=generator.integers(GROUPS, size=instances),
        optimum=optimum,
        slope=slope,
        by_group=np.maximum(0.0, 1.0 + recipe.interplay * generator.normal(size=(GROUPS, count))),
        table=table,
        categorical=categorical,
        pairs=pairs,
        pair_slope=generator.uniform(0.3, 0.9, recipe.pairs),
        catastrophes=tuple(catastrophes),
        noise=recipe.noise,
        tail=recipe.tail,
    )
    quiet = replace(law, noise=0.0, tail=0.0, hardness=np.zeros(instances))
    shift = np.log(60.0) - float(quiet.log_times(default, np.random.default_rng(0)).mean())
    return replace(law, hardness=law.hardness + shift + 0.4)


def _best(task: Task, generator: np.random.Generator) -> Assignment:
    """Local search on exact mean utilities without chance, from the default and some random beginnings."""
    assert isinstance(task.law, Landscape)
    quiet = replace(task.law, noise=0.0, tail=0.0)
    space = task.space

    def worth(codes: NDArray[np.float64]) -> NDArray[np.float64]:
        units = space.encode_codes(codes)
        times = np.exp([quiet.log_times(each, generator) for each in units])
        return np.asarray(task.utility(times).mean(axis=1))

    starts = np.hstack([space.codes([space.default()]), space.sample_codes(generator, 300)])
    order = np.argsort(-worth(starts))[:3]
    best, best_worth = starts[:, :1], -1.0
    for start in order:
        here, here_worth = starts[:, [start]], float(worth(starts[:, [start]])[0])
        idle = 0
        while idle < 8:
            around = space.neighbour_codes(here, generator, 80)
            values = worth(around)
            place = int(values.argmax())
            if values[place] > here_worth + 1e-5:
                here, here_worth, idle = around[:, [place]], float(values[place]), 0
            else:
                idle += 1
        if here_worth > best_worth:
            best, best_worth = here, here_worth
    return space.assignments(best)[0]


def played(task: Task, seed: int, budgets: Sequence[int]) -> list[float]:
    """Scores of our search, all of the budget being its own, after so many default runs each."""
    order = np.random.default_rng([seed, 77]).permutation(task.training)
    described = SearchTask(task.space, task.utility, task.training, task.largest_captime_s, seed=seed)
    search = RacingSearch(described, MixedSuggester(task.space, seed=seed))
    floor, spent_s, scores = task.utility.infimum, 0.0, []
    times_s: dict[int, NDArray[np.float64]] = {}
    for budget in budgets:
        while spent_s < budget * task.default_run_s and (wanted := search.wanted(1)):
            run = wanted[0]
            if run.candidate not in times_s:
                times_s[run.candidate] = task.runtimes_s(search.candidates[run.candidate])[order]
            time_s = float(times_s[run.candidate][run.position])
            if time_s < run.captime_s:
                search.tell(run, Seen(time_s, time_s, float(task.utility(time_s))))
            else:
                search.tell(run, Seen(math.inf, run.captime_s, floor))
            spent_s += min(time_s, run.captime_s)
        scores.append(task.score(search.candidates[search.nominee()]))
    return scores


def main(budgets: Sequence[int], seeds: int = 3) -> None:
    """Scores by task, mean over seeds."""
    everything = []
    for name in NAMES:
        task, began = tuning_task(name), time.process_time()
        scores = np.array([played(task, seed, budgets) for seed in range(seeds)])
        everything.append(scores)
        means = "  ".join(f"{score:.3f}" for score in scores.mean(axis=0))
        print(f"{name:15} {means}  {(time.process_time() - began) / seeds:.1f} s each", flush=True)
    table = np.array(everything)
    print(f"{'mean':15} {'  '.join(f'{score:.3f}' for score in table.mean(axis=(0, 1)))}")
    print(f"below the default: {(table < 0).sum()} of {table.size}")


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [500, 2000, 8000])

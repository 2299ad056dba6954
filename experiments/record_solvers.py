"""Record three real solvers for the search benchmark, and fit what stands in for them.

Usage: ``python experiments/record_solvers.py FOLDER [SOLVER …]`` from the root of the repository. Every run
is kept in the folder, and the same command goes on where it was stopped. The result goes to
``benchmarks/search/recordings/``.

Each solver is recorded twice with the code of ``utilitune collect``: on uniform draws of its space, which say
what every parameter can do, and on draws near its default, where good configurations of real solvers lie.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.search.solvers import SOLVERS, prepare
from benchmarks.search.surrogate import RECORDINGS, Recording

import utilitune
from utilitune.live.collecting import GridSize, collect
from utilitune.live.supply import ConfigurationSupply
from utilitune.spaces import ChoiceParameter, NumberParameter, Parameter, ParameterSpace

DRAWS = 64
INSTANCES = 14
CAPTIME_IN_HALF_WORTHS = 15.0
KEPT_SHARE = 0.8
"""How often a choice keeps its default in a draw near the default."""
REACH = 0.12
"""How far a number goes from its default there, on its own scale from 0 to 1."""


def near(space: ParameterSpace) -> ParameterSpace:
    """The same parameters, drawn near the default."""
    return ParameterSpace(
        [_near(each) for each in space.parameters.values()], space.conditions, space.forbidden
    )


def _near(parameter: Parameter) -> Parameter:
    if isinstance(parameter, ChoiceParameter):
        others = (1.0 - KEPT_SHARE) / max(len(parameter.choices) - 1, 1)
        weights = tuple(KEPT_SHARE if each == parameter.default else others for each in parameter.choices)
        return dataclasses.replace(parameter, weights=weights)
    return _narrowed(parameter)


def _narrowed(parameter: NumberParameter) -> NumberParameter:
    unit = float(parameter.to_unit(np.array([float(parameter.default)]))[0])
    ends = []
    for place in (max(0.0, unit - REACH), min(1.0, unit + REACH)):
        low, high = float(parameter.low), float(parameter.high)
        value = low * (high / low) ** place if parameter.log else low + place * (high - low)
        ends.append(round(value) if parameter.integer else value)
    low, high = min(ends[0], parameter.default), max(ends[1], parameter.default)
    if low == high:
        low, high = (low, low + 1) if high < parameter.high else (low - 1, low)
    return dataclasses.replace(parameter, low=low, high=high)


def record(name: str, folder: Path) -> Recording:
    """Record one solver."""
    solver = SOLVERS[name]
    scenario = utilitune.read_scenario(prepare(name, folder))
    size = GridSize(DRAWS, INSTANCES, CAPTIME_IN_HALF_WORTHS * solver.half_worth_s)
    units, times_s = [], []
    for kind, space in (("wide", scenario.space), ("near", near(scenario.space))):
        drawn = dataclasses.replace(scenario, space=space)
        matrix = collect(drawn, folder / f"{kind}.collect", size, 1, report)
        supply = ConfigurationSupply(space, scenario.seed, [space.default()])
        units.append(scenario.space.encode([supply.draw(number).assignment for number in range(DRAWS)]))
        times_s.append(matrix.runtimes_s)
    return Recording(np.concatenate(units), np.concatenate(times_s), size.captime_s)


def report(done: int, total: int) -> None:
    """A line now and then."""
    if done % 200 == 0 or done == total:
        print(f"{done:,} of {total:,} runs", flush=True)


def main() -> None:
    """Record and fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("solvers", nargs="*", choices=[*SOLVERS, []], default=list(SOLVERS))
    given = parser.parse_args()
    for name in given.solvers:
        print(name, flush=True)
        made = record(name, given.folder / name).fitted()
        made.write(RECORDINGS / f"{name}.npz")


if __name__ == "__main__":
    main()

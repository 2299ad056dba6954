"""Three real solvers as scenarios: kissat (SAT), clasp (ASP) and HiGHS (MIP).

`prepare` writes a folder with instances, parameters and a scenario. Everything follows from one seed.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.search.solvers.instances import formula, model, program

from utilitune.scenario.demo.task import solver_path
from utilitune.spaces.dialects import read_parameter_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.spaces import ParameterSpace

HERE = Path(__file__).parent
SEED = 1_311


@dataclass(frozen=True, slots=True)
class Solver:
    """One solver.

    Attributes:
        name: Its name, and that of its parameter file.
        half_worth_s: After how many seconds an answer is worth half.
        suffix: How names of its instances end.
        make: Makes an instance.
    """

    name: str
    half_worth_s: float
    suffix: str
    make: Callable[[np.random.Generator], str]


SOLVERS = {
    each.name: each
    for each in (
        Solver("kissat", 0.03, "cnf", formula),
        Solver("clasp", 0.05, "lp", program),
        Solver("highs", 0.1, "lp", model),
    )
}

_SCENARIO = """\
name = "{name}"
utility = "log-laplace(k0={half_ms:g}ms, alpha=1)"
measure = "cpu"
seed = {seed}
parameters = "{name}.pcs"

[target]
{target}

[instances]
training = "train/*.{suffix}"
test = "test/*.{suffix}"

[limits]
smallest_captime = "{half_ms:g}ms"
largest_captime = "{most_ms:g}ms"

[promise]
delta = 0.05

[budget]
cpu_time = "1m"
"""


def prepare(name: str, folder: Path, training: int = 100, test: int = 100, seed: int = 1) -> Path:
    """Write a solver's folder and return its scenario file; the instances are the same whatever the seed."""
    solver = SOLVERS[name]
    for part, (kind, count) in enumerate((("train", training), ("test", test))):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            path = folder / kind / f"{name}-{number:03}.{solver.suffix}"
            if not path.exists():
                generator = np.random.default_rng([SEED, part, number])
                path.write_text(solver.make(generator), encoding="utf-8")
    for path in HERE.glob(f"*{name}.p*"):
        shutil.copy(path, folder / path.name)
    scenario = folder / "scenario.toml"
    if not scenario.exists():
        half_ms = solver.half_worth_s * 1000
        text = _SCENARIO.format(
            name=name,
            half_ms=half_ms,
            most_ms=20 * half_ms,
            suffix=solver.suffix,
            target=_target(name),
            seed=seed,
        )
        scenario.write_text(text, encoding="utf-8")
    return scenario


def _target(name: str) -> str:
    if name != "kissat":
        return f'function = "run_{name}:solve"'
    program = json.dumps(str(solver_path()))
    return (
        f'command = [{program}, "-q", "-n", "--seed={{seed}}", "{{parameters}}", "{{instance}}"]\n'
        'template = "--{name}={value}"\nexit_codes = [10, 20]'
    )


def space_of(name: str) -> ParameterSpace:
    """A solver's parameters."""
    return read_parameter_file(HERE / f"{name}.pcs").space

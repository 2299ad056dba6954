"""The demo task as a folder: ``train/``, ``test/`` and ``scenario.toml``.

All files follow from one seed, each from a part of its own, so that a second call makes only what is
missing. The scenario is written last and never over an existing one.

The sizes are chosen so that parameters matter and runs are short. Measured in CPU time on a busy machine of
two cores, kissat 4.0.4 takes .04 to .98 s on a test formula with its defaults (mean .187 s), and .01 to .17 s
(mean .041 s) with the best of 32 random configurations, chosen on 12 training formulas. Half of those 32 were
at least as good as the default there, and 12 ran into a limit of 2 s at least once.
"""

from __future__ import annotations

import json
import sysconfig
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import numpy as np

from utilitune.errors import MissingExtraError, UsageError
from utilitune.scenario.demo.ordering import ordering_formula

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 20_240
TRAINING_INSTANCES = 200
TEST_INSTANCES = 100
VERTICES = (28, 40)
"""Smallest and largest graph."""
DEGREES = (4, 6, 8, 12)


def solver_path() -> Path:
    """Where the kissat of the `passagemath-kissat` package lies.

    Raises:
        MissingExtraError: The package is not installed.
    """
    for scheme in ("platlib", "purelib"):
        candidate = Path(sysconfig.get_path(scheme)) / "sage_wheels" / "bin" / "kissat"
        if candidate.is_file():
            return candidate
    raise MissingExtraError("the demo", "demo")


def prepare(folder: Path | str) -> Path:
    """Write the demo task into a folder, as far as it is not there yet, and return its scenario file.

    Raises:
        MissingExtraError: kissat is not installed.
        UsageError: The folder cannot be written to.
    """
    folder = Path(folder)
    solver = solver_path()
    scenario = folder / "scenario.toml"
    try:
        for name, seed in _instances():
            path = folder / name
            if not path.is_file():
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, _formula(seed))
        if not scenario.is_file():
            _write(scenario, _scenario_text(solver))
    except OSError as error:
        raise UsageError(
            f"cannot write the demo into {folder}: {error.strerror}; name another folder"
        ) from error
    return scenario


def _instances() -> Iterator[tuple[str, np.random.SeedSequence]]:
    training, test = np.random.SeedSequence(SEED).spawn(2)
    for kind, count, parent in (("train", TRAINING_INSTANCES, training), ("test", TEST_INSTANCES, test)):
        for number, seed in enumerate(parent.spawn(count)):
            yield f"{kind}/ordering-{number:03}.cnf", seed


def _formula(seed: np.random.SeedSequence) -> str:
    generator = np.random.default_rng(seed)
    smallest, largest = VERTICES
    vertices = int(generator.integers(smallest, largest + 1))
    return ordering_formula(vertices, int(generator.choice(DEGREES)), generator)


def _scenario_text(solver: Path) -> str:
    template = (
        resources.files("utilitune.scenario.demo").joinpath("scenario.toml").read_text(encoding="utf-8")
    )
    return Template(template).substitute(solver=json.dumps(str(solver), ensure_ascii=False))


def _write(path: Path, text: str) -> None:
    """Write a file that appears complete or not at all."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)

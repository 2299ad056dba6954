"""Record the data set that ships with Utilitune: kissat on ordering-principle formulas.

Usage: ``python experiments/record_kissat.py FOLDER [--workers N]``, then copy ``FOLDER/kissat-ordering.npz``
to ``src/utilitune/data/shipped/``. The formulas and the scenario are written into the folder; every run is
kept there, and the same command goes on where it was stopped.

The parameters are those of ``utilitune demo``. The formulas are smaller, so that most runs end within a few
hundredths of a second, and three in a hundred are larger, so that some configurations run for seconds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import utilitune
from utilitune.data import write_matrix
from utilitune.live.collecting import GridSize, collect
from utilitune.scenario.demo import prepare
from utilitune.scenario.demo.ordering import ordering_formula

SEED = 2026
INSTANCES = 300
CONFIGURATIONS = 100
CAPTIME_S = 5.0
USUAL_VERTICES = (8, 16)
LARGE_VERTICES = (20, 26)
LARGE_SHARE = 0.03
DEGREES = (4, 6, 8, 12)


def write_task(folder: Path) -> Path:
    """The scenario of the demo with formulas of our own."""
    scenario = folder / "scenario.toml"
    (folder / "train").mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(np.random.SeedSequence(SEED).spawn(INSTANCES)):
        path = folder / "train" / f"ordering-{number:03}.cnf"
        if not path.is_file():
            path.write_text(formula(np.random.default_rng(seed)), encoding="utf-8")
    if not scenario.is_file():
        text = prepare(folder / "demo").read_text(encoding="utf-8")
        scenario.write_text(text.replace('test = "test/*.cnf"\n', ""), encoding="utf-8")
    return scenario


def formula(generator: np.random.Generator) -> str:
    """One formula, small or large."""
    large = generator.random() < LARGE_SHARE
    smallest, largest = LARGE_VERTICES if large else USUAL_VERTICES
    vertices = int(generator.integers(smallest, largest + 1))
    return ordering_formula(vertices, int(generator.choice(DEGREES)), generator)


def main() -> None:
    """Record the matrix."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    scenario = utilitune.read_scenario(write_task(given.folder))
    size = GridSize(CONFIGURATIONS, INSTANCES, CAPTIME_S)
    matrix = collect(scenario, given.folder / "kissat-ordering.collect", size, given.workers, report)
    write_matrix(matrix, given.folder / "kissat-ordering.npz")


def report(done: int, total: int) -> None:
    """A line now and then."""
    if done % 500 == 0 or done == total:
        print(f"{done:,} of {total:,} runs", flush=True)


if __name__ == "__main__":
    main()

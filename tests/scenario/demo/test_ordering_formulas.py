from __future__ import annotations

import itertools
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utilitune.errors import MissingExtraError
from utilitune.scenario.demo import solver_path
from utilitune.scenario.demo.ordering import ordering_formula

if TYPE_CHECKING:
    from pathlib import Path


def parsed(text: str):
    header, *lines = text.splitlines()
    kind, form, variables, clauses = header.split()
    assert (kind, form) == ("p", "cnf")
    rows = [[int(word) for word in line.split()] for line in lines]
    assert all(row[-1] == 0 for row in rows)
    assert len(rows) == int(clauses)
    return int(variables), [row[:-1] for row in rows]


@settings(deadline=None, max_examples=20)
@given(vertices=st.integers(3, 12), half_degree=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_formulas_are_well_formed(vertices: int, half_degree: int, seed: int):
    variables, clauses = parsed(ordering_formula(vertices, 2 * half_degree, np.random.default_rng(seed)))
    pairs = vertices * (vertices - 1) // 2
    cycles = vertices * (vertices - 1) * (vertices - 2) // 3
    assert variables == pairs
    assert len(clauses) == cycles + vertices
    assert {abs(literal) for clause in clauses for literal in clause} == set(range(1, pairs + 1))
    assert all(len({abs(literal) for literal in clause}) == len(clause) for clause in clauses)


@pytest.mark.parametrize("seed", range(4))
def test_a_small_formula_has_no_solution_but_every_part_is_needed(seed: int):
    variables, clauses = parsed(ordering_formula(4, 2, np.random.default_rng(seed)))

    def solutions(chosen: list[list[int]]) -> int:
        return sum(
            all(any(values[abs(literal) - 1] == (literal > 0) for literal in clause) for clause in chosen)
            for values in itertools.product([False, True], repeat=variables)
        )

    assert solutions(clauses) == 0
    orders = [clause for clause in clauses if len(clause) == 3]
    assert len(orders) == 8
    assert solutions(orders) == 24  # the total orders of four vertices


def test_the_seed_decides_everything():
    one, same, other = (ordering_formula(9, 4, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_kissat_agrees(tmp_path: Path):
    try:
        solver = solver_path()
    except MissingExtraError as error:
        pytest.skip(str(error))
    path = tmp_path / "ordering.cnf"
    path.write_text(ordering_formula(12, 4, np.random.default_rng(5)))
    assert subprocess.run([solver, "-q", "-n", path], capture_output=True, check=False).returncode == 20

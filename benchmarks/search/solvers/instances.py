"""Small random instances for the three solvers, two families each, hard enough that parameters matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utilitune.scenario.demo.ordering import ordering_formula

if TYPE_CHECKING:
    import numpy as np


def formula(generator: np.random.Generator) -> str:
    """A formula for a SAT solver: random clauses near the threshold, or an ordering principle."""
    if generator.random() < 0.5:
        return ordering_formula(
            int(generator.integers(16, 27)), int(generator.choice([4, 6, 8, 12])), generator
        )
    variables = int(generator.integers(130, 191))
    clauses = round(variables * generator.uniform(4.15, 4.35))
    lines = [f"p cnf {variables} {clauses}"]
    for _ in range(clauses):
        chosen = generator.choice(variables, size=3, replace=False) + 1
        signs = generator.choice([-1, 1], size=3)
        lines.append(" ".join(str(each) for each in (*(chosen * signs), 0)))
    return "\n".join(lines) + "\n"


def program(generator: np.random.Generator) -> str:
    """A program for an ASP solver: four colours for a graph, or a small dominating set."""
    vertices = int(generator.integers(85, 116))
    colours = generator.random() < 0.6
    vertices = vertices if colours else vertices // 2
    edges = round((4.35 if colours else 2.2) * vertices)
    seen: set[tuple[int, int]] = set()
    while len(seen) < edges:
        one, other = sorted(int(each) for each in generator.choice(vertices, size=2, replace=False))
        seen.add((one, other))
    text = f"vertex(0..{vertices - 1}).\n" + "".join(f"edge({a},{b}).\n" for a, b in sorted(seen))
    if colours:
        return text + ("{ colour(V, 1..4) } = 1 :- vertex(V).\n:- edge(U, V), colour(U, C), colour(V, C).\n")
    size = round(vertices * generator.uniform(0.2, 0.24))
    return text + (
        "near(V, U) :- edge(V, U).\nnear(U, V) :- edge(V, U).\n{ in(V) : vertex(V) }.\n"
        f":- vertex(V), not in(V), not in(U) : near(V, U).\n:- {size + 1} {{ in(V) }}.\n"
    )


def model(generator: np.random.Generator) -> str:
    """A model for a MIP solver: covering a set, or several knapsacks at once; free MPS is too long, so LP."""
    if generator.random() < 0.5:
        columns, rows = int(generator.integers(50, 81)), int(generator.integers(30, 51))
        costs = generator.integers(10, 40, columns)
        lines = []
        for row in range(rows):
            chosen = generator.choice(columns, size=int(generator.integers(4, 9)), replace=False)
            lines.append(f" r{row}: " + " + ".join(f"x{each}" for each in sorted(chosen)) + " >= 1")
        goal = "Minimize"
    else:
        columns, rows = int(generator.integers(22, 33)), int(generator.integers(4, 7))
        costs = generator.integers(30, 100, columns)
        lines = []
        for row in range(rows):
            weights = generator.integers(10, 80, columns)
            load = " + ".join(f"{weight} x{each}" for each, weight in enumerate(weights))
            lines.append(f" r{row}: {load} <= {int(weights.sum() * 0.4)}")
        goal = "Maximize"
    objective = " + ".join(f"{cost} x{each}" for each, cost in enumerate(costs))
    names = " ".join(f"x{each}" for each in range(columns))
    return f"{goal}\n obj: {objective}\nSubject To\n" + "\n".join(lines) + f"\nBinary\n {names}\nEnd\n"

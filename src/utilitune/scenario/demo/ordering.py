"""The ordering principle on random graphs, as CNF: every finite order has a minimal element.

A formula claims that some total order on n vertices gives every vertex a smaller neighbour in a given graph
of at least one edge per vertex. The smallest vertex contradicts that, so every formula is unsatisfiable. It
has short resolution proofs (Stålmarck, *Acta Informatica* 33, 1996; on graphs: Segerlind, Buss and
Impagliazzo, *SIAM J. Comput.* 33, 2004), so a solver's time depends on how soon it finds one, which its
parameters decide.

A variable per pair i < j says "i comes before j". The clauses are, for every triple, that its three pairs
form no cycle, and for every vertex, that one neighbour comes before it. Names and signs of variables, the
order of clauses and the order within a clause are random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def ordering_formula(vertices: int, degree: int, generator: np.random.Generator) -> str:
    """One formula in DIMACS format.

    Args:
        vertices: Number of vertices, at least 3.
        degree: Largest number of neighbours, an even number; the graph is a union of degree/2 random cycles.
        generator: What all chance comes from.
    """
    pairs = vertices * (vertices - 1) // 2
    variable = np.zeros((vertices, vertices), dtype=np.int64)
    signs = generator.choice(np.array([-1, 1]), size=pairs)
    variable[np.triu_indices(vertices, 1)] = (generator.permutation(pairs) + 1) * signs
    before = variable - variable.T  # before[i, j] is true if i comes before j; before[j, i] is its negation
    lines = _clause_lines(_no_cycles(before), generator)
    for vertex, neighbours in enumerate(_random_graph(vertices, degree, generator)):
        lines += _clause_lines(before[np.array(neighbours), vertex][None, :], generator)
    shuffled = [lines[index] for index in generator.permutation(len(lines)).tolist()]
    return f"p cnf {pairs} {len(lines)}\n" + "".join(shuffled)


def _no_cycles(before: NDArray[np.int64]) -> NDArray[np.int64]:
    """Both directed cycles of every triple, forbidden."""
    vertices = np.arange(len(before))
    i, j, k = (index.ravel() for index in np.meshgrid(vertices, vertices, vertices, indexing="ij"))
    triple = (i < j) & (i < k) & (j != k)
    i, j, k = i[triple], j[triple], k[triple]
    return -np.stack([before[i, j], before[j, k], before[k, i]], axis=1)


def _random_graph(vertices: int, degree: int, generator: np.random.Generator) -> list[list[int]]:
    neighbours: list[set[int]] = [set() for _ in range(vertices)]
    for _ in range(degree // 2):
        cycle = generator.permutation(vertices).tolist()
        for one, other in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            neighbours[one].add(other)
            neighbours[other].add(one)
    return [sorted(found) for found in neighbours]


def _clause_lines(clauses: NDArray[np.int64], generator: np.random.Generator) -> list[str]:
    line = "%d " * clauses.shape[1] + "0\n"
    return [line % tuple(clause) for clause in generator.permuted(clauses, axis=1).tolist()]

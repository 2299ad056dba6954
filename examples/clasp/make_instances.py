"""Write random graphs as facts into the folders `train` and `test` beside this file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SEED = 4
VERTICES = (80, 110)
EDGES_PER_VERTEX = 4.3
"""Near the point where four colours stop to suffice, which is where colouring is hard."""


def random_graph(generator: np.random.Generator) -> str:
    """One graph, as facts for clingo."""
    vertices = int(generator.integers(VERTICES[0], VERTICES[1] + 1))
    first, second = np.triu_indices(vertices, 1)
    chosen = np.sort(generator.choice(len(first), size=round(EDGES_PER_VERTEX * vertices), replace=False))
    edges = "".join(
        f"edge({one},{other}).\n" for one, other in zip(first[chosen], second[chosen], strict=True)
    )
    return f"vertex(0..{vertices - 1}).\n{edges}"


def make_instances(folder: Path, training: int = 200, test: int = 100) -> None:
    """Write all graphs; they follow from the seed."""
    generator = np.random.default_rng(SEED)
    for name, count in (("train", training), ("test", test)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (folder / name / f"graph-{number:03}.lp").write_text(random_graph(generator), encoding="utf-8")


if __name__ == "__main__":
    make_instances(Path(__file__).parent)

"""Make the instances of this example: random 3-SAT formulas near the threshold, their lists and features."""

from __future__ import annotations

import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRAINING, TEST = 10, 5
CLAUSES_PER_VARIABLE = 4.2


def make_instances(folder: Path, training: int = TRAINING, test: int = TEST, variables: int = 160) -> None:
    """Write ``instances/``, the two lists and the features; all follow from the number of an instance."""
    (folder / "instances").mkdir(exist_ok=True)
    features = ["instance,variables,clauses,ratio"]
    for role, numbers in {"train": range(training), "test": range(TRAINING, TRAINING + test)}.items():
        names = []
        for number in numbers:
            name = f"instances/random-{number:02}.cnf"
            size = variables + 2 * (number % 10)
            clauses = _clauses(random.Random(number), size, planted=number % 2 == 0)
            lines = [f"p cnf {size} {len(clauses)}", *clauses]
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
            names.append(f"{name} {'SATISFIABLE' if number % 2 == 0 else 0}")
            features.append(f"{name},{size},{len(clauses)},{len(clauses) / size:.4f}")
        (folder / f"instances-{role}.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    (folder / "features.csv").write_text("\n".join(features) + "\n", encoding="utf-8")


def _clauses(generator: random.Random, variables: int, *, planted: bool) -> list[str]:
    """Random clauses; a planted formula holds only clauses that a hidden solution satisfies."""
    solution = [generator.choice([1, -1]) for _ in range(variables)]
    clauses: list[str] = []
    while len(clauses) < CLAUSES_PER_VARIABLE * variables:
        chosen = generator.sample(range(variables), 3)
        literals = [(v + 1) * generator.choice([1, -1]) for v in chosen]
        if not planted or any(literal * solution[abs(literal) - 1] > 0 for literal in literals):
            clauses.append(" ".join(map(str, [*literals, 0])))
    return clauses


if __name__ == "__main__":
    make_instances(HERE)

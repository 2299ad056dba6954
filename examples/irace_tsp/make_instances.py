"""Make the instances of this example: cities in clusters, and a length that a good search reaches."""

from __future__ import annotations

import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRAINING, TEST = 20, 10


def make_instances(folder: Path, training: int = TRAINING, test: int = TEST) -> None:
    """Write ``Instances/`` and the two lists; everything follows from the number of an instance."""
    sys.path.insert(0, str(HERE))
    from tsp import Search

    (folder / "Instances").mkdir(exist_ok=True)
    numbers = {"train": range(training), "test": range(TRAINING, TRAINING + test)}
    for role, chosen in numbers.items():
        for number in chosen:
            _write(folder / "Instances" / f"{number:03}.tsp", number, Search)
        names = "".join(f"{number:03}.tsp\n" for number in chosen)
        (folder / f"instances-{role}.txt").write_text(names, encoding="utf-8")


def _write(path: Path, number: int, search_class: type) -> None:
    """Cities around a few centres; the goal is what a hundred kicks reach, and a little more."""
    generator = random.Random(number)
    centres = [(generator.random(), generator.random()) for _ in range(generator.randint(3, 6))]
    cities = []
    for _ in range(generator.randint(40, 70)):
        x, y = generator.choice(centres)
        cities.append((round(generator.gauss(x, 0.06), 4), round(generator.gauss(y, 0.06), 4)))
    search = search_class(cities, 10, generator)
    search.start("nearest")
    search.improve("both")
    best = search.length()
    for _ in range(100):
        kept = list(search.tour)
        search.kick("double-bridge", 8)
        search.improve("both")
        if search.length() < best:
            best = search.length()
        else:
            search.tour = kept
    lines = [f"{best * 1.005:.6f}", *(f"{x} {y}" for x, y in cities)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    make_instances(HERE)

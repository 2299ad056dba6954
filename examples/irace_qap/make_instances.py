"""Make the instances of this example: places on a grid, and flows of which few are large."""

from __future__ import annotations

import random
from pathlib import Path

SIDE = 4
COUNT = 24


def main() -> None:
    """Write the instances beside this file."""
    folder = Path(__file__).parent / "Instances"
    folder.mkdir(exist_ok=True)
    places = [(x, y) for x in range(SIDE) for y in range(SIDE)]
    for number in range(COUNT):
        generator = random.Random(number)
        distance = [[abs(ax - bx) + abs(ay - by) for bx, by in places] for ax, ay in places]
        flow = [[0] * len(places) for _ in places]
        for i in range(len(places)):
            for j in range(i):
                flow[i][j] = flow[j][i] = int(10 ** generator.uniform(-1, 2))
        rows = [" ".join(map(str, row)) for row in (*distance, *flow)]
        (folder / f"grid-{number:02}.dat").write_text(f"{len(places)}\n" + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()

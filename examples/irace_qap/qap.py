"""Local search for the quadratic assignment problem, with a fixed number of exchanges.

An instance is a text file: the number n of places, then n lines of distances between places and n lines of
flows between facilities. The program puts every facility in a place and exchanges two at a time; which
exchanges it accepts is up to its parameters. It prints the best cost it has found.
"""

from __future__ import annotations

import argparse
import math
import random
from pathlib import Path

EXCHANGES = 4000


def read(path: str) -> tuple[list[list[int]], list[list[int]]]:
    """Distances and flows."""
    numbers = list(map(int, Path(path).read_text(encoding="utf-8").split()))
    n = numbers[0]
    rows = [numbers[1 + n * i : 1 + n * (i + 1)] for i in range(2 * n)]
    return rows[:n], rows[n:]


def change(distance: list[list[int]], flow: list[list[int]], place: list[int], r: int, s: int) -> int:
    """By how much the cost changes if facilities r and s exchange their places; both tables are symmetric."""
    a, b = place[r], place[s]
    total = 0
    for k, c in enumerate(place):
        if k not in (r, s):
            total += (flow[k][r] - flow[k][s]) * (distance[c][b] - distance[c][a])
    return 2 * total


def solve(arguments: argparse.Namespace) -> int:
    """Exchange facilities as long as there are exchanges left; the best cost."""
    distance, flow = read(arguments.instance)
    n, generator = len(distance), random.Random(arguments.seed)
    place = generator.sample(range(n), n)
    cost = sum(flow[i][j] * distance[place[i]][place[j]] for i in range(n) for j in range(n))
    best, heat, forbidden = cost, arguments.temperature * cost / n**2, [[0] * n for _ in range(n)]
    for step in range(EXCHANGES):
        r, s = generator.sample(range(n), 2)
        delta = change(distance, flow, place, r, s)
        if arguments.algorithm == "tabu":
            free = forbidden[r][place[s]] <= step and forbidden[s][place[r]] <= step
            accepted = (free and delta <= arguments.slack * cost / n**2) or cost + delta < best
        elif arguments.algorithm == "annealing":
            accepted = delta <= 0 or (heat > 0 and generator.random() < math.exp(-delta / heat))
            heat *= arguments.cooling
        else:
            accepted = delta <= 0
        if accepted:
            forbidden[r][place[r]] = forbidden[s][place[s]] = step + arguments.tenure
            place[r], place[s] = place[s], place[r]
            cost += delta
            best = min(best, cost)
    return best


def main() -> None:
    """Read the arguments, search, print the cost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("instance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--algorithm", default="descent")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--cooling", type=float, default=0.999)
    parser.add_argument("--tenure", type=int, default=10)
    parser.add_argument("--slack", type=float, default=0.0)
    print(solve(parser.parse_args()))


if __name__ == "__main__":
    main()

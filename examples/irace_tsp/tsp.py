"""Iterated local search for the travelling salesman, stopped as soon as a tour is short enough.

An instance is a text file: the length to reach in its first line, then one city ``x y`` per line. The program
improves a tour by local search, kicks it, improves it again, and so on; what it does in detail is up to its
parameters. It prints the length it reached and ends, or is stopped from outside.
"""

from __future__ import annotations

import argparse
import math
import random
from pathlib import Path


def read(path: str) -> tuple[float, list[tuple[float, float]]]:
    """The length to reach, and the cities."""
    first, *lines = Path(path).read_text(encoding="utf-8").split("\n")
    cities = [(float(x), float(y)) for x, y in (line.split() for line in lines if line.strip())]
    return float(first), cities


class Search:
    """A tour, the distances, and the moves that make it shorter."""

    def __init__(self, cities: list[tuple[float, float]], neighbours: int, generator: random.Random) -> None:
        self.count = len(cities)
        self.generator = generator
        self.distance = [[math.dist(a, b) for b in cities] for a in cities]
        self.near = [
            sorted((j for j in range(self.count) if j != i), key=self.distance[i].__getitem__)[:neighbours]
            for i in range(self.count)
        ]
        self.tour = list(range(self.count))

    def length(self) -> float:
        """The length of the tour."""
        return sum(self.distance[a][b] for a, b in zip(self.tour, self.tour[1:] + self.tour[:1], strict=True))

    def start(self, kind: str) -> None:
        """A first tour: random, or always on to the nearest city."""
        self.generator.shuffle(self.tour)
        if kind == "random":
            return
        left = set(self.tour[1:])
        tour = [self.tour[0]]
        while left:
            tour.append(min(left, key=self.distance[tour[-1]].__getitem__))
            left.remove(tour[-1])
        self.tour = tour

    def improve(self, kind: str) -> None:
        """Local search until no move of the chosen kinds makes the tour shorter."""
        moves = {"two-opt": [self._two_opt], "or-opt": [self._or_opt], "both": [self._two_opt, self._or_opt]}
        while any(move() for move in moves[kind]):
            pass

    def _two_opt(self) -> bool:
        """Turn one stretch of the tour around."""
        place = {city: i for i, city in enumerate(self.tour)}
        for i in range(self.count - 1):
            a, b = self.tour[i], self.tour[i + 1]
            for c in self.near[a]:
                j = place[c]
                if self.distance[a][c] >= self.distance[a][b]:
                    break
                if j <= i + 1:
                    continue
                d = self.tour[(j + 1) % self.count]
                gain = self.distance[a][b] + self.distance[c][d] - self.distance[a][c] - self.distance[b][d]
                if gain > 1e-9:
                    self.tour[i + 1 : j + 1] = reversed(self.tour[i + 1 : j + 1])
                    return True
        return False

    def _or_opt(self) -> bool:
        """Move one city to a place beside a near one."""
        for i in range(1, self.count - 1):
            before, city, after = self.tour[i - 1 : i + 2]
            saved = self.distance[before][city] + self.distance[city][after] - self.distance[before][after]
            rest = self.tour[:i] + self.tour[i + 1 :]
            place = {each: k for k, each in enumerate(rest)}
            for other in self.near[city]:
                following = rest[(place[other] + 1) % len(rest)]
                added = self.distance[other][city] + self.distance[city][following]
                if saved - added + self.distance[other][following] > 1e-9:
                    rest.insert(place[other] + 1, city)
                    self.tour = rest
                    return True
        return False

    def kick(self, kind: str, segment: int) -> None:
        """Change the tour in a way that local search does not undo at once."""
        if kind == "segment":
            at = self.generator.randrange(max(1, self.count - segment))
            part = self.tour[at : at + segment]
            self.generator.shuffle(part)
            self.tour[at : at + segment] = part
            return
        a, b, c = sorted(self.generator.sample(range(1, self.count), 3))
        self.tour = self.tour[:a] + self.tour[b:c] + self.tour[a:b] + self.tour[c:]


def solve(arguments: argparse.Namespace) -> float:
    """Search until the tour is short enough; its length."""
    goal, cities = read(arguments.instance)
    generator = random.Random(arguments.seed)
    search = Search(cities, arguments.neighbours, generator)
    search.start(arguments.start)
    search.improve(arguments.search)
    current = best = search.length()
    heat, quiet = arguments.temperature, 0
    while best > goal:
        kept = list(search.tour)
        if arguments.restarts and quiet > 50:
            search.start(arguments.start)
            quiet = 0
        search.kick(arguments.kick, arguments.segment)
        search.improve(arguments.search)
        length = search.length()
        worse = length - current
        heated = arguments.accept == "annealing" and heat > 0
        if worse <= 0 or (heated and generator.random() < math.exp(-worse / (heat * current / 100))):
            current = length
        else:
            search.tour = kept
        quiet = 0 if length < best else quiet + 1
        best = min(best, length)
        heat *= arguments.cooling
    return best


def main() -> None:
    """Read the arguments, search, print the length."""
    parser = argparse.ArgumentParser()
    parser.add_argument("instance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", default="nearest")
    parser.add_argument("--search", default="two-opt")
    parser.add_argument("--kick", default="double-bridge")
    parser.add_argument("--segment", type=int, default=8)
    parser.add_argument("--accept", default="better")
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--cooling", type=float, default=0.99)
    parser.add_argument("--neighbours", type=int, default=8)
    parser.add_argument("--restarts", action="store_true")
    print(solve(parser.parse_args()))


if __name__ == "__main__":
    main()

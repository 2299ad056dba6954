"""Solve a mixed-integer programme with HiGHS, whose log tells of every better solution and bound.

An instance is the number of a random multi-dimensional knapsack. The options after it are those of HiGHS.
"""

from __future__ import annotations

import random
import sys

import highspy

ITEMS = 150
LIMITS = 6


def knapsack(number: int) -> highspy.Highs:
    """Choose items of the largest total value; every item takes something of each of several resources."""
    generator = random.Random(number)
    model = highspy.Highs()
    weights = [[generator.randint(5, 100) for _ in range(ITEMS)] for _ in range(LIMITS)]
    values = [sum(row[i] for row in weights) / LIMITS + generator.randint(0, 30) for i in range(ITEMS)]
    chosen = [model.addBinary(obj=-value) for value in values]
    for row in weights:
        model.addConstr(sum(w * x for w, x in zip(row, chosen, strict=True)) <= sum(row) // 3)
    return model


def main() -> None:
    """Read the options, solve, and let HiGHS write its log."""
    instance, seed, *options = sys.argv[1:]
    model = knapsack(int(instance))
    model.setOptionValue("threads", 1)
    model.setOptionValue("random_seed", int(seed))
    for option in options:
        name, _, value = option.removeprefix("--").partition("=")
        kind = type(model.getOptionValue(name)[1])
        model.setOptionValue(name, value == "true" if kind is bool else kind(value))
    model.run()


if __name__ == "__main__":
    main()

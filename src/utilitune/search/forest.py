"""Regression trees for the model of search, compiled: a fit takes some milliseconds, not a second.

The trees are extremely randomised (Geurts, Ernst & Wehenkel 2006): a split tries one random threshold for
each of some random columns and takes the one that explains most. All rows grow every tree; the trees differ
by their thresholds alone. The disagreement of trees says where they know little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Growth(NamedTuple):
    """How trees grow.

    Attributes:
        trees: How many.
        leaf: Fewest rows in a leaf.
        columns: How many columns a split chooses from.
    """

    trees: int
    leaf: int
    columns: int


class Trees(NamedTuple):
    """Grown trees, one line each; a node is an entry.

    Attributes:
        column: By which column a node splits; −1 in a leaf.
        threshold: Rows up to this value go left.
        left: The left child; the right one follows it.
        value: The mean of a node's rows.
    """

    column: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    value: NDArray[np.float64]


class Rows(NamedTuple):
    """What trees are fitted to, and the order in which a tree has sorted it into its nodes."""

    features: NDArray[np.float64]
    target: NDArray[np.float64]
    weight: NDArray[np.float64]
    order: NDArray[np.int64]


def grow(
    features: NDArray[np.float64],
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
    growth: Growth,
    seed: int,
) -> Trees:
    """Trees fitted to weighted rows."""
    rows = Rows(features, target, weight, np.arange(len(target)))
    return _grow(rows, growth, seed)


def compile_trees() -> None:
    """Compile what a model needs, so that nobody waits for it later."""
    features = np.linspace(0.0, 1.0, 8).reshape(4, 2)
    predict(grow(features, np.arange(4.0), np.ones(4), Growth(1, 1, 1), 0), features)


@compiled
def _grow(rows: Rows, growth: Growth, seed: int) -> Trees:
    np.random.seed(seed)  # noqa: NPY002 -- compiled code has a stream of its own, for its thread alone
    count = rows.target.size
    room = 2 * count + 1
    trees = Trees(
        np.full((growth.trees, room), -1, dtype=np.int32),
        np.zeros((growth.trees, room)),
        np.zeros((growth.trees, room), dtype=np.int32),
        np.zeros((growth.trees, room)),
    )
    begin, end = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    columns = np.arange(rows.features.shape[1])
    for tree in range(growth.trees):
        begin[0], end[0] = 0, count
        nodes, node = 1, 0
        while node < nodes:
            first, last = begin[node], end[node]
            column, threshold, trees.value[tree, node] = _split(rows, first, last, growth, columns)
            if column >= 0:
                middle = _part(rows, first, last, column, threshold)
                trees.column[tree, node], trees.threshold[tree, node] = column, threshold
                trees.left[tree, node] = nodes
                begin[nodes], end[nodes] = first, middle
                begin[nodes + 1], end[nodes + 1] = middle, last
                nodes += 2
            node += 1
    return trees


@compiled
def _split(
    rows: Rows, first: int, last: int, growth: Growth, columns: NDArray[np.int64]
) -> tuple[int, float, float]:
    """Column and threshold of the best split tried, −1 for none, and the mean of the node."""
    total, mass, lowest, highest = 0.0, 0.0, np.inf, -np.inf
    for row in rows.order[first:last]:
        total += rows.weight[row] * rows.target[row]
        mass += rows.weight[row]
        lowest, highest = min(lowest, rows.target[row]), max(highest, rows.target[row])
    best, best_column, best_threshold = 0.0, -1, 0.0
    if last - first < 2 * growth.leaf or highest <= lowest:
        return best_column, best_threshold, total / mass
    for tried in range(min(growth.columns, columns.size)):
        swap = tried + int(np.random.random() * (columns.size - tried))  # noqa: NPY002 -- as above
        columns[tried], columns[swap] = columns[swap], columns[tried]
        threshold = _threshold(rows, first, last, columns[tried])
        gain = _gain(rows, rows.order[first:last], growth.leaf, columns[tried], threshold)
        if gain > best:
            best, best_column, best_threshold = gain, columns[tried], threshold
    return best_column, best_threshold, total / mass


@compiled
def _threshold(rows: Rows, first: int, last: int, column: int) -> float:
    """A random value between the smallest and the largest of a column."""
    low, high = np.inf, -np.inf
    for row in rows.order[first:last]:
        value = rows.features[row, column]
        low, high = min(low, value), max(high, value)
    return low + np.random.random() * (high - low)  # noqa: NPY002 -- as above


@compiled
def _gain(rows: Rows, node: NDArray[np.int64], leaf: int, column: int, threshold: float) -> float:
    """How much of the sum of squares a split explains; 0 if one side has too few rows."""
    left_total, left_mass, left_count = 0.0, 0.0, 0
    right_total, right_mass = 0.0, 0.0
    for row in node:
        weight = rows.weight[row]
        if rows.features[row, column] <= threshold:
            left_total += weight * rows.target[row]
            left_mass += weight
            left_count += 1
        else:
            right_total += weight * rows.target[row]
            right_mass += weight
    if min(left_count, node.size - left_count) < leaf:
        return 0.0
    apart = left_total / left_mass - right_total / right_mass
    gain: float = apart**2 * left_mass * right_mass / (left_mass + right_mass)
    return gain


@compiled
def _part(rows: Rows, first: int, last: int, column: int, threshold: float) -> int:
    """Sort the rows of a node into those up to the threshold and the others; where the others begin."""
    middle = first
    for place in range(first, last):
        row = rows.order[place]
        if rows.features[row, column] <= threshold:
            rows.order[place], rows.order[middle] = rows.order[middle], row
            middle += 1
    return middle


@compiled
def predict(trees: Trees, features: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of the trees' predictions for each row."""
    count, rows = trees.column.shape[0], features.shape[0]
    total, squares = np.zeros(rows), np.zeros(rows)
    for tree in range(count):  # tree by tree, so that one tree at a time lies in the processor's cache
        column, threshold = trees.column[tree], trees.threshold[tree]
        left, value = trees.left[tree], trees.value[tree]
        for row in range(rows):
            node = 0
            while column[node] >= 0:
                node = left[node] + (1 if features[row, column[node]] > threshold[node] else 0)
            total[row] += value[node]
            squares[row] += value[node] ** 2
    mean = total / count
    return mean, np.sqrt(np.maximum(0.0, squares / count - mean**2))

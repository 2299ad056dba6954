"""Which configuration runs next, without looking at all of them.

A tournament tree holds the largest upper bound: a change of one bound costs O(log n), the winner
and the best of the rest are read in O(1) and O(log n). Ties go to the lowest index.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain.compiled import compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Selection(IntEnum):
    """The two selection rules; compiled code knows them by number."""

    ROUND_ROBIN = 0
    LARGEST_UPPER_BOUND = 1


@compiled
def build_tournament(keys: NDArray[np.float64], count: int) -> NDArray[np.int32]:
    """A tree over keys[0:count]: node 1 holds the index of the largest key, children of v are 2v, 2v+1."""
    leaves = 1
    while leaves < count:
        leaves *= 2
    tree = np.full(2 * leaves, -1, dtype=np.int32)
    for i in range(count):
        tree[leaves + i] = i
    for node in range(leaves - 1, 0, -1):
        tree[node] = _winner(keys, tree[2 * node], tree[2 * node + 1])
    return tree


@inlined
def _winner(keys: NDArray[np.float64], left: int, right: int) -> int:
    """The child with the larger key; the left one, whose indices are lower, on a tie."""
    if right < 0 or (left >= 0 and keys[left] >= keys[right]):
        return left
    return right


@compiled
def update_tournament(tree: NDArray[np.int32], keys: NDArray[np.float64], changed: int) -> None:
    """Replay the games of one index whose key changed."""
    node = (tree.size // 2 + changed) // 2
    while node >= 1:
        tree[node] = _winner(keys, tree[2 * node], tree[2 * node + 1])
        node //= 2


@compiled
def runner_up(tree: NDArray[np.int32], keys: NDArray[np.float64]) -> int:
    """The index of the largest key but the winner's; −1 if there is no other."""
    node = tree.size // 2 + tree[1]
    best = -1
    while node > 1:
        rival = tree[node ^ 1]
        if rival >= 0 and (best < 0 or keys[rival] > keys[best]):
            best = rival
        node //= 2
    return best

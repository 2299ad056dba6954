"""Configurations by chance, each fixed by its number: independent draws, or a small space in random order.

Independent draws are made in blocks, because drawing many costs little more than drawing one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from utilitune.spaces import Assignment, ParameterSpace

_STREAM = 1
_STREAM_OF_LISTS = 4
_BLOCK = 32


class RandomDraws:
    """The stream of random draws; draw number r follows from the seed and r alone.

    So whatever a model proposes in between, and however often a run is resumed, the draws are the same
    independent sample of the space. The promise about all but a γ fraction rests on that.

    Args:
        space: What can be set.
        seed: The scenario's seed.
    """

    def __init__(self, space: ParameterSpace, seed: int) -> None:
        self._space = space
        self._seed = seed
        self._number = -1
        self._block: list[Assignment] = []

    def draw(self, number: int) -> Assignment:
        """Draw number `number`."""
        block, place = divmod(number, _BLOCK)
        if block != self._number:
            sequence = np.random.SeedSequence(self._seed, spawn_key=(_STREAM, block))
            self._block = self._space.sample(np.random.default_rng(sequence), _BLOCK)
            self._number = block
        return self._block[place]


class ListedDraws:
    """A small space in random order, which follows from the seed: every configuration comes once.

    Args:
        space: What can be set.
        seed: The scenario's seed.
        first: The number of the first draw.
    """

    def __init__(self, space: ParameterSpace, seed: int, first: int = 0) -> None:
        everything = space.configurations()
        sequence = np.random.SeedSequence(seed, spawn_key=(_STREAM_OF_LISTS,))
        order = np.random.default_rng(sequence).permutation(len(everything))
        self._first = first
        self._order: list[Assignment] = [everything[place] for place in order.tolist()]

    def draw(self, number: int) -> Assignment:
        """Draw number `number`."""
        return self._order[number - self._first]

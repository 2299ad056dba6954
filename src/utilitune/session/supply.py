"""Configurations by number: those that were given first, then random draws, each from a seed of its own.

Draw number i follows from the scenario's seed and i alone, so a resumed run, or one that asks for
configurations at other moments, draws the same ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.procedures.engine import Origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.scenario.model import Scenario
    from utilitune.spaces import Assignment, ParameterSpace

_CONFIGURATION_STREAM = 1


class ConfigurationSupply:
    """Configurations to try.

    Args:
        space: What can be set.
        seed: The scenario's seed.
        given: Tried first, in this order; the scenario's default is usually the first.
    """

    def __init__(self, space: ParameterSpace, seed: int, given: Sequence[Assignment] = ()) -> None:
        self._space = space
        self._seed = seed
        self.given = tuple(given)

    def draw(self, index: int) -> tuple[Assignment, Origin]:
        """Configuration number `index`, and where it came from."""
        if index < len(self.given):
            return self.given[index], Origin.GIVEN
        sequence = np.random.SeedSequence(self._seed, spawn_key=(_CONFIGURATION_STREAM, index))
        (assignment,) = self._space.sample(np.random.default_rng(sequence), 1)
        return assignment, Origin.RANDOM


def given_configurations(scenario: Scenario) -> list[Assignment]:
    """The default and then what the scenario lists, each once."""
    return list(dict.fromkeys([scenario.space.default(), *scenario.initial]))

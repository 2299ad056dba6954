"""Small recorded matrices for the rivals' tests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from utilitune import Recording, RuntimeMatrix
from utilitune.domain.stopping import Budget
from utilitune.rivals.rival import RecordedRuns, Rival, RivalStanding, play_rival

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from utilitune.domain import StopReason

NO_LIMIT = Budget()


def recorded(
    rows: ArrayLike, cutoff_s: float = math.inf, utility: str = "uniform(k0=10)", seed: int | None = None
) -> RecordedRuns:
    """Runs of a table: one row per configuration."""
    return Recording.of(RuntimeMatrix.from_array(rows, cutoff_s), utility).runs(seed)


def constant(runtimes_s: Sequence[float], positions: int) -> list[list[float]]:
    """Configurations that take the same time on every instance."""
    return [[runtime_s] * positions for runtime_s in runtimes_s]


def exponential(means_s: Sequence[float], positions: int, seed: int = 0) -> np.ndarray:
    """Configurations with exponentially distributed runtimes."""
    draws = np.random.default_rng(seed).exponential(1.0, (len(means_s), positions))
    return draws * np.array(means_s)[:, None]


def play(rival: Rival, runs: RecordedRuns) -> tuple[list[RivalStanding], StopReason]:
    """Take a rival to its end."""
    points, stop = play_rival(rival, runs)
    return list(points), stop

"""Every run that `wager` has consumed, for models to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.procedures.engine import Observed
from utilitune.procedures.wager.state import NOT_RUN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.wager.state import Play


def runs_seen(play: Play, present: int) -> Observed:
    """The runs of the first `present` arms; one that was repeated counts once, with its last captime."""
    configuration, position, level = [], [], []
    arms = play.arms[:present]
    for arm in arms[(arms["runs"] > 0) | (arms["aside"] >= 0)]:
        along, levels = looks_of(play, arm)
        configuration.append(np.full(along.size, arm["row"], dtype=np.int64))
        position.append(along)
        level.append(levels)
    if not configuration:
        nothing = np.zeros(0, dtype=np.int64)
        return Observed(nothing, nothing, np.zeros(0))
    return Observed(
        np.concatenate(configuration),
        np.concatenate(position),
        play.grid.captime_s[np.concatenate(level)],
    )


def looks_of(play: Play, arm: np.void) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The positions on which an arm was run, each once, and up to which captime level it was looked at."""
    runs = int(arm["runs"])
    along = np.arange(arm["first"], arm["first"] + runs, dtype=np.int64)
    if arm["order"]:
        along = play.orders[arm["order"] - 1, :runs].astype(np.int64)
    levels = play.levels_run[arm["block"] : arm["block"] + runs]
    if arm["aside"] >= 0:
        beside = play.levels_run[arm["aside"] : arm["aside"] + play.rules.population]
        more = np.flatnonzero(beside != NOT_RUN)
        more = more[more >= runs]
        along, levels = np.concatenate([along, more]), np.concatenate([levels, beside[more]])
    return along, levels

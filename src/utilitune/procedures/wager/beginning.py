"""The state of `wager` before the first run: its captimes, how δ is shared, and room for the first stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain.compiled import new_record
from utilitune.procedures.growth import FixedSet, Phases
from utilitune.procedures.wager import intervals, tuning
from utilitune.procedures.wager.captimes import captime_grid, half_life_s
from utilitune.procedures.wager.growth import GammaGrid
from utilitune.procedures.wager.shares import Shares, fixed_shares, growing_shares
from utilitune.procedures.wager.state import ARM, Play, Rules, Standing, with_room

if TYPE_CHECKING:
    from utilitune.procedures.evidence import LiveEvidence, RecordedEvidence
    from utilitune.procedures.wager.settings import WagerSettings
    from utilitune.utility import Utility


def new_play(
    settings: WagerSettings, evidence: RecordedEvidence | LiveEvidence, utility: Utility, size: int
) -> Play:
    """The state before the first run.

    Args:
        settings: What is promised, and how the set of configurations grows.
        evidence: The runs it will read; it is told the captimes that will be asked for.
        utility: The utility function.
        size: How many configurations the first stage has.
    """
    half_life = half_life_s(utility)
    limit_s, first_s = settings.captime_limit_s, settings.captime0_s
    if first_s is None:
        first_s = min(half_life / tuning.FIRST_CAPTIME_DIVISOR, limit_s)
    grid = captime_grid(utility, first_s, limit_s)
    evidence.look_at(grid.captime_s)
    if evidence.arrays.least.shape[1] > 0:  # runs tell something at any captime
        half_life = min(half_life, float(grid.captime_s[-1]) / tuning.INTERVAL_PATIENCE)
    population = evidence.positions if settings.finite_population else 0
    standing = new_record(Standing)
    standing.serious = size
    nobody = np.zeros(0)
    no_tree = np.zeros(0, dtype=np.int32)
    play = Play(
        arms=np.zeros(0, dtype=ARM),
        score=nobody,
        alone=nobody,
        paired=nobody,
        score_tree=no_tree,
        alone_tree=no_tree,
        paired_tree=no_tree,
        levels_run=np.zeros(tuning.FIRST_ARENA, dtype=np.uint8),
        orders=np.zeros((0, population), np.int32),
        evidence=evidence.arrays,
        grid=grid,
        shares=_shares(settings, size),
        rules=Rules(
            population=population,
            positions=evidence.positions,
            resume=settings.resume,
            epsilon=-1.0,
            planned_epsilon=-1.0,
            half_life_s=half_life,
            default=-1,
            asked=-1,
        ),
        pooled=np.zeros((intervals.ROWS, len(grid.captime_s))),
        standing=standing,
    )
    return with_room(play, size)


def _shares(settings: WagerSettings, size: int) -> Shares:
    """How δ is shared; fixed before the first run."""
    delta, default, growth = settings.delta, settings.default, settings.growth
    if isinstance(growth, FixedSet) or settings.listed:
        return fixed_shares(delta, size, default=default)
    if isinstance(growth, Phases):
        return growing_shares(delta, spent=growth.schedule.spent_on_gamma(delta), default=default)
    point = GammaGrid(delta, settings.announced_gamma).announced_point
    announced = point.draws if point is not None and settings.undivided else 0
    return growing_shares(delta, default=default, announced=announced)

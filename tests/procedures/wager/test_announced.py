"""Growing for a γ that was announced at the first start: stages, shares, and what is said of fewer draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from procedures.wager.wager_games import CUTOFF_S, UTILITY, solver_runtimes
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import FixedSet, Phases, named_schedule
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings
from utilitune.procedures.wager.capital import upper_now
from utilitune.procedures.wager.growth import GammaGrid, next_stage, stage
from utilitune.procedures.wager.leader import _lead

GAMMA = 0.1
NEEDED = GammaGrid(0.1, GAMMA).announced_point.draws


def engine_for(**changes: object) -> WagerEngine:
    chosen = {
        "delta": 0.1,
        "epsilon": 0.1,
        "gamma": GAMMA,
        "captime_limit_s": CUTOFF_S,
        "growth": Adaptive(),
        "announced_gamma": GAMMA,
    }
    matrix = solver_runtimes(120, 4000, seed=3)
    return WagerEngine(RecordedEvidence(matrix, UTILITY), UTILITY, WagerSettings(**(chosen | changes)))


def grown(engine: WagerEngine, draws: int, size: int = 10**9) -> WagerEngine:
    """The engine once it has so many draws and has begun to play with them."""
    while engine.added < draws:
        halt = engine.advance(PauseAt(10**9, math.inf, 10**9))
        assert halt is Halt.NEEDS_CONFIGURATIONS
        for _ in range(engine.missing_configurations):
            engine.add(Origin.RANDOM, configuration=engine.added % size)
    engine.advance(PauseAt(engine.progress().rounds + 1, math.inf, 10**9))
    return engine


def test_the_shares_change_when_all_announced_draws_are_in_play():
    engine = engine_for()
    grown(engine, 1)
    seen = [(engine.added, engine._play.shares.reached)]
    while engine.added < NEEDED:
        grown(engine, engine.added + 1)
        seen.append((engine.added, engine._play.shares.reached))
    assert seen[-1] == (NEEDED, True)
    assert not any(reached for added, reached in seen[:-1])


def test_bounds_use_the_new_shares_at_once():
    engine = grown(engine_for(), NEEDED)
    arms = engine._play.arms[:NEEDED]
    run = np.flatnonzero(arms["runs"] > 3)
    assert run.size
    for i in run.tolist():
        assert arms["upper"][i] <= upper_now(engine._play, i) + 0.02


@pytest.mark.parametrize("changes", [{"announced_gamma": None}, {"undivided": False}])
def test_other_runs_share_as_before(changes):
    engine = grown(engine_for(**changes), 30)
    shares = engine._play.shares
    assert (shares.announced, shares.reached) == (0, False)


@pytest.mark.parametrize("growth", [FixedSet(12), Phases(named_schedule("default"))])
def test_only_adaptive_growth_knows_an_announced_gamma(growth):
    assert engine_for(growth=growth)._play.shares.announced == 0


def test_a_space_that_was_drawn_as_a_whole_has_reached_what_can_be_reached():
    engine = grown(engine_for(space_size=7), 7, size=7)
    assert engine.added < NEEDED
    assert engine.progress().gamma == 0.0
    assert engine._play.shares.reached


def test_nothing_is_said_of_fewer_draws_by_the_shares_of_all():
    """Bounds for the best of n_A draws are no bounds for the best of the first eight of them."""
    engine = grown(engine_for(), NEEDED)
    engine.advance(PauseAt(engine.progress().rounds + 400, math.inf, 10**9))
    kept = engine._kept
    engine._kept = None
    said = [engine.progress_of(row) for row in range(NEEDED)]
    engine._kept = kept
    others = [each for each in said if each.epsilon < 1.0]
    assert others
    assert all(each.gamma <= GAMMA for each in others)


def test_stages_a_little_before_the_announced_one_are_passed_over():
    grid, played, number = GammaGrid(0.1, 0.02), [], 0
    while (following := next_stage(Adaptive(), number, grid)) is not None and number < 14:
        number = following.number
        played.append(following.draws)
    needed = grid.announced_point.draws
    assert needed in played
    assert not [draws for draws in played if 0.6 * needed < draws < needed]
    every = [stage(Adaptive(), p, grid).draws for p in range(1, number + 1)]
    assert set(every) - set(played) == {draws for draws in every if 0.6 * needed < draws < needed}


def test_the_first_stage_may_be_the_announced_one():
    grid = GammaGrid(0.1, 0.3)
    assert grid.point(1).draws < grid.announced_point.draws
    assert next_stage(Adaptive(), 0, grid).draws == grid.announced_point.draws


@pytest.mark.parametrize("draws", range(1, 160, 13))
def test_gamma_of_a_set_that_ends_early_counts_only_draws_that_exist(draws):
    """Points that were passed over may need more draws than there are."""
    grid = GammaGrid(0.1, 0.02)
    number = next(p for p in range(1, 40) if grid.point(p) == grid.announced_point)
    told = grid.gamma_of_last(number, draws)
    possible = [grid.point(p) for p in range(1, number) if grid.point(p).draws <= draws]
    honest = [point.gamma_after(point.draws) for point in possible]
    assert told == min([*honest, grid.announced_point.gamma_after(draws)])


def test_a_draw_that_equals_the_leader_is_no_equal_of_the_next_one():
    """A proposal equals a draw, leads when the shares change and has not met it: then another one leads."""
    engine = engine_for()
    while engine.added + engine.missing_configurations < NEEDED:
        for _ in range(engine.missing_configurations):
            engine.add(Origin.RANDOM)
        engine.advance(PauseAt(10**9, math.inf, 10**9))
    twin = int(np.argmax(engine._play.arms["runs"]))
    proposal = engine.add(Origin.MODEL, configuration=twin)
    _lead(engine._play, proposal)
    for _ in range(engine.missing_configurations):
        engine.add(Origin.RANDOM)
    engine._enter()
    arms = engine._play.arms
    assert engine._play.shares.reached
    assert arms["apart"][twin] == 0.0
    _lead(engine._play, 0 if twin else 1)
    assert arms["apart"][twin] == 1.0

"""`wager` as an engine: it proves what it is asked for, live as recorded, and says why it stopped."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from procedures.wager.wager_games import (
    CUTOFF_S,
    ENDLESS,
    UTILITY,
    LiveGame,
    begun,
    recorded,
    settings,
    solver_runtimes,
)
from utilitune.data import RuntimeMatrix
from utilitune.errors import UsageError
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence, is_known
from utilitune.procedures.growth import SCHEDULES, FixedSet, Phases, listed_schedule
from utilitune.procedures.selection import build_tournament
from utilitune.procedures.wager import Adaptive, WagerEngine
from utilitune.procedures.wager.state import ARM

MATRIX = solver_runtimes(8, 3000, seed=1)


def worths(matrix: RuntimeMatrix) -> np.ndarray:
    return UTILITY(matrix.runtimes_s).mean(axis=1)


def test_it_proves_the_target_and_answers_well():
    engine = recorded(MATRIX, settings(8))
    assert engine.advance(ENDLESS) is Halt.DONE
    progress = engine.progress()
    assert engine.stop_reason().code == "epsilon-reached"
    assert progress.epsilon <= 0.15
    assert worths(MATRIX).max() - worths(MATRIX)[progress.best_index] <= progress.epsilon
    assert progress.gamma is None
    assert progress.configurations == 8
    assert 0 < progress.total_time_s < progress.runs * CUTOFF_S


def test_a_smaller_target_only_adds_to_the_cost():
    costs = []
    for epsilon in (0.3, 0.15, 0.08):
        engine = recorded(MATRIX, settings(8, epsilon=epsilon))
        engine.advance(ENDLESS)
        costs.append(engine.progress().total_time_s)
    assert costs == sorted(costs)


def test_one_configuration_is_the_best_of_one():
    engine = recorded(MATRIX.take_rows([0]), settings(1))
    assert engine.advance(ENDLESS) is Halt.DONE
    assert engine.progress().epsilon == 0.0


def test_pausing_changes_nothing():
    straight = recorded(MATRIX, settings(8))
    straight.advance(ENDLESS)
    halting = recorded(MATRIX, settings(8))
    rounds = 0
    while halting.advance(PauseAt(rounds, float("inf"), 10**9)) is Halt.PAUSED:
        assert halting.progress().rounds == rounds
        rounds += 7
    assert asdict(halting.progress()) == asdict(straight.progress())


def test_time_and_runs_pause_it_too():
    engine = recorded(MATRIX, settings(8))
    assert engine.advance(PauseAt(10**9, 100.0, 10**9)) is Halt.PAUSED
    assert engine.progress().total_time_s >= 100.0
    assert engine.advance(PauseAt(10**9, 1e9, engine.progress().runs + 5)) is Halt.PAUSED


@pytest.mark.parametrize("workers", [1, 3, 8])
def test_live_runs_in_any_order_reach_the_recorded_state(workers):
    expected = recorded(MATRIX, settings(8))
    expected.advance(ENDLESS)
    game = LiveGame(MATRIX, settings(8), workers, seed=workers)
    begun(game.engine, 8)
    assert game.play() is Halt.DONE
    assert asdict(game.engine.progress()) == asdict(expected.progress())
    assert np.array_equal(game.engine._play.arms, expected._play.arms)


def test_extra_knowledge_of_runs_changes_nothing():
    """Whatever was run ahead or longer than planned, the engine sees each run up to its own captime only."""
    game = LiveGame(MATRIX, settings(8), workers=1, seed=0)
    begun(game.engine, 8)
    for i in range(8):
        for position in range(40):
            runtime = float(MATRIX.runtimes_s[i, position])
            game.evidence.record(i, position, runtime, runtime)
    game.play()
    expected = recorded(MATRIX, settings(8))
    expected.advance(ENDLESS)
    assert asdict(game.engine.progress()) == asdict(expected.progress())


def test_likely_runs_are_new_and_distinct():
    game = LiveGame(MATRIX, settings(8), workers=1, seed=0)
    begun(game.engine, 8)
    game.play(PauseAt(200, float("inf"), 10**9))
    requests = game.engine.likely(12)
    assert len(set(requests)) == 12
    for request in requests:
        assert not is_known(game.evidence.arrays, request.configuration, request.position, request.captime_s)
        assert request.captime_s <= CUTOFF_S


def test_a_missing_run_leaves_the_state_as_it_was():
    game = LiveGame(MATRIX, settings(8), workers=1, seed=0)
    begun(game.engine, 8)
    assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
    before, needed = asdict(game.engine.progress()), game.engine.needed()
    assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
    assert asdict(game.engine.progress()) == before
    assert game.engine.needed() == needed


def test_a_look_between_two_runs_reads_what_the_procedure_has_consumed():
    """Runs that come in make tables longer and move what is in them; whoever looks then must not miss it."""
    game = LiveGame(MATRIX, settings(3, epsilon=None, default=True), workers=1, seed=1)
    for origin in (Origin.GIVEN, Origin.RANDOM, Origin.RANDOM):
        game.engine.add(origin)
    game.play(PauseAt(400, float("inf"), 10**9))
    before = game.engine.progress()
    assert before.gain is not None
    for configuration in range(3):
        game.evidence.record(configuration, 50_000, 1.0, 1.0)
    assert game.engine.progress() == before


def test_resumed_runs_cost_no_more_than_restarted_ones():
    small = RuntimeMatrix.from_array(solver_runtimes(4, 30, seed=2).runtimes_s, CUTOFF_S)
    costs = {}
    for resume in (False, True):
        engine = recorded(small, settings(4, epsilon=None, resume=resume, finite_population=True))
        engine.advance(ENDLESS)
        costs[resume] = engine.progress().total_time_s
    assert costs[True] < costs[False]


class TestFiniteInstances:
    MATRIX = RuntimeMatrix.from_array(solver_runtimes(5, 40, seed=3).runtimes_s, cutoff_s=1e9)

    def test_everything_run_is_known_exactly(self):
        engine = recorded(self.MATRIX, settings(5, epsilon=None, finite_population=True, captime_limit_s=1e9))
        assert engine.advance(ENDLESS) is Halt.DONE
        assert engine.stop_reason().code == "instances-exhausted"
        assert engine.progress().best_index == int(worths(self.MATRIX).argmax())
        assert engine.progress().epsilon == pytest.approx(0.0, abs=1e-6)

    @pytest.mark.parametrize("seed", range(10))
    def test_the_same_list_as_a_sample_proves_far_less(self, seed):
        """15 instances say all about themselves, and little about others like them."""
        few = RuntimeMatrix.from_array(solver_runtimes(5, 15, seed=seed).runtimes_s, cutoff_s=1e9)
        chosen = settings(5, epsilon=None, captime_limit_s=1e9)
        sample, whole = recorded(few, chosen), recorded(few, replace(chosen, finite_population=True))
        assert sample.advance(ENDLESS) is whole.advance(ENDLESS) is Halt.DONE
        assert "more of them" in sample.stop_reason().advice
        assert sample.progress().epsilon > 0.1
        assert whole.progress().epsilon == pytest.approx(0.0, abs=1e-6)


class TestGrowth:
    ROWS = solver_runtimes(120, 2000, seed=4)

    def _engine(self, growth, **changes):
        chosen = settings(0, growth=growth, delta=0.1, **changes)
        return WagerEngine(RecordedEvidence(self.ROWS, UTILITY), UTILITY, chosen)

    def _play(self, engine, pause=ENDLESS):
        while (halt := engine.advance(pause)) is Halt.NEEDS_CONFIGURATIONS:
            if engine.added + engine.missing_configurations > self.ROWS.rows:
                engine.no_more()
                continue
            for _ in range(engine.missing_configurations):
                engine.add(Origin.RANDOM)
        return halt

    def test_phases_prove_what_the_schedule_says(self):
        schedule = listed_schedule([0.6, 0.4, 0.3], [0.5, 0.3, 0.2])
        engine = self._engine(Phases(schedule), epsilon=None)
        assert self._play(engine) is Halt.DONE
        assert engine.stop_reason().code == "phases-done"
        for phase, (epsilon, gamma) in zip(engine.phases, [(0.6, 0.5), (0.4, 0.3), (0.3, 0.2)], strict=True):
            assert phase.epsilon <= epsilon
            assert phase.gamma == gamma

    def test_phases_end_when_configurations_do(self):
        schedule = listed_schedule([0.6, 0.4], [0.5, 0.001])
        engine = self._engine(Phases(schedule), epsilon=None)
        assert self._play(engine) is Halt.DONE
        assert engine.stop_reason().code == "configurations-exhausted"
        assert engine.progress().gamma == 0.5

    def test_phases_end_when_nothing_is_left_to_prove_of_the_whole_space(self):
        """There are more phases of a named schedule than numbers for their γ."""
        runtimes_s = np.array([[1.0], [2.0], [3.0]]) * np.linspace(1.0, 2.0, 8)
        chosen = settings(
            0, growth=Phases(SCHEDULES["default"]), epsilon=None, finite_population=True, space_size=3
        )
        evidence = RecordedEvidence(RuntimeMatrix.from_array(runtimes_s), UTILITY)
        engine = WagerEngine(evidence, UTILITY, chosen)
        while engine.advance(ENDLESS) is Halt.NEEDS_CONFIGURATIONS:
            engine.add(Origin.RANDOM, configuration=engine.added % 3)
        assert engine.stop_reason().code == "one-left"
        promise = engine.progress()
        assert (promise.best_index, promise.epsilon, promise.gamma) == (0, 0.0, 0.0)

    def test_adaptive_growth_lowers_both(self):
        engine = self._engine(Adaptive(), epsilon=0.2)
        assert self._play(engine) is Halt.DONE
        progress = engine.progress()
        assert progress.epsilon <= 0.2
        assert progress.gamma is not None
        assert progress.gamma < 0.2

    def test_where_rows_run_out_gamma_is_about_the_rows_there_are(self):
        """The grid for δ = 0.1 is 8, 12, 18, 27, 41, 62, 93, 140: 120 rows end it at the eighth place."""
        engine = self._engine(Adaptive(), epsilon=0.05)
        while engine.advance(ENDLESS) is Halt.NEEDS_CONFIGURATIONS:
            for _ in range(min(engine.missing_configurations, self.ROWS.rows - engine.added)):
                engine.add(Origin.RANDOM)
            if engine.added == self.ROWS.rows:
                engine.no_more()
        assert engine.added == self.ROWS.rows
        assert engine.progress().gamma == pytest.approx(1 - (0.05 * 10 / (17 * 18)) ** (1 / 120))

    def test_where_a_stage_gets_nothing_gamma_is_that_of_the_stage_before(self):
        engine = self._engine(Adaptive(), epsilon=0.05)
        assert self._play(engine) is Halt.DONE
        assert engine.added == 93
        assert engine.progress().gamma == pytest.approx(1 - (0.05 * 10 / (16 * 17)) ** (1 / 93))

    def test_a_larger_weight_of_gamma_draws_more(self):
        drawn = []
        for weight in (0.3, 2.0):
            engine = self._engine(Adaptive(weight), epsilon=0.25)
            self._play(engine)
            drawn.append(engine.added)
        assert drawn[0] < drawn[1]

    def test_without_more_configurations_it_plays_on(self):
        engine = self._engine(Adaptive(), epsilon=0.2)
        for _ in range(3):
            engine.add(Origin.RANDOM)
        engine.no_more()
        assert engine.advance(ENDLESS) is Halt.DONE
        assert engine.progress().epsilon <= 0.2
        assert engine.progress().gamma > 0.8  # three draws promise next to nothing about the whole space

    @pytest.mark.parametrize(("asked", "enough"), [(None, 0.001), (0.01, 0.01)])
    def test_growth_ends_where_nobody_can_be_better(self, asked, enough):
        runtimes_s = np.full((20_000, 4), 50.0)
        runtimes_s[0] = 0.0
        rows = RuntimeMatrix.from_array(runtimes_s, CUTOFF_S)
        chosen = settings(0, growth=Adaptive(), epsilon=None, gamma=asked, finite_population=True)
        engine = WagerEngine(RecordedEvidence(rows, UTILITY), UTILITY, chosen)
        while engine.advance(ENDLESS) is Halt.NEEDS_CONFIGURATIONS:
            for _ in range(engine.missing_configurations):
                engine.add(Origin.RANDOM)
        progress = engine.progress()
        assert (progress.best_index, progress.epsilon) == (0, 0.0)
        assert enough / 2 < progress.gamma <= enough
        assert engine.stop_reason().code == "instances-exhausted"

    def test_a_proposal_is_judged_on_fresh_positions_only(self):
        engine = self._engine(Adaptive(), epsilon=None)
        self._play(engine, PauseAt(300, float("inf"), 10**9))
        frontier = engine.frontier
        proposal = engine.add(Origin.MODEL)
        assert frontier > 0
        assert engine._play.arms["first"][proposal] == frontier
        assert engine._play.arms["rank"][proposal] == 0
        self._play(engine, PauseAt(600, float("inf"), 10**9))
        assert engine._play.arms["runs"][proposal] > 0

    def test_given_configurations_can_be_the_answer_but_are_no_draws(self):
        best = int(worths(self.ROWS).argmax())
        order = [best, *(i for i in range(self.ROWS.rows) if i != best)]
        rows = self.ROWS.take_rows(order)
        chosen = settings(0, growth=Adaptive(), epsilon=0.2)
        engine = WagerEngine(RecordedEvidence(rows, UTILITY), UTILITY, chosen)
        engine.add(Origin.GIVEN)
        missing = engine.missing_configurations
        engine.add(Origin.RANDOM)
        assert engine.missing_configurations == missing - 1
        assert self._play(engine) is Halt.DONE
        assert engine.progress().best_index == 0

    def test_a_fixed_set_takes_no_proposals(self):
        engine = self._engine(FixedSet(3))
        with pytest.raises(UsageError, match="let the set grow"):
            engine.add(Origin.MODEL)

    def test_a_fixed_set_must_be_filled(self):
        engine = self._engine(FixedSet(3))
        engine.add(Origin.RANDOM)
        with pytest.raises(UsageError, match="3 configurations"):
            engine.no_more()

    def test_a_proposal_on_a_finite_list_counts_what_its_runs_add_up_to(self):
        small = RuntimeMatrix.from_array(self.ROWS.runtimes_s[:, :60], CUTOFF_S)
        chosen = settings(0, growth=Adaptive(), epsilon=None, finite_population=True)
        engine = WagerEngine(RecordedEvidence(small, UTILITY), UTILITY, chosen)
        for _ in range(engine.missing_configurations):
            engine.add(Origin.RANDOM)
        engine.advance(PauseAt(100, float("inf"), 10**9))
        proposal = engine.add(Origin.MODEL)
        engine.no_more()
        engine.advance(ENDLESS)
        arm = engine._play.arms[proposal]
        assert arm["first"] == 0
        assert arm["lower"] <= arm["least"] / 60 + 1e-12


def test_an_arm_never_run_costs_next_to_nothing():
    trees = 3 * build_tournament(np.zeros(2**10 + 1), 2**10 + 1).nbytes / (2**10 + 1)
    assert ARM.itemsize + 3 * 8 + trees <= 256

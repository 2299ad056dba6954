"""Nominees along orders of their own, configurations that share runs, and the gain over the default."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest

from procedures.wager.wager_games import CUTOFF_S, ENDLESS, UTILITY, LiveGame, settings, solver_runtimes
from utilitune.data import RuntimeMatrix
from utilitune.errors import UsageError
from utilitune.procedures.bounds.betting import lower_bound
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import FixedSet
from utilitune.procedures.orders import fresh_order
from utilitune.procedures.wager import Adaptive, WagerEngine, tuning
from utilitune.procedures.wager.capital import difference_values, pair_values_along
from utilitune.procedures.wager.leader import _lead, place, settle
from utilitune.procedures.wager.state import runs_made

POSITIONS = 90
ROWS = RuntimeMatrix.from_array(solver_runtimes(60, POSITIONS, seed=4).runtimes_s, CUTOFF_S)
WORTHS = UTILITY(ROWS.runtimes_s).mean(axis=1)
BEST = int(WORTHS.argmax())
ORDER = fresh_order("tests", 1, POSITIONS)
SHORT = PauseAt(120, float("inf"), 10**9)


def rows_of(*rows: int) -> RuntimeMatrix:
    """These rows, some of them perhaps several times."""
    return RuntimeMatrix.from_array(ROWS.runtimes_s[list(rows)], CUTOFF_S)


def listed(**changes: object):
    chosen: dict[str, object] = {"growth": Adaptive(), "epsilon": None, "finite_population": True}
    return settings(0, **(chosen | changes))


def with_draws(chosen, evidence, rows: int = 12, *, default: int | None = None) -> WagerEngine:
    """An engine with a first row that is given, if there is one, and some random draws."""
    engine = WagerEngine(evidence, UTILITY, chosen)
    if default is not None:
        engine.add(Origin.GIVEN)
    for _ in range(rows):
        engine.add(Origin.RANDOM)
    engine.no_more()
    return engine


def nominated(rows: RuntimeMatrix = ROWS, **changes: object) -> tuple[WagerEngine, int]:
    """Twelve draws at play, then the best row of all as a nominee."""
    order = [*range(12), BEST]
    engine = with_draws(listed(**changes), RecordedEvidence(rows.take_rows(order), UTILITY))
    engine.advance(SHORT)
    return engine, engine.add(Origin.NOMINEE, order=ORDER)


@pytest.mark.parametrize("nominee_is_ahead", [False, True])
def test_the_best_of_all_parts_that_a_configuration_plays_counts(
    monkeypatch: pytest.MonkeyPatch, nominee_is_ahead: bool
):
    """Search has looked at the first instances of one of the orders, and more is proved along that one."""
    evidence = RecordedEvidence(ROWS.take_rows([int(WORTHS.argmin()), *range(11), BEST]), UTILITY)
    engine = with_draws(listed(default=True), evidence, default=0)
    drawn = engine.added - 1
    engine.advance(PauseAt(20, float("inf"), 10**9))
    nominee = engine.add(Origin.NOMINEE, configuration=drawn, order=ORDER)
    for position in (ORDER if nominee_is_ahead else np.arange(POSITIONS))[: POSITIONS // 2].tolist():
        for each in (0, drawn):
            engine.look_beside(each, position, CUTOFF_S)
    found, whole = engine.progress_of(drawn), engine._arms_of
    alone = []
    for part in (drawn, nominee):
        monkeypatch.setattr(engine, "_arms_of", lambda row, part=part: [part] if row == drawn else whole(row))
        alone.append(engine.progress_of(drawn))
    assert found.best_index == drawn
    better = alone[nominee_is_ahead]
    assert found.gain == better.gain > alone[not nominee_is_ahead].gain + 0.01
    assert engine.worth(found) <= engine.worth(better) < engine.worth(alone[not nominee_is_ahead])
    monkeypatch.undo()
    for part in (drawn, nominee):  # whichever of them ε is taken from
        assert engine._compared(part, found).gain == found.gain


def test_an_answer_that_does_not_lead_is_compared_with_the_draws_by_pairs(monkeypatch: pytest.MonkeyPatch):
    """Where instances differ more than configurations, pairs tell more; the draws left out count alone."""
    engine = with_draws(listed(), RecordedEvidence(ROWS.take_rows(range(12)), UTILITY))
    engine.advance(PauseAt(60, float("inf"), 10**9))
    ranking = np.argsort(-WORTHS[:12]).tolist()
    answer = next(each for each in ranking if each != engine._play.standing.leader)
    for position in range(2 * POSITIONS // 3):
        for each in range(12):
            engine.look_beside(each, position, CUTOFF_S)
    proved = []
    for pairs in (0, 1, 200):
        monkeypatch.setattr(tuning, "MOST_PAIRS_ASKED", pairs)
        proved.append(engine.progress_of(answer).epsilon)
    assert proved[0] >= proved[1] >= proved[2]
    assert proved[0] > proved[2] + 0.02


class TestNominees:
    def test_a_nominee_runs_along_its_own_order_and_leads(self):
        engine, nominee = nominated()
        assert engine.advance(ENDLESS) is Halt.DONE
        assert engine.progress().best_index == nominee
        assert engine.progress().epsilon == pytest.approx(0.0, abs=1e-6)

    def test_its_lower_bound_is_that_of_its_runs_along_its_order(self):
        engine, nominee = nominated()
        engine.advance(PauseAt(300, float("inf"), 10**9))
        play, arm = engine._play, engine._play.arms[nominee]
        runs = int(arm["runs"])
        assert 0 < runs < POSITIONS
        levels = play.levels_run[arm["block"] : arm["block"] + runs]
        runtimes = ROWS.runtimes_s[BEST, ORDER[:runs]]
        least = np.where(runtimes < play.grid.captime_s[levels], UTILITY(runtimes), UTILITY.infimum)
        assert arm["least"] == pytest.approx(least.sum())
        share = play.shares.lower * arm["weight"]
        assert arm["lower"] <= lower_bound(least, share, POSITIONS) + 1e-6

    def test_as_many_of_its_runs_are_counted_as_it_has_made(self):
        """Positions of its own order were once taken for places of the stored one, and half did not count."""
        engine, nominee = nominated()
        while engine.advance(PauseAt(engine.progress().rounds + 7, float("inf"), 10**9)) is Halt.PAUSED:
            arms = engine._play.arms[: engine.added]
            assert (arms["aside_runs"] >= 0).all()
            assert runs_made(engine._play, nominee) == arms["runs"][nominee]
        assert engine._play.arms["runs"][nominee] > POSITIONS // 2

    def test_the_best_draws_are_draws_and_the_best_comes_first(self):
        engine, nominee = nominated()
        engine.advance(ENDLESS)
        best = engine.best_draws(3)
        assert len(set(best)) == 3
        assert nominee not in best
        assert best[0] == int(WORTHS[:12].argmax())
        assert len(engine.best_draws(100)) == 12

    def test_it_needs_far_fewer_runs_than_all_of_them(self):
        """On a list of 300, a nominee's bound reaches what counting alone would need most of the list for."""
        runtimes = np.where(np.random.default_rng(1).random((1, 300)) < 0.85, 0.0, np.inf)
        rows = RuntimeMatrix.from_array(np.vstack([np.full((12, 300), np.inf), runtimes]), CUTOFF_S)
        engine = with_draws(listed(), RecordedEvidence(rows, UTILITY))
        engine.advance(PauseAt(30, float("inf"), 10**9))
        nominee = engine.add(Origin.NOMINEE, order=fresh_order("tests", 1, 300))
        rounds = 30
        while engine._play.arms["lower"][nominee] < 0.6:
            rounds += 4
            engine.advance(PauseAt(rounds, float("inf"), 10**9))
        assert engine._play.arms["runs"][nominee] < 0.6 * 300 / 0.85 / 2

    def test_challengers_meet_it_along_its_order(self):
        engine, nominee = nominated()
        engine.advance(PauseAt(2000, float("inf"), 10**9))
        play = engine._play
        arms = play.arms[: engine.added]
        assert play.standing.leader == nominee
        assert arms["aside_runs"].sum() > 0 or (arms["aside"] >= 0).any()
        for i in np.flatnonzero(arms["aside"] >= 0):
            beside = play.levels_run[arms["aside"][i] : arms["aside"][i] + POSITIONS]
            met = set(np.flatnonzero(beside != 255).tolist())
            assert met <= set(ORDER[: arms["runs"][nominee]].tolist())

    def test_positions_of_requests_are_those_of_the_stored_order(self):
        order = [*range(12), BEST]
        game = LiveGame(ROWS.take_rows(order), listed(), workers=1, seed=0)
        for _ in range(12):
            game.engine.add(Origin.RANDOM)
        game.engine.no_more()
        game.play(SHORT)
        nominee = game.engine.add(Origin.NOMINEE, order=ORDER)
        asked = []
        while game.engine._play.arms["runs"][nominee] < 5:
            assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
            (request,) = game.engine.needed()
            asked += [request.position] * (request.configuration == nominee)
            game.make(request)
        assert asked[:5] == ORDER[:5].tolist()

    @pytest.mark.parametrize("workers", [1, 5])
    def test_live_and_recorded_games_reach_the_same_state(self, workers):
        expected, _ = nominated()
        expected.advance(ENDLESS)
        game = LiveGame(ROWS.take_rows([*range(12), BEST]), listed(), workers, seed=workers)
        for _ in range(12):
            game.engine.add(Origin.RANDOM)
        game.engine.no_more()
        game.play(SHORT)
        game.engine.add(Origin.NOMINEE, order=ORDER)
        assert game.play() is Halt.DONE
        assert asdict(game.engine.progress()) == asdict(expected.progress())
        assert np.array_equal(game.engine._play.arms, expected._play.arms)

    def test_what_a_challenger_was_not_run_on_tells_nothing(self):
        engine, nominee = nominated()
        engine.advance(PauseAt(200, float("inf"), 10**9))
        play = engine._play
        values = pair_values_along(play, 0, nominee, nominee)
        arm, other = play.arms[nominee], play.arms[0]
        assert len(values) == arm["runs"]
        for j, position in enumerate(ORDER[: arm["runs"]]):
            least = UTILITY.infimum
            if ROWS.runtimes_s[BEST, position] < play.grid.captime_s[play.levels_run[arm["block"] + j]]:
                least = float(UTILITY(ROWS.runtimes_s[BEST, position]))
            if position >= other["runs"] and other["aside"] < 0:
                assert values[j] == pytest.approx(1.0 - float(UTILITY(0.0)) + least)

    def test_runs_that_search_has_made_need_not_be_made_again(self):
        """The nominee is a configuration with a number of its own, whose runs are known wherever they lie."""
        game = LiveGame(ROWS, listed(), workers=1, seed=0)
        for _ in range(12):
            game.engine.add(Origin.RANDOM)
        game.engine.no_more()
        for position in range(POSITIONS):
            runtime = float(ROWS.runtimes_s[BEST, position])
            if runtime < CUTOFF_S:
                game.evidence.record(BEST, position, runtime, runtime)
        game.play(SHORT)
        nominee = game.engine.add(Origin.NOMINEE, configuration=BEST, order=ORDER)
        while game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS:
            (request,) = game.engine.needed()
            assert request.configuration != nominee
            assert request.configuration != BEST or ROWS.runtimes_s[BEST, request.position] >= CUTOFF_S
            game.make(request)
        assert game.engine.progress().best_index == BEST

    @pytest.mark.parametrize(
        ("origin", "order", "changes", "complaint"),
        [
            (Origin.NOMINEE, None, {}, "order of its own"),
            (Origin.RANDOM, ORDER, {}, "order of its own"),
            (Origin.NOMINEE, ORDER[:-1], {}, "every position"),
            (Origin.NOMINEE, np.zeros(POSITIONS, dtype=np.int32), {}, "every position"),
            (Origin.NOMINEE, ORDER, {"finite_population": False}, "endless source"),
            (Origin.NOMINEE, ORDER, {"growth": FixedSet(3)}, "let the set grow"),
            (Origin.NOMINEE, ORDER, {"chosen": False}, "begin a new one"),
            (Origin.GIVEN, None, {"given": False}, "begin a new one"),
        ],
    )
    def test_who_has_no_place_is_refused(self, origin, order, changes, complaint):
        engine = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, listed(**changes))
        with pytest.raises(UsageError, match=complaint):
            engine.add(origin, order=order)
        assert engine.added == 0


class TestTheOneAskedAbout:
    """Something is to be proved of a nominee that is not the best."""

    WORST = int(WORTHS.argmin())

    def _engine(self) -> tuple[WagerEngine, int]:
        evidence = RecordedEvidence(ROWS.take_rows([*range(12), self.WORST]), UTILITY)
        engine = with_draws(listed(), evidence)
        engine.advance(SHORT)
        return engine, engine.add(Origin.NOMINEE, order=ORDER)

    def test_in_the_end_its_epsilon_is_its_distance_to_the_best(self):
        engine, nominee = self._engine()
        engine.ask_about(nominee)
        assert engine.advance(ENDLESS) is Halt.DONE
        gap = float(WORTHS[:12].max() - WORTHS[self.WORST])
        assert engine.progress_of(nominee).epsilon == pytest.approx(gap, abs=1e-6)
        assert engine._play.arms[nominee]["runs"] == POSITIONS

    def test_nobody_runs_a_bad_one_that_is_not_asked_about(self):
        engine, nominee = self._engine()
        engine.advance(ENDLESS)
        assert engine._play.arms[nominee]["runs"] < POSITIONS

    @pytest.mark.parametrize("place", [0, 3, 12])
    def test_what_is_proved_of_it_never_becomes_less(self, place):
        row = int(np.argsort(-WORTHS)[place])
        engine = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, listed())
        said: list[float] = []
        while len(said) < 80:
            if engine.advance(PauseAt(25 * len(said), float("inf"), 10**9)) is Halt.NEEDS_CONFIGURATIONS:
                first = engine.added == 0
                for _ in range(engine.missing_configurations):
                    engine.add(Origin.RANDOM, configuration=(7 * engine.added) % len(WORTHS))
                if first:
                    engine.ask_about(engine.add(Origin.NOMINEE, order=ORDER, configuration=row))
                continue
            found = engine.progress_of(row)
            said.append(found.epsilon + (found.gamma or 0.0))
        assert said[-1] < said[0]
        assert (np.diff(said) <= 1e-9).all()

    def test_nor_does_what_is_proved_of_any_answer(self):
        """Whoever was the answer once, as the leader or by its lower bound, in whichever stage."""
        engine = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, listed())
        said: dict[int, float] = {}
        for rounds in range(0, 3000, 25):
            while engine.advance(PauseAt(rounds, float("inf"), 10**9)) is Halt.NEEDS_CONFIGURATIONS:
                for _ in range(engine.missing_configurations):
                    engine.add(Origin.RANDOM, configuration=(7 * engine.added) % len(WORTHS))
            answer = engine.progress()
            said[answer.best_index] = min(engine.worth(answer), said.get(answer.best_index, math.inf))
            for row, worth in said.items():
                assert engine.worth(engine.progress_of(row)) <= worth + 1e-9
        assert len(said) > 2

    def test_what_is_proved_of_it_while_it_leads_stays_proved(self):
        engine, nominee = self._engine()
        engine.ask_about(nominee)
        engine.advance(PauseAt(400, float("inf"), 10**9))
        play = engine._play
        assert play.standing.leader != nominee
        before = engine.progress_of(nominee).epsilon
        play.arms["apart"] = before - 0.2
        play.arms["apart_seen"] = 10**6
        play.standing.leader = nominee
        for arm in range(engine.added):
            place(play, arm)
        settle(play)
        assert 0.0 < play.standing.epsilon < before - 0.1, "its pairs prove more while it leads"
        _lead(play, 0)
        assert engine.progress_of(nominee).epsilon == pytest.approx(before - 0.2)

    def test_what_was_proved_in_an_earlier_stage_stays_proved_with_its_gamma(self):
        engine, nominee = self._engine()
        engine.advance(PauseAt(400, float("inf"), 10**9))
        assert engine.progress_of(nominee).epsilon > 0.1
        engine._earlier[nominee] = (0.05, 0.25)
        found = engine.progress_of(nominee)
        assert (found.epsilon, found.gamma) == (0.05, 0.25)


class TestSharedRuns:
    def test_newcomers_are_no_equals_of_whoever_leads_when_they_join(self):
        """Free places had the row 0: whoever joined there was covered by nothing while row 0 led."""
        engine = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, listed())
        while engine.advance(PauseAt(40, float("inf"), 10**9)) is Halt.NEEDS_CONFIGURATIONS:
            for _ in range(engine.missing_configurations):
                engine.add(Origin.RANDOM)
        assert engine.added < len(engine._play.arms), "there are free places"
        _lead(engine._play, 1)
        _lead(engine._play, 0)
        newcomer = engine.add(Origin.RANDOM)
        assert engine._play.arms[newcomer]["apart"] == 1.0
        assert engine.progress().epsilon == 1.0 or engine._contributions()[newcomer] > 0.5
        assert engine._play.standing.epsilon > 0.5

    def test_a_repeated_draw_counts_for_gamma_but_is_never_run(self):
        engine = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, listed(epsilon=0.2))
        missing = engine.missing_configurations
        engine.add(Origin.RANDOM)
        engine.add(Origin.RANDOM)
        repeated = engine.add(Origin.RANDOM, configuration=0)
        assert engine.missing_configurations == missing - 3
        while engine.advance(ENDLESS) is Halt.NEEDS_CONFIGURATIONS:
            for _ in range(engine.missing_configurations):
                engine.add(Origin.RANDOM, configuration=engine.added % 2)
        arms = engine._play.arms[: engine.added]
        assert arms["runs"][repeated] == 0
        assert arms["runs"][2:].sum() == 0
        assert engine.progress().epsilon <= 0.2

    def test_when_the_whole_space_was_drawn_gamma_is_zero(self):
        chosen = listed(space_size=3, epsilon=None)
        engine = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, chosen)
        for row in (0, 1, 1, 0, 2):
            assert engine.missing_configurations > 0
            engine.add(Origin.RANDOM, configuration=row)
        assert engine.missing_configurations == 0
        assert engine.advance(ENDLESS) is Halt.DONE
        progress = engine.progress()
        assert progress.gamma == 0.0
        assert progress.best_index == int(WORTHS[:3].argmax())
        assert progress.epsilon == pytest.approx(0.0, abs=1e-6)
        assert "all configurations that can be set" in progress.promise.sentence()

    def test_a_fixed_set_leaves_copies_out_too(self):
        chosen = listed(growth=FixedSet(4))
        engine = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, chosen)
        for row in (0, 1, 0, 1):
            engine.add(Origin.RANDOM, configuration=row)
        assert engine.advance(ENDLESS) is Halt.DONE
        assert engine._play.arms["runs"][2:4].sum() == 0

    def test_a_draw_that_equals_the_default_shares_its_runs_and_its_worth(self):
        game = LiveGame(ROWS, listed(default=True), workers=1, seed=0)
        game.engine.add(Origin.GIVEN)
        game.engine.add(Origin.RANDOM, configuration=0)
        game.engine.no_more()
        assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
        assert game.engine.progress().epsilon == 0.0
        assert {request.configuration for request in game.engine.likely(20)} == {0}


class TestGainOverTheDefault:
    def _engine(self, default: int, other: int) -> WagerEngine:
        """A default, and as many copies of another row as the first stage wants."""
        rows = [default, *[other] * 12]
        evidence = RecordedEvidence(rows_of(*rows), UTILITY)
        return with_draws(listed(default=True), evidence, default=0)

    def test_a_better_answer_is_proved_to_be_better(self):
        engine = self._engine(int(WORTHS.argmin()), BEST)
        engine.advance(ENDLESS)
        progress = engine.progress()
        assert progress.best_index != 0
        assert 0 < progress.gain <= WORTHS[BEST] - WORTHS.min() + 1e-9
        assert progress.promise.gain == progress.gain

    def test_the_default_itself_gains_nothing(self):
        engine = self._engine(BEST, int(WORTHS.argmin()))
        engine.advance(ENDLESS)
        assert engine.progress().best_index == 0
        assert engine.progress().gain == 0.0

    def test_nothing_is_said_before_there_is_anything_to_say(self):
        engine = self._engine(0, 1)
        engine.advance(PauseAt(1, float("inf"), 10**9))
        assert engine.progress().gain is None or engine.progress().gain <= 0.0

    def test_without_a_default_nothing_is_said(self):
        engine = with_draws(listed(), RecordedEvidence(ROWS, UTILITY))
        engine.advance(SHORT)
        assert engine.progress().gain is None

    def test_a_proved_loss_makes_the_default_the_answer(self):
        engine = self._engine(BEST, int(WORTHS.argmin()))
        engine.advance(ENDLESS)
        standing = engine._play.standing
        standing.answer, standing.answer_epsilon = 1, 0.9  # as if the worst had been the best proved
        progress = engine.progress()
        assert progress.best_index == 0
        assert progress.gain == 0.0
        assert progress.epsilon < 0.9
        values = difference_values(engine._play, 1, 0)
        assert values.mean() > 1.0

    def test_a_nominee_is_compared_along_its_own_order(self):
        worst = int(WORTHS.argmin())
        evidence = RecordedEvidence(rows_of(worst, *range(12), BEST), UTILITY)
        engine = with_draws(listed(default=True), evidence, default=0)
        engine.advance(SHORT)
        nominee = engine.add(Origin.NOMINEE, order=ORDER)
        engine.advance(ENDLESS)
        assert engine.progress().best_index == nominee
        assert engine.progress().gain > 0


class TestTheBestProvedAnswer:
    """The most promising configuration leads; the answer is the one of which most is proved."""

    N = 120

    def _engine(self) -> WagerEngine:
        """A default that was run on the whole list, and draws that look a little better after a few runs."""
        generator = np.random.default_rng(5)
        default = np.zeros(self.N, dtype=bool)
        default[: self.N // 2] = True
        draws = generator.random((12, self.N)) < 0.55
        succeeds = np.vstack([generator.permutation(default), draws])
        rows = RuntimeMatrix.from_array(np.where(succeeds, 0.0, np.inf), CUTOFF_S)
        return with_draws(listed(default=True), RecordedEvidence(rows, UTILITY), default=0)

    def test_what_is_certain_by_counting_is_always_promised(self):
        engine = self._engine()
        for rounds in range(20, 1500, 35):
            engine.advance(PauseAt(rounds, float("inf"), 10**9))
            arms = engine._play.arms[: engine.added]
            certain = arms["least"].max() / self.N
            assert engine.progress().epsilon <= 1.0 - certain + 0.02

    def test_no_lower_bound_promises_more_than_the_answer(self):
        engine = self._engine()
        engine.advance(ENDLESS)
        arms = engine._play.arms[: engine.added]
        best = int(arms["sure"].argmax())
        others = arms["upper"][(arms["rank"] > 0) & (arms["row"] != best)]
        assert engine.progress().epsilon <= max(0.0, others.max() - arms["sure"][best]) + 1e-9

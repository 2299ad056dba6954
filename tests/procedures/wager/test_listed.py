"""Listed spaces: a small space is drawn as a whole before the first run, and is a fixed set from then on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from procedures.wager.wager_games import CUTOFF_S, ENDLESS, UTILITY, settings, solver_runtimes
from utilitune.data import RuntimeMatrix
from utilitune.errors import UsageError
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import FixedSet
from utilitune.procedures.orders import fresh_order
from utilitune.procedures.wager import Adaptive, WagerEngine, is_worth_listing, tuning
from utilitune.procedures.wager.shares import Kind, Weights

SIZE = 6
POSITIONS = 80
ROWS = RuntimeMatrix.from_array(solver_runtimes(SIZE, POSITIONS, seed=8).runtimes_s, CUTOFF_S)
WORTHS = UTILITY(ROWS.runtimes_s).mean(axis=1)


def listed(**changes: object):
    chosen: dict[str, object] = {
        "growth": Adaptive(),
        "epsilon": None,
        "finite_population": True,
        "space_size": SIZE,
        "listed": True,
    }
    return settings(0, **(chosen | changes))


def played(chosen, order=range(SIZE), *, given: int | None = None, rounds: int | None = None) -> WagerEngine:
    """An engine with a given row, if there is one, and the draws in an order; it plays so many rounds."""
    engine = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, chosen)
    if given is not None:
        engine.add(Origin.GIVEN, configuration=given)
    assert engine.missing_configurations == SIZE
    for row in order:
        engine.add(Origin.RANDOM, configuration=row)
    engine.advance(ENDLESS if rounds is None else PauseAt(rounds, math.inf, 10**9))
    return engine


def test_all_are_wanted_at_once_and_the_promise_is_about_all_of_them():
    engine = played(listed(), rounds=200)
    progress = engine.progress()
    assert engine.missing_configurations == 0
    assert progress.gamma == 0.0
    assert progress.epsilon < 1
    assert "all configurations that can be set" in progress.promise.sentence()


def test_at_the_end_of_a_list_the_best_of_all_is_known():
    engine = played(listed())
    assert engine.progress().best_index == int(WORTHS.argmax())
    assert engine.progress().epsilon == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("given", range(SIZE))
def test_a_given_member_is_covered_by_epsilon_under_the_number_of_its_draw(given):
    engine = played(listed(default=True), given=given, rounds=0)
    arms = engine._play.arms[: engine.added]
    twin = 1 + given
    assert arms["rank"][0] == 1 + given
    assert arms["rank"][twin] == 0
    assert arms["idle"][twin]
    assert sorted(arms["rank"][arms["rank"] > 0]) == list(range(1, SIZE + 1))
    assert len(set(arms["weight"][:SIZE])) == 1
    engine.advance(ENDLESS)
    assert engine._play.arms["runs"][twin] == 0, "its runs are those of the given one"
    assert WORTHS[engine.progress().best_index] == WORTHS.max()


def test_a_better_default_is_not_left_out_of_what_has_to_be_ruled_out():
    """With the best one given, no answer but it is ever proved within less than it is ahead."""
    best = int(WORTHS.argmax())
    engine = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, listed(default=True))
    engine.add(Origin.GIVEN, configuration=best)
    for row in range(SIZE):
        engine.add(Origin.RANDOM, configuration=row)
    for rounds in range(1, 400, 7):
        engine.advance(PauseAt(rounds, math.inf, 10**9))
        progress = engine.progress()
        assert WORTHS[progress.best_index] >= WORTHS[best] - progress.epsilon - 1e-9


def test_nominees_have_a_place_and_a_share():
    engine = played(listed(), rounds=100)
    nominee = engine.add(Origin.NOMINEE, order=fresh_order("tests", 1, POSITIONS), configuration=2)
    assert 0 < engine._play.arms["weight"][nominee] < engine._play.arms["weight"][0]
    assert engine.advance(ENDLESS) is Halt.DONE
    assert WORTHS[engine.progress().best_index] == WORTHS.max()


@pytest.mark.long
@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("size", [1, 2, 9, 50])
def test_no_more_than_delta_is_spent(size, chosen):
    weights = Weights.of_listed(size, chosen=chosen)
    wrong = max(1, size - 1)  # the best of all is no wrong answer
    nominees = sum(weights.weight(Kind.CHOSEN, number) for number in range(1, 100_000))
    assert wrong * weights.weight(Kind.DRAW, 1) + nominees <= 1 + 1e-12
    assert weights.weight(Kind.GIVEN, 3) == weights.weight(Kind.DRAW, size)
    shares = WagerEngine(
        RecordedEvidence(ROWS, UTILITY), UTILITY, listed(default=True, space_size=size)
    )._play.shares
    assert shares.lower + shares.upper + shares.paired + 2 * shares.gain <= listed().delta * (1 + 1e-12)


def test_repeated_draws_of_a_growing_set_cost_more_seconds():
    wanted = {"epsilon": 0.05, "finite_population": False, "gamma": 0.05, "announced_gamma": 0.05}
    whole = played(listed(**wanted)).progress()
    growing = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, listed(listed=False, **wanted))
    drawn = np.random.default_rng(3)
    while growing.advance(ENDLESS) is Halt.NEEDS_CONFIGURATIONS:
        for _ in range(growing.missing_configurations):
            growing.add(Origin.RANDOM, configuration=int(drawn.integers(SIZE)))
    assert whole.epsilon <= max(0.05, growing.progress().epsilon)
    assert whole.total_time_s < growing.progress().total_time_s


@pytest.mark.parametrize("finite", [False, True])
def test_small_spaces_are_worth_listing_unless_few_draws_are_enough(finite):
    assert is_worth_listing(tuning.MOST_LISTED, 0.1, None, finite=finite)
    assert not is_worth_listing(tuning.MOST_LISTED + 1, 0.1, None, finite=finite)
    assert not is_worth_listing(None, 0.1, None, finite=finite)
    assert is_worth_listing(20, 0.1, 0.05, finite=finite)
    assert is_worth_listing(50, 0.1, 0.05, finite=finite) is not finite
    assert not is_worth_listing(50, 0.1, 0.3, finite=finite)
    assert is_worth_listing(1, 0.1, 0.3, finite=finite)


def test_a_given_stranger_has_no_share_and_is_refused():
    engine = WagerEngine(RecordedEvidence(ROWS, UTILITY), UTILITY, listed(space_size=SIZE - 1))
    engine.add(Origin.GIVEN, configuration=SIZE - 1)
    for row in range(SIZE - 1):
        engine.add(Origin.RANDOM, configuration=row)
    with pytest.raises(UsageError, match="not one of those"):
        engine.advance(ENDLESS)


@pytest.mark.parametrize("wrong", [{"space_size": None}, {"growth": FixedSet(SIZE)}])
def test_what_cannot_be_listed_is_refused(wrong):
    with pytest.raises(UsageError, match="can be listed"):
        listed(**wrong)

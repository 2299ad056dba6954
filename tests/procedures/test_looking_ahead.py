"""What to run next with many workers: needed first, then likely, nothing twice, few guesses on few facts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from procedures.wager.wager_games import CUTOFF_S, ENDLESS, UTILITY, settings, solver_runtimes
from utilitune.domain import Guesses, RunRequest
from utilitune.procedures.engine import BegunRun, Halt, Origin
from utilitune.procedures.evidence import LiveEvidence
from utilitune.procedures.looking_ahead import (
    FEWEST_BEGUN,
    LATE_SHARE,
    OLD_AFTER,
    Endings,
    EverySlot,
    Guess,
    LookAhead,
)
from utilitune.procedures.wager import WagerEngine, foresight, tuning
from utilitune.procedures.wager.foresight import (
    FIRST_LEADS,
    LEADS_PER_RUN,
    NEW_LEADS_PER_RUN,
    Ledger,
    Start,
    _is_likely,
    copied,
)

ROWS = 60


class Busy:
    """Runs under way, by pair."""

    def __init__(self) -> None:
        self.requests: dict[tuple[int, int], RunRequest] = {}

    def __len__(self) -> int:
        return len(self.requests)

    def captime_of(self, configuration: int, position: int) -> float | None:
        request = self.requests.get((configuration, position))
        return None if request is None else request.captime_s

    def runs(self) -> list[BegunRun]:
        return [
            BegunRun(each.configuration, each.position, each.captime_s, 0.0)
            for each in self.requests.values()
        ]

    def begin(self, requests: list[RunRequest]) -> None:
        for each in requests:
            pair = each.configuration, each.position
            assert pair not in self.requests, "nothing is begun twice"
            self.requests[pair] = each


class Game:
    """An engine, and what looks ahead for it."""

    def __init__(self, guesses: Guesses = Guesses.USEFUL) -> None:
        self.matrix = solver_runtimes(ROWS, 300, seed=3)
        self.evidence = LiveEvidence(UTILITY, 300)
        self.engine = WagerEngine(self.evidence, UTILITY, settings(ROWS))
        for _ in range(ROWS):
            self.engine.add(Origin.RANDOM)
        self.look = LookAhead(self.engine, self.evidence, guesses)
        self.busy = Busy()

    def end(self, request: RunRequest) -> None:
        del self.busy.requests[request.configuration, request.position]
        runtime_s = float(self.matrix.runtimes_s[request.configuration, request.position])
        finished = runtime_s < request.captime_s
        known_s = runtime_s if finished else request.captime_s
        self.evidence.record(
            request.configuration, request.position, runtime_s if finished else math.inf, known_s
        )
        self.look.hear()


def test_what_is_needed_comes_first_and_no_slot_is_filled_twice():
    game = Game()
    assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
    found = game.look.next_runs(10, game.busy, 0.0)
    assert found.needed == game.engine.needed()
    assert len(found.needed) + len(found.ahead) == 10
    assert game.look.next_runs(10, game.busy, 0.0) == found, "asking changes nothing"
    game.busy.begin([*found.needed, *found.ahead])
    assert game.look.next_runs(10, game.busy, 0.0) == ([], [], [])


def test_few_guesses_rest_on_few_facts():
    game = Game()
    game.engine.advance(ENDLESS)
    found = game.look.next_runs(1000, game.busy, 0.0)
    assert len(found.needed) + len(found.ahead) <= FEWEST_BEGUN


def test_a_list_that_is_used_up_is_made_anew_when_an_eighth_of_the_runs_under_way_have_ended(monkeypatch):
    """Where few runs are likely, a game for every result would take most of the time of a simulation."""
    game, lists = Game(), []
    monkeypatch.setattr(game.engine, "needed", list)
    monkeypatch.setattr(game.engine, "likely", lambda count, _: lists.append(count) or [])
    game.busy.begin([RunRequest(number, 0, 1.0) for number in range(2 * OLD_AFTER)])
    made = []
    for _ in range(6):
        game.look.next_runs(1000, game.busy, 0.0)
        made.append(len(lists))
        game.look.hear()
    assert made == [1, 1, 2, 2, 3, 3]


def test_where_nothing_else_is_under_way_every_result_makes_a_list_anew(monkeypatch):
    game, lists = Game(), []
    monkeypatch.setattr(game.engine, "needed", list)
    monkeypatch.setattr(game.engine, "likely", lambda count, _: lists.append(count) or [])
    for number in range(4):
        game.look.next_runs(1000, game.busy, 0.0)
        assert len(lists) == number + 1
        game.look.hear()


def test_a_needed_run_under_way_up_to_a_longer_captime_may_end_sooner():
    game = Game()
    game.engine.advance(ENDLESS)
    [needed] = game.engine.needed()
    longer = RunRequest(needed.configuration, needed.position, 2 * needed.captime_s)
    game.busy.begin([longer])
    found = game.look.next_runs(1, game.busy, 0.0)
    assert (found.needed, found.enough) == ([], [needed])
    game.evidence.imaginable = False  # type: ignore[misc] -- the worth of such a run does not follow from its time
    assert game.look.next_runs(1, game.busy, 0.0).enough == []


@pytest.mark.parametrize("guesses", Guesses)
@pytest.mark.parametrize("workers", [1, 7, 64, 400])
def test_the_state_does_not_depend_on_workers_or_on_who_ends_first(workers: int, guesses: Guesses):
    game, generator = Game(guesses), np.random.default_rng(workers)
    now_s, made = 0.0, 0
    while game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS:
        found = game.look.next_runs(workers, game.busy, now_s)
        game.busy.begin([*found.needed, *found.ahead])
        assert game.busy.requests, "somebody must work"
        under_way = list(game.busy.requests.values())
        for place in generator.permutation(len(under_way))[: 1 + len(under_way) // 3]:
            game.end(under_way[place])
            made += 1
        now_s += 1.0
    alone = Game()
    while alone.engine.advance(ENDLESS) is Halt.NEEDS_RUNS:
        alone.busy.begin(alone.engine.needed())
        alone.end(next(iter(alone.busy.requests.values())))
    assert game.engine.progress() == alone.engine.progress()
    assert made >= alone.engine.progress().runs
    if workers == 1:
        assert made == alone.engine.progress().runs


def played(rounds: int, guesses: Guesses = Guesses.USEFUL) -> Game:
    """A game in which so many runs were made, one after the other, and the next one is needed."""
    game = Game(guesses)
    for _ in range(rounds):
        assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
        game.busy.begin(game.engine.needed())
        game.end(next(iter(game.busy.requests.values())))
    assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
    return game


@pytest.mark.parametrize("imaginable", [True, False])
@pytest.mark.parametrize("rounds", [0, 40, 400])
@pytest.mark.parametrize("slots", [10, 100, 2000])
def test_every_slot_gets_a_run_where_that_is_asked_for(slots: int, rounds: int, imaginable: bool):
    game = played(rounds, Guesses.ALL)
    game.evidence.imaginable = imaginable  # type: ignore[misc] -- if not, the engine plays no game ahead
    for look in range(3):
        found = game.look.next_runs(slots, game.busy, float(look))
        game.busy.begin([*found.needed, *found.ahead])
        assert len(game.busy) == slots
        if look == 0:
            assert found.needed == game.engine.needed(), "what is needed comes first"
        for each in list(game.busy.requests.values())[1 :: max(2, slots // 5)]:
            game.end(each)


@pytest.mark.parametrize("rounds", [40, 400])
def test_what_is_likely_to_be_of_use_is_listed_before_what_is_not(rounds: int):
    game = played(rounds)
    pairs = [
        [(each.configuration, each.position) for each in game.engine.likely(SLOTS, begun)]
        for begun in ([], EverySlot())
    ]
    useful, every = pairs
    assert 0 < len(useful) < len(every) == SLOTS
    assert every[: len(useful)] == useful


def test_nothing_is_needed_of_an_engine_that_is_to_wait():
    game = played(40, Guesses.ALL)
    [needed] = game.engine.needed()
    found = game.look.next_runs(50, game.busy, 0.0, waits=True)
    assert found.needed == []
    assert len(found.ahead) == 50
    assert needed in [RunRequest(each.configuration, each.position, needed.captime_s) for each in found.ahead]


def test_lists_end_where_all_runs_are_made():
    game = Game(Guesses.ALL)
    for configuration in range(ROWS):
        for position in range(300):
            game.evidence.record(configuration, position, 1.0, 1.0)
    assert game.engine.advance(ENDLESS) is Halt.DONE
    assert game.look.next_runs(50, game.busy, 0.0, waits=True) == ([], [], [])


@pytest.mark.parametrize("begun", [list, EverySlot])
def test_imagined_outcomes_leave_no_trace(begun: type):
    game = Game()
    for _ in range(40):
        assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
        game.busy.begin(game.engine.needed())
        game.end(next(iter(game.busy.requests.values())))
    game.engine.advance(ENDLESS)
    game.engine.likely(100, begun())  # makes room, once
    arrays, state = game.evidence.arrays, game.engine.progress()
    before = [arrays.runtime_s.copy(), arrays.known_s.copy(), arrays.utility.copy()]
    under_way = begun([BegunRun(5, 4, CUTOFF_S, 3.0), BegunRun(59, 299, CUTOFF_S, 1.0)])
    likely = game.engine.likely(100, under_way)
    assert len(likely) > 20
    assert not any(game.evidence.knows(each) for each in likely)
    after = game.evidence.arrays
    for old, new in zip(before, (after.runtime_s, after.known_s, after.utility), strict=True):
        assert np.array_equal(old, new[: len(old)])
    assert game.engine.progress() == state
    assert game.engine.imagined_rounds > 0


def test_a_game_of_imagination_is_not_begun_anew_for_every_configuration(monkeypatch):
    game = Game()
    for _ in range(3 * ROWS):
        assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
        game.busy.begin(game.engine.needed())
        game.end(next(iter(game.busy.requests.values())))
    game.engine.advance(ENDLESS)
    begun, usual = [], foresight.foresee

    def foresee(*given, **also):
        begun.append(given)
        return usual(*given, **also)

    monkeypatch.setattr(foresight, "foresee", foresee)
    assert len(game.engine.likely(10 * ROWS)) > ROWS
    assert len(begun) < 8


def ledger_with(had: int) -> Ledger:
    """Nothing is imagined yet, and everybody has had so many runs."""
    nothing = np.zeros(ROWS, dtype=np.int32)
    return Ledger(
        np.empty(0, dtype=np.int64), np.empty((0, 3)), np.zeros(1, dtype=np.int64), nothing, nothing + had
    )


@pytest.mark.parametrize("imagined", [0, 40, 90])
def test_few_runs_of_the_leader_are_listed_beyond_its_next_aim(imagined: int):
    """Somebody else may take the lead, and a new aim may end its turn: then they would be of no use."""
    game = Game()
    game.engine.advance(ENDLESS)
    play, had = copied(game.engine._play), 100
    leader = play.standing.leader
    play.arms["runs"][leader] = had + imagined
    ledger = ledger_with(had)
    before, after = (Start(ROWS, leader, play.standing.rounds + more, 1 << 60) for more in (1, 0))
    assert _is_likely(play, ledger, leader, before)
    assert _is_likely(play, ledger, leader, after) == (had + imagined < FIRST_LEADS + LEADS_PER_RUN * had)
    play.arms["runs"][leader] = 4 * had
    assert not _is_likely(play, ledger, leader, before)


def test_few_runs_are_listed_of_who_leads_in_imagination_only():
    """Most newcomers take the lead by luck: where many did in turn, half of all seconds were wasted."""
    game = Game()
    game.engine.advance(ENDLESS)
    play, had = copied(game.engine._play), 3
    leader = play.standing.leader
    real, imagined = (Start(ROWS, who, 1 << 60, 1 << 60) for who in (leader, leader + 1))
    most = int(tuning.LEADER_LEAST + NEW_LEADS_PER_RUN * had)
    for runs in (had, most - 1, most, FIRST_LEADS - 1):
        play.arms["runs"][leader] = runs
        assert _is_likely(play, ledger_with(had), leader, real)
        assert _is_likely(play, ledger_with(had), leader, imagined) == (runs < most)


@pytest.mark.parametrize("rounds", [12, 80])
def test_guesses_do_not_pile_up_while_a_long_run_is_waited_for(rounds: int):
    """All of them rest on the imagined outcome of that run. There once were more the more had been made."""
    game = Game()
    for _ in range(rounds):
        assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
        game.busy.begin(game.engine.needed())
        game.end(next(iter(game.busy.requests.values())))
    game.engine.advance(ENDLESS)
    [needed] = game.engine.needed()
    game.busy.begin([needed])
    made = 0
    for look in range(40):
        ahead = game.look.next_runs(1000, game.busy, float(look)).ahead
        game.busy.begin(ahead)
        for each in ahead:
            game.end(each)
        made += len(ahead)
        assert game.engine.advance(ENDLESS) is Halt.NEEDS_RUNS
    assert game.engine.needed() == [needed]
    assert 0 < made <= FEWEST_BEGUN + ROWS + rounds


SLOTS = 100
EXPECTED_S, LONGEST_S = 8.0, 16.0
PAIR = (3, 0)


def guessed(captime_s: float = EXPECTED_S) -> Guess:
    return Guess(*PAIR, captime_s, LONGEST_S)


def under_way_for(so_far_s: float) -> list[BegunRun]:
    return [BegunRun(*PAIR, LONGEST_S, so_far_s)]


def begun_guess() -> tuple[Game, Endings]:
    """A guess begun at 0 s."""
    game = Game()
    endings = Endings(game.evidence)
    game.busy.begin([endings.expect(guessed(), 0.0)])
    return game, endings


def test_many_workers_begin_guesses_with_longer_captimes_and_few_do_not():
    """One level too short, and the whole run is made again: that was most of the waste in one order."""
    game = Game()
    game.engine.advance(ENDLESS)
    likely = {
        (each.configuration, each.position): each
        for each in game.engine.likely(SLOTS)
        if isinstance(each, Guess)
    }
    assert likely
    assert any(each.longest_s > each.captime_s for each in likely.values())
    assert max(each.longest_s for each in likely.values()) <= CUTOFF_S
    for slots, longer in ((SLOTS, True), (8, False)):
        ahead = LookAhead(game.engine, game.evidence).next_runs(slots, game.busy, 0.0).ahead
        for each in ahead:
            guess = likely[each.configuration, each.position]
            assert each.captime_s == (guess.longest_s if longer else guess.captime_s)


def test_a_guess_ends_at_the_captime_that_the_latest_list_expects():
    game, endings = begun_guess()
    assert endings.due(game.busy, 1.0) == [RunRequest(*PAIR, EXPECTED_S)], "how long to wait must be known"
    endings.renew([guessed(4.0)], under_way_for(2.0), 2.0)
    assert endings.due(game.busy, 2.0) == [RunRequest(*PAIR, 4.0)]
    endings.renew([guessed(11.0)], under_way_for(3.0), 3.0)
    assert endings.due(game.busy, 3.0) == [RunRequest(*PAIR, 11.0)]
    endings.renew([], under_way_for(4.0), 4.0)
    assert endings.due(game.busy, 4.0) == [RunRequest(*PAIR, 11.0)], "the last list that had it counts"
    endings.renew([guessed(LONGEST_S)], under_way_for(5.0), 5.0)
    assert endings.due(game.busy, 5.0) == [], "it is needed as long as it may last"


def test_a_run_that_was_kept_when_it_was_ended_leaves_longer_captimes_on():
    game, endings = begun_guess()
    assert endings.due(game.busy, EXPECTED_S)
    game.busy.requests[PAIR] = RunRequest(*PAIR, EXPECTED_S)
    game.end(game.busy.requests[PAIR])
    assert endings.due(game.busy, EXPECTED_S) == []
    assert endings.are_heeded


def test_longer_captimes_end_where_a_run_is_lost_because_it_was_ended():
    """CPU time may lag behind the clock: then a run that was ended is too short, and is thrown away."""
    game, endings = begun_guess()
    assert endings.due(game.busy, EXPECTED_S)
    del game.busy.requests[PAIR]
    endings.due(game.busy, EXPECTED_S + 1.0)
    assert not endings.are_heeded
    game.busy.begin([endings.expect(guessed(), EXPECTED_S)])
    assert endings.due(game.busy, 3.0 * EXPECTED_S) == []


def test_longer_captimes_end_where_nobody_ends_runs():
    """A program that reports its own runtime is left alone."""
    game, endings = begun_guess()
    late_s = EXPECTED_S * (1.0 + LATE_SHARE)
    assert endings.due(game.busy, late_s)
    assert endings.are_heeded
    assert endings.due(game.busy, late_s + 0.1)
    assert not endings.are_heeded
    assert endings.due(game.busy, late_s + 0.2) == []


def test_a_guess_that_was_named_and_not_begun_is_not_late():
    game = Game()
    endings = Endings(game.evidence)
    endings.expect(guessed(), 0.0)
    assert endings.due(game.busy, 50.0) == []
    game.busy.begin([endings.expect(guessed(), 50.0)])
    assert endings.due(game.busy, 51.0) == [RunRequest(*PAIR, EXPECTED_S)]
    assert endings.are_heeded

"""A race: rungs, captimes that follow from worths, and a win only at the full captime."""

from __future__ import annotations

import math

from utilitune.search.base import SearchTask, Seen
from utilitune.search.captimes import Captimes
from utilitune.search.pool import Pool
from utilitune.search.race import Race, Track
from utilitune.search.settings import SearchSettings
from utilitune.testing.searchers import SPACE
from utilitune.utility import Uniform

UTILITY = Uniform(100.0)
SETTINGS = SearchSettings(largest_captime=10.0)
TASK = SearchTask(SPACE, UTILITY, 16, 200.0)
FULL_S = Captimes(TASK, SETTINGS).full_s


def worth(time_s: float) -> float:
    return float(UTILITY(time_s))


class Course:
    """Two candidates; the rival takes 40 s everywhere, the other one what a test says."""

    def __init__(self, times_s: list[float], rival_s: float = 40.0, known: int = 0) -> None:
        self.captimes = Captimes(TASK, SETTINGS)
        self.pool = Pool(SPACE, self.captimes)
        self.pool.add(SPACE.default())
        self.pool.add(SPACE.validate({**SPACE.default(), "speed": 0.9}))
        self.times_s = times_s
        for position in range(len(times_s)):
            self.tell(0, position, rival_s, FULL_S)
            result = self.pool.look(0, position, FULL_S)
            assert result is not None
            self.pool.looked_at[0][position] = result
        self.race = Race(self.track(), 1, 0, range(len(times_s)), deviation=0.2, known=known)
        self.runs: list[tuple[int, float]] = []

    def track(self) -> Track:
        return Track(self.pool, self.captimes, SETTINGS)

    def tell(self, candidate: int, position: int, time_s: float, captime_s: float) -> None:
        finished = time_s < captime_s
        seen = Seen(time_s, time_s, worth(time_s)) if finished else Seen(math.inf, captime_s, 0.0)
        self.pool.tell(candidate, position, seen)

    def play(self) -> Race:
        self.race.step()
        while not self.race.over:
            run = self.race.wanted()
            assert run is not None
            self.runs.append((run.position, run.captime_s))
            self.tell(1, run.position, self.times_s[run.position], run.captime_s)
            self.race.step()
        return self.race


def test_a_better_candidate_wins_on_all_positions():
    course = Course([20.0] * 16)
    race = course.play()
    assert race.won
    assert len(race.differences) == 16
    assert all(abs(each - 0.2) < 1e-9 for each in race.differences.values())
    assert race.spent_s == 16 * 20.0


def test_a_bad_candidate_is_stopped_where_its_worth_is_too_far_below():
    course = Course([1000.0] * 16)
    race = course.play()
    assert not race.won
    assert len(course.runs) == 1
    (_, captime_s) = course.runs[0]
    assert 40.0 < captime_s <= 61.0  # a fifth of the worth below the rival's, within the table
    assert race.spent_s == captime_s


def test_nobody_wins_by_runs_that_were_stopped_early():
    times = [10.0] * 12 + [2000.0] * 4  # the last four are hopeless, and look like a small loss at first
    course = Course(times)
    race = course.play()
    repeated = [position for position, captime_s in course.runs if captime_s == FULL_S]
    assert race.won
    assert repeated == [12, 13, 14, 15]
    assert all(race.results[position].worth == 0.0 for position in repeated)


def test_a_lead_that_vanishes_at_the_full_captime_is_no_win():
    times = [31.0] * 13 + [2000.0] * 3
    course = Course(times)
    race = course.play()
    assert not race.won
    assert sum(race.differences.values()) <= 0.0


def test_equals_do_not_win():
    assert not Course([40.0] * 16).play().won


def test_a_race_that_cannot_be_won_any_more_ends_early():
    course = Course([75.0, 75.0] + [39.0] * 14)
    assert not course.play().won
    assert len(course.runs) <= 2


def test_runs_of_an_earlier_race_are_not_made_again():
    course = Course([20.0] * 16)
    for position in range(8):
        course.tell(1, position, 20.0, FULL_S)
        result = course.pool.look(1, position, FULL_S)
        assert result is not None
        course.pool.looked_at[1][position] = result
    course.race = Race(course.track(), 1, 0, range(16), deviation=0.2, known=8)
    race = course.play()
    assert race.won
    assert [position for position, _ in course.runs] == list(range(8, 16))
    assert race.spent_s == 8 * 20.0


def test_what_is_likely_next_is_the_rest_of_the_rung():
    course = Course([20.0] * 16)
    race = course.race
    race.step()
    for position in range(4):
        course.tell(1, position, 20.0, FULL_S)
    race.step()
    wanted = race.wanted()
    assert wanted is not None
    assert wanted.position == 4
    assert [run.position for run in race.likely()] == [5, 6, 7]


def test_a_run_seen_longer_than_asked_shows_what_it_would_have_shown():
    course = Course([50.0])
    course.tell(1, 0, 50.0, FULL_S)
    result = course.pool.look(1, 0, 45.0)
    assert result is not None
    assert result.stopped
    assert result.time_s == 45.0
    assert result.worth == worth(1.5 * 45.0)


def test_a_failure_costs_what_it_took_and_counts_as_endless():
    course = Course([50.0])
    course.pool.tell(1, 0, Seen(math.inf, math.inf, 0.0, failed_s=3.0))
    late, early = course.pool.look(1, 0, FULL_S), course.pool.look(1, 0, 2.0)
    assert late is not None
    assert early is not None
    assert (late.worth, late.stopped, late.time_s, late.log_time) == (0.0, False, 3.0, math.inf)
    assert early.stopped  # nobody would have seen the failure by then
    assert early.time_s == 2.0


def test_a_repetition_that_ends_sooner_counts_as_long_as_was_seen():
    course = Course([50.0])
    course.tell(1, 0, 80.0, 60.0)
    course.tell(1, 0, 30.0, FULL_S)
    result = course.pool.look(1, 0, FULL_S)
    assert result is not None
    assert result.time_s == 60.0

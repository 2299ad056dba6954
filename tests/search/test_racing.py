"""The search as a whole: who races first, what is owed, when it ends, and what it never nominates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from utilitune.errors import UsageError
from utilitune.search.base import DEFAULT, Belief, SearchTask, Seen
from utilitune.search.racing import RacingSearch
from utilitune.search.settings import SearchSettings
from utilitune.search.suggesting import MixedSuggester, RandomSuggester, expected_improvement
from utilitune.spaces import ParameterSpace
from utilitune.testing.searchers import SPACE, UTILITY, improvable


def play(search: RacingSearch, times_s, runs: int, utility=UTILITY) -> list:
    """Make runs one by one; the wanted runs in their order."""
    made = []
    for _ in range(runs):
        wanted = search.wanted(1)
        if not wanted:
            break
        run = wanted[0]
        time_s = times_s(search.candidates[run.candidate], run.position)
        if time_s < run.captime_s:
            search.tell(run, Seen(time_s, time_s, float(utility(time_s))))
        else:
            search.tell(run, Seen(math.inf, run.captime_s, float(utility(math.inf))))
        made.append(run)
    return made


def search_for(**changes) -> RacingSearch:
    task = SearchTask(
        **{"space": SPACE, "utility": UTILITY, "positions": 40, "largest_captime_s": 300.0} | changes
    )
    return RacingSearch(task, MixedSuggester(task.space, by_time=task.by_time, seed=task.seed))


def test_the_default_is_run_first_at_the_full_captime():
    made = play(search_for(), improvable, 8)
    assert [(run.candidate, run.position) for run in made] == [(DEFAULT, position) for position in range(8)]
    assert len({run.captime_s for run in made}) == 1


def test_the_first_runs_are_wanted_at_once_by_many_workers():
    search = search_for(workers=6)
    assert [run.position for run in search.wanted(6)] == list(range(6))


def test_given_configurations_are_raced_first():
    given = tuple(SPACE.sample(np.random.default_rng(3), 3))
    search = search_for(given=given)
    play(search, improvable, 200)
    assert tuple(search.candidates[1:4]) == given


@pytest.mark.parametrize("until_s", [60.0, 900.0])
def test_what_it_has_looked_at_does_not_depend_on_which_runs_end_first(until_s: float):
    """It is told of many runs at once, and lets them count in the order of its jobs."""
    found = []
    for order in (np.random.default_rng(1), np.random.default_rng(2), None):
        search = search_for(workers=6)
        search.until_s = until_s
        while search.spent_s < until_s and (wanted := search.wanted(12)):
            run = wanted[0 if order is None else int(order.integers(len(wanted)))]
            time_s = improvable(search.candidates[run.candidate], run.position)
            ends = time_s < run.captime_s
            worth = float(UTILITY(time_s if ends else math.inf))
            search.tell(run, Seen(time_s if ends else math.inf, time_s if ends else run.captime_s, worth))
        found.append((search.spent_s, search.new_looks()))
        assert not search.new_looks(), "each is said once"
    assert found[0][1]
    assert found[0] == found[1] == found[2]


def test_what_is_offered_is_raced_next_and_once():
    search = search_for()
    play(search, improvable, 60)
    before, offered = len(search.candidates), SPACE.sample(np.random.default_rng(5), 1)[0]
    for _ in range(2):
        search.offer(offered)
    search.offer(search.candidates[search.incumbent])
    play(search, improvable, 200)
    raced = search.candidates[before : before + 3]
    assert offered in raced[:2], "a race that was under way may end first"
    assert search.candidates.count(offered) == 1
    assert not search._given


def test_a_good_offer_becomes_the_incumbent():
    search = RacingSearch(SearchTask(SPACE, UTILITY, 40, 300.0), RandomSuggester())
    play(search, improvable, 20)
    many = SPACE.sample(np.random.default_rng(6), 3000)
    best = min(many, key=lambda each: improvable(each, 0))
    search.offer(best)
    play(search, improvable, 200)
    assert search.candidates[search.nominee()] == best


def test_nothing_is_wanted_once_a_small_space_is_used_up():
    space = ParameterSpace.from_tables({"n": {"type": "integer", "range": [1, 4], "default": 2}})
    search = RacingSearch(SearchTask(space, UTILITY, 5, 100.0), MixedSuggester(space))
    play(search, lambda configuration, position: 12.0 / configuration["n"], 1000)
    assert search.wanted(3) == []
    assert sorted(each["n"] for each in search.candidates) == [1, 2, 3, 4]
    assert search.candidates[search.nominee()]["n"] == 4


def test_where_quality_counts_every_run_goes_to_the_end():
    search = search_for(by_time=False, largest_captime_s=7.0)
    for _ in range(400):
        run = search.wanted(1)[0]
        assert run.captime_s == 7.0
        worth = float(search.candidates[run.candidate]["speed"])
        search.tell(run, Seen(3.0, 3.0, worth))
    assert search.candidates[search.nominee()]["speed"] > SPACE.default()["speed"] + 0.2


def test_an_endless_source_is_used_from_the_front():
    search = search_for(positions=None)
    made = play(search, improvable, 600)
    assert {run.position for run in made} == set(range(max(run.position for run in made) + 1))


def test_the_incumbent_is_owed_more_instances_the_more_is_spent():
    search = search_for()
    play(search, improvable, 300)
    few = len(search.pool.looked_at[search.incumbent])
    play(search, improvable, 3000)
    assert few < len(search.pool.looked_at[search.incumbent]) <= 40


def test_the_default_keeps_being_run_beside_the_incumbent():
    search = search_for()
    play(search, improvable, 3000)
    assert search.incumbent != DEFAULT
    shared, difference = search.pool.paired(search.incumbent, DEFAULT)
    assert 2 * shared >= len(search.pool.looked_at[search.incumbent]) - 2
    assert difference > 0.0


def test_an_incumbent_that_turns_out_worse_than_the_default_is_given_up():
    lucky = 8  # everything new is quick on the first instances only, where the default is slow

    def times_s(configuration, position):
        is_default = configuration == SPACE.default()
        return (20.0 if position < lucky else 1.0) if is_default else (5.0 if position < lucky else 60.0)

    search = search_for()
    play(search, times_s, 4000)
    assert search.nominee() == DEFAULT


def chance_s(configuration, position, scale: float) -> float:
    """A log-normal time that follows from configuration and position alone."""
    key = repr((sorted(configuration.items()), position)).encode()
    return float(np.exp(scale * np.random.default_rng(list(key)).normal()))


@pytest.mark.parametrize("seed", range(3))
def test_where_the_default_is_the_best_nothing_that_looks_worse_is_nominated(seed):
    def times_s(configuration, position):
        base_s = 8.0 if configuration == SPACE.default() else 12.0
        return base_s * chance_s(configuration, position, 1.2)

    search = search_for(seed=seed)
    for _ in range(30):
        play(search, times_s, 50)
        nominee = search.nominee()
        if nominee != DEFAULT:
            count, difference = search.pool.paired(nominee, DEFAULT)
            assert count >= 8
            assert difference > 0.0


@pytest.mark.parametrize("seed", range(3))
def test_a_catastrophe_on_few_instances_does_not_win(seed):
    def times_s(configuration, position):
        is_default = configuration == SPACE.default()
        rare = position % 4 == 3  # a quarter of the instances is hopeless for everybody but the default
        return (1.0 if is_default else 200.0 if rare else 0.8) * chance_s(configuration, position, 0.3)

    search = search_for(seed=seed)
    play(search, times_s, 1500)
    assert search.nominee() == DEFAULT


@pytest.mark.long
def test_a_lead_on_few_instances_that_luck_explains_wins_nothing():
    def times_s(configuration, position):
        return 8.0 * chance_s(configuration, position, 1.5)

    def replaced(luck: float) -> int:
        task = SearchTask(SPACE, UTILITY, 500, 300.0)
        search = RacingSearch(task, RandomSuggester(), SearchSettings(luck=luck))
        seen = []
        for _ in range(1500):
            play(search, times_s, 1)
            seen.append(search.incumbent)
        return len(dict.fromkeys(seen))

    assert replaced(luck=6.0) < replaced(luck=0.0)


def test_there_is_no_luck_where_all_instances_of_a_list_were_run():
    space = ParameterSpace.from_tables({"n": {"type": "integer", "range": [1, 4], "default": 2}})
    search = RacingSearch(SearchTask(space, UTILITY, 5, 100.0), RandomSuggester(), SearchSettings(luck=1e6))
    play(search, lambda configuration, position: 12.0 - 0.01 * configuration["n"], 1000)
    assert search.candidates[search.incumbent]["n"] == 4


def test_all_owed_runs_of_a_winner_are_at_the_full_captime_or_finished():
    search = search_for()
    full_s = play(search, improvable, 1)[0].captime_s
    for _ in range(40):
        play(search, improvable, 40)
        results = search.pool.looked_at[search.incumbent].values()
        assert all(not each.stopped or each.time_s == full_s for each in results)


def test_more_than_one_worker_overlaps_races():
    search = search_for(workers=4)
    play(search, improvable, 8)
    assert len({run.candidate for run in search.wanted(4)}) == 4


def test_settings_are_heeded():
    search = RacingSearch(
        SearchTask(SPACE, UTILITY, 40, 300.0), RandomSuggester(), SearchSettings(fewest_runs=3)
    )
    made = play(search, improvable, 4)
    assert [run.candidate for run in made] == [0, 0, 0, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"positions": 0},
        {"largest_captime_s": 0.0},
        {"workers": 0},
        {"by_time": False, "largest_captime_s": math.inf},
    ],
)
def test_a_task_that_makes_no_sense_is_refused(wrong: dict):
    with pytest.raises(UsageError):
        search_for(**wrong)


def test_expected_improvement():
    values = expected_improvement(np.array([0.0, 1.0, -1.0]), np.array([1.0, 0.0, 0.0]), 0.0)
    assert values == pytest.approx([1 / math.sqrt(2 * math.pi), 1.0, 0.0], abs=1e-9)


class Opinionated(RandomSuggester):
    """Draws by chance, and believes the same of all of them."""

    def __init__(self, mean: float) -> None:
        self.mean = mean

    def belief(self, pool, candidate, rival):
        return Belief(self.mean if rival == DEFAULT else 0.0, 1e-3)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_what_a_model_believes_helps_to_decide_who_replaces_the_incumbent(seed):
    def times_s(configuration, position):
        return 8.0 * chance_s(configuration, position, 1.0)

    def replacements(mean: float) -> int:
        task = SearchTask(SPACE, UTILITY, 40, 300.0, seed=seed)
        search, count = RacingSearch(task, Opinionated(mean)), 0
        for _ in range(400):
            before = search.incumbent
            play(search, times_s, 1)
            count += before == DEFAULT != search.incumbent
        return count

    assert replacements(-0.5) == 0 < replacements(0.5)


@pytest.mark.long
def test_belief_alone_nominates_nobody_that_the_runs_put_behind_the_default():
    def times_s(configuration, position):
        base_s = 8.0 if configuration == SPACE.default() else 12.0
        return base_s * chance_s(configuration, position, 0.5)

    search = RacingSearch(SearchTask(SPACE, UTILITY, 40, 300.0), Opinionated(5.0))
    for _ in range(20):
        play(search, times_s, 50)
        if (nominee := search.nominee()) != DEFAULT:
            assert search.pool.paired(nominee, DEFAULT)[1] > 0.0

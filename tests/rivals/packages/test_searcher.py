"""A peer as a searcher: the contract of all searchers, and what a thread could spoil."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from rivals.packages.playgrounds import Sweep
from utilitune.errors import MissingExtraError, UsageError
from utilitune.rivals.packages import Irace, OptunaTpe
from utilitune.rivals.packages.irace_peer import SmallBudgetError
from utilitune.rivals.packages.searcher import PeerSearcher, irace, optuna_tpe, smac
from utilitune.search.base import SearchTask, Seen
from utilitune.testing.searchers import SPACE, UTILITY, SearcherSuite, improvable


class TestSweepSearches(SearcherSuite):
    def make(self, task: SearchTask) -> PeerSearcher:
        return PeerSearcher(Sweep(instances=8, tries=60), task, 10_000.0)


@pytest.mark.skipif(not OptunaTpe.is_installed(), reason="the extra 'peers' is not installed")
class TestOptunaSearches(SearcherSuite):
    def make(self, task: SearchTask) -> PeerSearcher:
        return PeerSearcher(OptunaTpe(instances=8), task, 10_000.0)


def searcher(peer=None, budget_s=1000.0) -> PeerSearcher:
    return PeerSearcher(peer or Sweep(), SearchTask(SPACE, UTILITY, 10, 50.0), budget_s)


def play(made: PeerSearcher, runs: int) -> int:
    for number in range(runs):
        wanted = made.wanted(1)
        if not wanted:
            return number
        time_s = improvable(made.candidates[wanted[0].candidate], wanted[0].position)
        made.tell(wanted[0], Seen(time_s, time_s, float(UTILITY(time_s))))
    return runs


def test_it_ends_with_its_budget_and_wants_nothing_more():
    made = searcher(budget_s=100.0)
    assert 0 < play(made, 10_000) < 10_000
    assert made.wanted(3) == []
    assert 100.0 <= made.spent_s < 100.0 + 50.0
    made.close()


def test_closing_ends_the_thread_in_the_middle():
    before = threading.active_count()
    made = searcher()
    play(made, 7)
    made.close()
    assert threading.active_count() == before
    assert made.wanted(1) == []
    assert made.nominee() in range(len(made.candidates))


def test_a_problem_of_the_peer_is_told_to_whoever_asks():
    class Broken(Sweep):
        def propose(self, arena):
            raise UsageError("it cannot do this")
            yield 0

    made = searcher(Broken())
    with pytest.raises(UsageError, match="cannot do this"):
        made.wanted(1)
    assert made.wanted(1) == []


def test_a_budget_that_is_too_small_is_told_by_what_the_whole_run_needs():
    """It named a --max-time for irace alone, with which the run could not go on either."""

    class Needy(Sweep):
        def propose(self, arena):
            raise SmallBudgetError(48, "--max-time of at least 48 s")
            yield 0

    made = PeerSearcher(Needy(), SearchTask(SPACE, UTILITY, 10), 25.0)
    says = r"first start, 25 s, and needs at least 48 s: .* another --folder with at least 2 times as much"
    with pytest.raises(UsageError, match=says):
        made.wanted(1)


def test_a_run_nobody_waits_for_is_left_out():
    made = searcher()
    (run,) = made.wanted(1)
    made.tell(run, Seen(1.0, 1.0, 0.9))
    made.tell(run, Seen(1.0, 1.0, 0.9))
    assert made.spent_s == 1.0
    made.close()


def test_seeds_make_different_searches_and_the_tasks_seed_counts():
    found = []
    for seed in (1, 2, 1):
        made = PeerSearcher(Sweep(), SearchTask(SPACE, UTILITY, 10, 50.0, seed=seed), 1000.0)
        play(made, 40)
        found.append(made.candidates)
        made.close()
    assert found[0] == found[2] != found[1]
    assert np.isfinite(UTILITY(1.0))


@pytest.mark.parametrize("make", [smac, optuna_tpe])
def test_every_peer_that_is_here_can_be_named_as_a_searcher(make):
    task = SearchTask(SPACE, UTILITY, 10, seed=3)
    try:
        made = make(task)
    except MissingExtraError:
        pytest.skip("it is not installed")
    play(made, 12)
    assert made.spent_s > 0
    assert SPACE.validate(made.candidates[made.nominee()])
    made.close()


@pytest.mark.skipif(not Irace.is_installed(), reason="R or its package irace is not installed")
def test_irace_without_a_budget_is_refused_in_a_sentence():
    made = irace(SearchTask(SPACE, UTILITY, 10))
    with pytest.raises(UsageError, match="irace plans its whole budget"):
        made.wanted(1)

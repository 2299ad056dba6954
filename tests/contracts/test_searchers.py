"""Our searches pass the suite that people who write their own are given; broken ones do not."""

from __future__ import annotations

import time

import numpy as np
import pytest

from utilitune.search.racing import RacingSearch
from utilitune.search.suggesting import MixedSuggester, RandomSuggester
from utilitune.testing import ContractError, SearcherSuite


class Mixed(SearcherSuite):
    def make(self, task):
        return RacingSearch(task, MixedSuggester(task.space, seed=task.seed))


class Random(SearcherSuite):
    def make(self, task):
        return RacingSearch(task, RandomSuggester())


@pytest.mark.long
@pytest.mark.parametrize("check", SearcherSuite.checks())
@pytest.mark.parametrize("suite", [Mixed, Random])
def test_a_searcher_keeps_its_contract(suite, check: str):
    getattr(suite(), check)()


class Rash(RacingSearch):
    """Nominates the newest candidate, and lets the clock choose the next one."""

    def nominee(self):
        return len(self.candidates) - 1

    def _next_candidate(self, generator):
        return super()._next_candidate(np.random.default_rng(time.perf_counter_ns()))


class Broken(SearcherSuite):
    def make(self, task):
        return Rash(task, RandomSuggester())


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        ("test_the_default_is_nominated_where_nothing_is_better", "worse than the default"),
        ("test_the_same_outcomes_make_the_same_search", "other candidates"),
        ("test_the_order_in_which_runs_end_does_not_matter", "depend on the order"),
    ],
)
def test_a_searcher_that_breaks_the_contract_is_found(check: str, sentence: str):
    with pytest.raises(ContractError, match=sentence):
        getattr(Broken(), check)()

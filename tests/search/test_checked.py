"""Searchers that users write: every mistake is one sentence, and none of them is silent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from utilitune.errors import ScenarioError
from utilitune.search.base import SearchTask, Seen, TakesOffers, WantedRun
from utilitune.search.checked import UNCOUNTED, CheckedSearcher
from utilitune.search.own import own_searcher
from utilitune.search.racing import RacingSearch
from utilitune.search.suggesting import RandomSuggester
from utilitune.spaces import ParameterSpace
from utilitune.testing import SearcherSuite
from utilitune.utility import parse_utility

SPACE = ParameterSpace.from_tables(
    {
        "level": {"type": "integer", "range": [1, 9], "default": 5},
        "mode": {"type": "categorical", "values": ["a", "b"], "default": "a"},
    }
)
TASK = SearchTask(SPACE, parse_utility("uniform(k0=10s)"), 40, 300.0)
FIRST = WantedRun(0, 0, 10.0)
ENDED = Seen(2.0, 2.0, 0.8)


class Mine:
    """A searcher that looks at the default only."""

    def __init__(self, task: SearchTask = TASK) -> None:
        self.candidates: Any = [task.space.default()]
        self.spent_s: Any = 0.0
        self.until_s = math.inf
        self.done = 0

    def wanted(self, count: int) -> Any:
        return [WantedRun(0, self.done, 10.0)]

    def tell(self, run: WantedRun, seen: Seen) -> None:
        self.done += 1
        self.spent_s += seen.time_s

    def nominee(self) -> Any:
        return 0


def checked(own: Any) -> CheckedSearcher:
    return CheckedSearcher(own, "mine:Mine", TASK)


class TestRacesBehindTheChecks(SearcherSuite):
    """A searcher without a mistake is left as it is."""

    def make(self, task: SearchTask) -> Any:
        return CheckedSearcher(RacingSearch(task, RandomSuggester()), "mine:Races", task)


def test_races_of_ones_own_are_races():
    """Whoever changes a rule of ours keeps what the driver knows of races: no order makes a difference."""
    assert type(own_searcher(f"{__name__}:Races")(TASK)) is Races
    assert type(own_searcher(f"{__name__}:Mine")(TASK)) is CheckedSearcher


class Races(RacingSearch):
    def __init__(self, task: SearchTask) -> None:
        super().__init__(task, RandomSuggester())


@pytest.mark.parametrize("missing", ["tell", "nominee"])
def test_a_missing_method_is_named_when_it_is_made(missing: str):
    own = Mine()
    setattr(own, missing, None)
    with pytest.raises(ScenarioError, match=f"'mine:Mine' has 'wanted', .* has no method '{missing}'"):
        checked(own)


@pytest.mark.parametrize("missing", ["candidates", "spent_s"])
def test_a_missing_attribute_is_named_when_it_is_made(missing: str):
    own = Mine()
    delattr(own, missing)
    with pytest.raises(ScenarioError, match=f"no attribute '{missing}'.: mend the class"):
        checked(own)


@pytest.mark.parametrize("first", [[], [{"level": 4, "mode": "a"}]])
def test_its_first_candidate_is_the_default(first: list[Any]):
    own = Mine()
    own.candidates = first
    with pytest.raises(ScenarioError, match="must have the default configuration as its first candidate"):
        checked(own)


@pytest.mark.parametrize("method", ["wanted", "tell", "nominee", "offer", "close"])
def test_where_it_fails_is_told(method: str):
    def failing(*_: object) -> None:
        raise KeyError("lost")

    own = Mine()
    setattr(own, method, failing)
    searcher: Any = checked(own)
    arguments = {"wanted": (1,), "tell": (FIRST, ENDED), "offer": (SPACE.default(),)}.get(method, ())
    with pytest.raises(ScenarioError, match=rf"^{method} of .*KeyError: 'lost'; .*test_checked.py, line \d+"):
        getattr(searcher, method)(*arguments)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (None, "must return a list from wanted, empty if nothing is left, not None"),
        ([3], r"must want runs as WantedRun\(candidate, position, captime_s\), not 3"),
        ([WantedRun(1, 0, 1.0)], "wants a run of candidate 1, but it has 1"),
        ([WantedRun(-1, 0, 1.0)], "wants a run of candidate -1, but it has 1"),
        ([WantedRun(0, 40, 1.0)], "wants a run on position 40, but there are 40"),
        ([WantedRun(0, "x", 1.0)], "wants a run on position 'x'"),
        ([WantedRun(0, 0, math.nan)], "with a captime of nan; it must be above 0"),
        ([WantedRun(0, 0, 0.0)], "with a captime of 0.0; it must be above 0"),
        ([WantedRun(0, 0, 301.0)], "with a captime of 301 s, but the largest is 300 s"),
    ],
)
def test_runs_that_cannot_be_made_are_refused(said: Any, says: str):
    own = Mine()
    own.wanted = lambda count: said
    with pytest.raises(ScenarioError, match=f"the search method 'mine:Mine' .*{says}"):
        checked(own).wanted(1)


def test_runs_may_come_as_tuples_of_numpy_and_from_a_generator():
    own = Mine()
    own.wanted = lambda count: ((np.int64(0), each, np.float32(2.0)) for each in range(count))
    assert checked(own).wanted(2) == [WantedRun(0, 0, 2.0), WantedRun(0, 1, 2.0)]


@pytest.mark.parametrize("number", ["best", None, 1, -1, 0.0])
def test_a_nominee_is_the_number_of_a_candidate(number: Any):
    own = Mine()
    own.nominee = lambda: number
    with pytest.raises(ScenarioError, match=f"must nominate the number of one of its .*, not {number!r}"):
        checked(own).nominee()


def test_candidates_may_be_plain_dictionaries():
    own = Mine()
    own.candidates.append({"mode": "b", "level": 3})
    assert checked(own).candidates[1] == SPACE.validate({"level": 3, "mode": "b"})


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"level": 30, "mode": "a"}, "has this candidate: .*'level'"), (3, "has a candidate that is no dict")],
)
def test_candidates_outside_the_space_are_refused(wrong: Any, says: str):
    own = Mine()
    own.candidates.append(wrong)
    with pytest.raises(ScenarioError, match=f"the search method 'mine:Mine' {says}"):
        checked(own)


def test_a_candidate_keeps_its_number():
    own = Mine()
    own.candidates.append({"level": 3, "mode": "b"})
    searcher = checked(own)
    own.candidates.pop()
    with pytest.raises(ScenarioError, match="has dropped candidates from its list"):
        searcher.wanted(1)


def test_one_that_asks_again_for_what_it_was_told_is_refused():
    """The run waited for ever for runs that nobody made."""
    own = Mine()
    own.wanted = lambda count: [FIRST]
    searcher = checked(own)
    assert searcher.wanted(1) == [FIRST]
    searcher.tell(FIRST, ENDED)
    searcher.until_s = 2.0  # it has spent that and may look no further: what it lists is what comes next
    assert searcher.wanted(1) == [FIRST]
    searcher.until_s = math.inf
    with pytest.raises(ScenarioError, match="again, after it was told of that run"):
        searcher.wanted(1)


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -1.0, "2", None, True])
def test_seconds_spent_are_a_number(seconds: Any):
    """With nan the run never came to its end, and took no notice of a request to stop."""
    own = Mine()
    own.spent_s = seconds
    with pytest.raises(ScenarioError, match=f"spent_s .*, not {seconds!r}"):
        assert checked(own).spent_s


def test_one_that_never_counts_its_seconds_is_found_out():
    """The proof waited for it for ever, and said that there were too few runs."""
    own = Mine()
    own.tell = lambda run, seen: None
    searcher = checked(own)
    for position in range(UNCOUNTED):
        searcher.tell(WantedRun(0, position % 40, 10.0 + position), ENDED)
    assert searcher.spent_s == 0.0
    searcher.tell(WantedRun(0, 0, 9.0), ENDED)
    with pytest.raises(ScenarioError, match=r"must add the seconds .* still 0 after 101 runs"):
        assert searcher.spent_s


def test_seconds_spent_do_not_fall():
    """A search that sets them back gets the time of the proof as well."""
    own = Mine()
    searcher = checked(own)
    own.spent_s = 6.0
    assert searcher.spent_s == 6.0
    own.spent_s = 6.0 - 1e-12  # the same runs, added up in another order
    assert searcher.spent_s < 6.0
    own.spent_s = 2.0
    with pytest.raises(ScenarioError, match=r"must not take seconds away .* was 6, and is now 2"):
        assert searcher.spent_s


def test_only_who_takes_offers_gets_some():
    """Asked as the protocol asks: not every Python looks behind __getattr__."""
    own: Any = Mine()
    assert not isinstance(checked(own), TakesOffers)
    own.offer = own.candidates.append
    searcher: Any = checked(own)
    assert isinstance(searcher, TakesOffers)
    assert "offer" in vars(searcher)
    searcher.offer({"level": 1, "mode": "b"})
    assert len(searcher.candidates) == 2

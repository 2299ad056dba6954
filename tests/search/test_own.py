"""Searchers and suggesters that users write: what they may say, and that none keeps a search from its end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from utilitune.errors import ScenarioError
from utilitune.search.base import Belief, Believer, SearchTask
from utilitune.search.own import PATIENCE, CheckedSuggester, default_run_s, own_searcher
from utilitune.search.pool import Pool
from utilitune.search.racing import RacingSearch
from utilitune.spaces import Assignment, ParameterSpace
from utilitune.utility import parse_utility

SPACE = ParameterSpace.from_tables(
    {
        "level": {"type": "integer", "range": [1, 9], "default": 5},
        "mode": {"type": "categorical", "values": ["a", "b"], "default": "a"},
    }
)
TASK = SearchTask(SPACE, parse_utility("uniform(k0=10s)"), 40, 300.0)


class Saying:
    """Suggests what it was given, one after the other, and the last one for ever."""

    def __init__(self, *said: Any) -> None:
        self.said = list(said)
        self.asked = 0

    def suggest(self, pool: Pool, incumbent: int, generator: np.random.Generator) -> Any:
        self.asked += 1
        return self.said.pop(0) if len(self.said) > 1 else self.said[0]


def suggested(own: Saying, search: RacingSearch | None = None) -> Assignment | None:
    pool = (search or RacingSearch(TASK, own)).pool
    return CheckedSuggester(own, "mine:Own").suggest(pool, 0, np.random.default_rng(1))


def test_a_plain_dictionary_is_a_candidate():
    found = suggested(Saying({"mode": "b", "level": 3}))
    assert isinstance(found, Assignment)
    assert found == SPACE.validate({"level": 3, "mode": "b"})


def test_one_that_is_known_is_asked_again():
    known, new = {"level": 5, "mode": "a"}, {"level": 4, "mode": "a"}
    assert suggested(Saying(known, known, new)) == SPACE.validate(new)


def test_one_that_names_nothing_new_has_nothing_left():
    """A search would have gone on for ever without a single run."""
    own = Saying({"level": 5, "mode": "a"})
    assert suggested(own) is None
    assert own.asked == PATIENCE
    search = RacingSearch(TASK, CheckedSuggester(own, "mine:Own"))
    assert not [wanted for wanted in search.wanted(4) if wanted.candidate != 0]


@pytest.mark.parametrize("wrong", ["level", 3, [("level", 3)], object()])
def test_what_is_no_configuration_is_refused(wrong: Any):
    with pytest.raises(ScenarioError, match="'mine:Own' must suggest values of the parameters by name"):
        suggested(Saying(wrong))


@pytest.mark.parametrize("wrong", [{"level": 30, "mode": "a"}, {"lvl": 3}, {"level": 3}, {}])
def test_what_lies_outside_the_space_is_refused(wrong: dict[str, Any]):
    with pytest.raises(ScenarioError, match="the search method 'mine:Own' suggested this: "):
        suggested(Saying(wrong))


def test_what_it_believes_is_heard():
    class Believing(Saying):
        def belief(self, pool: Pool, candidate: int, rival: int) -> Belief:
            return Belief(1.0, 2.0)

    checked = CheckedSuggester(Believing(None), "mine:Own")
    assert isinstance(checked, Believer)
    assert "belief" in vars(checked)  # from Python 3.12 on, protocols do not ask __getattr__
    assert checked.belief(RacingSearch(TASK, checked).pool, 0, 0) == Belief(1.0, 2.0)
    assert not isinstance(CheckedSuggester(Saying(None), "mine:Own"), Believer)


@pytest.mark.parametrize("said", ["yes", 3, (1.0, 0.0), (math.nan, 1.0), (1.0, math.inf)])
def test_a_belief_that_is_none_is_refused(said: Any):
    own: Any = Saying(None)
    own.belief = lambda pool, candidate, rival: said
    checked: Any = CheckedSuggester(own, "mine:Own")
    with pytest.raises(
        ScenarioError, match=r"belief of the search method 'mine:Own' must be None, or Belief"
    ):
        checked.belief(None, 0, 1)


@pytest.mark.parametrize("method", ["suggest", "belief"])
def test_where_it_fails_is_told(method: str):
    def failing(*_: object) -> None:
        raise ValueError("oh dear")

    own: Any = Saying(None)
    setattr(own, method, failing)
    checked: Any = CheckedSuggester(own, "mine:Own")
    with pytest.raises(ScenarioError, match=rf"^{method} of .*ValueError: oh dear; .*test_own.py, line \d+"):
        getattr(checked, method)(None, 0, None)


class Silent:
    """A searcher that does not say how long a run of the default takes."""

    spent_s = 0.0

    def __init__(self, task: SearchTask | None = None) -> None:
        self.candidates = [SPACE.default()]

    def wanted(self, count: int) -> list[Any]:
        return []

    def tell(self, run: Any, seen: Any) -> None: ...

    def nominee(self) -> int:
        return 0


class Method(Silent):
    def default_run_s(self) -> float:
        return 1.0


class Raising(Silent):
    @property
    def default_run_s(self) -> float:
        return 1 / 0


class Lacking(Silent):
    @property
    def default_run_s(self) -> float:
        return self.nothing


class Wrong(Silent):
    default_run_s: Any = float("nan")


class Failing:
    def __init__(self, task: SearchTask) -> None:
        raise KeyError("x")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Method, "but it is a method: write @property above it"),
        (Raising, r"but it fails \(ZeroDivisionError"),
        (Lacking, r"but it fails \(AttributeError"),
        (Wrong, "not nan"),
    ],
)
def test_a_searcher_whose_default_run_is_no_number_is_refused_when_it_is_made(kind, says):
    """It ended in a traceback, some runs later."""
    with pytest.raises(ScenarioError, match=f"default_run_s of the search method '{kind.__name__}'.*{says}"):
        own_searcher(f"{__name__}:{kind.__name__}")(TASK)


@pytest.mark.parametrize("value", [-1.0, math.inf, "1", True, None])
def test_what_is_no_number_of_seconds(value):
    searcher = Wrong()
    searcher.default_run_s = value
    with pytest.raises(ScenarioError, match=f"0 before the first, not {value!r}"):
        default_run_s(searcher)


def test_a_searcher_may_say_nothing_or_seconds():
    assert default_run_s(Silent()) is None
    searcher = Wrong()
    searcher.default_run_s = np.float32(0.5)
    assert default_run_s(searcher) == 0.5
    assert default_run_s(RacingSearch(TASK, Saying(None))) == 0.0


@pytest.mark.parametrize(
    ("name", "says"), [("PATIENCE", "is no class"), ("Failing", r"failed when it was made .*KeyError: 'x'")]
)
def test_what_no_searcher_can_be_made_of(name, says):
    with pytest.raises(ScenarioError, match=f"the search method '{__name__}:{name}' {says}"):
        own_searcher(f"{__name__}:{name}")(TASK)

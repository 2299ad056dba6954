"""Thinking keeps to one thread, and leaves those of others alone."""

from __future__ import annotations

import pytest
from threadpoolctl import ThreadpoolController

from utilitune.search.additive import AdditiveModel
from utilitune.search.base import SearchTask, Seen
from utilitune.search.one_thread import _linear_algebra, on_one_thread
from utilitune.search.racing import RacingSearch
from utilitune.search.suggesting import MixedSuggester
from utilitune.testing.searchers import SPACE, UTILITY, improvable


def threads() -> set[int]:
    """Of the libraries that were loaded when search first thought; numpy's is among them."""
    return {each["num_threads"] for each in _linear_algebra().info()}


@pytest.fixture(autouse=True)
def _two_threads():
    with ThreadpoolController().select(user_api="blas").limit(limits=2):
        yield


def test_linear_algebra_has_one_thread_within_the_block_only():
    with on_one_thread():
        assert threads() == {1}
    assert threads() == {2}


def test_numpy_is_among_them():
    assert any("numpy" in each["filepath"] for each in _linear_algebra().info())


def test_an_error_within_the_block_gives_the_threads_back():
    with pytest.raises(ZeroDivisionError), on_one_thread():
        _ = 1 / 0
    assert threads() == {2}


def test_models_of_search_are_fitted_and_asked_on_one_thread(monkeypatch):
    seen = {}
    for name in ("fit", "predict", "drawn", "difference"):
        usual = getattr(AdditiveModel, name)

        def watched(*arguments, name=name, usual=usual):
            seen.setdefault(name, set()).update(threads())
            return usual(*arguments)

        monkeypatch.setattr(AdditiveModel, name, watched)
    search = RacingSearch(SearchTask(SPACE, UTILITY, 40, 300.0), MixedSuggester(SPACE))
    for _ in range(150):
        (run,) = search.wanted(1)
        time_s = improvable(search.candidates[run.candidate], run.position)
        search.tell(run, Seen(time_s, time_s, float(UTILITY(time_s))))
    search.nominee()
    assert seen == {name: {1} for name in ("fit", "predict", "drawn", "difference")}
    assert threads() == {2}

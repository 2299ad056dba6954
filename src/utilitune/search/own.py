"""Searchers and suggesters that somebody else has written: what they say is checked before it is used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from inspect import getattr_static
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

from utilitune.errors import ScenarioError, UtilituneError
from utilitune.search.base import Belief
from utilitune.search.checked import CheckedSearcher, called
from utilitune.search.racing import RacingSearch
from utilitune.utility.carried import imported

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from utilitune.search.base import Searcher, SearchTask, TimesDefault
    from utilitune.search.pool import Pool
    from utilitune.spaces import Assignment

PATIENCE = 100
"""After so many candidates in a row that were raced before, nothing new is left: search would go on for ever
without a run."""


class CheckedSuggester:
    """A suggester of one's own, with its `belief` if it has one.

    Args:
        own: The suggester.
        reference: What the scenario calls it.
    """

    def __init__(self, own: Any, reference: str) -> None:  # noqa: ANN401 -- a user's object
        self._own = own
        self._reference = reference
        if callable(getattr(own, "belief", None)):  # on the object itself: protocols do not ask __getattr__
            self.belief = self._belief

    def suggest(self, pool: Pool, incumbent: int, generator: np.random.Generator) -> Assignment | None:
        """The next configuration that is no candidate yet; None if there seems to be none."""
        for _ in range(PATIENCE):
            what = f"suggest of the search method {self._reference!r}"
            found = called(what, self._own.suggest, pool, incumbent, generator)
            if found is None:
                return None
            candidate = self._checked(pool, found)
            if candidate not in pool.numbers:
                return candidate
        return None

    def _checked(self, pool: Pool, found: object) -> Assignment:
        if not isinstance(found, Mapping):
            raise ScenarioError(
                f"the search method {self._reference!r} must suggest values of the parameters by name, or "
                f"None, not {found!r}"
            )
        try:
            return pool.space.validate(found)
        except ScenarioError as error:
            raise ScenarioError(f"the search method {self._reference!r} suggested this: {error}") from None

    def _belief(self, pool: Pool, candidate: int, rival: int) -> Belief | None:
        what = f"belief of the search method {self._reference!r}"
        found = called(what, self._own.belief, pool, candidate, rival)
        if found is None:
            return None
        try:
            mean, variance = map(float, found)
        except (TypeError, ValueError):
            mean, variance = math.nan, math.nan
        if not (math.isfinite(mean) and 0 < variance < math.inf):
            raise ScenarioError(f"{what} must be None, or Belief(mean, variance above 0), not {found!r}")
        return Belief(mean, variance)


def own_searcher(reference: str) -> Callable[[SearchTask], Searcher]:
    """What makes a searcher of a user's class: one that does everything, or our races of what it suggests.

    Args:
        reference: The class as "module:Class".

    Raises:
        ScenarioError: There is no such class; or, when it is made, it fails or is no searcher.
    """
    module, _, name = reference.partition(":")
    try:
        kind = getattr(imported(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ScenarioError(
            f'the search method {reference!r} cannot be imported ({error}): name it as "module:Class"'
        ) from None
    if not callable(kind):
        raise ScenarioError(f'the search method {reference!r} is no class: name one as "module:Class"')

    def made(task: SearchTask) -> Searcher:
        own = _made(kind, task, reference)
        if hasattr(own, "wanted"):
            searcher = own if isinstance(own, RacingSearch) else CheckedSearcher(own, reference, task)
            default_run_s(searcher)
            return searcher
        if hasattr(own, "suggest"):
            return RacingSearch(task, CheckedSuggester(own, reference))
        raise ScenarioError(
            f"the search method {reference!r} has neither 'wanted' nor 'suggest': see 'Write your own part' "
            "in the documentation"
        )

    return made


def _made(kind: Callable[[SearchTask], Any], task: SearchTask, reference: str) -> Any:  # noqa: ANN401 -- a user's object
    try:
        return kind(task)
    except UtilituneError:
        raise
    except Exception as error:
        raise ScenarioError(
            f"the search method {reference!r} failed when it was made with a SearchTask "
            f"({type(error).__name__}: {error}): mend the class"
        ) from error


def default_run_s(searcher: Searcher) -> float | None:
    """Seconds of a run of the default, as far as a searcher has looked; None if it does not say.

    Raises:
        ScenarioError: It says something else than a number of seconds.
    """
    if isinstance(searcher, CheckedSearcher):
        searcher = searcher.own
    try:
        value: object = cast("TimesDefault", searcher).default_run_s
    except UtilituneError:
        raise
    except Exception as error:
        if isinstance(error, AttributeError) and not _stands_in(searcher, "default_run_s"):
            return None
        raise _no_seconds(searcher, f"but it fails ({type(error).__name__}: {error})") from error
    if callable(value):
        raise _no_seconds(searcher, "but it is a method: write @property above it")
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < math.inf:
        raise _no_seconds(searcher, f"not {value!r}")
    return float(value)


def _stands_in(thing: object, name: str) -> bool:
    """Whether an object has an attribute, which may fail when it is asked for."""
    return getattr_static(thing, name, None) is not None


def _no_seconds(searcher: Searcher, why: str) -> ScenarioError:
    return ScenarioError(
        f"default_run_s of the search method {type(searcher).__qualname__!r} must be the mean seconds of the "
        f"runs of the default, 0 before the first, {why}"
    )

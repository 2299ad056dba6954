"""A searcher that somebody else has written: what it says is checked before anybody relies on it.

What goes wrong in it ends the run with one sentence that names the class and the line. Without these checks
some mistakes would be silent: a search that never counts its seconds keeps the proof from ever beginning, and
one that takes some of them away gets more than its share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, NoReturn

from utilitune.errors import ScenarioError, UtilituneError
from utilitune.search.base import DEFAULT, WantedRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from utilitune.search.base import SearchTask, Seen
    from utilitune.spaces import Assignment

UNCOUNTED = 100
"""After so many runs per worker a searcher has counted the seconds of some, if it counts any."""

_JUST_BELOW = 1.0 - 1e-9
"""A sum of seconds that is taken in another order may differ by so little."""

_METHODS = ("wanted", "tell", "nominee")
_FIELDS = 3


def called(whose: str, method: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 -- a user's code
    """What a user's code returns.

    Args:
        whose: What to call it in a sentence.
        method: The code.
        arguments: Its arguments.

    Raises:
        ScenarioError: It failed.
    """
    try:
        return method(*arguments)
    except UtilituneError:
        raise
    except Exception as error:
        last = extract_tb(error.__traceback__)[-1]
        place = "" if last.filename == __file__ else f"; {last.filename}, line {last.lineno}"
        raise ScenarioError(
            f"{whose} failed ({type(error).__name__}: {error}{place}): mend the class, then start the run "
            "again"
        ) from error


class CheckedSearcher:
    """A searcher of one's own; see the module.

    Args:
        own: The searcher.
        reference: What the scenario calls it.
        task: What it searches.

    Raises:
        ScenarioError: It lacks something.

    Attributes:
        own: The searcher.
    """

    def __init__(self, own: Any, reference: str, task: SearchTask) -> None:  # noqa: ANN401 -- a user's object
        self.own = own
        self._name = f"the search method {reference!r}"
        self._task = task
        self._candidates: list[Assignment] = []
        self._told: set[WantedRun] = set()
        self._told_s = self._spent_s = 0.0
        self._until_s = math.inf
        for method in _METHODS:
            if not callable(getattr(own, method, None)):
                self._refuse(f"has 'wanted', so it must search by itself, but it has no method {method!r}")
        for attribute in ("candidates", "spent_s"):
            self._get(attribute)
        if callable(getattr(own, "offer", None)):  # on the object itself: protocols do not ask __getattr__
            self.offer = self._offer
        if not self.candidates or self.candidates[DEFAULT] != task.space.default():
            self._refuse("must have the default configuration as its first candidate, number 0")

    @property
    def until_s(self) -> float:
        """How far it may look."""
        return self._until_s

    @until_s.setter
    def until_s(self, seconds: float) -> None:
        self._until_s = seconds
        called(f"setting until_s of {self._name}", setattr, self.own, "until_s", seconds)

    @property
    def candidates(self) -> Sequence[Assignment]:
        """Every candidate so far; a plain dictionary will do."""
        found = self._get("candidates")
        if not isinstance(found, Sequence) or isinstance(found, str):
            self._refuse(f"must have a list of candidates, not {found!r}")
        if len(found) < len(self._candidates):
            self._refuse("has dropped candidates from its list, but each must keep its number")
        for values in found[len(self._candidates) :]:
            if not isinstance(values, Mapping):
                self._refuse(f"has a candidate that is no dictionary of values: {values!r}")
            try:
                self._candidates.append(self._task.space.validate(values))
            except ScenarioError as error:
                raise ScenarioError(f"{self._name} has this candidate: {error}") from None
        return self._candidates

    @property
    def spent_s(self) -> float:
        """Seconds of the runs it has looked at."""
        spent_s = self._get("spent_s")
        if isinstance(spent_s, bool) or not isinstance(spent_s, Real) or not 0 <= float(spent_s) < math.inf:
            self._refuse(f"must say in spent_s how many seconds of runs it has looked at, not {spent_s!r}")
        if spent_s == 0 < self._told_s and len(self._told) > UNCOUNTED * self._task.workers:
            self._refuse(
                f"must add the seconds of the runs it has looked at to spent_s; that is still 0 after "
                f"{len(self._told)} runs"
            )
        if float(spent_s) < self._spent_s * _JUST_BELOW:
            self._refuse(
                f"must not take seconds away from spent_s; that was {self._spent_s:g}, and is now "
                f"{float(spent_s):g}"
            )
        self._spent_s = max(self._spent_s, float(spent_s))
        return float(spent_s)

    def wanted(self, count: int) -> list[WantedRun]:
        """The runs it wants."""
        said = called(f"wanted of {self._name}", self.own.wanted, count)
        if not isinstance(said, Iterable):
            self._refuse(f"must return a list from wanted, empty if nothing is left, not {said!r}")
        runs = [self._run(each) for each in said]
        if runs and self._told.issuperset(runs) and self.spent_s < self._until_s:
            self._refuse(f"wants {runs[0]} again, after it was told of that run; it must remember that")
        return runs

    def tell(self, run: WantedRun, seen: Seen) -> None:
        """What came of a run."""
        self._told.add(run)
        self._told_s += min(seen.time_s, run.captime_s)
        called(f"tell of {self._name}", self.own.tell, run, seen)

    def nominee(self) -> int:
        """Its best candidate."""
        number = called(f"nominee of {self._name}", self.own.nominee)
        if not self._is_place(number, len(self.candidates)):
            self._refuse(f"must nominate the number of one of its candidates, not {number!r}")
        return int(number)

    def close(self) -> None:
        """Let it go, where it holds something."""
        if callable(getattr(self.own, "close", None)):
            called(f"close of {self._name}", self.own.close)

    def _offer(self, assignment: Assignment) -> None:
        called(f"offer of {self._name}", self.own.offer, assignment)

    def _run(self, said: object) -> WantedRun:
        """A run that it wants; a plain tuple will do."""
        if not isinstance(said, Sequence) or len(said) != _FIELDS:
            self._refuse(f"must want runs as WantedRun(candidate, position, captime_s), not {said!r}")
        candidate, position, captime_s = said
        if not self._is_place(candidate, len(self.candidates)):
            self._refuse(f"wants a run of candidate {candidate!r}, but it has {len(self.candidates)}")
        if not self._is_place(position, self._task.positions or math.inf):
            self._refuse(f"wants a run on position {position!r}, but there are {self._task.positions}")
        if not isinstance(captime_s, Real) or not (until_s := float(captime_s)) > 0:
            self._refuse(f"wants a run with a captime of {captime_s!r}; it must be above 0")
        most_s = self._task.largest_captime_s
        if until_s > most_s:
            self._refuse(f"wants a run with a captime of {until_s:g} s, but the largest is {most_s:g} s")
        return WantedRun(int(candidate), int(position), until_s)

    @staticmethod
    def _is_place(number: object, count: float) -> bool:
        return isinstance(number, Integral) and 0 <= int(number) < count

    def _get(self, attribute: str) -> Any:  # noqa: ANN401 -- a user's attribute
        return called(f"{attribute} of {self._name}", getattr, self.own, attribute)

    def _refuse(self, why: str) -> NoReturn:
        raise ScenarioError(f"{self._name} {why}")

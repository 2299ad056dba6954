"""The seams of search: a `Searcher` asks for runs and nominates, a `Suggester` names the next candidate.

A driver asks a searcher which runs it wants, makes some of them, in any order and as many at once as it
likes, and says what came of them. Candidates are counted from 0 in the order in which the searcher brought
them up; number 0 is the default. Positions are places in the fixed order of the training instances.

Nothing a searcher does can make a promise false: its candidates have no bound until one is nominated, and a
nominee is judged on an order that is revealed afterwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from utilitune.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from utilitune.search.pool import Pool
    from utilitune.spaces import Assignment, ParameterSpace
    from utilitune.utility import Utility

DEFAULT = 0
"""The candidate that is the default configuration."""


class WantedRun(NamedTuple):
    """A run that a searcher wants: whose, on which position, up to which captime."""

    candidate: int
    position: int
    captime_s: float


class Seen(NamedTuple):
    """What is known of a run.

    Attributes:
        time_s: Its runtime; infinite while it is not known to finish.
        known_s: How long it was watched; infinite if it is certain never to finish.
        worth: What it is worth if it finished, from 0 to 1; what a run without an end is worth otherwise.
        failed_s: After how many seconds it failed; infinite if it did not.
    """

    time_s: float
    known_s: float
    worth: float
    failed_s: float = math.inf

    def tells(self, captime_s: float) -> bool:
        """Whether the outcome of the run at this captime is known."""
        return self.time_s < math.inf or self.known_s >= captime_s


@dataclass(frozen=True, slots=True)
class SearchTask:
    """What there is to search.

    Attributes:
        space: The parameters.
        utility: What an answer is worth after a time.
        positions: How many instances there are; None without end.
        largest_captime_s: No run is made longer than this; may be infinite.
        by_time: Whether the worth of a run follows from its time. Where it does not, as with the quality of
            solutions, every run is made to the largest captime.
        given: Candidates to race first; the default is not among them.
        workers: How many runs are made at once.
        seed: What every random choice follows from.
        budget_s: How much run time a searcher that plans ahead may plan with.
    """

    space: ParameterSpace
    utility: Utility
    positions: int | None
    largest_captime_s: float = math.inf
    by_time: bool = True
    given: tuple[Assignment, ...] = ()
    workers: int = 1
    seed: int = 0
    budget_s: float = math.inf

    def __post_init__(self) -> None:
        if self.positions is not None and self.positions < 1:
            raise UsageError("search needs at least one instance")
        if not self.largest_captime_s > 0:
            raise UsageError(f"the largest captime must be above 0, not {self.largest_captime_s!r}")
        if not self.by_time and math.isinf(self.largest_captime_s):
            raise UsageError("where the quality of solutions counts, every run needs an end: give a captime")
        if self.workers < 1:
            raise UsageError(f"the number of workers must be at least 1, not {self.workers}")


class Searcher(Protocol):
    """Whoever looks for good configurations.

    Its state follows from the outcomes it was told of, never from the order in which they arrived.

    Attributes:
        until_s: Set from outside: once it has looked at so many seconds of runs (0 for any), it looks at no
            further ones until this is raised. A search that cannot wait like that is told of no more runs,
            and may nominate something else when it is resumed.
    """

    until_s: float

    @property
    def candidates(self) -> Sequence[Assignment]:
        """Every candidate so far, by its number; the first is the default."""
        ...

    @property
    def spent_s(self) -> float:
        """Seconds of the runs it has looked at; they never become fewer."""
        ...

    def wanted(self, count: int) -> list[WantedRun]:
        """Up to `count` runs it wants, the most urgent first; none if it has nothing left to look for.

        The first one is needed: without it the search does not go on. A run that is under way stays listed.
        """
        ...

    def tell(self, run: WantedRun, seen: Seen) -> None:
        """What came of a run; one that was watched longer than asked is welcome."""
        ...

    def nominee(self) -> int:
        """The best candidate by its runs, never one that these hold to be worse than the default."""
        ...


@runtime_checkable
class TakesOffers(Protocol):
    """A searcher that also tries what others have found."""

    def offer(self, assignment: Assignment) -> None:
        """Try this configuration soon; what it does next follows from the offers, too."""
        ...


class TimesDefault(Protocol):
    """A searcher that says how long a run of the default takes; it is given a head start of many of them.

    What it says is checked by `utilitune.search.own.default_run_s`.
    """

    @property
    def default_run_s(self) -> float:
        """Mean seconds of the runs of the default that it has looked at; 0 before the first."""
        ...


class Suggester(Protocol):
    """Whoever names the candidate to be raced next."""

    def suggest(self, pool: Pool, incumbent: int, generator: np.random.Generator) -> Assignment | None:
        """A configuration to race against the incumbent; None if nothing new is left."""
        ...


class Belief(NamedTuple):
    """How much more one candidate is expected to be worth than another, before its own runs are looked at.

    Attributes:
        mean: The expected difference.
        variance: How far off that may be.
    """

    mean: float
    variance: float


@runtime_checkable
class Believer(Protocol):
    """A suggester with a model that also helps to judge."""

    def belief(self, pool: Pool, candidate: int, rival: int) -> Belief | None:
        """What it believes of two candidates; None as long as it has learnt nothing."""
        ...

"""Search's part in a live run: its candidates under their numbers in the store, its wishes as run requests.

A searcher counts its candidates itself and sees worths. The store has numbers of its own and keeps outcomes.
`Hunt` translates. What is known already, whoever asked for the run, is told to the searcher at once and is
never made again. A searcher is told what a run shows up to the captime it asked for, so it does not matter
who was quicker.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain import RunRequest
from utilitune.errors import MissingExtraError, ScenarioError
from utilitune.live.supply import Drawn
from utilitune.procedures.engine import Origin
from utilitune.search.base import DEFAULT, SearchTask, Seen, TakesOffers
from utilitune.search.naming import PEERS, is_reference, require_known
from utilitune.search.own import default_run_s, own_searcher
from utilitune.search.racing import RacingSearch
from utilitune.search.settings import SearchSettings
from utilitune.search.suggesting import MixedSuggester, RandomSuggester
from utilitune.utility.carried import imported, make_importable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from utilitune.live.asker import Ended
    from utilitune.live.task import Task
    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.search.base import Searcher, WantedRun
    from utilitune.spaces import Assignment

OWN_METHODS: dict[str, Callable[[SearchTask], Searcher]] = {
    "utilitune": lambda task: RacingSearch(
        task, MixedSuggester(task.space, by_time=task.by_time, seed=task.seed)
    ),
    "random": lambda task: RacingSearch(task, RandomSuggester()),
}
"""Searches that follow from the outcomes of runs alone."""

STOPPED_FACTOR = SearchSettings().stopped_factor
"""A stopped run counts as if it had ended at this many times its captime."""

LEAST_RUN_S = 1e-3
"""What runs that take no measurable time count as, where times are compared."""

LUCK = 0.05
"""How often luck alone may seem a lead, at the most, where it decides that the default is not the answer."""

RARE_LOSS = 0.15
"""How much is taken to be lost on one more instance, in utility, before that is tested. The larger it is, the
more often the default is the answer. Of .05, .1, .15, … it is the smallest with which at most 1 % of the
answers were worse than the default by over .01, after 20, 60, 125 and 250 default runs each, in 223 searches
on tasks for tuning. In 113 others 0, 5, 2 and 1 were, and 2, 8, 7 and 4 where a lead of 1.5 standard errors
was enough. In all of them together the scores were lower than with that by .006 ± .003, .021 ± .005,
.024 ± .006 and .019 ± .005; after 500 default runs by .001 ± .001 (108 searches)."""

_FEWEST_SHARED = 4
_LOOKS_AT_ONCE = 2000
"""After so many known runs others get a word in."""


class Look(NamedTuple):
    """A run that somebody has looked at: whose, by number in the store, where, and up to which captime."""

    number: int
    position: int
    captime_s: float


class Hunt:
    """A searcher in a live run.

    Args:
        searcher: Who searches.
        evidence: Where outcomes become worths; it is this hunt's own, by numbers of the store.
        workers: How many runs are made at once.

    Attributes:
        exhausted: Whether the searcher has nothing left to look for.
        first_s: Seconds of the first run that the searcher has looked at; 0 before that. Where all runs of
            the default take no measurable time, they count as `LEAST_RUN_S`: the proof would never begin.
    """

    def __init__(self, searcher: Searcher, evidence: LiveEvidence, workers: int) -> None:
        self.exhausted = False
        self.first_s = 0.0
        self._searcher = searcher
        self._evidence = evidence
        self._workers = workers
        self._numbers: dict[Assignment, int] = {}
        self._assignments: dict[int, Assignment] = {}
        self._frontier = 0
        self._looks: list[WantedRun] = []

    @property
    def spent_s(self) -> float:
        """Seconds of the runs that the searcher has looked at."""
        return self._searcher.spent_s

    @property
    def frontier(self) -> int:
        """The first position behind all that the searcher has looked at."""
        return self._frontier

    @property
    def default_run_s(self) -> float | None:
        """Seconds of a run of the default, as far as the searcher has looked; None if it does not say."""
        return default_run_s(self._searcher)

    def number(self, assignment: Assignment, number: int) -> None:
        """A configuration has this number in the store; of several the first counts."""
        if self._numbers.setdefault(assignment, number) == number:
            self._assignments[number] = assignment

    def assignment_of(self, number: int) -> Assignment:
        """The values of a configuration that has a number."""
        return self._assignments[number]

    def offer(self, number: int) -> None:
        """Let the searcher try a configuration that others have found good; not every searcher takes any."""
        assignment = self._assignments.get(number)
        if assignment is not None and isinstance(self._searcher, TakesOffers):
            self._searcher.offer(assignment)

    def new_looks(self) -> list[Look]:
        """What the searcher has looked at since this was asked before.

        Our own search says so itself. It is told of a run as soon as it has ended, but lets it count when it
        is its turn; what it was told would depend on which runs were quicker than others. Nobody else says
        more than that they were told.
        """
        looks, self._looks = self._looks, []
        if isinstance(self._searcher, RacingSearch):
            looks = self._searcher.new_looks()
        return [Look(self._numbers[self._candidate(run)], run.position, run.captime_s) for run in looks]

    def hear(self, run: Ended) -> None:
        """Take in a run that has ended."""
        self._evidence.tell(run.request, run.outcome)

    def close(self) -> None:
        """Let go of a searcher that holds something."""
        close = getattr(self._searcher, "close", None)
        if close is not None:
            close()

    def nominee(self) -> int | None:
        """The number of the best candidate; None if that is the default."""
        best = self._searcher.nominee()
        return None if best == DEFAULT else self._numbers[self._searcher.candidates[best]]

    def is_ahead(self, number: int, other: int, errors: float = 1.0) -> bool:
        """Whether one configuration was better than another on shared instances by so many standard errors.

        Args:
            number: The configuration.
            other: The one that it is compared with.
            errors: By how many standard errors it must have been better.
        """
        differences = self.differences(number, other)
        if differences.size < _FEWEST_SHARED:
            return False
        error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
        return float(differences.mean()) > errors * error

    def is_surely_ahead(self, number: int, other: int) -> bool:
        """Whether one configuration was so much better on shared instances that luck hardly explains it.

        It must pass a one-sided t-test at the level `LUCK`, and that with one more instance, on which it lost
        `RARE_LOSS`: with few instances chance is large, equal differences do not mean that there is none, and
        a loss may be too rare to have been seen.
        """
        from scipy.special import stdtrit

        differences = self.differences(number, other)
        if differences.size < _FEWEST_SHARED:
            return False
        differences = np.append(differences, -RARE_LOSS)
        error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
        return float(differences.mean()) > float(stdtrit(differences.size - 1, 1.0 - LUCK)) * error

    def differences(self, number: int, other: int) -> NDArray[np.float64]:
        """The worth of one configuration minus that of another on each instance that both were run on.

        Runs are compared at equal captimes, the shorter of the two; one that was stopped there counts as
        having ended somewhat later.

        Args:
            number: The configuration.
            other: The one that it is compared with.
        """
        table, utility = self._evidence.arrays, self._evidence.utility
        if max(number, other) >= table.base.size:
            return np.empty(0)
        count = int(min(table.room[number], table.room[other]))
        places = [table.base[each] + np.arange(count) for each in (number, other)]
        times = [table.runtime_s[at] for at in places]
        known = [
            np.where(np.isfinite(time), np.inf, table.known_s[at])
            for time, at in zip(times, places, strict=True)
        ]
        captime = np.minimum(*known)
        stopped = utility(STOPPED_FACTOR * captime)
        worths = [
            np.where(time < captime, table.utility[at], stopped)
            for time, at in zip(times, places, strict=True)
        ]
        return np.asarray((worths[0] - worths[1])[captime > 0])

    def go_on(self, until_s: float = math.inf) -> tuple[Drawn, ...] | None:
        """Let the searcher look at what is known, all of it before any new candidate is brought in.

        So it comes as far where all runs are known from the start as where they came in one by one: a run
        may have ended before the next candidate was stored, and is retraced to its end all the same.

        Args:
            until_s: It stops as soon as it has looked at so many seconds of runs; 0 for any.

        Returns:
            Candidates that need a number first; None if there is more to look at: call again.
        """
        self._searcher.until_s = until_s
        told: set[WantedRun] = set()  # a searcher that asks again for what it was told is not told again
        for _ in range(_LOOKS_AT_ONCE):
            wanted = self._searcher.wanted(2 * self._workers)
            self.first_s = self.first_s or self._first_look_s()
            if 0.0 < self.spent_s >= until_s:
                return ()
            self.exhausted = not wanted
            new = [run for run in wanted if self._candidate(run) not in self._numbers]
            names = dict.fromkeys(map(self._candidate, new))
            if (
                not wanted
                and (best := self._searcher.candidates[self._searcher.nominee()]) not in self._numbers
            ):
                names = {best: None}
            known = (
                (place, seen)
                for place, run in enumerate(wanted)
                if run not in told and run not in new and (seen := self._seen(run)) is not None
            )
            place, seen = next(known, (-1, None))
            if seen is None:
                return tuple(Drawn(each, Origin.NOMINEE) for each in names)
            run = wanted[place]
            # That a run was quicker than others tells something of those, unless order makes no difference.
            shaping = [run] if isinstance(self._searcher, RacingSearch) else wanted[: place + 1]
            self._frontier = max(self._frontier, *(each.position + 1 for each in shaping))
            told.add(run)
            self._looks.append(run)
            self._searcher.tell(run, seen)
        return None

    def _first_look_s(self) -> float:
        """What the first look took, if there was one; races begin when all first runs were looked at."""
        races = isinstance(self._searcher, RacingSearch) and len(self._searcher.candidates) > 1
        return max(self.spent_s, LEAST_RUN_S) if races else self.spent_s

    def requests(self, count: int) -> list[RunRequest]:
        """Up to `count` runs that the searcher wants and that nobody has made, the most urgent first."""
        wanted = [self._request(run) for run in self._searcher.wanted(count) if self._seen(run) is None]
        return self._evidence.lacking(wanted)[:count]

    def _candidate(self, run: WantedRun) -> Assignment:
        return self._searcher.candidates[run.candidate]

    def _request(self, run: WantedRun) -> RunRequest:
        return RunRequest(self._numbers[self._candidate(run)], run.position, run.captime_s)

    def _seen(self, run: WantedRun) -> Seen | None:
        """What is known of a run, if it tells what the searcher asks."""
        number, table = self._numbers[self._candidate(run)], self._evidence.arrays
        if number >= table.base.size or run.position >= table.room[number]:
            return None
        at = table.base[number] + run.position
        seen = Seen(
            time_s=float(table.runtime_s[at]),
            known_s=float(table.known_s[at]),
            worth=float(table.utility[at]),
            failed_s=float(table.failed_s[at]),
        )
        return seen if seen.tells(run.captime_s) else None


class Found:
    """A searcher that has nothing to look for: the configuration was found elsewhere.

    Args:
        default: The default configuration.
        found: The configuration to nominate.
    """

    spent_s = 0.0
    until_s = math.inf

    def __init__(self, default: Assignment, found: Assignment) -> None:
        self.candidates = [default, found]

    def wanted(self, count: int) -> list[WantedRun]:  # noqa: ARG002 -- the seam
        """No runs."""
        return []

    def tell(self, run: WantedRun, seen: Seen) -> None:
        """Nothing was asked."""

    def nominee(self) -> int:
        """The configuration that was found."""
        return len(self.candidates) - 1


def hunt_for(task: Task, *, method: str, workers: int, captime_limit_s: float, budget_s: float) -> Hunt:
    """A searcher for a task that has seen nothing.

    Args:
        task: What is configured.
        method: Who searches: a name, or "module:Class".
        workers: How many runs are made at once.
        captime_limit_s: The largest captime; may be infinite.
        budget_s: How much run time the searcher may plan with; may be infinite.
    """
    scenario = task.scenario
    by_time = scenario.quality is None
    evidence = task.evidence()
    described = SearchTask(
        space=task.space,
        utility=evidence.utility,
        positions=task.training.count,
        largest_captime_s=captime_limit_s if by_time else scenario.limit_s,
        by_time=by_time,
        given=task.given[1:],
        workers=workers,
        seed=scenario.seed,
        budget_s=budget_s,
    )
    return Hunt(searcher_named(method, scenario.directory)(described), evidence, workers)


def searcher_named(method: str, directory: Path) -> Callable[[SearchTask], Searcher]:
    """What makes a searcher of this name, or of this class.

    Args:
        method: The name, or "module:Class".
        directory: The scenario's folder, where a user's module is looked for first.

    Raises:
        ScenarioError: There is no such searcher, or its package is not installed.
    """
    require_known(method)
    if is_reference(method):
        make_importable(directory)
        return own_searcher(method)
    return _peer(method) if method in PEERS else OWN_METHODS[method]


def _peer(method: str) -> Callable[[SearchTask], Searcher]:
    """What makes a searcher of another package, which must be installed."""
    try:
        imported("utilitune.rivals.packages.naming").PEERS[method]().require_installed()
    except MissingExtraError as error:
        raise ScenarioError(
            f'search.method = "{method}" cannot be used here, because {error}; or take another method'
        ) from None
    made: Callable[[SearchTask], Searcher] = getattr(
        imported("utilitune.rivals.packages.searcher"), PEERS[method]
    )
    return made

"""The search of our own: an incumbent, and races against it, one suggestion at a time.

The default is the first incumbent. The incumbent is owed a number of instances that grows with what was
spent; every candidate meets it on these (`race`). It is replaced by a candidate that was better on all of
them by more than luck would explain, every run at the full captime, and that is not clearly worse than the
default. The default keeps being run on the incumbent's instances, so that an incumbent that is clearly worse
than the default is found out. Only one that is clearly better is nominated.

Several races may be under way at once. They are numbered, and their ends are looked at in the order of these
numbers: what race k learns from is fixed, whoever was quicker. So a search follows from its seed, its number
of workers and the outcomes of runs alone. While a long race holds up the others its next runs are made ahead.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from utilitune.search.base import DEFAULT, Believer, WantedRun
from utilitune.search.captimes import Captimes
from utilitune.search.pool import Pool
from utilitune.search.race import Race, Track
from utilitune.search.settings import SearchSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.search.base import Belief, SearchTask, Seen, Suggester
    from utilitune.search.pool import Result
    from utilitune.spaces import Assignment

_STREAM = 3
_FEWEST_OF_ELITE = 4
_FINALISTS = 20


class Duty:
    """A run at the full captime that somebody is owed; a job like a race."""

    def __init__(self, pool: Pool, candidate: int, position: int, captime_s: float) -> None:
        self.candidate = candidate
        self.position = position
        self.over = False
        self.spent_s = 0.0
        self.results: dict[int, Result] = {}
        self.captimes_s = {position: captime_s}
        self._pool = pool
        self._captime_s = captime_s

    def step(self) -> None:
        """Look whether the run is known."""
        result = self._pool.look(self.candidate, self.position, self._captime_s)
        if result is not None:
            self.over, self.spent_s, self.results = True, result.time_s, {self.position: result}

    def wanted(self) -> WantedRun | None:
        """The run."""
        return None if self.over else WantedRun(self.candidate, self.position, self._captime_s)

    def likely(self) -> list[WantedRun]:
        """Nothing follows it."""
        return []


class RacingSearch:
    """A search by races; see the module.

    Args:
        task: What is searched.
        suggester: Who names the next candidate.
        settings: The numbers of the rules.

    Attributes:
        incumbent: Who is to be beaten.
        spent_s: Seconds of the runs that it has looked at.
        until_s: No further end is looked at once it has spent so many seconds; 0 for any.
    """

    def __init__(
        self, task: SearchTask, suggester: Suggester, settings: SearchSettings | None = None
    ) -> None:
        self.settings = settings or SearchSettings()
        self.incumbent = DEFAULT
        self.spent_s = 0.0
        self.until_s = math.inf
        self._task = task
        self._suggester = suggester
        self._captimes = Captimes(task, self.settings)
        self.pool = Pool(task.space, self._captimes)
        self.pool.add(task.space.default())
        self._track = Track(self.pool, self._captimes, self.settings)
        self._given = deque(task.given)
        self._jobs: deque[Race | Duty] = deque()
        self._most_jobs = 1 if task.workers == 1 else math.ceil(self.settings.window * task.workers)
        self._races = 0
        self._was_duty = False
        self._exhausted = False
        self._squares, self._degrees = 0.0, 0
        self._finalists: dict[int, None] = {}
        self._looks: list[WantedRun] = []
        self._begin()

    # -- the seam --------------------------------------------------------------------------------------

    @property
    def candidates(self) -> Sequence[Assignment]:
        """Every candidate so far, by its number; the first is the default."""
        return self.pool.assignments

    @property
    def default_run_s(self) -> float:
        """Mean seconds of the runs of the default that it has looked at; 0 before the first."""
        runs = self.pool.looked_at[DEFAULT].values()
        return sum(run.time_s for run in runs) / max(1, len(runs))

    def wanted(self, count: int) -> list[WantedRun]:
        """Up to `count` runs it wants, the most urgent first."""
        self._look_at_ends()
        found: dict[WantedRun, None] = {}
        for job in self._jobs:
            run = job.wanted()
            if run is not None:
                found[run] = None
        for job in self._jobs:
            if len(found) >= count:
                break
            ahead = [run for run in job.likely() if self.pool.look(*run) is None]
            found.update(dict.fromkeys(ahead))
        return list(found)[:count]

    def tell(self, run: WantedRun, seen: Seen) -> None:
        """What came of a run."""
        self.pool.tell(run.candidate, run.position, seen)
        for job in self._jobs:
            if job.candidate == run.candidate:
                job.step()
        self._look_at_ends()

    def offer(self, assignment: Assignment) -> None:
        """Race a configuration that others have found before any new suggestion."""
        if assignment != self.candidates[self.incumbent] and assignment not in self._given:
            self._given.append(assignment)

    def new_looks(self) -> list[WantedRun]:
        """The runs that it has looked at since this was asked before.

        It is told of runs in the order in which they end, but looks at them in the order of its jobs, and
        waits at `until_s`. So this does not depend on which of them ended first.
        """
        looks, self._looks = self._looks, []
        return looks

    def nominee(self) -> int:
        """The incumbent if its runs beside those of the default put it clearly ahead, else the default."""
        if self.incumbent == DEFAULT:
            return DEFAULT
        return self.incumbent if self._lead(self.incumbent) > self.settings.lead else DEFAULT

    def _lead(self, candidate: int) -> float:
        """By how many standard errors a candidate is ahead of the default on shared instances.

        Runs that put it ahead are weighed with what the model believes of it.
        """
        values = self.pool.differences(candidate, DEFAULT)
        count = len(values)
        if count < 2:
            return 0.0
        mean = sum(values) / count
        error = sum((value - mean) ** 2 for value in values) / (count - 1) / count
        precision = 1.0 / max(error, 1e-24)
        evidence = mean * precision
        belief = self._belief(candidate, DEFAULT)
        if belief is not None and evidence > 0.0:
            evidence += belief.mean / belief.variance
            precision += 1.0 / belief.variance
        return evidence / math.sqrt(precision)

    def _belief(self, candidate: int, rival: int) -> Belief | None:
        """What the model believes of two candidates, if there is one."""
        if not isinstance(self._suggester, Believer):
            return None
        return self._suggester.belief(self.pool, candidate, rival)

    # -- jobs in a fixed order ---------------------------------------------------------------------------

    def _begin(self) -> None:
        """The default is run on the first instances before anybody races against it."""
        count = self.settings.fewest_runs
        if self._task.positions is not None:
            count = min(count, self._task.positions)
        self._jobs.extend(self._duty(DEFAULT, position) for position in range(count))

    def _look_at_ends(self) -> None:
        while self._jobs and self._jobs[0].over and not 0.0 < self.spent_s >= self.until_s:
            job = self._jobs.popleft()
            self.spent_s += job.spent_s
            job.spent_s = 0.0
            self._keep(job)
            if isinstance(job, Race):
                self._judge(job)
            else:
                self._reconsider(job)
            self._open_jobs()

    def _open_jobs(self) -> None:
        """Begin what comes next, as far as races may overlap; the first runs of the default come first."""
        if self._races == 0 and self._jobs and isinstance(self._jobs[-1], Duty):
            return
        while len(self._jobs) < self._most_jobs and not self._exhausted:
            job = self._next_duty() or self._next_race()
            if job is None:
                return
            job.step()
            self._jobs.append(job)

    def _keep(self, job: Race | Duty) -> None:
        """What a job has looked at becomes known to all; a run that told more before stays."""
        self._looks += [WantedRun(job.candidate, *each) for each in job.captimes_s.items()]
        kept = self.pool.looked_at[job.candidate]
        for position, result in job.results.items():
            before = kept.get(position)
            if before is None or (before.stopped and (not result.stopped or result.time_s > before.time_s)):
                kept[position] = result

    # -- duties --------------------------------------------------------------------------------------------

    def _duty(self, candidate: int, position: int) -> Duty:
        return Duty(self.pool, candidate, position, self._captimes.full_s)

    def _next_duty(self) -> Duty | None:
        """A run that is owed, at most every other job."""
        if self._was_duty:
            self._was_duty = False
            return None
        due = self._due(self.incumbent, self._owed()) or self._due_default()
        self._was_duty = due is not None
        return due

    def _owed(self) -> int:
        """How many instances the incumbent is owed by now."""
        by_spending = int(self.settings.owed_share * self.spent_s / max(self.default_run_s, 1e-9))
        owed = max(self.settings.fewest_runs, by_spending)
        return owed if self._task.positions is None else min(owed, self._task.positions)

    def _due(self, candidate: int, count: int) -> Duty | None:
        """The next instance of a candidate that is owed so many."""
        open_duties = {
            job.position for job in self._jobs if isinstance(job, Duty) and job.candidate == candidate
        }
        have = self.pool.looked_at[candidate]
        if len(have) + len(open_duties) >= count:
            return None
        position = 0
        while position in have or position in open_duties:
            position += 1
        return self._duty(candidate, position)

    def _due_default(self) -> Duty | None:
        if self.incumbent == DEFAULT:
            return None
        count = len(self.pool.looked_at[self.incumbent])
        return self._due(DEFAULT, math.ceil(self.settings.default_share * count))

    def _reconsider(self, duty: Duty) -> None:
        """After a run that was owed: is the incumbent still better than the default?"""
        if duty.candidate in (DEFAULT, self.incumbent) and self._is_worse_than_default(self.incumbent):
            self.incumbent = DEFAULT

    def _is_worse_than_default(self, candidate: int) -> bool:
        """Whether the default was clearly better on the instances that both were run on."""
        return candidate != DEFAULT and self._lead(candidate) < -self.settings.lead

    # -- races ---------------------------------------------------------------------------------------------

    def _next_race(self) -> Race | None:
        self._races += 1
        generator = np.random.default_rng([self._task.seed, _STREAM, self._races])
        candidate = self._next_candidate(generator)
        if candidate is None:
            self._exhausted = True
            return None
        return self._race(candidate, generator)

    def _race(self, candidate: int, generator: np.random.Generator | None = None) -> Race:
        """A race against the incumbent: on instances the candidate knows first, then in random order."""
        known = [
            each for each in self.pool.looked_at[self.incumbent] if each in self.pool.looked_at[candidate]
        ]
        new = [
            each for each in self.pool.looked_at[self.incumbent] if each not in self.pool.looked_at[candidate]
        ]
        if generator is not None:
            generator.shuffle(new)
        return Race(
            self._track,
            candidate,
            self.incumbent,
            known + new,
            deviation=self._deviation(),
            known=len(known),
        )

    def _next_candidate(self, generator: np.random.Generator) -> int | None:
        if self._given:
            return self.pool.add(self._given.popleft())
        if self._races % self.settings.again_every == 0 and (again := self._elite_again()) is not None:
            return again
        assignment = self._suggester.suggest(self.pool, self.incumbent, generator)
        return None if assignment is None else self.pool.add(assignment)

    def _elite_again(self) -> int | None:
        """The best earlier candidate that has not met the incumbent on all of its instances."""
        busy = {job.candidate for job in self._jobs} | {self.incumbent}
        owed = self.pool.looked_at[self.incumbent].keys()
        found = [
            (self.pool.paired(each, self.incumbent)[1], each)
            for each in self._finalists
            if each not in busy and owed - self.pool.looked_at[each].keys()
        ]
        self._finalists = dict.fromkeys(each for _, each in sorted(found, reverse=True)[:_FINALISTS])
        return next(iter(self._finalists), None)

    def _judge(self, race: Race) -> None:
        """A race has ended, and so have all before it."""
        values = list(race.differences.values())
        if len(values) > 1:
            mean = sum(values) / len(values)
            self._squares += sum((value - mean) ** 2 for value in values)
            self._degrees += len(values) - 1
        if len(values) >= _FEWEST_OF_ELITE:
            self._finalists[race.candidate] = None
        if not race.won or race.candidate == self.incumbent:
            return
        missing = self.pool.looked_at[self.incumbent].keys() - race.results.keys()
        if race.rival != self.incumbent or missing:
            again = self._race(race.candidate)
            again.step()
            self._jobs.appendleft(again)
        elif self._is_ahead(race.candidate, values) and not self._is_worse_than_default(race.candidate):
            self.incumbent = race.candidate

    def _is_ahead(self, candidate: int, values: list[float]) -> bool:
        """Whether a candidate with these differences is ahead of the incumbent by more than luck.

        Most candidates are worse than the incumbent, and the best of many on few instances was lucky. If
        true differences are N(−m, τ²) and n single ones scatter around them by s, the true one is expected
        above 0 where  Σd/s² > m/τ².  A model's belief N(μ, v) about this candidate adds μ/v on the left. On
        all instances of a list there is no luck.
        """
        positions = self._task.positions
        open_share = 1.0 if positions is None else 1.0 - len(values) / positions
        evidence = sum(values) / self._deviation() ** 2
        belief = self._belief(candidate, self.incumbent)
        if belief is not None:
            evidence += belief.mean / belief.variance
        return evidence > self.settings.luck * open_share

    def _deviation(self) -> float:
        """Standard deviation of differences within races, pooled over all of them."""
        first = self.settings.first_deviation
        return math.sqrt((self._squares + 10 * first**2) / (self._degrees + 10))

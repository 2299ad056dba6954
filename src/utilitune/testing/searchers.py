"""What every searcher keeps: its runs can be made, it follows from outcomes, its nominee is no loss."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from utilitune.search.base import DEFAULT, SearchTask, Seen
from utilitune.spaces import ParameterSpace
from utilitune.testing.base import Suite, expect
from utilitune.utility import LogLaplace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from utilitune.search.base import Searcher, WantedRun
    from utilitune.spaces import Assignment, Value

    Program = Callable[[Mapping[str, Value], int], float]

SPACE = ParameterSpace.from_tables(
    {
        "speed": {"type": "float", "range": [0.0, 1.0], "default": 0.4},
        "size": {"type": "integer", "range": [1, 64], "log": True, "default": 8},
        "way": {"type": "categorical", "values": ["a", "b", "c"], "default": "a"},
        "depth": {"type": "integer", "range": [0, 9], "default": 3, "when": "way == 'b'"},
    }
)
UTILITY = LogLaplace(10.0)
LARGEST_CAPTIME_S = 300.0
_POSITIONS = 30
_RUNS = 400


def improvable(configuration: Mapping[str, Value], position: int) -> float:
    """A program that is quick at a high speed and a small size; instances differ, 13 s for the default."""
    hardness = (position * 7919 % 13) / 6.0 - 1.0
    level = 4.0 * (1.0 - float(configuration["speed"])) + 0.3 * math.log(float(configuration["size"]))
    return math.exp(hardness + level - (0.4 if configuration["way"] == "b" else 0.0) - 0.5)


def at_its_best(configuration: Mapping[str, Value], position: int) -> float:
    """A program whose default is the best there is."""
    is_default = dict(configuration) == dict(SPACE.default())
    return (2.0 if is_default else 40.0) * (1 + position % 3)


class SearcherSuite(Suite):
    """The contract of `Searcher`."""

    @abstractmethod
    def make(self, task: SearchTask) -> Searcher:
        """A searcher that has seen nothing."""

    def test_the_first_candidate_is_the_default(self) -> None:
        """Everything is compared with it."""
        searcher = self.make(_task())
        expect(searcher.candidates[DEFAULT] == SPACE.default(), "candidate 0 is not the default")
        expect(searcher.nominee() == DEFAULT, "something is nominated before there was any run")

    def test_wanted_runs_can_be_made(self) -> None:
        """They name a candidate, a position and a captime that exist."""
        for positions in (_POSITIONS, 1, None):
            self._play(_task(positions=positions), improvable)

    def test_candidates_are_configurations_and_stay_what_they_are(self) -> None:
        """A number always means the same configuration."""
        searcher = self.make(_task())
        before: list[Assignment] = []
        for _ in range(_RUNS):
            wanted = searcher.wanted(1)
            if not wanted:
                break
            searcher.tell(wanted[0], _seen(improvable, searcher, wanted[0]))
            now = list(searcher.candidates)
            expect(now[: len(before)] == before, "a candidate changed its number")
            before = now
        for candidate in searcher.candidates:
            expect(SPACE.validate(candidate) == candidate, f"{candidate!r} is no configuration of the space")

    def test_the_same_outcomes_make_the_same_search(self) -> None:
        """A resumed search is a search once more with the same outcomes."""
        first, second = (self._play(_task(), improvable) for _ in range(2))
        expect(list(first.candidates) == list(second.candidates), "the same outcomes, other candidates")
        expect(first.nominee() == second.nominee(), "the same outcomes, another nominee")

    def test_the_order_in_which_runs_end_does_not_matter(self) -> None:
        """With several workers only the number of workers counts, not who was quicker."""
        searches = [self._play(_task(workers=3), improvable, chance=number) for number in range(3)]
        shared = min(len(each.candidates) for each in searches)
        lists = [list(each.candidates)[:shared] for each in searches]
        expect(lists[0] == lists[1] == lists[2], "the candidates depend on the order in which runs end")

    def test_runs_known_beforehand_do_not_matter(self) -> None:
        """A run that was watched longer than asked for shows what it would have shown.

        It need not be repeated, so a search may come further with the same number of runs, but no other way.
        """
        usual = self._play(_task(), improvable)
        longer = self._play(_task(), improvable, watched_longer=True)
        shared = list(longer.candidates)[: len(usual.candidates)]
        expect(list(usual.candidates) == shared, "a longer look changed the search")

    def test_something_better_is_found(self) -> None:
        """Where nearly half of all configurations are better than the default."""
        searcher = self._play(_task(), improvable)
        expect(
            _mean_worth(improvable, searcher, searcher.nominee())
            > _mean_worth(improvable, searcher, DEFAULT),
            "after 400 runs the nominee is no better than the default",
        )

    def test_the_default_is_nominated_where_nothing_is_better(self) -> None:
        """A nominee that is worse than the default helps nobody."""
        for workers in (1, 4):
            searcher = self._play(_task(workers=workers), at_its_best)
            expect(searcher.nominee() == DEFAULT, "a configuration worse than the default was nominated")

    def test_runs_without_an_end_and_failures_are_taken(self) -> None:
        """Whatever a program does."""
        for program in (lambda _configuration, _position: math.inf, lambda _configuration, _position: -1.0):
            searcher = self._play(_task(), program, runs=60)
            expect(SPACE.validate(searcher.candidates[searcher.nominee()]), "the nominee is no configuration")

    def _play(
        self,
        task: SearchTask,
        program: Program,
        *,
        runs: int = _RUNS,
        chance: int | None = None,
        watched_longer: bool = False,
    ) -> Searcher:
        """Make runs, one at a time or with several workers that end in a random order."""
        searcher = self.make(task)
        generator = np.random.default_rng(chance)
        under_way: dict[WantedRun, None] = {}
        told: set[WantedRun] = set()
        spent_s = 0.0
        for _ in range(runs):
            wanted = searcher.wanted(task.workers + len(under_way))
            for run in wanted:
                _check_wanted(run, searcher, task)
                expect(run not in told, f"{run} has ended, and yet it is wanted again")
            free = [run for run in wanted if run not in under_way]
            under_way |= dict.fromkeys(free[: task.workers - len(under_way)])
            if not under_way:
                break
            place = 0 if chance is None else int(generator.integers(len(under_way)))
            ended = list(under_way)[place]
            del under_way[ended]
            told.add(ended)
            looked_at = ended._replace(captime_s=LARGEST_CAPTIME_S) if watched_longer else ended
            searcher.tell(ended, _seen(program, searcher, looked_at))
            expect(searcher.spent_s >= spent_s * (1.0 - 1e-9), "it takes seconds away from spent_s")
            spent_s = searcher.spent_s
        return searcher


def _task(positions: int | None = _POSITIONS, workers: int = 1) -> SearchTask:
    return SearchTask(SPACE, UTILITY, positions, LARGEST_CAPTIME_S, workers=workers, seed=5)


def _check_wanted(run: WantedRun, searcher: Searcher, task: SearchTask) -> None:
    expect(0 <= run.candidate < len(searcher.candidates), f"{run} is of a candidate that does not exist")
    last = math.inf if task.positions is None else task.positions
    expect(0 <= run.position < last, f"{run} is on a position that does not exist")
    expect(0 < run.captime_s <= LARGEST_CAPTIME_S, f"{run} has a captime that is not allowed")


def _seen(program: Program, searcher: Searcher, run: WantedRun) -> Seen:
    time_s = program(searcher.candidates[run.candidate], run.position)
    if time_s < 0:
        return Seen(math.inf, math.inf, UTILITY.infimum, failed_s=0.5)
    if time_s < run.captime_s:
        return Seen(time_s, time_s, float(UTILITY(time_s)))
    return Seen(math.inf, run.captime_s, UTILITY.infimum)


def _mean_worth(program: Program, searcher: Searcher, number: int) -> float:
    times = [program(searcher.candidates[number], position) for position in range(_POSITIONS)]
    return float(np.mean(UTILITY(times)))

"""One configuration against the default, on instances that neither was chosen on.

Both are run on the same instance–seed pairs, so that an instance that is hard for everybody weighs on both.
`compare` is pure statistics on the two lists of outcomes. `plan_evaluation` says what there is to run, and
`run_evaluation` makes the runs, keeps every one of them, and compares; a second evaluation finds the runs
of the first and makes only those that are missing. `evaluate_in_folder` does that beside a run folder.

The gain is judged by two intervals. One comes from the paired bootstrap: test instances are drawn again with
repetition, each with the runs of both configurations, and the spread of the figure over many such draws is
its uncertainty. The percentile interval is a little too narrow for small samples; its tails are moved
outwards to Φ(√(n/(n−1)) · t(α/2, n−1)), the expanded percentile interval (T. Hesterberg, "What Teachers
Should Know About the Bootstrap", The American Statistician 69(4), 2015). It holds approximately, not by
proof: losses too rare to be in the sample are in none of the draws. The other is proved, see
`procedures.bounds.interval`, and covers them. A configuration is better than the default only if both
intervals say so, so that is claimed wrongly with probability at most 2.5 %, and "worse" likewise, for every
distribution of independent test instances.

Several runs on one instance do not count as independent: their mean counts, as one value of that instance.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from utilitune.domain import RunOutcome, RunStatus, require_positive
from utilitune.domain.stopping import NO_LIMIT, Budget
from utilitune.errors import ScenarioError, UsageError
from utilitune.live.grid import Grid, complete
from utilitune.live.live_run import crowding
from utilitune.live.places import unanswered
from utilitune.live.resampling import CONFIDENCE, Interval, hull, interval_of, resampled_means
from utilitune.live.task import Task
from utilitune.procedures.bounds.interval import mean_interval
from utilitune.scenario.model import ListedInstances, Population
from utilitune.scenario.overlap import overlap_of
from utilitune.store import Snapshot, open_run_folder
from utilitune.utility import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from utilitune.execution.backend import Backend
    from utilitune.scenario.model import Scenario
    from utilitune.store.base import Store, StoreReader
    from utilitune.store.records import ConfigurationRecord
    from utilitune.utility import Utility

FOLDER_NAME = "evaluation"
"""Where test runs are kept inside a run folder."""

TRAINED_ON = "trained on"
"""Name of the fact that says how many of the test instances are training instances."""

NOT_COMPARED = "not compared"
"""Name of the fact that says how many are so large that nobody has looked."""

FEWEST_PAIRS = 6
"""With fewer pairs not even a gain on every one of them would be significant: 2 · 2⁻⁵ > 0.05 (sign test)."""

_WORTH_MENTIONING = 0.005
_SHORTEST_MEAN_S = 1e-9


class WorthsOfBoth(NamedTuple):
    """What the runs of both are worth, where that does not follow from their time."""

    chosen: NDArray[np.float64]
    default: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Side:
    """How one configuration did.

    Attributes:
        configuration: Its number.
        mean_utility: Mean worth; a run without an answer is worth as much as one that never ends.
        mean_runtime_s: Mean seconds; a run without an answer counts with the captime.
        solved: Runs with an answer within the captime.
        timeouts: Runs stopped at the captime.
        failures: Runs that crashed, ran out of memory or gave a wrong answer.
        runtimes_s: Seconds per test instance; infinite without an answer.
        mean_quality: Mean quality of the solutions; None where there are none, or where only time counts.
    """

    configuration: int
    mean_utility: float
    mean_runtime_s: float
    solved: int
    timeouts: int
    failures: int
    runtimes_s: tuple[float, ...]
    mean_quality: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A configuration against the default.

    Attributes:
        chosen: The configuration.
        default: The default.
        pairs: How many test instances both were run on.
        captime_s: Where runs were stopped.
        difference: Mean utility of the chosen one minus that of the default.
        difference_interval: Where it lies by proof, at least as wide as the next, whatever the runs that were
            stopped would have been worth; None with too few pairs.
        resampled_interval: Where it lies approximately, by resampling; None with too few pairs.
        speed_up: Mean runtime of the default over that of the chosen one.
        speed_up_interval: Its interval, approximately; None with too few pairs.
        note: What limits these figures, in a sentence, where something does.
        trained_on: How many of the test instances are training instances, on which the answer was chosen.
        of_solutions: Whether the quality of solutions counts, so that speed is beside the point.
        stops_decide: Whether the two would be told apart, were it not for what stopped runs could be worth.
    """

    chosen: Side
    default: Side
    pairs: int
    captime_s: float
    difference: float
    difference_interval: Interval | None
    resampled_interval: Interval | None
    speed_up: float
    speed_up_interval: Interval | None
    note: str = ""
    trained_on: int = 0
    of_solutions: bool = False
    stops_decide: bool = False

    @property
    def excludes_no_gain(self) -> bool:
        """Whether the utility difference is proved to lie above zero, by instances nobody trained on."""
        proved = self.difference_interval is not None and self.difference_interval.low > 0
        return proved and not self.trained_on

    def verdict(self) -> str:
        """What the utility difference says, in one sentence."""
        if self.chosen.configuration == self.default.configuration:
            return "The chosen configuration is the default itself, so there is no gain to measure."
        if self.trained_on:
            return (
                f"No fair test: {self._trained_on()}, "
                "on which the configuration was chosen and looks better than it is; take others."
            )
        if self.difference_interval is None:
            few = "1 test instance is" if self.pairs == 1 else f"{self.pairs} test instances are"
            return f"{few} too few for an interval: add some, at least {FEWEST_PAIRS} are needed."
        return self._told_apart(self.difference_interval)

    def _trained_on(self) -> str:
        """How many test instances are training instances, in words."""
        if self.pairs == 1:
            return "the test instance is a training instance"
        are = "is a training instance" if self.trained_on == 1 else "are training instances"
        return f"{self.trained_on} of the {self.pairs} test instances {are}"

    def _told_apart(self, proved: Interval) -> str:
        """What the intervals say."""
        if proved.low > 0:
            return 'Better than the default: the interval excludes "no gain".'
        if proved.high < 0:
            return "Worse than the default: the interval lies below zero."
        if self.stops_decide:
            return (
                "No difference from the default is shown: runs that were stopped could be worth enough to "
                "turn it round; raise --captime."
            )
        likely = self.resampled_interval
        if likely is not None and not likely.low <= 0 <= likely.high:
            kind, others = ("better", "losses") if likely.low > 0 else ("worse", "gains")
            return (
                f"Not enough test instances to tell: on these {self.pairs} it did {kind} than the default, "
                f"but rare {others} that they do not show could outweigh that; add test instances."
            )
        return (
            'No difference from the default is shown: the interval includes "no gain"; more test instances '
            "narrow it."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the single runtimes."""
        return {
            "pairs": self.pairs,
            "captime_s": self.captime_s,
            "chosen": _side_to_dict(self.chosen),
            "default": _side_to_dict(self.default),
            "difference": self.difference,
            "difference_interval": _ends(self.difference_interval),
            "resampled_interval": _ends(self.resampled_interval),
            "speed_up": self.speed_up,
            "speed_up_interval": _ends(self.speed_up_interval),
            "excludes_no_gain": self.excludes_no_gain,
            "trained_on": self.trained_on,
            "verdict": self.verdict(),
            "note": self.note,
        }


def compare(
    chosen: tuple[int, Sequence[RunOutcome]],
    default: tuple[int, Sequence[RunOutcome]],
    utility: Utility | WorthsOfBoth,
    captime_s: float,
    instances: Sequence[str] | None = None,
) -> Comparison:
    """Compare two configurations by their runs on the same instances in the same order.

    Args:
        chosen: Number and outcomes of the one.
        default: Number and outcomes of the other.
        utility: What an answer is worth after a time, or what all runs are worth.
        captime_s: Where all runs were stopped.
        instances: The instance of each run, where some have several; else all are different ones.
    """
    our_times, their_times = (_times_s(outcomes) for _, outcomes in (chosen, default))
    worths = (
        utility
        if isinstance(utility, WorthsOfBoth)
        else WorthsOfBoth(utility(our_times), utility(their_times))
    )
    ours, theirs = (
        _side(*side, values, captime_s) for side, values in zip((chosen, default), worths, strict=True)
    )
    columns = np.stack(
        [
            worths.chosen - worths.default,
            np.minimum(our_times, captime_s),
            np.minimum(their_times, captime_s),
            *_gains_at_worst_and_best(chosen[1], default[1], worths, utility, captime_s),
        ],
        axis=1,
    )
    columns = columns if instances is None else _per_instance(columns, instances)
    pairs = len(columns)
    gain_interval = likely = ratio_interval = None
    stops_decide = False
    if pairs >= FEWEST_PAIRS:
        gains, our_means, their_means, worst, best = resampled_means(columns).T
        likely = interval_of(gains, pairs)
        low = hull(interval_of(worst, pairs), _proved_gain(columns[:, 3], utility)).low
        high = hull(interval_of(best, pairs), _proved_gain(columns[:, 4], utility)).high
        gain_interval = Interval(low, high)
        as_stopped = hull(likely, _proved_gain(columns[:, 0], utility))
        stops_decide = low <= 0 <= high and not as_stopped.low <= 0 <= as_stopped.high
        ratio_interval = interval_of(_ratio(their_means, our_means), pairs)
        if ratio_interval.low == ratio_interval.high:
            ratio_interval = hull(ratio_interval, _proved_ratio(columns, captime_s))
    return Comparison(
        chosen=ours,
        default=theirs,
        pairs=pairs,
        captime_s=captime_s,
        difference=float(columns[:, 0].mean()),
        difference_interval=gain_interval,
        resampled_interval=likely,
        speed_up=float(_ratio(columns[:, 2].mean(), columns[:, 1].mean())),
        speed_up_interval=ratio_interval,
        note=_capping_note(utility, captime_s, ours.timeouts + theirs.timeouts),
        of_solutions=isinstance(utility, WorthsOfBoth),
        stops_decide=stops_decide,
    )


def _gains_at_worst_and_best(
    chosen: Sequence[RunOutcome],
    default: Sequence[RunOutcome],
    worths: WorthsOfBoth,
    utility: Utility | WorthsOfBoth,
    captime_s: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The gains if stopped runs of the default had ended at the captime, and if those of the other had."""
    ours, theirs = worths
    if isinstance(utility, WorthsOfBoth):
        return ours - theirs, ours - theirs
    most = float(utility(captime_s))
    our_most, their_most = (
        np.where([each.status is RunStatus.TIMEOUT for each in outcomes], most, values)
        for outcomes, values in ((chosen, ours), (default, theirs))
    )
    return ours - their_most, our_most - theirs


def _per_instance(columns: NDArray[np.float64], instances: Sequence[str]) -> NDArray[np.float64]:
    """The mean row of every instance: runs on one instance are not independent of each other."""
    _, first, group = np.unique(instances, return_index=True, return_inverse=True)
    sums = np.zeros((len(first), columns.shape[1]))
    np.add.at(sums, group, columns)
    means = sums / np.bincount(group)[:, None]
    order: NDArray[np.float64] = means[np.argsort(first)]
    return order


def _proved_gain(gains: NDArray[np.float64], utility: Utility | WorthsOfBoth) -> Interval:
    """Where the mean gain lies by proof: a gain is at most what the best answer is worth over the worst."""
    most = 1.0 if isinstance(utility, WorthsOfBoth) else float(utility(0.0)) - utility.infimum
    return Interval(*mean_interval(np.clip(gains, -most, most), -most, most, 1 - CONFIDENCE))


def _proved_ratio(columns: NDArray[np.float64], captime_s: float) -> Interval:
    """Where the ratio of mean runtimes lies by proof, half of the error for each of them."""
    ours, theirs = (
        mean_interval(np.clip(times_s, 0.0, captime_s), 0.0, captime_s, (1 - CONFIDENCE) / 2)
        for times_s in (columns[:, 1], columns[:, 2])
    )
    return Interval(float(_ratio(theirs[0], ours[1])), float(_ratio(theirs[1], ours[0])))


def _ratio(above: Any, below: Any) -> Any:  # noqa: ANN401 -- a number or an array
    """A ratio of mean runtimes; means too small to be measured count as a nanosecond."""
    return np.maximum(above, _SHORTEST_MEAN_S) / np.maximum(below, _SHORTEST_MEAN_S)


def _times_s(outcomes: Sequence[RunOutcome]) -> NDArray[np.float64]:
    return np.array([each.runtime_s if each.finished else math.inf for each in outcomes])


def _side(number: int, outcomes: Sequence[RunOutcome], worths: NDArray[np.float64], captime_s: float) -> Side:
    runtimes_s = _times_s(outcomes)
    qualities = [each.quality for each in outcomes if each.quality is not None]
    solved = int(np.isfinite(runtimes_s).sum())
    timeouts = sum(each.status is RunStatus.TIMEOUT for each in outcomes)
    return Side(
        configuration=number,
        mean_utility=float(worths.mean()),
        mean_runtime_s=float(np.minimum(runtimes_s, captime_s).mean()),
        solved=solved,
        timeouts=timeouts,
        failures=len(outcomes) - solved - timeouts,
        runtimes_s=tuple(runtimes_s.tolist()),
        mean_quality=sum(qualities) / len(qualities) if qualities else None,
    )


def _capping_note(utility: Utility | WorthsOfBoth, captime_s: float, timeouts: int) -> str:
    if isinstance(utility, WorthsOfBoth):
        return ""
    most = float(utility(captime_s)) - utility.infimum
    if not timeouts or most < _WORTH_MENTIONING:
        return ""
    return (
        f"The runs stopped at {format_duration(captime_s)} ({timeouts} of both together) count as never "
        f"ending, but each could be worth up to {most:.3g} more: raise --captime to see."
    )


def _side_to_dict(side: Side) -> dict[str, Any]:
    names = (
        "configuration",
        "mean_utility",
        "mean_runtime_s",
        "solved",
        "timeouts",
        "failures",
        "mean_quality",
    )
    return {name: getattr(side, name) for name in names}


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is to be compared, on which instances, up to which captime.

    Attributes:
        scenario: The scenario, with test instances.
        chosen: The configuration to evaluate.
        default: The one it is compared with.
        captime_s: Where runs are stopped.
        digest: Names everything the runs depend on: kept runs of another digest do not count.
        budget: When to stop although runs are missing; what was made is kept, and can be gone on with.
    """

    scenario: Scenario
    chosen: ConfigurationRecord
    default: ConfigurationRecord
    captime_s: float
    digest: str
    budget: Budget = NO_LIMIT


def plan_evaluation(
    store: StoreReader,
    scenario: Scenario,
    configuration: int | None = None,
    captime_s: float | None = None,
) -> EvaluationPlan:
    """What evaluating the answer of a run (or another configuration of it) takes.

    Args:
        store: The run.
        scenario: Its scenario.
        configuration: The configuration to evaluate; the run's answer if left out.
        captime_s: Where to stop runs; see `Task.usual_captime_s` if left out.
    """
    if scenario.test is None:
        raise ScenarioError(
            "this run has no test instances: add instances.test to the scenario file and name the file "
            "with --scenario"
        )
    records = {record.index: record for record in store.configurations()}
    last = store.last_progress()
    if not records or (configuration is None and last is None):
        raise unanswered(store)
    wanted = last.progress.best_index if configuration is None and last is not None else configuration
    if wanted is None or wanted not in records:
        raise UsageError(f"there is no configuration {wanted}: this run knows 0 to {max(records)}")
    if captime_s is not None and scenario.quality is not None:
        raise UsageError(
            f"solutions are judged at the scenario's limit, {format_duration(scenario.limit_s)}: leave "
            "--captime out, or change largest_captime in the scenario"
        )
    limit_s = (
        Task(scenario).usual_captime_s if captime_s is None else require_positive("the captime", captime_s)
    )
    repeated = isinstance(scenario.test, ListedInstances) and scenario.test.repeated
    population = Population.FINITE if repeated else Population.INFINITE
    on_test = replace(scenario, training=scenario.test, test=None, population=population)
    return EvaluationPlan(scenario, records[wanted], records[min(records)], limit_s, on_test.digest())


def evaluate_in_folder(
    plan: EvaluationPlan,
    folder: Path,
    workers: int | None = None,
    on_run: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Evaluate on this machine, keeping the runs in the run folder for the next time.

    Args:
        plan: What to compare.
        folder: The run folder; test runs are kept in a folder of their own inside it.
        workers: Runs at the same time; the scenario's number, or the cores, if left out.
        on_run: Called with the number of runs that are known and of all, whenever one more is.
    """
    task = Task(plan.scenario)
    count = task.worker_count(workers)
    place = folder / FOLDER_NAME / plan.digest[:12]
    snapshot = Snapshot(plan.scenario.snapshot(), plan.digest)
    with (
        contextlib.closing(open_run_folder(place, snapshot)) as store,
        task.backend(count, place, store.facts()) as backend,
    ):
        return run_evaluation(plan, store, backend, on_run)


def run_evaluation(
    plan: EvaluationPlan,
    store: Store,
    backend: Backend,
    on_run: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Make the runs that are missing, keep each in the store, and compare.

    Args:
        plan: What to compare.
        store: Where the runs are kept, and where earlier ones are found.
        backend: What makes the runs.
        on_run: Called with the number of runs that are known and of all, whenever one more is.
    """
    task = Task(plan.scenario)
    count = task.test_count()
    records = {record.index: record for record in (plan.default, plan.chosen)}
    wanted = [(number, position) for position in range(count) for number in records]
    grid = Grid(task, task.test, tuple(records.values()), plan.captime_s, plan.budget)
    crowded = crowding(plan.scenario.measure, backend.free_slots)
    known = complete(grid, wanted, store, backend, on_run)
    chosen, default = (
        (number, [known[number, position] for position in range(count)])
        for number in (plan.chosen.index, plan.default.index)
    )
    names = [task.test.name(position) for position in range(count)]
    worth = task.utility if plan.scenario.quality is None else _worths(task, chosen[1], default[1])
    found = compare(chosen, default, worth, plan.captime_s, names)
    overlap = overlap_of(plan.scenario)
    note = " ".join(filter(None, (found.note, crowded, overlap.note())))
    store.keep_fact(TRAINED_ON, str(len(overlap.names)))
    store.keep_fact(NOT_COMPARED, str(overlap.not_compared))
    return replace(found, note=note, trained_on=len(overlap.names))


def _worths(task: Task, chosen: Sequence[RunOutcome], default: Sequence[RunOutcome]) -> WorthsOfBoth:
    """What the runs on the test instances are worth by their solutions."""
    judge = task.judge(task.test)
    return WorthsOfBoth(
        *(
            np.array(
                [judge.worth(at, own, base) for at, (own, base) in enumerate(zip(runs, default, strict=True))]
            )
            for runs in (chosen, default)
        )
    )

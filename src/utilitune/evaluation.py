"""One configuration against the default, on instances that neither was chosen on.

Both are run on the same instance–seed pairs, so that an instance that is hard for everybody weighs on both.
`compare` is pure statistics on the two lists of outcomes. `plan_evaluation` says what there is to run, and
`run_evaluation` makes the runs, keeps every one of them, and compares; a second evaluation finds the runs
of the first and makes only those that are missing. `evaluate_in_folder` does that beside a run folder.

The intervals come from the paired bootstrap: test instances are drawn again with repetition, each with the
runs of both configurations, and the spread of the figure over many such draws is its uncertainty. The
percentile interval is a little too narrow for small samples; its tails are moved outwards to
Φ(√(n/(n−1)) · t(α/2, n−1)), the expanded percentile interval (T. Hesterberg, "What Teachers Should Know About
the Bootstrap", The American Statistician 69(4), 2015). It holds approximately, not by proof.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.domain import Measure, RunOutcome, RunStatus, require_positive
from utilitune.errors import ScenarioError, StoreError, UsageError
from utilitune.execution.machine import oversubscribed
from utilitune.scenario.instances import TEST, instance_source
from utilitune.scenario.model import Population
from utilitune.session.grid import Grid, GridRuns
from utilitune.session.opening import backend_for, worker_count
from utilitune.store import Snapshot, open_run_folder
from utilitune.utility import format_duration, parse_utility

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

CONFIDENCE = 0.95
RESAMPLES = 10_000
FEWEST_PAIRS = 6
"""With fewer pairs not even a gain on every one of them would be significant: 2 · 2⁻⁵ > 0.05 (sign test)."""

_CROWDED = (
    "Runtimes are wall-clock times, but the machine was busy or had fewer cores than workers, so runs may "
    "have slowed each other down: use fewer --workers."
)
_HARDLY_WORTH = 0.05
_WORTH_MENTIONING = 0.005
_SHORTEST_MEAN_S = 1e-9
_CELLS_PER_BLOCK = 2_000_000
_SEED = 20_240_601


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a figure lies with 95 % confidence, approximately."""

    low: float
    high: float


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
    """

    configuration: int
    mean_utility: float
    mean_runtime_s: float
    solved: int
    timeouts: int
    failures: int
    runtimes_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A configuration against the default.

    Attributes:
        chosen: The configuration.
        default: The default.
        pairs: How many test instances both were run on.
        captime_s: Where runs were stopped.
        difference: Mean utility of the chosen one minus that of the default.
        difference_interval: Its interval; None with too few pairs.
        speed_up: Mean runtime of the default over that of the chosen one.
        speed_up_interval: Its interval; None with too few pairs.
        note: What limits these figures, in a sentence, where something does.
    """

    chosen: Side
    default: Side
    pairs: int
    captime_s: float
    difference: float
    difference_interval: Interval | None
    speed_up: float
    speed_up_interval: Interval | None
    note: str = ""

    @property
    def excludes_no_gain(self) -> bool:
        """Whether the interval of the utility difference lies above zero."""
        return self.difference_interval is not None and self.difference_interval.low > 0

    def verdict(self) -> str:
        """What the utility difference says, in one sentence."""
        if self.chosen.configuration == self.default.configuration:
            return "The chosen configuration is the default itself, so there is no gain to measure."
        if self.difference_interval is None:
            return (
                f"{self.pairs} test instances are too few for an interval: add some, at least "
                f"{FEWEST_PAIRS} are needed."
            )
        if self.excludes_no_gain:
            return 'Better than the default: the interval excludes "no gain".'
        if self.difference_interval.high < 0:
            return "Worse than the default: the interval lies below zero."
        return (
            'Not told apart from the default: the interval includes "no gain"; more test instances narrow it.'
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
            "speed_up": self.speed_up,
            "speed_up_interval": _ends(self.speed_up_interval),
            "excludes_no_gain": self.excludes_no_gain,
            "verdict": self.verdict(),
            "note": self.note,
        }


def compare(
    chosen: tuple[int, Sequence[RunOutcome]],
    default: tuple[int, Sequence[RunOutcome]],
    utility: Utility,
    captime_s: float,
) -> Comparison:
    """Compare two configurations by their runs on the same instances in the same order.

    Args:
        chosen: Number and outcomes of the one.
        default: Number and outcomes of the other.
        utility: What an answer is worth.
        captime_s: Where all runs were stopped.
    """
    ours, theirs = (_side(number, outcomes, utility, captime_s) for number, outcomes in (chosen, default))
    our_times, their_times = np.array(ours.runtimes_s), np.array(theirs.runtimes_s)
    columns = np.stack(
        [
            utility(our_times) - utility(their_times),
            np.minimum(our_times, captime_s),
            np.minimum(their_times, captime_s),
        ],
        axis=1,
    )
    pairs = len(columns)
    gain_interval = ratio_interval = None
    if pairs >= FEWEST_PAIRS:
        gains, our_means, their_means = resampled_means(columns).T
        gain_interval = _interval(gains, pairs)
        ratio_interval = _interval(_ratio(their_means, our_means), pairs)
    return Comparison(
        chosen=ours,
        default=theirs,
        pairs=pairs,
        captime_s=captime_s,
        difference=ours.mean_utility - theirs.mean_utility,
        difference_interval=gain_interval,
        speed_up=float(_ratio(columns[:, 2].mean(), columns[:, 1].mean())),
        speed_up_interval=ratio_interval,
        note=_capping_note(utility, captime_s, ours.timeouts + theirs.timeouts),
    )


def resampled_means(columns: NDArray[np.float64], resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """Column means of samples drawn from the rows with repetition: one row per sample, always the same."""
    generator = np.random.default_rng(_SEED)
    rows = len(columns)
    means = np.empty((resamples, columns.shape[1]))
    step = max(1, _CELLS_PER_BLOCK // (rows * columns.shape[1]))
    for start in range(0, resamples, step):
        block = means[start : start + step]
        block[:] = columns[generator.integers(rows, size=(len(block), rows))].mean(axis=1)
    return means


def tail_share(pairs: int) -> float:
    """The share of resampled figures to leave out at each end, see the module's docstring."""
    from scipy.special import ndtr, stdtrit

    tail = (1 - CONFIDENCE) / 2
    return float(ndtr(math.sqrt(pairs / (pairs - 1)) * stdtrit(pairs - 1, tail)))


def _interval(values: NDArray[np.float64], pairs: int) -> Interval:
    tail = tail_share(pairs)
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _ratio(above: Any, below: Any) -> Any:  # noqa: ANN401 -- a number or an array
    """A ratio of mean runtimes; means too small to be measured count as a nanosecond."""
    return np.maximum(above, _SHORTEST_MEAN_S) / np.maximum(below, _SHORTEST_MEAN_S)


def _side(number: int, outcomes: Sequence[RunOutcome], utility: Utility, captime_s: float) -> Side:
    runtimes_s = np.array([each.runtime_s if each.finished else math.inf for each in outcomes])
    solved = int(np.isfinite(runtimes_s).sum())
    timeouts = sum(each.status is RunStatus.TIMEOUT for each in outcomes)
    return Side(
        configuration=number,
        mean_utility=float(utility(runtimes_s).mean()),
        mean_runtime_s=float(np.minimum(runtimes_s, captime_s).mean()),
        solved=solved,
        timeouts=timeouts,
        failures=len(outcomes) - solved - timeouts,
        runtimes_s=tuple(runtimes_s.tolist()),
    )


def _capping_note(utility: Utility, captime_s: float, timeouts: int) -> str:
    most = float(utility(captime_s)) - utility.infimum
    if not timeouts or most < _WORTH_MENTIONING:
        return ""
    return (
        f"The runs stopped at {format_duration(captime_s)} ({timeouts} of both) count as never ending, but "
        f"each could be worth up to {most:.3g} more: raise --captime to see."
    )


def _side_to_dict(side: Side) -> dict[str, Any]:
    names = ("configuration", "mean_utility", "mean_runtime_s", "solved", "timeouts", "failures")
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
    """

    scenario: Scenario
    chosen: ConfigurationRecord
    default: ConfigurationRecord
    captime_s: float
    digest: str


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
        captime_s: Where to stop runs; see `usual_captime_s` if left out.
    """
    if scenario.test is None:
        raise ScenarioError(
            "this run has no test instances: add instances.test to the scenario file and name the file "
            "with --scenario"
        )
    records = {record.index: record for record in store.configurations()}
    last = store.last_progress()
    if not records or (configuration is None and last is None):
        raise StoreError("this run has no answer yet: let it run a little longer")
    wanted = last.progress.best_index if configuration is None and last is not None else configuration
    if wanted is None or wanted not in records:
        raise UsageError(f"there is no configuration {wanted}: this run knows 0 to {max(records)}")
    limit_s = usual_captime_s(scenario) if captime_s is None else require_positive("the captime", captime_s)
    on_test = replace(scenario, training=scenario.test, test=None, population=Population.INFINITE)
    return EvaluationPlan(scenario, records[wanted], records[min(records)], limit_s, on_test.digest())


def usual_captime_s(scenario: Scenario) -> float:
    """The largest captime of a scenario, or where it has none, the time after which little worth is left."""
    if scenario.max_captime_s is not None:
        return scenario.max_captime_s
    utility = parse_utility(scenario.utility)
    time_s = utility.time_to_fall_to(utility.infimum + _HARDLY_WORTH)
    if not 0 < time_s < math.inf:
        raise UsageError("this scenario has no largest captime: say with --captime when to stop a run")
    return max(time_s, scenario.captime0_s)


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
    count = worker_count(plan.scenario, workers)
    place = folder / FOLDER_NAME / plan.digest[:12]
    snapshot = Snapshot(plan.scenario.snapshot(), plan.digest)
    with (
        contextlib.closing(open_run_folder(place, snapshot)) as store,
        backend_for(plan.scenario, count) as backend,
    ):
        crowded = plan.scenario.measure is Measure.WALL and oversubscribed(count)
        store.begin_session({"captime_s": plan.captime_s, "workers": count})
        try:
            found = run_evaluation(plan, store, backend, on_run)
        finally:
            store.end_session()
    return replace(found, note=f"{found.note} {_CROWDED}".strip()) if crowded else found


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
    instances = instance_source(plan.scenario, TEST)
    count = instances.count
    if count is None:
        raise ScenarioError("the test instances have no end: give their generator a count")
    records = {record.index: record for record in (plan.default, plan.chosen)}
    wanted = [(number, position) for position in range(count) for number in records]
    grid = Grid(plan.scenario, instances, tuple(records.values()), plan.captime_s)
    known = GridRuns(grid, store, backend).complete(wanted, on_run)
    chosen, default = (
        (number, [known[number, position] for position in range(count)])
        for number in (plan.chosen.index, plan.default.index)
    )
    return compare(chosen, default, parse_utility(plan.scenario.utility), plan.captime_s)

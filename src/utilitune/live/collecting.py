"""Recording real runs: every one of some configurations on every one of some instances.

`collect` runs a scenario's program over the grid and returns a `RuntimeMatrix` on which every procedure can
be replayed at no cost; where the quality of solutions counts, it holds what the runs have found. The first
configuration is the scenario's default, the others are random draws; the instances are the first ones of the
scenario's order. All runs are kept in a folder of their own, so that an interrupted collection goes on where
it was, and a larger one makes only the runs that are new.

Runs are made instance by instance. Whatever the moment, all configurations have been run on nearly the same
instances, so even an unfinished collection is close to a complete matrix.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.data import RuntimeMatrix
from utilitune.data.solutions import RecordedSolutions
from utilitune.domain import Objective, RunOutcome, TracePoint, require_positive
from utilitune.domain.stopping import NO_LIMIT, Budget
from utilitune.errors import ScenarioError, UsageError
from utilitune.live.grid import Grid, complete
from utilitune.live.standing.card import counted
from utilitune.live.supply import ConfigurationSupply
from utilitune.live.task import Task
from utilitune.spaces import Assignment
from utilitune.spaces.space import INACTIVE
from utilitune.store import ConfigurationRecord, StoredOrigin, open_run_folder
from utilitune.utility import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from utilitune.execution.backend import Backend
    from utilitune.live.asker import Pair
    from utilitune.scenario.instances import InstanceSource
    from utilitune.scenario.model import Scenario
    from utilitune.store.base import Store


MOST_RUNS = 10**8
"""A collection may have so many runs. At a second each, one worker makes them in three years."""


@dataclass(frozen=True, slots=True)
class GridSize:
    """How much to record.

    Attributes:
        configurations: Number of configurations, the default included.
        instances: Number of instances.
        captime_s: When to stop a run; it is the cutoff of the matrix.
        budget: When to stop although runs are missing; what was made is kept, and can be gone on with.
    """

    configurations: int
    instances: int
    captime_s: float
    budget: Budget = NO_LIMIT

    def __post_init__(self) -> None:
        for name in ("configurations", "instances"):
            if getattr(self, name) < 1:
                raise UsageError(f"the number of {name} must be at least 1, not {getattr(self, name)}")
        require_positive("the captime", self.captime_s)
        if self.configurations * self.instances > MOST_RUNS:
            raise UsageError(
                f"{self.configurations} configurations × {self.instances} instances are more than "
                f"{MOST_RUNS:,} runs: record fewer"
            )


def plan_size(
    scenario: Scenario, configurations: int, instances: int | None = None, captime_s: float | None = None
) -> GridSize:
    """How much to record, where a user leaves something out.

    Args:
        scenario: What is run.
        configurations: Number of configurations.
        instances: Number of instances; all training instances if left out.
        captime_s: When to stop a run; the scenario's largest captime if left out.
    """
    count = Task(scenario).training.count if instances is None else instances
    if count is None:
        raise UsageError("the training instances have no end: say with --instances how many to record")
    if scenario.quality is not None:
        _check_limit(scenario, captime_s)
        return GridSize(configurations, count, scenario.limit_s)
    limit_s = scenario.max_captime_s if captime_s is None else captime_s
    if limit_s is None:
        raise UsageError("this scenario has no largest captime: say with --captime when to stop a run")
    return GridSize(configurations, count, limit_s)


def collect(
    scenario: Scenario,
    folder: Path,
    size: GridSize,
    workers: int | None = None,
    on_run: Callable[[int, int], None] | None = None,
) -> RuntimeMatrix:
    """Record a matrix on this machine.

    Args:
        scenario: What to run.
        folder: Where the runs are kept, and where earlier ones are found.
        size: How much to record.
        workers: Runs at the same time; the scenario's number, or the cores, if left out.
        on_run: Called with the number of runs that are known and of all, whenever one more is.
    """
    task = Task(scenario)
    count = task.worker_count(workers)
    _check_instances(size, task.training)
    afresh = "write the matrix elsewhere (-o), to record it afresh in a folder beside it"
    with (
        contextlib.closing(open_run_folder(folder, task.snapshot, afresh=afresh)) as store,
        task.backend(count, folder, store.facts()) as backend,
    ):
        return collect_into(store, backend, scenario, size, on_run)


def collect_into(
    store: Store,
    backend: Backend,
    scenario: Scenario,
    size: GridSize,
    on_run: Callable[[int, int], None] | None = None,
) -> RuntimeMatrix:
    """Make the runs that a store does not hold yet, and put all of them into a matrix.

    Args:
        store: Where runs are kept, and where earlier ones are found.
        backend: What makes the runs.
        scenario: What to run.
        size: How much to record.
        on_run: Called with the number of runs that are known and of all, whenever one more is.
    """
    task = Task(scenario)
    instances = task.training
    _check_instances(size, instances)
    records = _configurations(scenario, size.configurations)
    firsts: dict[Assignment, int] = {}
    same = [firsts.setdefault(Assignment(record.assignment), record.index) for record in records]
    pairs = [(number, position) for position in range(size.instances) for number in firsts.values()]
    grid = Grid(task, instances, records, size.captime_s, size.budget)
    made = complete(grid, pairs, store, backend, on_run)
    outcomes = {
        (record.index, position): made[same[record.index], position]
        for position in range(size.instances)
        for record in records
    }
    names = _column_names([instances.name(position) for position in range(size.instances)])
    encoded = scenario.space.encode([record.assignment for record in records])
    return RuntimeMatrix(
        runtimes_s=_runtimes_s(outcomes, size, failures=scenario.quality is not None),
        cutoff_s=size.captime_s,
        configurations=tuple(f"c{record.index}" if record.index else "default" for record in records),
        instances=names,
        columns=np.arange(size.instances, dtype=np.int64),
        source=scenario.name,
        features=np.where(encoded == INACTIVE, np.nan, encoded),
        feature_names=scenario.space.names,
        solutions=None if scenario.quality is None else _solutions(task, outcomes, size),
    )


def _check_instances(size: GridSize, instances: InstanceSource) -> None:
    """Refuse to record more instances than there are."""
    if instances.count is not None and instances.count < size.instances:
        raise ScenarioError(
            f"{size.instances} instances were asked for, but the scenario has "
            f"{counted(instances.count, 'training instance')}: ask for fewer, or add some"
        )


def _configurations(scenario: Scenario, count: int) -> list[ConfigurationRecord]:
    """The default and random draws, those that the run of the scenario would make."""
    supply = ConfigurationSupply(scenario.space, scenario.seed, [scenario.space.default()])
    return [
        ConfigurationRecord(
            number, supply.draw(number)[0], StoredOrigin.RANDOM if number else StoredOrigin.DEFAULT
        )
        for number in range(count)
    ]


def _column_names(instances: Sequence[str]) -> tuple[str, ...]:
    """A name per column; a further seed of an instance is numbered, such as ``a.cnf#2``."""
    taken = set(instances)
    seen: Counter[str] = Counter()
    names = []
    for instance in instances:
        seen[instance] += 1
        name = instance if seen[instance] == 1 else f"{instance}#{seen[instance]}"
        while seen[instance] > 1 and name in taken:
            name += "#"
        taken.add(name)
        names.append(name)
    return tuple(names)


def _runtimes_s(outcomes: dict[Pair, RunOutcome], size: GridSize, *, failures: bool) -> NDArray[np.float64]:
    """Seconds per configuration and instance; a run without an answer never ends.

    Args:
        outcomes: What came of the runs.
        size: How many there are.
        failures: Whether one that failed has the time after which it did.
    """
    runtimes_s = np.full((size.configurations, size.instances), np.inf)
    for pair, outcome in outcomes.items():
        if outcome.finished or (failures and outcome.failed):
            runtimes_s[pair] = outcome.runtime_s
    return runtimes_s


def _check_limit(scenario: Scenario, captime_s: float | None) -> None:
    """Refuse a captime that is not the limit at which solutions are judged."""
    if captime_s is not None and captime_s != scenario.limit_s:
        raise UsageError(
            f"solutions are judged at the scenario's limit, {format_duration(scenario.limit_s)}: leave "
            "--captime out, or change largest_captime in the scenario"
        )


def _solutions(task: Task, outcomes: dict[Pair, RunOutcome], size: GridSize) -> RecordedSolutions:
    """What the runs have found, and what it is measured against."""
    judge, rules = task.judge(), task.judge().rules
    names = [task.training.name(position) for position in range(size.instances)]
    runs = [[outcomes[row, column] for column in range(size.instances)] for row in range(size.configurations)]
    traces = [[_points(outcome, rules.objective) for outcome in row] for row in runs]
    points = [point for row in traces for trace in row for point in trace]
    count = np.array([[len(trace) for trace in row] for row in traces], dtype=np.int64)
    return RecordedSolutions(
        objective=rules.objective.value,
        better=rules.better.value,
        utility=str(judge.utility),
        first=(np.cumsum(count) - count.reshape(-1)).reshape(count.shape),
        count=count,
        failed=np.array([[outcome.failed for outcome in row] for row in runs]),
        time_s=np.array([point.time_s for point in points], dtype=np.float64),
        quality=_numbers([point.quality for point in points]),
        bound=_numbers([point.bound for point in points]),
        known=_numbers([rules.references.get(name) for name in names]),
        default=_numbers([judge.final(outcome) for outcome in runs[0]]),
        limit=_numbers([rules.bounds.get(name) for name in names]),
    )


def _points(outcome: RunOutcome, objective: Objective) -> tuple[TracePoint, ...]:
    """The moments of a run that count: all, or its end."""
    if objective is Objective.ANYTIME:
        return outcome.trace
    if outcome.quality is None and outcome.bound is None:
        return ()
    return (TracePoint(outcome.runtime_s, outcome.quality, outcome.bound),)


def _numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

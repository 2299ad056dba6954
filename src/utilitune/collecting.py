"""Recording real runtimes: every one of some configurations on every one of some instances.

`collect` runs a scenario's program over the grid and returns a `RuntimeMatrix` on which every procedure can
be replayed at no cost. The first configuration is the scenario's default, the others are random draws; the
instances are the first ones of the scenario's order. All runs are kept in a folder of their own, so that an
interrupted collection goes on where it was, and a larger one makes only the runs that are new.

Runs are made instance by instance. Whatever the moment, all configurations have been run on nearly the same
instances, so even an unfinished collection is close to a complete matrix.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.data import RuntimeMatrix
from utilitune.domain import RunOutcome, require_positive
from utilitune.errors import ScenarioError, UsageError
from utilitune.scenario.instances import instance_source
from utilitune.session.failures import FailureGuard
from utilitune.session.grid import Grid, GridRuns
from utilitune.session.opening import backend_for, worker_count
from utilitune.session.supply import ConfigurationSupply
from utilitune.spaces.space import INACTIVE
from utilitune.store import ConfigurationRecord, Origin, Snapshot, open_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from utilitune.execution.backend import Backend
    from utilitune.scenario.instances import InstanceSource
    from utilitune.scenario.model import Scenario
    from utilitune.session.grid import Pair
    from utilitune.store.base import Store


@dataclass(frozen=True, slots=True)
class GridSize:
    """How much to record.

    Attributes:
        configurations: Number of configurations, the default included.
        instances: Number of instances.
        captime_s: When to stop a run; it is the cutoff of the matrix.
    """

    configurations: int
    instances: int
    captime_s: float

    def __post_init__(self) -> None:
        for name in ("configurations", "instances"):
            if getattr(self, name) < 1:
                raise UsageError(f"the number of {name} must be at least 1, not {getattr(self, name)}")
        require_positive("the captime", self.captime_s)


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
    count = instance_source(scenario).count if instances is None else instances
    if count is None:
        raise UsageError("the training instances have no end: say with --instances how many to record")
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
    count = worker_count(scenario, workers)
    _check_instances(size, instance_source(scenario))
    snapshot = Snapshot(scenario.snapshot(), scenario.digest())
    afresh = "write the matrix elsewhere (-o), to record it afresh in a folder beside it"
    with (
        contextlib.closing(open_run_folder(folder, snapshot, afresh=afresh)) as store,
        backend_for(scenario, count) as backend,
    ):
        store.begin_session({"captime_s": size.captime_s, "workers": count})
        try:
            return collect_into(store, backend, scenario, size, on_run)
        finally:
            store.end_session()


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
    instances = instance_source(scenario)
    _check_instances(size, instances)
    records = _configurations(scenario, size.configurations)
    runs = GridRuns(Grid(scenario, instances, records, size.captime_s), store, backend)
    pairs = [(record.index, position) for position in range(size.instances) for record in records]
    guard = FailureGuard(scenario, runs.rules.target)
    outcomes = runs.complete(pairs, on_run, lambda made: guard.note(made.invocation, made.outcome))
    names = tuple(instances.name(position) for position in range(size.instances))
    encoded = scenario.space.encode([record.assignment for record in records])
    return RuntimeMatrix(
        runtimes_s=_runtimes_s(outcomes, size),
        cutoff_s=size.captime_s,
        configurations=tuple(f"c{record.index}" if record.index else "default" for record in records),
        instances=names,
        columns=np.arange(size.instances, dtype=np.int64),
        source=scenario.name,
        features=np.where(encoded == INACTIVE, np.nan, encoded),
        feature_names=scenario.space.names,
    )


def _check_instances(size: GridSize, instances: InstanceSource) -> None:
    """Refuse to record more instances than there are."""
    if instances.count is not None and instances.count < size.instances:
        raise ScenarioError(
            f"{size.instances} instances were asked for, but the scenario has {instances.count} training "
            "instances: ask for fewer, or add some"
        )


def _configurations(scenario: Scenario, count: int) -> list[ConfigurationRecord]:
    """The default and random draws, those that the run of the scenario would make."""
    supply = ConfigurationSupply(scenario.space, scenario.seed, [scenario.space.default()])
    return [
        ConfigurationRecord(number, supply.draw(number)[0], Origin.RANDOM if number else Origin.DEFAULT)
        for number in range(count)
    ]


def _runtimes_s(outcomes: dict[Pair, RunOutcome], size: GridSize) -> NDArray[np.float64]:
    """Seconds per configuration and instance; a run without an answer never ends."""
    runtimes_s = np.full((size.configurations, size.instances), np.inf)
    for pair, outcome in outcomes.items():
        if outcome.finished:
            runtimes_s[pair] = outcome.runtime_s
    return runtimes_s

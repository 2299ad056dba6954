"""Runs of given configurations on given instances at one captime: made once, kept, found again.

An evaluation and a collection both need every run of a grid and nothing else. `GridRuns` makes those that
the store does not hold yet, as many at a time as the backend has slots, and keeps each before it counts; a
process that is killed loses at most the runs that were under way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.execution.runs import RunRules
from utilitune.scenario.targets import build_target
from utilitune.session.making import Made, RunsUnderWay, Workshop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from utilitune.execution.backend import Backend
    from utilitune.scenario.instances import InstanceSource
    from utilitune.scenario.model import Scenario
    from utilitune.store.base import Store
    from utilitune.store.records import ConfigurationRecord, RunRecord

Pair = tuple[int, int]
"""A configuration's number and an instance's position."""


@dataclass(frozen=True, slots=True)
class Grid:
    """What there is to run.

    Attributes:
        scenario: What is run.
        instances: On what.
        configurations: With which parameters.
        captime_s: For how long.
    """

    scenario: Scenario
    instances: InstanceSource
    configurations: Sequence[ConfigurationRecord]
    captime_s: float


def settled(record: RunRecord, captime_s: float) -> RunOutcome | None:
    """What a kept run says about a run up to a captime; None if it was itself stopped too early."""
    outcome = record.outcome
    if outcome.status is RunStatus.TIMEOUT and record.request.captime_s < captime_s:
        return None
    late = outcome.finished and outcome.runtime_s > captime_s
    if late or outcome.status is RunStatus.TIMEOUT:
        return replace(outcome, status=RunStatus.TIMEOUT, runtime_s=captime_s)
    return outcome


class GridRuns:
    """The runs of a grid.

    Args:
        grid: What there is to run.
        store: Where runs are kept, and where earlier ones are found.
        backend: What makes the runs.
    """

    def __init__(self, grid: Grid, store: Store, backend: Backend) -> None:
        self._grid = grid
        self._store = store
        self._backend = backend
        target = build_target(grid.scenario)
        target.check()
        self.rules = RunRules(target, grid.scenario.measure, grid.scenario.memory_bytes)
        self._parameters = {record.index: record.assignment for record in grid.configurations}

    def complete(
        self,
        pairs: Sequence[Pair],
        on_run: Callable[[int, int], None] | None = None,
        on_made: Callable[[Made], None] | None = None,
    ) -> dict[Pair, RunOutcome]:
        """The outcomes of these pairs: kept ones, and the missing ones made in this order.

        Args:
            pairs: The runs that are wanted.
            on_run: Called with the number of runs that are known and of all, whenever one more is.
            on_made: Called with every run that is new, once it is kept; may raise to end the work.

        Raises:
            StoppedError: Somebody asked for a stop.
        """
        self._keep_configurations()
        known = {
            (record.request.configuration, record.request.position): outcome
            for record in self._store.runs()
            if (outcome := settled(record, self._grid.captime_s)) is not None
        }
        missing = [pair for pair in pairs if pair not in known]
        done = len(pairs) - len(missing)
        if on_run is not None:
            on_run(done, len(pairs))

        def note(made: Made) -> None:
            nonlocal done
            known[made.request.configuration, made.request.position] = made.outcome
            done += 1
            if on_made is not None:
                on_made(made)
            if on_run is not None:
                on_run(done, len(pairs))

        self._make(missing, note)
        return {pair: known[pair] for pair in pairs}

    def _keep_configurations(self) -> None:
        kept = {record.index for record in self._store.configurations()}
        for record in self._grid.configurations:
            if record.index not in kept:
                self._store.add_configuration(record)
                kept.add(record.index)

    def _make(self, pairs: Sequence[Pair], on_end: Callable[[Made], None]) -> None:
        workshop = Workshop(self.rules, self._grid.instances, self._store, self._backend)
        under_way = RunsUnderWay(workshop, on_end)
        waiting = list(pairs)[::-1]
        while waiting or under_way:
            while waiting and self._backend.free_slots:
                configuration, position = waiting.pop()
                request = RunRequest(configuration, position, self._grid.captime_s)
                under_way.begin(request, self._parameters[configuration])
            under_way.take_in()

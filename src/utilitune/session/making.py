"""Making runs that are wanted whatever the others give: each is kept as soon as it ends, before it counts.

A grid and a peer both want runs and only have to wait for them. What ends together is kept together before
anybody hears of any of it, so a run that ends everything takes no other run with it; and what ends while an
instance is still being made does not wait for that. When a stop is asked for, what is under way is ended.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from utilitune.errors import StoppedError, UtilituneError
from utilitune.execution.simulated import SimulatedBackend
from utilitune.store.records import RunRecord
from utilitune.targets.base import Ending, Invocation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from utilitune.domain import RunOutcome, RunRequest
    from utilitune.execution.backend import Backend
    from utilitune.execution.runs import RunRules
    from utilitune.scenario.instances import InstanceSource
    from utilitune.store.base import Store

_LOOK_EVERY_S = 0.25


def patience_s(backend: Backend) -> float | None:
    """How long to wait for a run before looking whether to stop; None on a virtual clock."""
    return None if isinstance(backend, SimulatedBackend) else _LOOK_EVERY_S


def invocation_of(
    request: RunRequest, parameters: Mapping[str, Any], instances: InstanceSource
) -> Invocation:
    """A run in the target's terms."""
    position = request.position
    return Invocation(parameters, instances.name(position), instances.seed(position), request.captime_s)


@dataclass(frozen=True, slots=True)
class Workshop:
    """What runs are made with.

    Attributes:
        rules: How a run is made and what it counts as.
        instances: The instance order.
        store: Where runs are kept.
        backend: What makes them.
    """

    rules: RunRules
    instances: InstanceSource
    store: Store
    backend: Backend


@dataclass(frozen=True, slots=True)
class Made:
    """A run that has ended and is kept."""

    request: RunRequest
    invocation: Invocation
    outcome: RunOutcome


class RunsUnderWay:
    """Runs that were begun and have not ended.

    Args:
        workshop: What they are made with.
        on_end: Called with every run, once all that ended with it are kept; may raise to end the work.
    """

    def __init__(self, workshop: Workshop, on_end: Callable[[Made], None]) -> None:
        self._workshop = workshop
        self._on_end = on_end
        self._begun: dict[int, tuple[RunRequest, Invocation, float]] = {}
        self._next_job = 0

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._begun)

    def begin(self, request: RunRequest, parameters: Mapping[str, Any]) -> None:
        """Start a run in a free slot; its instance is made first if need be.

        Raises:
            StoppedError: A stop was asked for; what was under way is ended and does not count.
        """
        shop = self._workshop
        if shop.store.stop_requested() or not shop.instances.prepare(request.position, self._is_stopping):
            self._give_up()
        invocation = invocation_of(request, parameters, shop.instances)
        shop.backend.submit(self._next_job, shop.rules.job(invocation))
        self._begun[self._next_job] = (request, invocation, time.time())
        self._next_job += 1

    def take_in(self) -> None:
        """Wait for a run to end, not for long; keep all that have ended, then tell of them.

        Raises:
            TargetError: A run could not be made; the others are kept.
            StoppedError: A stop was asked for; what was under way is ended and does not count.
        """
        self._land(patience_s(self._workshop.backend))
        if self._begun and self._workshop.store.stop_requested():
            self._give_up()

    def _land(self, timeout_s: float | None) -> None:
        ended: list[Made] = []
        failed: UtilituneError | None = None
        for job, raw in self._workshop.backend.wait(timeout_s):
            request, invocation, started_at = self._begun.pop(job)
            if raw.ending is Ending.CANCELLED:
                continue
            try:
                outcome = self._workshop.rules.outcome(invocation, raw)
            except UtilituneError as error:
                failed = failed or error
                continue
            record = RunRecord(request, outcome, invocation.seed, started_at=started_at, ended_at=time.time())
            self._workshop.store.add_run(record)
            ended.append(Made(request, invocation, outcome))
        for made in ended:
            self._on_end(made)
        if failed is not None:
            raise failed

    def _is_stopping(self) -> bool:
        """While an instance is made: keep the runs that end, and say whether to stop."""
        self._land(0.0)
        return self._workshop.store.stop_requested()

    def _give_up(self) -> NoReturn:
        """Cancel what is under way; a run that ended by itself in the meantime still counts."""
        for job in list(self._begun):
            self._workshop.backend.cancel(job)
        while self._begun:
            self._land(patience_s(self._workshop.backend))
        raise StoppedError

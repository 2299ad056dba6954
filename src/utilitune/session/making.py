"""Making runs that are wanted whatever the others give: each is kept as soon as it ends, before it counts.

A grid and a peer both want runs and only have to wait for them. What ends together is kept together before
anybody hears of any of it, so a run that ends everything takes no other run with it; and what ends while an
instance is still being made does not wait for that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.errors import UtilituneError
from utilitune.store.records import RunRecord
from utilitune.targets.base import Invocation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from utilitune.domain import RunOutcome, RunRequest
    from utilitune.execution.backend import Backend
    from utilitune.execution.runs import RunRules
    from utilitune.scenario.instances import InstanceSource
    from utilitune.store.base import Store


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
        """Start a run in a free slot; its instance is made first if need be."""
        shop = self._workshop
        shop.instances.prepare(request.position, self._go_on)
        invocation = Invocation(
            parameters,
            shop.instances.name(request.position),
            shop.instances.seed(request.position),
            request.captime_s,
        )
        shop.backend.submit(self._next_job, shop.rules.job(invocation))
        self._begun[self._next_job] = (request, invocation, time.time())
        self._next_job += 1

    def take_in(self, timeout_s: float | None = None) -> None:
        """Wait until a run has ended or the time has passed; keep all that have ended, then tell of them.

        Raises:
            TargetError: A run could not be made; the others are kept.
        """
        ended: list[Made] = []
        failed: UtilituneError | None = None
        for job, raw in self._workshop.backend.wait(timeout_s):
            request, invocation, started_at = self._begun.pop(job)
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

    def _go_on(self) -> bool:
        """Take in what has ended while an instance is made, which is never given up."""
        self.take_in(0.0)
        return False

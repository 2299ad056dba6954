"""Where the workers of a cluster come from, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from utilitune.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPBACK = "127.0.0.1"

NO_PAGES = {"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"}
"""A scheduler that we start shows no pages of its own."""

MOST_LOCAL = 256
"""More worker processes than that are not started on one machine."""


class System(StrEnum):
    """A job queue that workers are submitted to."""

    SLURM = "slurm"
    PBS = "pbs"
    SGE = "sge"


class Clock(StrEnum):
    """What the time of a run is on workers of different speed."""

    MEASURED = "measured"
    SCALED = "scaled"


@dataclass(frozen=True, slots=True)
class LocalWorkers:
    """Worker processes on this machine, one slot each."""

    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_LOCAL:
            raise UsageError(f"the number of local workers must be from 1 to {MOST_LOCAL}, not {self.count}")


@dataclass(frozen=True, slots=True)
class RunningCluster:
    """A cluster that is there already: the address of its scheduler, such as ``tcp://host:8786``."""

    address: str


@dataclass(frozen=True, slots=True)
class QueuedWorkers:
    """Workers that are submitted to a job queue.

    Attributes:
        system: Which queue.
        cores: Slots of one job: how many runs it makes at the same time.
        jobs: How many jobs are wanted; one that has ended is submitted again.
        options: What else dask-jobqueue is given, by its own names.
    """

    system: System
    cores: int
    jobs: int
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster and how it is used.

    Attributes:
        text: As its user wrote it.
        workers: Where its workers come from.
        ship: Whether programs and instances are sent to workers that do not have them.
        clock: What a run's time is on workers of different speed.
    """

    text: str
    workers: LocalWorkers | RunningCluster | QueuedWorkers
    ship: bool = False
    clock: Clock = Clock.MEASURED

    @property
    def is_here(self) -> bool:
        """Whether all its workers are on this machine."""
        return isinstance(self.workers, LocalWorkers)

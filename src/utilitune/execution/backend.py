"""The seam between a session and whatever makes its runs.

A backend has a number of slots. A job goes into a free slot, and its raw result comes out of `wait`,
in the order in which runs end. Every job that was submitted comes out exactly once, also one that was
cancelled or could not be started.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from utilitune.domain import Measure, require_positive
from utilitune.errors import UsageError

if TYPE_CHECKING:
    from types import TracebackType

    from utilitune.targets.base import RawResult, Task

OUTPUT_BYTES = 8192

CALIBRATION = "calibration"
"""Names the fact, and the news, of how long the first worker of a cluster took for the calibration."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What a run may consume.

    Attributes:
        measure: What the captime limits: CPU time of the whole process tree, or wall-clock time.
        captime_s: Seconds by the measure after which the run is stopped; None for no such limit.
        wall_limit_s: Wall-clock seconds after which it is stopped in any case, for runs that wait
            for ever without consuming CPU time.
        memory_bytes: Resident memory of the tree above which it is stopped; None for no limit.
        grace_s: Seconds between SIGTERM and SIGKILL for a run that is stopped; 0 kills at once.
        output_bytes: How much of the end of its output is kept.
    """

    measure: Measure
    captime_s: float | None
    wall_limit_s: float
    memory_bytes: int | None = None
    grace_s: float = 0.0
    output_bytes: int = OUTPUT_BYTES

    def __post_init__(self) -> None:
        if self.captime_s is not None:
            require_positive("captime_s", self.captime_s)
        require_positive("wall_limit_s", self.wall_limit_s)
        if self.memory_bytes is not None:
            require_positive("memory_bytes", self.memory_bytes)
        if self.grace_s < 0 or self.output_bytes < 0:
            raise UsageError("grace_s and output_bytes must not be negative")


@dataclass(frozen=True, slots=True)
class Job:
    """Something to run, within limits.

    Attributes:
        task: What is run.
        limits: What it may consume.
        keep: Whether to stop the run at its captime and keep it, instead of ending it. A backend that cannot
            do that ends it.
        continues: The job whose run, kept until now, is to go on under these limits. If it is not kept any
            more, the run is started afresh, and nothing else changes.
    """

    task: Task
    limits: RunLimits
    keep: bool = False
    continues: int | None = None


class ClosedInBlocks:
    """What all our backends share: the end of a ``with`` block closes them."""

    def close(self) -> None:
        """End every run and release everything."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@runtime_checkable
class KeepsRuns(Protocol):
    """A backend that can keep runs which have reached their captime, to continue them later.

    A run that is kept says so in its result (`RawResult.kept_bytes`) and takes no slot. All figures of a run
    that was continued are those of the whole run; its wall-clock time leaves out the pauses.
    """

    def release(self, job_id: int) -> None:
        """End the run that was kept of a job; nothing happens if there is none."""


@runtime_checkable
class TellsNews(Protocol):
    """A backend whose workers are elsewhere, and come and go."""

    @property
    def slots(self) -> int:
        """How many runs can be made at once by those who are there, or who are expected."""

    def news(self) -> list[tuple[str, str]]:
        """What happened since this was asked for last: kinds of events, and their texts."""


class Backend(Protocol):
    """Makes runs."""

    @property
    def free_slots(self) -> int:
        """How many more jobs can be submitted now."""

    def submit(self, job_id: int, job: Job) -> None:
        """Start a job in a free slot."""

    def wait(self, timeout_s: float | None = None) -> list[tuple[int, RawResult]]:
        """Wait until a run has ended or the time has passed; returns all that have ended.

        None waits as long as it takes. Without jobs in flight it returns at once.
        """

    def cancel(self, job_id: int) -> None:
        """Ask for a job's end; it comes out of `wait` as cancelled, or as it ended if that was sooner."""

    def close(self) -> None:
        """End every run and release everything."""

    def __enter__(self) -> Self:
        """Use the backend in a ``with`` block that closes it."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""

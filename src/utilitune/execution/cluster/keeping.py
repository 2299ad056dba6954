"""Runs that workers keep, stopped at their captime, to be continued there.

A worker keeps a run for as long as we hold the task that made it (`making`). So a coordinator that is killed
keeps nothing: Dask lets go of its tasks, and the workers end what they kept.

A run can be continued only where it is. While its worker makes another run, it waits, though no longer than
it had been running for. Then it is started afresh by the next worker that is free.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class KeptRun(NamedTuple):
    """A run that is kept.

    Attributes:
        address: The worker that keeps it.
        task: The task that made it, held for its sake.
        wall_s: For how long it had been running.
    """

    address: str
    task: Any
    wall_s: float


class KeptRuns:
    """Which runs are kept, by the job that they were made for."""

    def __init__(self) -> None:
        self._kept: dict[int, KeptRun] = {}

    def keep(self, job_id: int, run: KeptRun) -> None:
        """A run has been stopped and is kept."""
        self._kept[job_id] = run

    def take(self, job_id: int | None) -> KeptRun | None:
        """The run kept of a job, which is ours to hold from now on; None if there is none."""
        return None if job_id is None else self._kept.pop(job_id, None)

    def lose(self, address: str) -> None:
        """A worker has gone, with what it kept."""
        self._kept = {job_id: run for job_id, run in self._kept.items() if run.address != address}

    def clear(self) -> None:
        """Let go of all."""
        self._kept.clear()

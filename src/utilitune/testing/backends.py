"""What every backend keeps: slots, limits, cancelling, and each job coming out exactly once."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.domain import Measure
from utilitune.errors import UsageError
from utilitune.execution.backend import Job, RunLimits
from utilitune.targets.base import Command, Ending
from utilitune.testing.base import Suite, expect, expect_error

if TYPE_CHECKING:
    from utilitune.execution.backend import Backend
    from utilitune.targets.base import RawResult

_PATIENCE_S = 60.0


class BackendSuite(Suite):
    """The contract of `Backend`; its jobs are calls of ``sleep``."""

    @abstractmethod
    def make(self, slots: int) -> Backend:
        """A backend with so many free slots."""

    def test_slots_are_taken_and_given_back(self) -> None:
        """A job more than slots is refused."""
        with self.make(2) as backend:
            expect(backend.free_slots == 2, "a new backend of 2 must have 2 free slots")
            backend.submit(1, _job(0.05))
            backend.submit(2, _job(0.05))
            expect(backend.free_slots == 0, "two jobs must take both slots")
            with expect_error(UsageError, "a job without a free slot must be refused"):
                backend.submit(3, _job(0.0))
            _collect(backend, 2)
            expect(backend.free_slots == 2, "slots must be free again once their runs ended")

    def test_every_job_comes_out_once(self) -> None:
        """And nothing afterwards."""
        with self.make(2) as backend:
            waiting = list(range(12))
            ended: list[int] = []
            while len(ended) < 12:
                while waiting and backend.free_slots:
                    backend.submit(waiting.pop(), _job(0.001))
                ended += [job_id for job_id, _ in backend.wait(_PATIENCE_S)]
            expect(sorted(ended) == list(range(12)), f"of the jobs 0 to 11 came out {sorted(ended)}")
            expect(backend.wait(0.0) == [], "without jobs, `wait` must return nothing at once")

    def test_runs_come_out_as_they_end(self) -> None:
        """The shorter one first."""
        with self.make(2) as backend:
            backend.submit(7, _job(1.5))
            backend.submit(8, _job(0.01))
            order = [job_id for job_id, _ in _collect(backend, 2)]
            expect(order == [8, 7], f"the shorter run must come out first, not {order}")

    def test_a_number_in_flight_cannot_be_used_again(self) -> None:
        """Numbers name jobs."""
        with self.make(2) as backend:
            backend.submit(5, _job(0.01))
            with expect_error(UsageError, "a job number in flight must be refused"):
                backend.submit(5, _job(0.01))

    def test_a_finished_run_has_its_exit_code_and_time(self) -> None:
        """As measured."""
        with self.make(2) as backend:
            backend.submit(0, _job(0.05))
            ((_, raw),) = _collect(backend, 1)
            expect(
                (raw.ending, raw.exit_code) == (Ending.EXITED, 0),
                f"it ended as {raw.ending}",
            )
            expect(not raw.launch_error, f"it could not be started: {raw.launch_error}")
            expect(raw.wall_s >= 0.05, f"a sleep of 0.05 s was measured as {raw.wall_s} s")

    def test_runs_are_stopped_at_their_limits(self) -> None:
        """At the captime, or at the wall-clock limit."""
        with self.make(2) as backend:
            backend.submit(0, _job(30, captime_s=0.1))
            backend.submit(1, _job(30, captime_s=None, wall_limit_s=0.1))
            results = dict(_collect(backend, 2))
            expect(results[0].ending is Ending.CAPTIME, f"past its captime it ended as {results[0].ending}")
            expect(results[0].wall_s >= 0.1, "it was stopped before its captime")
            expect(results[1].ending is Ending.WALL_LIMIT, f"past the limit it ended as {results[1].ending}")

    def test_waiting_ends_after_the_given_time(self) -> None:
        """With the run still going on."""
        with self.make(2) as backend:
            backend.submit(0, _job(20))
            expect(backend.wait(0.01) == [], "`wait` must return when its time has passed")
            expect(backend.free_slots == 1, "the run must keep its slot")

    def test_a_cancelled_run_comes_out_as_cancelled(self) -> None:
        """Once, and its slot is free; cancelling what has ended changes nothing."""
        with self.make(2) as backend:
            backend.submit(0, _job(30))
            backend.submit(1, _job(0.01))
            backend.cancel(0)
            results = dict(_collect(backend, 2))
            expect(results[0].ending is Ending.CANCELLED, f"a cancelled run ended as {results[0].ending}")
            expect(results[1].ending is Ending.EXITED, f"its neighbour ended as {results[1].ending}")
            backend.cancel(1)
            backend.submit(1, _job(0.0))
            ((_, raw),) = _collect(backend, 1)
            expect(raw.ending is Ending.EXITED, "cancelling a run that had ended must not touch the next one")

    def test_a_run_that_may_be_kept_goes_on_with_a_larger_captime(self) -> None:
        """Continued where the backend can, started afresh where not; its time is that of the whole run."""
        with self.make(2) as backend:
            backend.submit(0, replace(_job(30, captime_s=0.1), keep=True))
            ((_, raw),) = _collect(backend, 1)
            expect(raw.ending is Ending.CAPTIME, f"at its captime it ended as {raw.ending}")
            expect(backend.free_slots == 2, "a run that is kept must not take a slot")
            backend.submit(1, replace(_job(30, captime_s=0.3), continues=0))
            ((_, later),) = _collect(backend, 1)
            expect(later.ending is Ending.CAPTIME, f"at its larger captime it ended as {later.ending}")
            expect(later.wall_s >= 0.3, f"after {later.wall_s} s in all it was stopped before its captime")
            expect(later.kept_bytes is None, "a run that is not to be kept must be ended")
            expect(
                later.continued == (raw.kept_bytes is not None), "a run that is kept must go on when asked to"
            )


def _job(seconds: float, *, captime_s: float | None = 30.0, wall_limit_s: float = 60.0) -> Job:
    return Job(Command(("sleep", str(seconds))), RunLimits(Measure.WALL, captime_s, wall_limit_s))


def _collect(backend: Backend, count: int) -> list[tuple[int, RawResult]]:
    ended: list[tuple[int, RawResult]] = []
    while len(ended) < count:
        ended += backend.wait(_PATIENCE_S)
    return ended

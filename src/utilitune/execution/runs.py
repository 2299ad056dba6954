"""A target and its limits, joined: from an invocation to a job, from a raw result to an outcome.

This is the one place that decides what a run counts as. The order matters: a run that could not be
started is an error of the user's; one that exceeded a limit is judged by that alone; and only one that
ended by itself within its limits is judged by the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from utilitune.domain import Measure, RunOutcome, RunStatus, TracePoint
from utilitune.errors import TargetError
from utilitune.errors.outside import storable
from utilitune.execution.backend import OUTPUT_BYTES, Job, RunLimits
from utilitune.targets.base import (
    Command,
    Ending,
    Invocation,
    RawResult,
    Solution,
    Target,
    Verdict,
    trace_of,
)

DISAGREEMENT = "The wrapper reported"
"""How the sentence on a wrapper that measures differently begins."""

_TOLERANCE = 0.1
_UNNOTICED_S = 0.1


class Judged(NamedTuple):
    """What a run counts as, what was measured of it, and what it says of itself where it says something."""

    outcome: RunOutcome
    measured_s: float
    reported_s: float | None


@dataclass(frozen=True, slots=True)
class RunRules:
    """How the runs of a scenario are made and what they count as.

    Attributes:
        target: The program.
        measure: What its runtime is.
        memory_bytes: Resident memory of the process tree above which a run is stopped.
        wall_limit_s: Wall-clock seconds after which a run is stopped whatever its measure; None for
            ten times the captime and a minute.
        grace_s: Seconds between SIGTERM and SIGKILL for a run that is stopped.
        output_bytes: How much of the end of the output is kept.
        anytime: Whether what a run reports while it runs is kept, with its time.
    """

    target: Target
    measure: Measure
    memory_bytes: int | None = None
    wall_limit_s: float | None = None
    grace_s: float = 0.0
    output_bytes: int = OUTPUT_BYTES
    anytime: bool = False

    def job(self, invocation: Invocation) -> Job:
        """Write one run down for a backend.

        A target that reports its own runtime is not stopped by the captime, which it is compared with
        afterwards, but by the wall-clock limit.
        """
        wall_limit_s = self.wall_limit_s
        if wall_limit_s is None:
            wall_limit_s = 10 * invocation.captime_s + 60
        limits = RunLimits(
            measure=self.measure,
            captime_s=None if self.target.reports_runtime else invocation.captime_s,
            wall_limit_s=wall_limit_s,
            memory_bytes=self.memory_bytes,
            grace_s=self.grace_s,
            output_bytes=self.output_bytes,
        )
        return Job(self.target.prepare(invocation), limits)

    def outcome(self, invocation: Invocation, raw: RawResult) -> RunOutcome:
        """Say what a run counts as; raises a `TargetError` if it could not be made."""
        return self.judge(invocation, raw).outcome

    def judge(self, invocation: Invocation, raw: RawResult) -> Judged:
        """The same, together with the two figures for its runtime that `disagreement` compares."""
        if raw.launch_error:
            raise TargetError(f"the target cannot be run: {raw.launch_error}; {self._reproduce(invocation)}")
        if raw.ending is Ending.CANCELLED:
            raise ValueError("a cancelled run has no outcome")
        measured_s = raw.cpu_s if self.measure is Measure.CPU else raw.wall_s
        solution = self.target.solution(raw)
        verdict = self._verdict(invocation, raw, measured_s)
        if verdict.status is RunStatus.FINISHED and self.target.reports_quality and solution.quality is None:
            verdict = Verdict(
                RunStatus.CRASHED, f"{solution.problem}, but the quality of its solution is what counts"
            )
        runtime_s = measured_s if verdict.runtime_s is None else verdict.runtime_s
        late = verdict.status is RunStatus.FINISHED and runtime_s > invocation.captime_s
        status = RunStatus.TIMEOUT if late else verdict.status
        stopped = status is RunStatus.TIMEOUT and not self.target.reports_runtime
        outcome = RunOutcome(
            status=status,
            runtime_s=invocation.captime_s if status is RunStatus.TIMEOUT else runtime_s,
            cpu_s=raw.cpu_s,
            wall_s=raw.wall_s,
            peak_memory_bytes=raw.peak_memory_bytes,
            exit_code=raw.exit_code,
            overshoot_s=max(0.0, measured_s - invocation.captime_s) if stopped else 0.0,
            output_tail=storable(raw.output_tail),
            detail=storable(verdict.detail),
            quality=solution.quality,
            bound=solution.bound,
            trace=self._trace(invocation, raw, solution, measured_s),
        )
        return Judged(outcome, measured_s, verdict.reported_s)

    def _trace(
        self, invocation: Invocation, raw: RawResult, solution: Solution, measured_s: float
    ) -> tuple[TracePoint, ...]:
        """What the run reported while it ran; what a function returns is found when it ends."""
        if not self.anytime:
            return ()
        points = trace_of(raw.trace, invocation.captime_s)
        if raw.ending is not Ending.EXITED or solution.quality is None:
            return points
        if any(point.quality == solution.quality for point in points):
            return points
        ended_s = max(min(measured_s, invocation.captime_s), points[-1].time_s if points else 0.0)
        return (*points, TracePoint(ended_s, solution.quality, solution.bound))

    def disagreement(self, invocation: Invocation, judged: Judged, unnoticed_s: float = _UNNOTICED_S) -> str:
        """A sentence where a finished run's own figure is far from the measured one, else nothing.

        Far is more than a tenth of the larger figure and more than `unnoticed_s`, which the start of an
        interpreter takes.
        """
        measured_s, reported_s = judged.measured_s, judged.reported_s
        if reported_s is None:
            return ""
        if abs(reported_s - measured_s) <= max(_TOLERANCE * max(reported_s, measured_s), unnoticed_s):
            return ""
        counts = "what it reports" if self.target.reports_runtime else "what was measured"
        return (
            f"{DISAGREEMENT} {reported_s:.3g} s for a run of which {measured_s:.3g} s of "
            f"{self.measure.value} time were measured (instance {invocation.instance}); {counts} counts: "
            "target.reported_runtime chooses the other, after 'utilitune convert' where the scenario is of "
            "another tool."
        )

    def _verdict(self, invocation: Invocation, raw: RawResult, measured_s: float) -> Verdict:
        if raw.ending is Ending.MEMORY:
            return Verdict(RunStatus.MEMOUT, f"the memory limit of {self._memory_text()} was reached")
        if raw.ending is Ending.WALL_LIMIT:
            return Verdict(RunStatus.TIMEOUT, f"stopped after {raw.wall_s:.3g} s by the wall-clock limit")
        late = not self.target.reports_runtime and measured_s > invocation.captime_s
        if raw.ending is Ending.CAPTIME or late:
            return Verdict(RunStatus.TIMEOUT)
        if raw.match_problem:
            return Verdict(RunStatus.CRASHED, raw.match_problem)
        return self.target.judge(invocation, raw)

    def _memory_text(self) -> str:
        return f"{(self.memory_bytes or 0) / 2**20:,.0f} MiB"

    def _reproduce(self, invocation: Invocation) -> str:
        task = self.target.prepare(invocation)
        if isinstance(task, Command):
            return f"try it by hand: {task.shell_text()}"
        return f"try it by hand: call {task.module}.{task.function} with {dict(task.arguments)}"

"""When work ends before its procedure does, and what its user hears: one budget, one catalogue of reasons.

A reason is a code that programs compare and a sentence that says what to do next. Whoever makes runs takes
both from here, so that the same thing has the same words everywhere. Limits are named as the user named them:
by an option of the command line, or by an argument of a Python function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

from utilitune.domain import RunOutcome, StopReason, require_positive, require_whole, rounded_up
from utilitune.errors.outside import printable, shortened

UNLIMITED_RUNS = 2**62
"""More runs than anybody makes, and still a number that compiled rules can hold."""

INTERRUPTED = "interrupted"
STOP_REQUESTED = "stop-requested"
EPSILON_REACHED = "epsilon-reached"
INSTANCES_EXHAUSTED = "instances-exhausted"
FAILED = "failed"
ABORTED = "aborted"
TARGET_FAILS = "target-fails"

_LONGEST_LINE = 200


class Audience(Enum):
    """Who reads the advice: a user of the command line, of a scenario in Python, or of a `Budget` in Python.

    Each value names the limits of time, of wall-clock time and of runs.
    """

    COMMAND_LINE = ("--max-time", "--max-wall-time", "--max-runs")
    SCENARIO = (
        "budget.cpu_time (max_time in Python)",
        "budget.wall_time (max_wall_time in Python)",
        "budget.runs (max_runs in Python)",
    )
    PYTHON = ("max_time_s of the Budget", "max_wall_s of the Budget", "max_runs of the Budget")


@dataclass(frozen=True, slots=True)
class Budget:
    """When work ends although its procedure could go on; all limits count over every start of a run.

    Attributes:
        max_time_s: Seconds spent in runs of the target, by the scenario's measure.
        max_runs: Runs made; None for no limit.
        max_wall_s: Seconds on the clock.
        audience: Who reads why it ended.
    """

    max_time_s: float = math.inf
    max_runs: int | None = None
    max_wall_s: float = math.inf
    audience: Audience = field(default=Audience.PYTHON, compare=False)

    def __post_init__(self) -> None:
        if self.max_time_s != math.inf:
            object.__setattr__(self, "max_time_s", require_positive("the time budget", self.max_time_s))
        if self.max_wall_s != math.inf:
            require_positive("the wall-clock budget", self.max_wall_s)
        if self.max_runs == math.inf:
            object.__setattr__(self, "max_runs", None)
        if self.max_runs is not None:
            require_whole("the run budget", self.max_runs)
            object.__setattr__(self, "max_runs", min(self.max_runs, UNLIMITED_RUNS))

    @property
    def run_limit(self) -> int:
        """How many runs may be made, as a number."""
        return UNLIMITED_RUNS if self.max_runs is None else self.max_runs

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return self != NO_LIMIT

    def used_share(self, time_s: float, runs: int, wall_s: float = 0.0) -> float:
        """Which share of the tightest limit is used; 0 without limits."""
        of_runs = 0.0 if self.max_runs is None else runs / self.max_runs
        return max(time_s / self.max_time_s, of_runs, wall_s / self.max_wall_s)

    def spent(self, time_s: float, runs: int, wall_s: float = 0.0) -> StopReason | None:
        """Why to stop after this much was spent; None while there is something left."""
        time, wall_time, number = self.audience.value
        if time_s >= self.max_time_s:
            return _spent("time-limit", "time", time)
        if wall_s >= self.max_wall_s:
            return _spent("wall-limit", "wall-clock", wall_time)
        if runs >= self.run_limit:
            return _spent("run-limit", "run", number)
        return None


NO_LIMIT = Budget()
"""Work ends when it is done."""


def _spent(code: str, what: str, limit: str) -> StopReason:
    return StopReason(code, f"The {what} budget is spent: raise {limit} to go on from here.")


def interrupted(*, goes_on: bool = True) -> StopReason:
    """Somebody pressed Ctrl-C, or closed the search; what is not kept cannot go on later."""
    if not goes_on:
        return StopReason(INTERRUPTED, "Interrupted: the answer is the best one found so far.")
    return StopReason(
        INTERRUPTED, "Interrupted: the answer is valid as it stands; start again to go on from here."
    )


def stop_requested() -> StopReason:
    """Somebody asked for a stop from outside."""
    return StopReason(STOP_REQUESTED, "Stopped on request: start again to go on from here.")


def failed(error: BaseException | None = None) -> StopReason:
    """An error ended the work."""
    text = "" if error is None else str(error)
    return StopReason(FAILED, text or "The run ended with an error: mend it and start again.")


def target_fails(outcome: RunOutcome, how_often: str, reproduce: str) -> StopReason:
    """The target has failed in the same way too often to go on."""
    text = f"{how_often} ended as {_ending(outcome)}{_last_words(outcome)}; this reproduces one of them: "
    return StopReason(TARGET_FAILS, text + reproduce)


def aborted(outcome: RunOutcome, reproduce: str) -> StopReason:
    """A run ended in a way that the scenario says to stop at."""
    ending = f"a run ended as {_ending(outcome)}, which the scenario says to stop at{_last_words(outcome)}"
    return StopReason(ABORTED, f"{ending}; this reproduces it: {reproduce}")


NOT_STOPPED = StopReason("not-stopped", "The procedure is still at work.")
"""What a procedure says that has come to no end yet."""


def epsilon_reached(epsilon: float, advice: str = "ask for a smaller ε to go on from here") -> StopReason:
    """What the user asked for is proved."""
    return StopReason(EPSILON_REACHED, f"The target ε = {epsilon:g} is proved: {advice}.")


def instances_exhausted(instances: int, epsilon: float, note: str = "") -> StopReason:
    """Every instance was used; `note` says what else limits the promise."""
    one = instances == 1
    used = "The one instance is used" if one else f"All {instances} instances are used"
    if epsilon == 0.0:
        text = f"{used}, and nothing is left to prove about {'it' if one else 'them'}: ε = 0.{note}"
    else:
        more = "more" if one else "more of them"
        text = f"{used}: begin a new run with {more}, or accept ε = {rounded_up(epsilon)}.{note}"
    return StopReason(INSTANCES_EXHAUSTED, text)


def configurations_exhausted(phase: int, need: int, have: int) -> StopReason:
    """A phase of a growing set cannot begin."""
    return StopReason(
        "configurations-exhausted",
        f"Phase {phase} needs {need} configurations, but there are only {have}: bring more configurations, "
        "or accept the promise of the last phase.",
    )


def phases_done(count: int) -> StopReason:
    """Every phase that was asked for is over."""
    return StopReason("phases-done", f"All {count} phases are done: ask for more phases to go on from here.")


def one_left(configurations: int) -> StopReason:
    """A single configuration is left, and the others are worse."""
    text = (
        "There is only this configuration"
        if configurations == 1
        else "Every other configuration is proved worse"
    )
    return StopReason("one-left", f"{text}: it is the best one; nothing is left to do.")


def finished(advice: str) -> StopReason:
    """A search that proves nothing has come to its own end."""
    return StopReason("finished", advice)


def _ending(outcome: RunOutcome) -> str:
    return f"{outcome.status.value} ({outcome.detail})" if outcome.detail else outcome.status.value


def _last_words(outcome: RunOutcome) -> str:
    """The last line that the program printed, as an addition to a sentence; nothing if it printed nothing."""
    lines = [line.strip() for line in outcome.output_tail.splitlines() if line.strip()]
    return f'; the end of its output: "{shortened(printable(lines[-1]), _LONGEST_LINE)}"' if lines else ""


def next_point(spent: float, per_decade: int) -> float:
    """When the next point of a trajectory is due: even steps on the logarithmic axis of what was spent."""
    return spent * 10 ** (1 / per_decade)


class LogSpacing:
    """Says when a point of a trajectory is due: at even steps on the logarithmic axis of the time spent.

    Args:
        per_decade: How many points there are between a time and ten times that.
        last: The time of the last point; 0 before the first.
    """

    def __init__(self, per_decade: int, last: float = 0.0) -> None:
        self._per_decade = per_decade
        self.last = last

    def is_due(self, spent: float) -> bool:
        """Whether this much is a step beyond the last point."""
        return spent > next_point(self.last, self._per_decade)

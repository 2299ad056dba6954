"""The values that travel between the rooms: run requests, run outcomes, progress, promises.

All are frozen. Units stand in the names. Configurations and instance positions are counted from 0
in the order in which they were drawn; captimes and runtimes are seconds of the scenario's measure.

`stopping` holds the budget and the reasons why work ends, `compiled` the two ways to compile a rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from utilitune.errors import UsageError

DEFAULT_DELTA = 0.05
"""The probability with which a promise may fail, where nobody says one."""

SMALLEST_DELTA = 1e-100
"""The smallest such probability that is taken: a part of it for each of many bounds is still a number."""

_LEAST_IN_PERCENT = 1e-24  # with more nines than this nobody counts them


class Measure(StrEnum):
    """What a second means: CPU time of the whole process tree, or wall-clock time."""

    CPU = "cpu"
    WALL = "wall"


class Objective(StrEnum):
    """What a target is configured for.

    The time a run takes, the quality of the solution it ends with, or how that improves while it runs.
    """

    RUNTIME = "runtime"
    QUALITY = "quality"
    ANYTIME = "anytime"


class Guesses(StrEnum):
    """Which runs workers make that nobody needs yet: speed on the clock against seconds of no use.

    Only those that are likely to be of use, so that some workers may idle; or one for every worker that is
    free, those of the best expected use first.
    """

    USEFUL = "useful"
    ALL = "all"


class RunStatus(StrEnum):
    """How a run ended."""

    FINISHED = "finished"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    MEMOUT = "memout"
    WRONG_ANSWER = "wrong-answer"

    @property
    def failed(self) -> bool:
        """Whether a run that ended so ended by itself without an answer: it would never have given one."""
        return self not in (RunStatus.FINISHED, RunStatus.TIMEOUT)


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Run one configuration on the instance at one position of the fixed order, up to a captime."""

    configuration: int
    position: int
    captime_s: float


class TracePoint(NamedTuple):
    """Something better that a run had found by a moment: a solution, a bound, or both.

    Attributes:
        time_s: Seconds since its start, by the scenario's measure.
        quality: The quality of a solution; None where only a bound was reported.
        bound: A bound on the best quality of the instance; None where none was reported.
    """

    time_s: float
    quality: float | None
    bound: float | None = None


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What one run gave.

    Attributes:
        status: How it ended.
        runtime_s: Seconds by the scenario's measure; for a timeout the captime it was stopped at.
        cpu_s: CPU seconds of the whole process tree.
        wall_s: Wall-clock seconds.
        peak_memory_bytes: Largest resident memory of the tree that was seen; 0 where unknown.
        exit_code: The program's exit code, or minus the signal that ended it; None where there is none.
        overshoot_s: Seconds (by the measure) that a stopped run ran past its captime.
        output_tail: The last part of its output.
        detail: One sentence on why it did not finish, where there is something to say.
        quality: The quality of its solution by the target's own account; None where it reported none.
        bound: A bound on the best quality of the instance by the target's own account; None likewise.
        trace: What it reported while it ran, in order, where that counts; nothing later than its captime.
        continued_s: Seconds (by the measure) of an earlier run that it continued: they are part of its
            runtime and were paid for before. 0 for a run from the start.
    """

    status: RunStatus
    runtime_s: float
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_memory_bytes: int = 0
    exit_code: int | None = None
    overshoot_s: float = 0.0
    output_tail: str = ""
    detail: str = ""
    quality: float | None = None
    bound: float | None = None
    trace: tuple[TracePoint, ...] = ()
    continued_s: float = 0.0

    @property
    def paid_s(self) -> float:
        """Seconds by the measure that this run has cost."""
        return self.runtime_s + self.overshoot_s - self.continued_s

    @property
    def finished(self) -> bool:
        """Whether the run gave an answer that counts."""
        return self.status is RunStatus.FINISHED

    @property
    def failed(self) -> bool:
        """Whether the run ended by itself without an answer: it would never have given one."""
        return self.status.failed


@dataclass(frozen=True, slots=True)
class Promise:
    """What is proved at a moment: P(U_answer ≥ benchmark − ε) ≥ 1 − δ.

    The benchmark is the best of the `configurations` in play (γ is None), or the best of all but a
    γ fraction of the whole space. Where `gain` is known, U_answer ≥ U_default + gain is part of it. Where
    `condition` says something, the promise rests on it. Where `refusal` does, there is no
    promise, for that reason.
    """

    epsilon: float
    delta: float
    gamma: float | None
    configurations: int
    population: str = "infinite"
    condition: str = ""
    refusal: str = ""
    gain: float | None = None

    def sentence(self) -> str:
        """The promise in words."""
        if self.refusal:
            return self.refusal
        whom = f"the best of all but a fraction γ = {rounded_up(self.gamma or 0.0)} of all configurations"
        if self.gamma is None:
            whom = f"the best of all {self.configurations} configurations"
        elif self.gamma == 0:
            whom = "the best of all configurations that can be set"
        over = (
            "in expected utility over instances like these"
            if self.population == "infinite"
            else "in mean utility over exactly these instances"
        )
        if self.gamma is not None and self.gamma >= 1:
            return (
                "No promise yet about the whole space: "
                f"{self.configurations} random configurations are too few."
            )
        if self.epsilon >= 1:
            return "Nothing is proved yet: there are too few runs to tell any configuration from the best."
        near = f"within ε = {rounded_up(self.epsilon)} of {whom}" if self.epsilon > 0 else whom
        claim = f"With probability {probability_kept(self.delta)} this configuration is {near}, {over}."
        return f"{claim} {self.condition}".rstrip()


def rounded_up(value: float, digits: int = 3) -> str:
    """A number that is promised to be enough, with few digits: never less than it is.

    Example:
        >>> rounded_up(0.06441), rounded_up(0.0644), rounded_up(0.0)
        ('0.0645', '0.0644', '0')
    """
    exact = Decimal(repr(float(value)))
    if not exact:
        return "0"
    place = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{float(exact.quantize(place, ROUND_CEILING)):.{digits}g}"


def probability_kept(delta: float, digits: int = 3) -> str:
    """The probability 1 − δ, in percent where that can be read: never more than it is, never 100 %.

    Example:
        >>> probability_kept(0.05), probability_kept(1e-9), probability_kept(1 / 3), probability_kept(1e-28)
        ('95 %', '99.9999999 %', '66.6 %', '1 − 1e-28')
    """
    if delta < _LEAST_IN_PERCENT:
        return f"1 − {rounded_up(delta, digits)}"
    lost = Decimal(repr(float(delta))) * 100
    for smaller in (lost, 100 - lost):  # digits of the latter count where hardly anything is kept
        place = Decimal(1).scaleb(min(0, smaller.adjusted() - digits + 1))
        kept = 100 - lost.quantize(place, ROUND_CEILING)
        if kept:
            break
    return f"{kept.normalize():f} %"


def no_promise(procedure: str) -> str:
    """What there is to say about the answer of a procedure without a theory."""
    return f"No promise: {procedure} proves nothing about the utility of its answer."


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a procedure stands: its current answer and what it has proved and paid.

    The `gain` is how much better than the default the answer is proved to be, in utility; negative where it
    may still be worse by that much, None where nothing is known.
    """

    best_index: int
    epsilon: float
    gamma: float | None
    delta: float
    total_time_s: float
    runs: int
    rounds: int
    configurations: int
    alive: int
    gain: float | None = None

    @property
    def promise(self) -> Promise:
        """What is proved. If all configurations but one are ruled out, that one is the best of them."""
        last_left = self.gamma is None and self.alive == 1 < self.configurations
        epsilon = 0.0 if last_left else self.epsilon
        return Promise(epsilon, self.delta, self.gamma, self.configurations, gain=self.gain)


@dataclass(frozen=True, slots=True)
class PhaseRecord:
    """Where a procedure stood at the end of one phase."""

    phase: int
    configurations: int
    best_index: int
    epsilon: float
    gamma: float | None
    total_time_s: float
    runs: int

    @classmethod
    def of(cls, phase: int, progress: Progress) -> PhaseRecord:
        """The record of a phase that ends now."""
        return cls(
            phase=phase,
            configurations=progress.configurations,
            best_index=progress.best_index,
            epsilon=progress.epsilon,
            gamma=progress.gamma,
            total_time_s=progress.total_time_s,
            runs=progress.runs,
        )

    def proved_more(self, now: Promise, answer: str) -> str:
        """A sentence if this phase proved more about its answer than is proved now; else nothing.

        Args:
            now: What is proved in the phase under way.
            answer: This phase's answer, in words.
        """
        if self.epsilon >= now.epsilon or (self.gamma or 0.0) >= 1:
            return ""
        proved = replace(now, epsilon=self.epsilon, gamma=self.gamma, configurations=self.configurations)
        return (
            f"Phase {self.phase}, the last complete one, proved more of its answer {answer}: "
            f"{proved.sentence()}"
        )


@dataclass(frozen=True, slots=True)
class StopReason:
    """Why a procedure stopped, and what its user can do next."""

    code: str
    advice: str


@dataclass(frozen=True, slots=True)
class Machine:
    """What a run was made on, kept beside its results."""

    facts: dict[str, Any] = field(default_factory=dict)


def require_probability(name: str, value: float) -> float:
    """Return `value` if it lies strictly between 0 and 1, else raise a `UsageError` naming it."""
    if not (isinstance(value, int | float) and math.isfinite(value) and 0 < value < 1):
        raise UsageError(f"{name} must lie strictly between 0 and 1, not {value}")
    return float(value)


def require_delta(value: float) -> float:
    """Return `value` if a promise may fail with this probability, else raise a `UsageError`."""
    if require_probability("delta", value) < SMALLEST_DELTA:
        raise UsageError(
            f"delta must be at least {SMALLEST_DELTA:g}, not {value}: less cannot be computed with"
        )
    return float(value)


def require_positive(name: str, value: float) -> float:
    """Return `value` if it is a finite positive number, else raise a `UsageError` naming it."""
    if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
        raise UsageError(f"{name} must be a positive number, not {value}")
    return float(value)


def require_whole(name: str, value: int, least: int = 1) -> None:
    """Refuse a value that is not a whole number of at least `least`."""
    if not hasattr(value, "__index__") or value < least:  # an int, or one of numpy
        raise UsageError(f"{name} must be a whole number of at least {least}, not {value}")

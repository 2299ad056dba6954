"""The values that travel between the rooms: run requests, run outcomes, progress, promises.

All are frozen. Units stand in the names. Configurations and instance positions are counted from 0
in the order in which they were drawn; captimes and runtimes are seconds of the scenario's measure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from utilitune.errors import UsageError


class Measure(StrEnum):
    """What a second means: CPU time of the whole process tree, or wall-clock time."""

    CPU = "cpu"
    WALL = "wall"


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
    γ fraction of the whole space. Where `condition` says something, the promise rests on it. Where `refusal`
    does, there is none, and it says why.
    """

    epsilon: float
    delta: float
    gamma: float | None
    configurations: int
    population: str = "infinite"
    condition: str = ""
    refusal: str = ""

    def sentence(self) -> str:
        """The promise in words."""
        if self.refusal:
            return self.refusal
        share = f"{100 * (1 - self.delta):g} %"
        whom = (
            f"the best of all {self.configurations} configurations"
            if self.gamma is None
            else f"the best of all but a fraction γ = {self.gamma:.3g} of all configurations"
        )
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
        near = f"within ε = {self.epsilon:.3g} of {whom}" if self.epsilon > 0 else whom
        claim = f"With probability {share} this configuration is {near}, {over}."
        return f"{claim} {self.condition}".rstrip()


def no_promise(procedure: str) -> str:
    """What there is to say about the answer of a procedure without a theory."""
    return f"No promise: {procedure} proves nothing about the utility of its answer."


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a procedure stands: its current answer and what it has proved and paid."""

    best_index: int
    epsilon: float
    gamma: float | None
    delta: float
    total_time_s: float
    runs: int
    rounds: int
    configurations: int
    alive: int

    @property
    def promise(self) -> Promise:
        """The proof-backed part; the last of several configurations that is left is the best of them."""
        last_left = self.gamma is None and self.alive == 1 < self.configurations
        epsilon = 0.0 if last_left else self.epsilon
        return Promise(epsilon, self.delta, self.gamma, self.configurations)


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
        """A sentence where this phase proved more of its answer than what holds now, else nothing.

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


def require_positive(name: str, value: float) -> float:
    """Return `value` if it is a finite positive number, else raise a `UsageError` naming it."""
    if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
        raise UsageError(f"{name} must be a positive number, not {value}")
    return float(value)

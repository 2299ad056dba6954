"""The seam between what is run and how it is run.

A target knows the program: how its argument list is written and how its output is read. It knows
nothing of processes, limits or clocks. Whoever runs it (a backend) knows nothing of the program: it
receives a `Task`, watches its output for the patterns the task names, and returns a `RawResult`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from utilitune.domain import TracePoint
from utilitune.errors import ScenarioError
from utilitune.errors.outside import number_in, shell_line, shell_word, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from utilitune.domain import RunStatus


class Ending(StrEnum):
    """What ended a run, as seen by whoever ran it."""

    EXITED = "exited"
    CAPTIME = "captime"
    WALL_LIMIT = "wall-limit"
    MEMORY = "memory"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Invocation:
    """One run to be made: these parameter values, on this instance, with this seed, up to this captime."""

    parameters: Mapping[str, Any]
    instance: str
    seed: int
    captime_s: float


@dataclass(frozen=True, slots=True)
class Command:
    """A program call, exactly as the operating system receives it; no shell is involved.

    Attributes:
        argv: The program and its arguments.
        environment: Variables set on top of the inherited ones.
        directory: Where it is run; None for the current directory.
        watch: Regular expressions whose last match in the output is wanted; each matches within lines.
        trace: Where every line counts: the regular expressions of a quality, of a bound and of a time.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str | None = None
    watch: tuple[str, ...] = ()
    trace: tuple[str | None, str | None, str | None] | None = None

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise ScenarioError("the target command is empty; write at least the program to run")
        for word in (*self.argv, *self.environment, *self.environment.values()):
            if "\0" in word:
                raise ScenarioError(
                    f"{word!r} contains a NUL character, which no program can receive; remove it"
                )

    def shell_text(self) -> str:
        """The command as a line to paste into a shell, for reproducing a run by hand."""
        assignments = [f"{name}={shell_word(value)}" for name, value in self.environment.items()]
        line = " ".join([*assignments, shell_line(self.argv)])
        return line if self.directory is None else f"cd {shell_word(self.directory)} && {line}"


class Reports(StrEnum):
    """How a Python function tells of solutions while it runs."""

    CALL = "call"
    YIELD = "yield"


REPORTED = (r"^solution (\S+)", r"^solution \S+ (\S+)$", None)
"""The lines in which a Python function's reports reach whoever runs it: patterns as in `Command.trace`."""

Seen = tuple[float, str | None, str | None, str | None]
"""A line of a trace: when it arrived (seconds by the measure), and its quality, bound and time as texts."""


@dataclass(frozen=True, slots=True)
class Call:
    """A Python function call, to be made in a process of its own.

    Attributes:
        module: Importable name of the module.
        function: Name of the function in it.
        arguments: Keyword arguments; values must survive JSON.
        search_path: Where modules are looked for, as in `sys.path`.
        directory: Where it is run; None for the current directory.
        reports: How it tells of solutions while it runs; None where it does not.
    """

    module: str
    function: str
    arguments: Mapping[str, Any]
    search_path: tuple[str, ...]
    directory: str | None = None
    reports: Reports | None = None


Task = Command | Call


@dataclass(frozen=True, slots=True)
class RawResult:
    """What was measured and seen of one run, before anyone judges it.

    Attributes:
        ending: What ended it.
        cpu_s: CPU seconds of the whole process tree.
        wall_s: Wall-clock seconds from the start to the end of the program.
        peak_memory_bytes: Largest resident memory that was seen; 0 where unknown.
        exit_code: Exit code, or minus the signal that ended it; None if it never started.
        output_tail: The last part of stdout and stderr, in the order they were written.
        matches: For each watched pattern its last match (group 1 where it has one), or None.
        match_problem: Why the patterns could not be matched; empty if they could.
        report: What a Python function left behind (JSON); empty for commands.
        launch_error: Why it could not be started; empty if it could.
        trace: What it reported while it ran, line by line, where that was wanted.
        kept_bytes: Memory that it holds while it is kept, stopped at its captime; None where it was ended.
        continued: Whether it was continued, not started afresh; all figures are those of the whole run.
    """

    ending: Ending
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_memory_bytes: int = 0
    exit_code: int | None = None
    output_tail: str = ""
    matches: tuple[str | None, ...] = ()
    match_problem: str = ""
    report: str = ""
    launch_error: str = ""
    trace: tuple[Seen, ...] = ()
    kept_bytes: int | None = None
    continued: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a target judges a run that ended by itself.

    Attributes:
        status: What the run counts as.
        detail: One sentence on why it did not finish; empty if it did.
        runtime_s: The runtime the program reported; None to use the measured one.
        reported_s: The runtime of a finished run by the program's own account, to compare.
    """

    status: RunStatus
    detail: str = ""
    runtime_s: float | None = None
    reported_s: float | None = None


@dataclass(frozen=True, slots=True)
class Solution:
    """What a program said of its solution, by the time its run ended or was stopped.

    Attributes:
        quality: The quality of its solution, the one reported last; None where it reported none.
        bound: A bound on the best quality of the instance; None likewise.
        problem: Why there is no quality, in one sentence; empty where there is one, or where none is wanted.
    """

    quality: float | None = None
    bound: float | None = None
    problem: str = ""


NO_SOLUTION = Solution()


def solution_of(quality: Any, bound: Any = None) -> Solution:  # noqa: ANN401 - a text, or what a function returned
    """What a program reported, as numbers; what is missing or no finite number counts as not reported."""
    number = _number(quality)
    problem = ""
    if number is None:
        problem = (
            "the target reported no quality"
            if quality is None
            else f"the reported quality {shortened(repr(quality), 100)} is no number"
        )
    return Solution(number, _number(bound), problem)


def trace_of(seen: Iterable[Seen], latest_s: float) -> tuple[TracePoint, ...]:
    """The lines of a trace as points, in order of time; what is no finite number was not reported.

    Args:
        seen: The lines, as they arrived. A time that the program reports itself takes the place of arrival.
        latest_s: Points behind this moment are left out.
    """
    points = []
    for arrived_s, quality, bound, time in seen:
        reported_s = _number(time)
        time_s = arrived_s if reported_s is None or reported_s < 0 else reported_s
        point = TracePoint(time_s, _number(quality), _number(bound))
        if time_s <= latest_s and not (point.quality is None and point.bound is None):
            points.append(point)
    return tuple(sorted(points, key=lambda point: point.time_s))


def _number(value: Any) -> float | None:  # noqa: ANN401 - a text, or what a function returned
    if isinstance(value, bool):
        return None
    try:
        number = number_in(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


class Target(Protocol):
    """A program that can be configured."""

    @property
    def reports_runtime(self) -> bool:
        """Whether the program's own figure is its runtime, in place of the measured one."""

    @property
    def reports_quality(self) -> bool:
        """Whether a run must report the quality of its solution to have finished."""

    def check(self) -> None:
        """Raise a `TargetError` if the program plainly cannot be run."""

    def prepare(self, invocation: Invocation) -> Task:
        """Write one run down as something that can be run."""

    def judge(self, invocation: Invocation, raw: RawResult) -> Verdict:
        """Say what a run that ended by itself, within its limits, counts as."""

    def solution(self, raw: RawResult) -> Solution:
        """What a run, also one that was stopped, reported of its solution; nothing where only time counts."""

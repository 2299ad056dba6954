"""The seam between what is run and how it is run.

A target knows the program: how its argument list is written and how its output is read. It knows
nothing of processes, limits or clocks. Whoever runs it (a backend) knows nothing of the program: it
receives a `Task`, watches its output for the patterns the task names, and returns a `RawResult`.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from utilitune.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str | None = None
    watch: tuple[str, ...] = ()

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
        assignments = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        line = " ".join([*assignments, shlex.join(self.argv)])
        return line if self.directory is None else f"cd {shlex.quote(self.directory)} && {line}"


@dataclass(frozen=True, slots=True)
class Call:
    """A Python function call, to be made in a process of its own.

    Attributes:
        module: Importable name of the module.
        function: Name of the function in it.
        arguments: Keyword arguments; values must survive JSON.
        search_path: Where modules are looked for, as in `sys.path`.
        directory: Where it is run; None for the current directory.
    """

    module: str
    function: str
    arguments: Mapping[str, Any]
    search_path: tuple[str, ...]
    directory: str | None = None


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
        report: What a Python function left behind (JSON); empty for commands.
        launch_error: Why it could not be started; empty if it could.
    """

    ending: Ending
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_memory_bytes: int = 0
    exit_code: int | None = None
    output_tail: str = ""
    matches: tuple[str | None, ...] = ()
    report: str = ""
    launch_error: str = ""


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


class Target(Protocol):
    """A program that can be configured."""

    @property
    def reports_runtime(self) -> bool:
        """Whether the program's own figure is its runtime, in place of the measured one."""

    def check(self) -> None:
        """Raise a `TargetError` if the program plainly cannot be run."""

    def prepare(self, invocation: Invocation) -> Task:
        """Write one run down as something that can be run."""

    def judge(self, invocation: Invocation, raw: RawResult) -> Verdict:
        """Say what a run that ended by itself, within its limits, counts as."""

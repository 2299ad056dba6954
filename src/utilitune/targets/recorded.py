"""Recorded runtimes in place of a program: a run is looked up instead of made.

The target writes a run down as row and column; `runtime_s` tells a simulated backend how long that run
took. So a scenario can be tried end to end, with every command, in no time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from utilitune.domain import RunStatus
from utilitune.targets.base import NO_SOLUTION, Command, Invocation, RawResult, Solution, Verdict

if TYPE_CHECKING:
    from utilitune.data import RuntimeMatrix

_PROGRAM = "recorded"


@dataclass(frozen=True, slots=True, eq=False)
class RecordedTarget:
    """A matrix of recorded runtimes.

    Args:
        matrix: The runtimes.
        parameter: The one parameter, whose value names a row.
    """

    matrix: RuntimeMatrix
    parameter: str
    _rows: dict[str, int] = field(init=False, repr=False)
    _columns: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rows", {name: i for i, name in enumerate(self.matrix.configurations)})
        object.__setattr__(self, "_columns", {name: j for j, name in enumerate(self.matrix.instances)})

    @property
    def reports_runtime(self) -> bool:
        """The recorded time stands in for the measured one."""
        return False

    @property
    def reports_quality(self) -> bool:
        """Recorded runtimes say nothing of solutions."""
        return False

    def check(self) -> None:
        """Nothing can be missing: the matrix was read."""

    def prepare(self, invocation: Invocation) -> Command:
        """The run as row and column."""
        return Command((_PROGRAM, str(invocation.parameters[self.parameter]), invocation.instance))

    def judge(self, invocation: Invocation, raw: RawResult) -> Verdict:
        """Whatever ended by itself has finished."""
        del invocation, raw
        return Verdict(RunStatus.FINISHED)

    def solution(self, raw: RawResult) -> Solution:
        """Recorded runtimes say nothing of solutions."""
        del raw
        return NO_SOLUTION

    def runtime_s(self, command: Command) -> float:
        """How long a run written down by `prepare` took; infinite if it never finished."""
        _, row, column = command.argv
        value = float(self.matrix.runtimes_s[self._rows[row], self._columns[column]])
        return value if value < self.matrix.cutoff_s else math.inf

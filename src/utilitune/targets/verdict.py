"""Judging a program by its exit code and its output.

Many solvers exit with 0 on everything, even on a wrong option, so exit codes alone are not enough;
others bury the one line that matters in megabytes of output, so patterns are matched while the
output streams by and only their last matches arrive here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from utilitune.domain import RunStatus
from utilitune.errors import ScenarioError
from utilitune.errors.outside import number_in
from utilitune.targets.base import NO_SOLUTION, Invocation, RawResult, Solution, Verdict, solution_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATTERN_SUFFIX = "_pattern"
_WITH_GROUP = frozenset(
    {"runtime_pattern", "answer_pattern", "quality_pattern", "bound_pattern", "time_pattern"}
)


@dataclass(frozen=True, slots=True)
class VerdictRules:
    r"""When a program that ended by itself has finished, and when it has not.

    The patterns are regular expressions matched within lines of stdout and stderr; `^` and `$` stand
    for the ends of a line. The rules apply in the order of the attributes; the first that does not
    let the run pass decides.

    Example:
        >>> rules = VerdictRules(exit_codes=frozenset({10, 20}), answer_exit_codes={10: "SAT", 20: "UNSAT"},
        ...                      answers={"hole6.cnf": "UNSAT"})

    Attributes:
        timeout_pattern: The program says it gave up at its own time limit.
        memout_pattern: The program says it ran out of memory.
        failure_pattern: The program says it failed.
        exit_codes: Exit codes of success; None means 0, or any code where a success pattern is given.
        success_pattern: Without a match the run has failed.
        runtime_pattern: Its group 1 is the runtime in seconds, in place of the measured one.
        answer_pattern: Its group 1 is the program's answer.
        answer_exit_codes: The answer each exit code stands for, where the output does not give it.
        answers: The known answer per instance; another answer is a wrong answer.
        quality_pattern: Its group 1 is the quality of the solution; the last match counts.
        bound_pattern: Its group 1 is a bound on the best quality of the instance; the last match counts.
        time_pattern: For a trace, its group 1 is when a solution was found, in seconds since the start and in
            the same line; without it, that is when the line arrived.
    """

    timeout_pattern: str | None = None
    memout_pattern: str | None = None
    failure_pattern: str | None = None
    exit_codes: frozenset[int] | None = None
    success_pattern: str | None = None
    runtime_pattern: str | None = None
    answer_pattern: str | None = None
    answer_exit_codes: Mapping[int, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    quality_pattern: str | None = None
    bound_pattern: str | None = None
    time_pattern: str | None = None

    def __post_init__(self) -> None:
        for name, pattern in self._patterns().items():
            try:
                groups = re.compile(pattern, re.MULTILINE).groups
            except re.error as error:
                raise ScenarioError(f"{name} {pattern!r} is not a regular expression: {error}") from None
            if name in _WITH_GROUP and groups == 0:
                raise ScenarioError(
                    f"{name} {pattern!r} has no group; put parentheses around the part that is wanted"
                )
        if self.answers and self.answer_pattern is None and not self.answer_exit_codes:
            raise ScenarioError(
                "known answers are given but not how to read the program's answer; "
                "add answer_pattern or answer_exit_codes"
            )

    @property
    def watch(self) -> tuple[str, ...]:
        """The patterns to look for while the output streams by."""
        return tuple(self._patterns().values())

    @property
    def trace(self) -> tuple[str | None, str | None, str | None]:
        """What every line of a trace is looked for: a quality, a bound, a time."""
        return self.quality_pattern, self.bound_pattern, self.time_pattern

    @property
    def reports_runtime(self) -> bool:
        """Whether the program's own figure is its runtime."""
        return self.runtime_pattern is not None

    @property
    def reports_quality(self) -> bool:
        """Whether the program must report the quality of its solution."""
        return self.quality_pattern is not None

    @property
    def reports_bound(self) -> bool:
        """Whether the program reports a bound on the best quality."""
        return self.bound_pattern is not None

    def solution(self, raw: RawResult) -> Solution:
        """The last quality and bound in the output."""
        if self.quality_pattern is None or not raw.matches:
            return NO_SOLUTION
        found = dict(zip(self._patterns(), raw.matches, strict=True))
        return solution_of(found["quality_pattern"], found.get("bound_pattern"))

    def judge(self, invocation: Invocation, raw: RawResult) -> Verdict:
        """Judge a run that ended by itself."""
        found = dict(zip(self._patterns(), raw.matches, strict=True))
        return (
            self._admitted(found)
            or self._failed(found, raw.exit_code)
            or self._answered_wrongly(invocation.instance, found, raw.exit_code)
            or self._finished(found)
        )

    def _patterns(self) -> dict[str, str]:
        values = {name: getattr(self, name) for name in _PATTERN_NAMES}
        return {name: value for name, value in values.items() if value is not None}

    def _admitted(self, found: Mapping[str, str | None]) -> Verdict | None:
        for name, status in (
            ("timeout_pattern", RunStatus.TIMEOUT),
            ("memout_pattern", RunStatus.MEMOUT),
            ("failure_pattern", RunStatus.CRASHED),
        ):
            text = found.get(name)
            if text is not None:
                return Verdict(status, f"the output matches {name}: {text!r}")
        return None

    def _failed(self, found: Mapping[str, str | None], exit_code: int | None) -> Verdict | None:
        if exit_code is None or exit_code < 0:
            hint = " (perhaps by the system, for lack of memory)" if exit_code == -9 else ""
            signal_number = 0 if exit_code is None else -exit_code
            return Verdict(RunStatus.CRASHED, f"the program was ended by signal {signal_number}{hint}")
        accepted = self.exit_codes
        if accepted is None and self.success_pattern is None:
            accepted = frozenset({0})
        if accepted is not None and exit_code not in accepted:
            expected = ", ".join(map(str, sorted(accepted)))
            return Verdict(RunStatus.CRASHED, f"exit code {exit_code}, expected {expected}")
        if self.success_pattern is not None and found["success_pattern"] is None:
            return Verdict(RunStatus.CRASHED, f"no output matches success_pattern {self.success_pattern!r}")
        return None

    def _answered_wrongly(
        self, instance: str, found: Mapping[str, str | None], exit_code: int | None
    ) -> Verdict | None:
        if instance not in self.answers:
            return None
        answer = found.get("answer_pattern")
        if answer is None and exit_code is not None:
            answer = self.answer_exit_codes.get(exit_code)
        if answer is None:
            return Verdict(RunStatus.CRASHED, "the program ended without an answer")
        known = self.answers[instance]
        if answer.strip() == known.strip():
            return None
        return Verdict(
            RunStatus.WRONG_ANSWER, f"the answer is {answer.strip()!r}, known is {known.strip()!r}"
        )

    def _finished(self, found: Mapping[str, str | None]) -> Verdict:
        if self.runtime_pattern is None:
            return Verdict(RunStatus.FINISHED)
        text = found["runtime_pattern"]
        runtime_s = _seconds(text)
        if runtime_s is None:
            return Verdict(RunStatus.CRASHED, f"the program reported no runtime that makes sense: {text!r}")
        return Verdict(RunStatus.FINISHED, runtime_s=runtime_s)


_PATTERN_NAMES = tuple(each.name for each in fields(VerdictRules) if each.name.endswith(_PATTERN_SUFFIX))


def _seconds(text: str | None) -> float | None:
    try:
        value = number_in(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None

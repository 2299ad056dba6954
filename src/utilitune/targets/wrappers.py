r"""Reading the answer of a wrapper: a script written for irace, SMAC, ParamILS or AClib around a solver.

Those tools believe what the wrapper prints. Here the run is metered and stopped from outside, so of the
answer only the status counts; the runtime the wrapper reports is compared with the measured one, and
replaces it only where the user asks for that. Where a scenario is about the quality of solutions, the cost or
quality in the answer counts, too.

::

    irace    60.5            or  60.5 12.3             cost, or cost and time; Inf rejects
    smac     Result for SMAC: SAT, 12.3, 0, 0, 42      status, runtime, runlength, quality, seed
    aclib2   Result of this algorithm run: {"status": "SUCCESS", "runtime": 12.3, …}
    smac3    cost=0.5; runtime=12.3; status=SUCCESS    only the cost is a must
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from utilitune.domain import RunStatus
from utilitune.errors import TargetError
from utilitune.errors.outside import number_in
from utilitune.targets.base import NO_SOLUTION, Invocation, RawResult, Solution, Verdict, solution_of

if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ENDLESS = r"[-+]?[Ii]nf(?:inity)?"
_RESULT = r"Result (?:for (?:SMAC|ParamILS|HAL)|of (?:this )?[Aa]lgorithm [Rr]un)\s*:"
_STATUS_FIELD = re.compile(r'"status"\s*:\s*"(\w+)"')
_RUNTIME_FIELD = re.compile(rf'"runtime"\s*:\s*"?({_NUMBER})')
_COST_FIELD = re.compile(rf'"(?:cost|quality)"\s*:\s*"?({_NUMBER})')
_QUALITY_FIELD = 2  # of what follows the status: runtime, runlength, quality, seed


class Contract(StrEnum):
    """What a wrapper prints."""

    IRACE = "irace"
    SMAC = "smac"
    ACLIB2 = "aclib2"
    SMAC3 = "smac3"


_PATTERNS = {
    Contract.IRACE: rf"^[ \t]*((?:{_NUMBER}|{_ENDLESS})(?:[ \t]+{_NUMBER})?)[ \t\r]*$",
    Contract.SMAC: rf"{_RESULT}[ \t]*([^\r\n]*)",
    Contract.ACLIB2: rf"{_RESULT}[ \t]*(\{{[^\r\n]*)",
    Contract.SMAC3: r"^[ \t]*([^\r\n]*\bcost[ \t]*=[ \t]*[-+]?(?:\.?\d|inf|nan)[^\r\n]*)",
}
_STATUSES = {
    **dict.fromkeys(("SAT", "UNSAT", "SUCCESS", "SATISFIABLE", "UNSATISFIABLE"), RunStatus.FINISHED),
    **dict.fromkeys(("TIMEOUT", "CAPPED"), RunStatus.TIMEOUT),
    **dict.fromkeys(("MEMOUT", "MEMORYOUT"), RunStatus.MEMOUT),
    **dict.fromkeys(("CRASHED", "CRASH", "INF"), RunStatus.CRASHED),
}
_ABORT = "ABORT"
_SHOWN_LINES = 3
_REJECTION = "INF"
REJECTED = "the wrapper rejects this configuration (Inf)"
"""What is said of a run whose wrapper does not want its configuration."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a wrapper said.

    Attributes:
        status: The word for how the run ended.
        runtime_s: The runtime it reports, where there is one.
        quality: The cost or quality it reports, as a text, where there is one.
    """

    status: str
    runtime_s: float | None = None
    quality: str | None = None


@dataclass(frozen=True, slots=True)
class WrapperRules:
    """Judges a program by the answer a wrapper prints for a configurator.

    Example:
        >>> from utilitune.targets.base import Ending
        >>> rules = WrapperRules(Contract.SMAC)
        >>> invocation = Invocation({}, "a.cnf", seed=1, captime_s=5.0)
        >>> raw = RawResult(Ending.EXITED, exit_code=0, matches=("SAT, 1.5, 0, 0, 1",))
        >>> rules.judge(invocation, raw).status.value
        'finished'

    Attributes:
        contract: What the answer looks like.
        reports_runtime: Whether the runtime it reports counts, in place of the measured one.
        reports_quality: Whether the cost or quality it reports counts, and its time says nothing.
    """

    contract: Contract
    reports_runtime: bool = False
    reports_quality: bool = False

    @property
    def reports_bound(self) -> bool:
        """No wrapper reports a bound on the best quality."""
        return False

    @property
    def watch(self) -> tuple[str, ...]:
        """The pattern of the answer, to look for while the output streams by."""
        return (_PATTERNS[self.contract],)

    def judge(self, invocation: Invocation, raw: RawResult) -> Verdict:
        """Judge a run that ended by itself.

        Raises:
            TargetError: The wrapper answered ABORT, which means that no run can succeed.
        """
        answer = self._answer(raw)
        if answer is None:
            return Verdict(RunStatus.CRASHED, self._silence(raw))
        word = answer.status.upper()
        if word == _ABORT:
            raise TargetError(
                f"the wrapper answered ABORT on instance {invocation.instance!r}, so everything stops; mend "
                f"what it complains about, then start again: {_last_lines(raw.output_tail)}"
            )
        if word not in _STATUSES:
            return Verdict(RunStatus.CRASHED, f"the wrapper answered the unknown status {answer.status!r}")
        return self._verdict(_STATUSES[word], answer, invocation, raw)

    def solution(self, raw: RawResult) -> Solution:
        """The cost or quality in the answer."""
        if not self.reports_quality:
            return NO_SOLUTION
        answer = self._answer(raw)
        return solution_of(None if answer is None else answer.quality)

    def _answer(self, raw: RawResult) -> _Answer | None:
        text = raw.matches[0] if raw.matches else None
        return None if text is None else _READERS[self.contract](text)

    def _silence(self, raw: RawResult) -> str:
        code = "" if raw.exit_code in {0, None} else f" (exit code {raw.exit_code})"
        return f"the wrapper printed no answer of the form {self.contract.value!r}{code}"

    def _verdict(self, status: RunStatus, answer: _Answer, invocation: Invocation, raw: RawResult) -> Verdict:
        if status is not RunStatus.FINISHED:
            rejected = answer.status.upper() == _REJECTION
            return Verdict(status, REJECTED if rejected else f"the wrapper answered {answer.status}")
        if self.contract in {Contract.IRACE, Contract.SMAC3} and raw.exit_code != 0:
            return Verdict(RunStatus.CRASHED, f"exit code {raw.exit_code}, expected 0")
        if answer.runtime_s is None or (self.reports_quality and not self.reports_runtime):
            if self.reports_runtime:
                return Verdict(RunStatus.CRASHED, "the wrapper reported no runtime")
            return Verdict(status)
        if self.contract is Contract.IRACE and answer.runtime_s >= invocation.captime_s:
            # A runner that stops at its bound says so by its time alone.
            return Verdict(RunStatus.TIMEOUT)
        counts = answer.runtime_s if self.reports_runtime else None
        return Verdict(status, runtime_s=counts, reported_s=answer.runtime_s)


def _last_lines(text: str) -> str:
    """The end of what was printed, as one line."""
    return " | ".join(text.strip().splitlines()[-_SHOWN_LINES:])


def _seconds(text: str) -> float | None:
    try:
        value = number_in(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _irace(text: str) -> _Answer | None:
    cost, _, time = text.partition(" ") if " " in text else text.partition("\t")
    try:
        rejects = not math.isfinite(number_in(cost))
    except ValueError:
        return None  # an answer that was cut off, or digits of another script
    if rejects:
        return _Answer("Inf")
    return _Answer("SUCCESS", _seconds(time), cost)


def _smac(text: str) -> _Answer | None:
    if text.lstrip().startswith("{"):
        return _aclib2(text)
    status, *rest = (field.strip() for field in text.split(","))
    if not status:
        return None
    runtime = rest[0] if rest else ""
    return _Answer(status, _seconds(runtime), rest[_QUALITY_FIELD] if len(rest) > _QUALITY_FIELD else None)


def _aclib2(text: str) -> _Answer | None:
    """A JSON object; of one that was cut off, the fields that count are still found."""
    fields: Any
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        found = (("status", _STATUS_FIELD), ("runtime", _RUNTIME_FIELD), ("cost", _COST_FIELD))
        matches = ((name, pattern.search(text)) for name, pattern in found)
        fields = {name: match[1] for name, match in matches if match is not None}
    if not isinstance(fields, dict):
        return None
    if not isinstance(fields.get("status"), str):
        return None
    cost = fields.get("cost", fields.get("quality"))
    return _Answer(
        fields["status"], _seconds(str(fields.get("runtime"))), None if cost is None else str(cost)
    )


def _smac3(text: str) -> _Answer | None:
    pairs = (part.partition("=") for part in text.split(";"))
    fields = {key.strip(): value.strip() for key, _, value in pairs}
    if not fields.get("cost"):
        return None
    status = fields.get("status", "SUCCESS").removeprefix("StatusType.")
    return _Answer(status, _seconds(fields.get("runtime", "")), fields["cost"])


_READERS: dict[Contract, Callable[[str], _Answer | None]] = {
    Contract.IRACE: _irace,
    Contract.SMAC: _smac,
    Contract.ACLIB2: _aclib2,
    Contract.SMAC3: _smac3,
}

"""A Python function described by its importable name.

Every run is made in a process of its own, so a function that crashes, leaks or never returns hurts
nobody. The function is found by name there; one that lives in the script being run (``__main__``), in a
notebook or inside another function is first put where it can be found (see `utilitune.utility.carried`).
"""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from utilitune.domain import RunStatus
from utilitune.errors import ScenarioError, TargetError, UsageError
from utilitune.errors.outside import shortened
from utilitune.targets.base import (
    NO_SOLUTION,
    Call,
    Invocation,
    RawResult,
    Reports,
    Solution,
    Verdict,
    solution_of,
)
from utilitune.utility.carried import PREFIX as CARRIED
from utilitune.utility.carried import imported, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TRACEBACK_CHARACTERS = 2000
_LARGEST = sys.float_info.max

_ARGUMENTS = ("configuration", "instance", "seed")
"""What a target function is called with, each by its name."""

MADE_OUTSIDE = "utilitune.asktell:made_outside"
"""Names `made_outside` in scenarios; run folders hold this text, so it stays although the function moved."""

_MOVED = {"utilitune.asktell": __name__}


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """A Python function called as ``function(configuration, instance, seed)``.

    A parameter named ``captime`` also receives the captime in seconds. The function has finished when
    it returns; it has failed when it raises or returns False. It may return a dictionary such as
    ``{"status": "wrong-answer", "detail": "..."}``. Where `reports_runtime` is set, the number it
    returns (or the dictionary's ``"runtime"``) is its runtime in seconds. Where `reports_quality` is set,
    the number it returns (or the dictionary's ``"quality"``) is the quality of its solution. Where `reports`
    is set, it tells of every solution when it has found it: it takes an argument ``report`` and calls
    ``report(quality)`` or ``report(quality, bound)``, or it is a generator that yields qualities or such
    pairs.

    Attributes:
        module: Importable name of the module.
        function: Name of the function in it.
        reports_runtime: Whether the number it returns is its runtime.
        passes_captime: Whether it takes an argument ``captime``.
        directory: Where it is run; None for the current directory.
        reports_quality: Whether the number it returns is the quality of its solution.
        reports: How it tells of solutions while it runs; None where that is not wanted.
    """

    module: str
    function: str
    reports_runtime: bool = False
    passes_captime: bool = False
    directory: str | None = None
    reports_quality: bool = False
    reports: Reports | None = None

    @classmethod
    def of(cls, function: Callable[..., Any] | str, *, reports_runtime: bool = False) -> FunctionTarget:
        """Describe a function given as an object or as ``module:function``."""
        if isinstance(function, str):
            module, _, name = function.partition(":")
            module = _MOVED.get(module, module)
            if not (module and name.isidentifier()):
                raise ScenarioError(f"{function!r} names no function; write it as module:function")
            return cls(module, name, reports_runtime, _takes_captime(_imported(module, name)))
        captime = _takes_captime(function)
        module, name = place_of(function)
        return cls(module, name, reports_runtime, captime)

    def check(self) -> None:
        """Raise a `TargetError` if the function cannot be imported, or would not do its work when called."""
        function = _imported(self.module, self.function)
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise TargetError(
                f"the function {self.function} is async, so a call of it does nothing yet: name an ordinary "
                "function that awaits it, such as by asyncio.run"
            )
        if inspect.isgeneratorfunction(function) and self.reports is not Reports.YIELD:
            raise TargetError(
                f"the function {self.function} yields, so a call of it does nothing yet: let it return, or "
                'set objective = "anytime" if it yields better and better solutions'
            )

    def anytime(self) -> FunctionTarget:
        """The same, telling of every solution when it has found it.

        Raises:
            ScenarioError: It cannot tell.
        """
        function = _imported(self.module, self.function)
        if "report" in inspect.signature(function).parameters:
            return replace(self, reports=Reports.CALL)
        if inspect.isgeneratorfunction(function):
            return replace(self, reports=Reports.YIELD)
        raise ScenarioError(
            f"the function {self.function} tells nothing while it runs: let it take an argument report and "
            "call report(quality) for every better solution, or yield their qualities"
        )

    def prepare(self, invocation: Invocation) -> Call:
        """Write the call down; the values must survive JSON."""
        arguments = as_arguments(invocation.parameters, invocation.instance, invocation.seed)
        if self.passes_captime:
            arguments["captime"] = invocation.captime_s
        return Call(self.module, self.function, arguments, tuple(sys.path), self.directory, self.reports)

    def judge(self, invocation: Invocation, raw: RawResult) -> Verdict:  # noqa: ARG002 (part of the seam)
        """Judge by what the function returned or raised."""
        if not raw.report:
            detail = f"the function ended its process without returning (exit code {raw.exit_code})"
            return Verdict(RunStatus.CRASHED, detail)
        report = _report(raw.report)
        if report is None:
            return Verdict(RunStatus.CRASHED, f"the function's report cannot be read: {raw.report[:100]!r}")
        if "raised" in report:
            return Verdict(RunStatus.CRASHED, str(report["raised"])[-_TRACEBACK_CHARACTERS:])
        value = report["returned"]
        if value is False:
            return Verdict(RunStatus.CRASHED, "the function returned False")
        if isinstance(value, dict):
            return self._judge_dictionary(value)
        counts = self.reports_runtime and not self.reports_quality
        return self._judge_runtime(value) if counts else Verdict(RunStatus.FINISHED)

    def solution(self, raw: RawResult) -> Solution:
        """What the function returned of its solution; nothing where it did not come to its end."""
        report = _report(raw.report) if self.reports_quality else None
        if report is None:
            return NO_SOLUTION
        value = report.get("returned")
        if value is None and raw.trace:
            _, quality, bound, _ = raw.trace[-1]
            return solution_of(quality, bound)
        if isinstance(value, dict):
            return solution_of(value.get("quality"), value.get("bound"))
        return solution_of(value)

    def _judge_dictionary(self, value: dict[str, Any]) -> Verdict:
        try:
            status = RunStatus(value.get("status", RunStatus.FINISHED))
        except ValueError:
            known = ", ".join(RunStatus)
            return Verdict(
                RunStatus.CRASHED, f"the function returned status {_shown(value['status'])}; known: {known}"
            )
        if status is not RunStatus.FINISHED:
            return Verdict(status, str(value.get("detail", f"the function returned status {status.value!r}")))
        return self._judge_runtime(value.get("runtime")) if self.reports_runtime else Verdict(status)

    def _judge_runtime(self, value: Any) -> Verdict:  # noqa: ANN401 (whatever a user's function returned)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 <= value <= _LARGEST):
            return Verdict(
                RunStatus.CRASHED, f"the function must return its runtime in seconds, not {_shown(value)}"
            )
        return Verdict(RunStatus.FINISHED, runtime_s=float(value))


def as_arguments(configuration: Mapping[str, Any], instance: str, seed: int) -> dict[str, Any]:
    """What a function is called with."""
    plain = {name: _plain(value) for name, value in configuration.items()}
    return {"configuration": plain, "instance": instance, "seed": seed}


def call_text(module: str, function: str, arguments: Mapping[str, Any]) -> str:
    """A call as Python writes it; of a function of a script or notebook, by its own name there.

    >>> call_text("queens", "solve", as_arguments({"noise": 0.1}, "8", 1))
    "queens.solve(configuration={'noise': 0.1}, instance='8', seed=1)"
    """
    if f"{module}:{function}" == MADE_OUTSIDE:  # there is no function: its user makes the runs
        return f"{arguments['configuration']} on {arguments['instance']} with seed {arguments['seed']}"
    place = "" if module.startswith(CARRIED) else f"{module}."
    return f"{place}{function}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


def _report(text: str) -> dict[str, Any] | None:
    """What the process of a call left behind; None if it is nothing that we wrote."""
    try:
        report = json.loads(text)
    except (ValueError, RecursionError):
        return None
    known = isinstance(report, dict) and report.keys() & {"raised", "returned"}
    return report if known else None


def _shown(value: object) -> str:
    """A returned value, in as many characters as a sentence has room for."""
    try:
        return shortened(repr(value), 100)
    except ValueError:  # a whole number of thousands of digits
        return "a number beyond all bounds"


def _imported(module: str, name: str) -> Callable[..., Any]:
    try:
        function = getattr(imported(module), name, None)
    except ImportError as error:
        if module.startswith(CARRIED):
            raise TargetError(
                f"the function {name!r} lives in a script or notebook: start this run from there"
            ) from error
        raise TargetError(
            f"the module {module!r} of the target function cannot be imported: {error}"
        ) from error
    if not callable(function):
        raise TargetError(f"the module {module!r} has no function {name!r}; correct the target's name")
    return function  # type: ignore[no-any-return]


def _takes_captime(function: Callable[..., Any]) -> bool:
    wanted = f"must take the arguments {', '.join(_ARGUMENTS)} (and captime if it wants)"
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ScenarioError(f"the target {_shown(function)} is no Python function: one {wanted}") from None
    keywords = any(each.kind is each.VAR_KEYWORD for each in parameters)
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = {each.name for each in parameters if each.kind in named}
    missing = [name for name in _ARGUMENTS if name not in names and not keywords]
    if missing:
        raise ScenarioError(
            f"the target function {wanted}, all by their names; it lacks {', '.join(missing)}"
        )
    more = names - {*_ARGUMENTS, "captime", "report"}
    needed = [each.name for each in parameters if each.name in more and each.default is each.empty]
    if needed:
        raise ScenarioError(
            f"the target function needs {', '.join(needed)}, which nobody gives it: it is called with "
            f"{', '.join(_ARGUMENTS)}; give the others a default"
        )
    return "captime" in names or keywords


def _plain(value: Any) -> Any:  # noqa: ANN401 (spaces hand over whatever values they hold)
    return value.item() if hasattr(value, "item") else value


def made_outside(configuration: Mapping[str, Any], instance: str, seed: int) -> None:
    """Stand for runs that Utilitune does not make itself."""
    raise UsageError(
        f"the run of {dict(configuration)} on {instance!r}, seed {seed}, is yours to make, by ask and tell"
    )

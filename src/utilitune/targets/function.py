"""A Python function described by its importable name.

Every run is made in a process of its own, so a function that crashes, leaks or never returns hurts
nobody. The function is found by name there, never pickled; one that lives in the script being run
(``__main__``) or inside another function cannot be found, and is refused with a sentence that says so.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utilitune.domain import RunStatus
from utilitune.errors import ScenarioError, TargetError
from utilitune.targets.base import Call, Invocation, RawResult, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

_TRACEBACK_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """A Python function called as ``function(configuration, instance, seed)``.

    A parameter named ``captime`` also receives the captime in seconds. The function has finished when
    it returns; it has failed when it raises or returns False. It may return a dictionary such as
    ``{"status": "wrong-answer", "detail": "..."}``. Where `reports_runtime` is set, the number it
    returns (or the dictionary's ``"runtime"``) is its runtime in seconds.

    Attributes:
        module: Importable name of the module.
        function: Name of the function in it.
        reports_runtime: Whether the number it returns is its runtime.
        passes_captime: Whether it takes an argument ``captime``.
        directory: Where it is run; None for the current directory.
    """

    module: str
    function: str
    reports_runtime: bool = False
    passes_captime: bool = False
    directory: str | None = None

    @classmethod
    def of(cls, function: Callable[..., Any] | str, *, reports_runtime: bool = False) -> FunctionTarget:
        """Describe a function given as an object or as ``module:function``."""
        if isinstance(function, str):
            module, _, name = function.partition(":")
            if not (module and name.isidentifier()):
                raise ScenarioError(f"{function!r} names no function; write it as module:function")
            return cls(module, name, reports_runtime, _takes_captime(_imported(module, name)))
        module = getattr(function, "__module__", "__main__")
        name = getattr(function, "__qualname__", repr(function))
        if module == "__main__" or not name.isidentifier():
            raise ScenarioError(
                f"the function {name} cannot be imported by name in another process; "
                "move it to the top level of a module of its own and import it from there"
            )
        return cls(module, name, reports_runtime, _takes_captime(function))

    def check(self) -> None:
        """Raise a `TargetError` if the function cannot be imported."""
        _imported(self.module, self.function)

    def prepare(self, invocation: Invocation) -> Call:
        """Write the call down; the values must survive JSON."""
        arguments: dict[str, Any] = {
            "configuration": {name: _plain(value) for name, value in invocation.parameters.items()},
            "instance": invocation.instance,
            "seed": invocation.seed,
        }
        if self.passes_captime:
            arguments["captime"] = invocation.captime_s
        return Call(self.module, self.function, arguments, tuple(sys.path), self.directory)

    def judge(self, invocation: Invocation, raw: RawResult) -> Verdict:  # noqa: ARG002 (part of the seam)
        """Judge by what the function returned or raised."""
        if not raw.report:
            detail = f"the function ended its process without returning (exit code {raw.exit_code})"
            return Verdict(RunStatus.CRASHED, detail)
        report = json.loads(raw.report)
        if "raised" in report:
            return Verdict(RunStatus.CRASHED, report["raised"][-_TRACEBACK_CHARACTERS:])
        value = report["returned"]
        if value is False:
            return Verdict(RunStatus.CRASHED, "the function returned False")
        if isinstance(value, dict):
            return self._judge_dictionary(value)
        return self._judge_runtime(value) if self.reports_runtime else Verdict(RunStatus.FINISHED)

    def _judge_dictionary(self, value: dict[str, Any]) -> Verdict:
        try:
            status = RunStatus(value.get("status", RunStatus.FINISHED))
        except ValueError:
            known = ", ".join(RunStatus)
            return Verdict(
                RunStatus.CRASHED, f"the function returned status {value['status']!r}; known: {known}"
            )
        if status is not RunStatus.FINISHED:
            return Verdict(status, str(value.get("detail", f"the function returned status {status.value!r}")))
        return self._judge_runtime(value.get("runtime")) if self.reports_runtime else Verdict(status)

    def _judge_runtime(self, value: Any) -> Verdict:  # noqa: ANN401 (whatever a user's function returned)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and math.isfinite(value) and value >= 0):
            return Verdict(
                RunStatus.CRASHED, f"the function must return its runtime in seconds, not {value!r}"
            )
        return Verdict(RunStatus.FINISHED, runtime_s=float(value))


def _imported(module: str, name: str) -> Callable[..., Any]:
    try:
        function = getattr(importlib.import_module(module), name, None)
    except Exception as error:
        raise TargetError(
            f"the module {module!r} of the target function cannot be imported: {error}"
        ) from error
    if not callable(function):
        raise TargetError(f"the module {module!r} has no function {name!r}; correct the target's name")
    return function  # type: ignore[no-any-return]


def _takes_captime(function: Callable[..., Any]) -> bool:
    names = inspect.signature(function).parameters
    expected = ("configuration", "instance", "seed")
    keywords = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in names.values())
    missing = [name for name in expected if name not in names and not keywords]
    if missing:
        raise ScenarioError(
            f"the target function must take the arguments {', '.join(expected)} (and captime if it wants); "
            f"it lacks {', '.join(missing)}"
        )
    return "captime" in names or keywords


def _plain(value: Any) -> Any:  # noqa: ANN401 (spaces hand over whatever values they hold)
    return value.item() if hasattr(value, "item") else value

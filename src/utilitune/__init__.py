"""Utilitune: the best parameter settings for any program, with a proof.

The public names are few and load what they need when they are first used::

    import utilitune

    result = utilitune.configure(scenario="scenario.toml", max_wall_time="10m")
    print(result.command, result.promise.sentence())

    result = utilitune.replay("path/to/ASlib-scenario", utility="log-laplace(k0=60)")
    print(result.best, result.promise.sentence())
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from utilitune.data import RuntimeMatrix, read_matrix
    from utilitune.domain import PhaseRecord, Progress, Promise, StopReason
    from utilitune.domain.stopping import Budget
    from utilitune.errors import UtilituneError
    from utilitune.live.ask_tell import Trial, Tuner
    from utilitune.live.configuring import configure
    from utilitune.live.result import RunResult, load
    from utilitune.procedures.growth import Schedule, named_schedule
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.replaying.recording import Recording
    from utilitune.replaying.replay import ReplayResult, RivalResult, replay, replay_rival
    from utilitune.reports.whatif import UtilityFamily, whatif, whatif_run
    from utilitune.scenario import Scenario, read_scenario
    from utilitune.spaces import ParameterSpace
    from utilitune.utility import Utility, parse_utility, utility_from_callable

__version__ = "0.1.0"

_HOME = {
    "Budget": "utilitune.domain.stopping",
    "ParameterSpace": "utilitune.spaces",
    "ProcedureSpec": "utilitune.procedures.naming",
    "PhaseRecord": "utilitune.domain",
    "Progress": "utilitune.domain",
    "Promise": "utilitune.domain",
    "Recording": "utilitune.replaying.recording",
    "ReplayResult": "utilitune.replaying.replay",
    "RivalResult": "utilitune.replaying.replay",
    "RunResult": "utilitune.live.result",
    "RuntimeMatrix": "utilitune.data",
    "Scenario": "utilitune.scenario",
    "Schedule": "utilitune.procedures.growth",
    "StopReason": "utilitune.domain",
    "Trial": "utilitune.live.ask_tell",
    "Tuner": "utilitune.live.ask_tell",
    "UtilituneError": "utilitune.errors",
    "Utility": "utilitune.utility",
    "UtilityFamily": "utilitune.reports.whatif",
    "configure": "utilitune.live.configuring",
    "load": "utilitune.live.result",
    "named_schedule": "utilitune.procedures.growth",
    "parse_utility": "utilitune.utility",
    "read_matrix": "utilitune.data",
    "read_scenario": "utilitune.scenario",
    "replay": "utilitune.replaying.replay",
    "replay_rival": "utilitune.replaying.replay",
    "utility_from_callable": "utilitune.utility",
    "whatif": "utilitune.reports.whatif",
    "whatif_run": "utilitune.reports.whatif",
}

__all__ = [
    "Budget",
    "ParameterSpace",
    "PhaseRecord",
    "ProcedureSpec",
    "Progress",
    "Promise",
    "Recording",
    "ReplayResult",
    "RivalResult",
    "RunResult",
    "RuntimeMatrix",
    "Scenario",
    "Schedule",
    "StopReason",
    "Trial",
    "Tuner",
    "UtilituneError",
    "Utility",
    "UtilityFamily",
    "__version__",
    "configure",
    "load",
    "named_schedule",
    "parse_utility",
    "read_matrix",
    "read_scenario",
    "replay",
    "replay_rival",
    "utility_from_callable",
    "whatif",
    "whatif_run",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- the type is that of the name asked for
    """Load a public name from its home when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'utilitune' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


_MOVED = {
    "utilitune.bounds": "utilitune.procedures.bounds",
    "utilitune.compiled": "utilitune.domain.compiled",
    "utilitune.demo": "utilitune.scenario.demo",
    "utilitune.proposers": "utilitune.search.proposers",
    "utilitune.reproduction": "utilitune.reports.reproduction",
    "utilitune.stopping": "utilitune.domain.stopping",
}


class _Moved:
    """Finds a module under the name it had before it moved, so that programs which use that go on working."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Where a module of this name lies now; None for all others."""
        room, _dot, rest = name.removeprefix("utilitune.").partition(".")
        home = _MOVED.get(f"utilitune.{room}") if name.startswith("utilitune.") else None
        here: Any = self
        return ModuleSpec(name, here, origin=f"{home}.{rest}" if rest else home) if home else None

    def create_module(self, _spec: ModuleSpec) -> None:
        """The module exists."""

    def exec_module(self, module: ModuleType) -> None:
        """Both names stand for the same module."""
        spec = module.__spec__
        if spec is not None and spec.origin is not None:
            sys.modules[spec.name] = import_module(spec.origin)


sys.meta_path.insert(0, _Moved())  # before the one that would load a module of a room that moved anew

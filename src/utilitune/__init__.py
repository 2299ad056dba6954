"""Utilitune: the best parameter settings for any program, with a proof.

The public names are few and load what they need when they are first used::

    import utilitune

    result = utilitune.replay("path/to/ASlib-scenario", utility="log-laplace(k0=60)")
    print(result.best, result.promise.sentence())
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utilitune.data import RuntimeMatrix, read_matrix
    from utilitune.domain import Progress, Promise, StopReason
    from utilitune.errors import UtilituneError
    from utilitune.replaying import Budget, ReplayResult, replay
    from utilitune.specification import ProcedureSpec
    from utilitune.utility import Utility, parse_utility, utility_from_callable

__version__ = "0.1.0"

_HOME = {
    "Budget": "utilitune.replaying",
    "ProcedureSpec": "utilitune.specification",
    "Progress": "utilitune.domain",
    "Promise": "utilitune.domain",
    "ReplayResult": "utilitune.replaying",
    "RuntimeMatrix": "utilitune.data",
    "StopReason": "utilitune.domain",
    "Utility": "utilitune.utility",
    "UtilituneError": "utilitune.errors",
    "parse_utility": "utilitune.utility",
    "read_matrix": "utilitune.data",
    "replay": "utilitune.replaying",
    "utility_from_callable": "utilitune.utility",
}

__all__ = [
    "Budget",
    "ProcedureSpec",
    "Progress",
    "Promise",
    "ReplayResult",
    "RuntimeMatrix",
    "StopReason",
    "UtilituneError",
    "Utility",
    "__version__",
    "parse_utility",
    "read_matrix",
    "replay",
    "utility_from_callable",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- the type is that of the name asked for
    """Load a public name from its home when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'utilitune' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

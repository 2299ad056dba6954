"""The two ways we compile a rule; compiled code is cached on disk, so a second start is quick.

Rules live at module level and take arrays, records and named tuples of these only: closures and functions
as arguments would defeat the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any, TypeVar, cast, get_type_hints

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

Shape = TypeVar("Shape")
Rule = TypeVar("Rule", bound=Callable[..., Any])


class _CompiledRule(CPUDispatcher):  # type: ignore[misc]  # numba has no types
    """A rule that other compiled rules call as it is, and Python through a twin.

    What Python hands over has to be unpacked, dozens of arrays for the state of a search. Few rules are ever
    called by Python, and unpacking was a third of what had to be compiled. So only the twin, made on
    the first such call, can do that.
    """

    @cached_property
    def _for_python(self) -> Callable[..., Any]:
        rule = self.py_func
        twin = FunctionType(rule.__code__, rule.__globals__, rule.__name__, rule.__defaults__)
        twin.__module__ = rule.__module__
        twin.__qualname__ = f"{rule.__qualname__}_for_python"  # a cache of its own
        return cast("Callable[..., Any]", numba.njit(cache=True)(twin))

    def __call__(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever the rule takes
        return self._for_python(*arguments, **named)


def compiled(rule: Rule) -> Rule:
    """Compile a function on first use."""
    made = numba.njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(rule)
    if isinstance(made, CPUDispatcher):  # not where numba is told to compile nothing
        made.__class__ = _CompiledRule
    return cast("Rule", made)


def is_on_disk(rule: Callable[..., Any]) -> bool:
    """Whether a rule lies compiled in numba's cache, ready to be called by Python."""
    if not isinstance(rule, _CompiledRule):
        return False
    try:
        return bool(rule._for_python._cache._cache_file._load_index())  # type: ignore[attr-defined]  # noqa: SLF001 - numba has no other word for it
    except (AttributeError, OSError, TypeError):
        return False


def inlined(rule: Rule) -> Rule:
    """Compile a small formula into its callers."""
    return cast("Rule", numba.njit(cache=True, inline="always")(rule))


def new_record(shape: type[Shape]) -> Shape:
    """A record of zeros that Python and compiled rules alike read and write by name.

    Args:
        shape: A class that lists the fields as annotations: `int` or `float`, 64 bits each.
    """
    fields = [
        (name, {int: np.int64, float: np.float64}[kind]) for name, kind in get_type_hints(shape).items()
    ]
    return cast("Shape", np.zeros(1, dtype=np.dtype(fields)).view(np.recarray)[0])

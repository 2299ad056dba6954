"""The two ways we compile a rule; compiled code is cached on disk, so a second start is quick.

Rules live at module level and take arrays and named tuples of arrays only: closures and functions
as arguments would defeat the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Rule = TypeVar("Rule", bound=Callable[..., Any])


def compiled(rule: Rule) -> Rule:
    """Compile a function on first use."""
    return cast("Rule", numba.njit(cache=True)(rule))


def inlined(rule: Rule) -> Rule:
    """Compile a small formula into its callers."""
    return cast("Rule", numba.njit(cache=True, inline="always")(rule))

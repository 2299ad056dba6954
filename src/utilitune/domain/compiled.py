"""The two ways we compile a rule; compiled code is cached on disk, so a second start is quick.

Rules live at module level and take arrays, records and named tuples of these only: closures and functions
as arguments would defeat the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast, get_type_hints

import numba
import numpy as np

Shape = TypeVar("Shape")
Rule = TypeVar("Rule", bound=Callable[..., Any])


def compiled(rule: Rule) -> Rule:
    """Compile a function on first use."""
    return cast("Rule", numba.njit(cache=True)(rule))


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

"""Linear algebra on one thread.

Libraries of linear algebra spread a product over all cores, and their threads wait for each other without
sleeping. The matrices of a model of search are small, and the cores are busy with runs. There two threads
took 80 times the CPU time of one, and were slower.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def on_one_thread() -> AbstractContextManager[object]:
    """Within this block linear algebra keeps to one thread; afterwards it is as it was before."""
    limited: AbstractContextManager[object] = _linear_algebra().limit(limits=1)
    return limited


@cache
def _linear_algebra() -> ThreadpoolController:
    """The libraries that are loaded; numpy's is among them."""
    return ThreadpoolController().select(user_api="blas")

"""How much parameters matter, worked out for the live page in a process of its own.

Fitting forests takes seconds of a core, and a run at work needs its cores itself. So nothing is worked out
unless somebody asks for it, one thing at a time, in a process that lets others go first and ends then: what a
forest needs would stay in memory here.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.reports.helpers import end_with_the_parent
from utilitune.reports.importance import importance_of
from utilitune.spaces import ParameterSpace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

Rows = list[tuple[dict[str, Any], float, int]]
"""Values, mean utility and number of runs of every configuration."""

LAST = 5
"""How nice a helper is to the run that is watched; a program that is not nice at all has 0."""

ONE_AT_A_TIME = threading.Lock()
"""Held while something is worked out: several helpers would take several cores."""


def importance_apart(space: ParameterSpace, rows: Rows) -> dict[str, Any]:
    """How much each parameter matters, from a process that ends then."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    helper = context.Process(target=_worked_out, args=(theirs, space.to_tables(), rows), daemon=True)
    helper.start()
    theirs.close()
    try:
        found: dict[str, Any] = ours.recv()
    except EOFError:
        return {"rows": [], "skill": 0.0, "note": "It could not be worked out: its process was ended."}
    finally:
        ours.close()
        helper.join()
    return found


def _worked_out(theirs: Connection, tables: dict[str, Any], rows: Rows) -> None:
    """Work importance out with low priority: the run that is watched goes first, and the page may end."""
    step_back()
    theirs.send(importance_in_process(tables, rows))


def step_back() -> None:
    """What a helper does first: let the run that is watched go first, and end with the page.

    Linux shares processors among sessions before it looks at priorities within them, so the helper gets a
    session of its own. Beside a run that fills all cores it has a quarter of one, for somebody waits for it.
    """
    end_with_the_parent()
    os.nice(LAST)
    with contextlib.suppress(OSError):
        os.setsid()
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(LAST), encoding="ascii")


def importance_in_process(
    tables: dict[str, Any], rows: Sequence[tuple[dict[str, Any], float, int]]
) -> dict[str, Any]:
    """How much each parameter matters, from plain values.

    Args:
        tables: The parameters, as `ParameterSpace.from_tables` takes them.
        rows: Values, mean utility and number of runs of every configuration.
    """
    found = importance_of(
        ParameterSpace.from_tables(**tables),
        [values for values, _, _ in rows],
        np.array([mean for _, mean, _ in rows], dtype=np.float64),
        np.array([runs for _, _, runs in rows], dtype=np.int64),
    )
    return found.to_dict()

"""Random recorded runtimes and settings on which the procedures and their oracle must agree exactly.

Runtimes, captimes and the utility's k0 are small dyadic numbers, so that all sums are exact and no
comparison hangs on the order of additions. A few rows and columns are drawn and then repeated: that
gives ties between configurations, and instance orders long enough to prove something.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

import oracle
from utilitune import ProcedureSpec, RuntimeMatrix

if TYPE_CHECKING:
    from utilitune.domain import Progress

_RUNTIMES = (0.0, math.inf, 1.0, 2.0, 3.0, 4.0, 7.0, 8.0, 15.0, 16.0, 31.0, 33.0, 64.0, 100.0)


@dataclass(frozen=True)
class Replay:
    """One task, for the package and for the oracle."""

    matrix: RuntimeMatrix
    spec: ProcedureSpec
    utility: str
    setting: oracle.Setting


@st.composite
def replays(draw: st.DrawFn, *, rows: tuple[int, int] = (2, 5), positions: int = 240) -> Replay:
    """A random task for UP and OUP; the name of the procedure is left to the test."""
    stored = draw(
        st.lists(st.lists(st.sampled_from(_RUNTIMES), min_size=3, max_size=3), min_size=1, max_size=4)
    )
    chosen = draw(st.lists(st.integers(0, len(stored) - 1), min_size=rows[0], max_size=rows[1]))
    captime0 = draw(st.sampled_from([0.5, 1.0, 3.0, 4.0]))
    cutoff = draw(st.sampled_from([math.inf, math.inf, 64.0, 24.0, 4.0]))
    k0 = draw(st.sampled_from([4.0, 16.0, 64.0]))
    matrix = RuntimeMatrix.from_array([stored[row] for row in chosen], cutoff)
    matrix = matrix.resample(
        draw(st.sampled_from([positions, positions // 2, positions // 4, 7, 1])), draw(st.integers(0, 2**20))
    )
    spec = ProcedureSpec(
        delta=draw(st.sampled_from([0.05, 0.1, 0.4])),
        epsilon=draw(st.sampled_from([0.4, 0.6, 0.8, 0.2, None, None])),
        doubling=draw(st.sampled_from(["new", "old"])),
        accounting=draw(st.sampled_from(["restart", "resume"])),
        captime0_s=captime0,
    )
    return Replay(matrix, spec, f"uniform(k0={k0:g})", _setting(matrix, spec, k0))


def _setting(matrix: RuntimeMatrix, spec: ProcedureSpec, k0: float) -> oracle.Setting:
    return oracle.Setting(
        runtimes=np.asarray(matrix.runtimes_s)[:, matrix.columns].tolist(),
        utility=oracle.uniform(k0),
        delta=spec.delta,
        epsilon=spec.epsilon,
        new_rule=spec.doubling == "new",
        captime0=spec.captime0_s,
        cutoff=matrix.cutoff_s,
        resume=spec.accounting == "resume",
    )


def named(task: Replay, name: str, **changes: object) -> ProcedureSpec:
    """The task's settings for one procedure."""
    return replace(task.spec, name=name, **changes)


def counts(state: Progress | oracle.Outcome) -> tuple[int, float, int, int, int]:
    """Everything that must agree exactly: answer, total time, runs, rounds, configurations in play."""
    if isinstance(state, oracle.Outcome):
        return state.best, state.total_time, state.runs, state.rounds, state.alive
    return state.best_index, state.total_time_s, state.runs, state.rounds, state.alive

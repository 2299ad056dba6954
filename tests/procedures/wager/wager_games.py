"""Small tasks for `wager`, recorded and live."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from utilitune.data import RuntimeMatrix
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import LiveEvidence, RecordedEvidence
from utilitune.procedures.growth import FixedSet
from utilitune.procedures.wager import WagerEngine, WagerSettings
from utilitune.utility import LogLaplace

if TYPE_CHECKING:
    from utilitune.domain import RunRequest

UTILITY = LogLaplace(10.0)
CUTOFF_S = 400.0
ENDLESS = PauseAt(rounds=10**9, total_time_s=math.inf, runs=10**9)


def solver_runtimes(rows: int, columns: int, seed: int) -> RuntimeMatrix:
    """Runtimes with hard and easy instances, good and bad configurations, and some noise."""
    generator = np.random.default_rng(seed)
    logs = (
        2.0
        + generator.normal(0, 1.0, (1, columns))
        + generator.normal(0, 0.6, (rows, 1))
        + generator.normal(0, 0.5, (rows, columns))
    )
    return RuntimeMatrix.from_array(np.exp(logs), CUTOFF_S)


def settings(rows: int, **changes: object) -> WagerSettings:
    """Settings for a fixed set; anything can be changed."""
    chosen: dict[str, object] = {
        "delta": 0.1,
        "epsilon": 0.15,
        "captime_limit_s": CUTOFF_S,
        "growth": FixedSet(rows),
    }
    return WagerSettings(**(chosen | changes))  # type: ignore[arg-type]


def begun(engine: WagerEngine, rows: int) -> WagerEngine:
    """The engine with all its configurations."""
    for _ in range(rows):
        engine.add(Origin.RANDOM)
    return engine


def recorded(matrix: RuntimeMatrix, chosen: WagerSettings) -> WagerEngine:
    """An engine on recorded runs, with every row in play."""
    return begun(WagerEngine(RecordedEvidence(matrix, UTILITY), UTILITY, chosen), matrix.rows)


class LiveGame:
    """An engine whose runs are made on request, by several workers that finish in any order."""

    def __init__(self, matrix: RuntimeMatrix, chosen: WagerSettings, workers: int, seed: int) -> None:
        self.matrix = matrix
        self.evidence = LiveEvidence(UTILITY, matrix.positions)
        self.engine = WagerEngine(self.evidence, UTILITY, chosen)
        self.workers = workers
        self.made = 0
        self._generator = np.random.default_rng(seed)

    def make(self, request: RunRequest) -> None:
        """Make one run and record what it told."""
        self.made += 1
        runtime = float(self.matrix.runtimes_s[request.configuration, self.matrix.columns[request.position]])
        finished = runtime < request.captime_s
        self.evidence.record(
            request.configuration,
            request.position,
            runtime if finished else math.inf,
            runtime if finished else request.captime_s,
        )

    def play(self, pause: PauseAt = ENDLESS) -> Halt:
        """Play on; of the runs asked for, a random part is made before the engine is asked again."""
        while True:
            halt = self.engine.advance(pause)
            if halt is not Halt.NEEDS_RUNS:
                return halt
            requests = [*self.engine.needed(), *self.engine.likely(self.workers)]
            order = self._generator.permutation(len(requests))
            for index in order[: 1 + int(self._generator.integers(len(requests)))]:
                self.make(requests[index])

"""Searches with everything `wager` takes: a default, draws that repeat, and nominees chosen by luck.

Nominees are the configurations that look best on the first positions of the stored order: the worst choice a
search could make. Each is judged along an order of its own. The proved gain over the default counts, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.audit.searches import TOLERANCE, moments
from benchmarks.audit.verdict import NOTHING_SEEN, Verdict
from benchmarks.audit.worlds import COIN, NEVER

from utilitune import RuntimeMatrix
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.orders import fresh_order
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.domain import Progress, Promise

_MOST_DRAWS = 150
_SHAPED = 10
_NOMINEES = 6


@dataclass(frozen=True, eq=False)
class Task:
    """Configurations on a list or on a sample of instances.

    Attributes:
        runtimes_s: One row per configuration of the space; row 0 is the default.
        worth: What each is truly worth.
        finite: Whether the instances are all there is.
    """

    runtimes_s: np.ndarray
    worth: np.ndarray
    finite: bool

    @classmethod
    def make(cls, generator: np.random.Generator, size: int, positions: int, *, finite: bool) -> Task:
        """A space of so many configurations."""
        chances = generator.beta(2.0, 2.0, size)
        runtimes_s = np.where(generator.random((size, positions)) < chances[:, None], 0.25, NEVER)
        utility = parse_utility(COIN)
        worth = utility(runtimes_s).mean(axis=1) if finite else chances * float(utility(0.25))
        return cls(runtimes_s, worth, finite)

    def seen(self, progress: Progress, rows: Sequence[int]) -> Verdict:
        """Whether the promise at a moment is false, of the answer and of the worst in play."""
        mine, least = self.worth[progress.best_index], self.worth[list(rows)].min()
        return Verdict(self._broken(progress.promise, mine), self._broken(progress.promise, least))

    def _broken(self, promise: Promise, mine: float) -> bool:
        """Whether a promise is false of what is worth this, about the space or about the default."""
        if promise.gain is not None and mine < self.worth[0] + promise.gain - TOLERANCE:
            return True
        if promise.epsilon >= 1 or promise.gamma is None or promise.gamma >= 1:
            return False
        ranked = np.sort(self.worth)
        place = math.floor(len(ranked) * (1.0 - promise.gamma) + 1e-9)
        return bool(ranked[min(place, len(ranked) - 1)] - mine > promise.epsilon + TOLERANCE)


def chosen_search(
    generator: np.random.Generator,
    delta: float,
    size: int,
    *,
    finite: bool,
    nominees: int = _NOMINEES,
    listed: bool = False,
) -> Verdict:
    """Whether a search with a default, repeated draws and lucky nominees ever promises too much.

    Args:
        generator: The source of chance.
        delta: The probability with which the promise may fail.
        size: How many configurations the space has.
        finite: Whether the instances are all there is.
        nominees: How many are nominated, on a list.
        listed: Whether the space is drawn as a whole before the first run, each configuration once.
    """
    positions = int(generator.choice([1, 2, 3, 12, 40])) if finite else 150
    task = Task.make(generator, size, positions, finite=finite)
    utility = parse_utility(COIN)
    settings = WagerSettings(
        delta,
        captime0_s=0.5,
        captime_limit_s=64.0,
        finite_population=finite,
        growth=Adaptive(),
        announced_gamma=float(generator.choice([0.1, 0.3])),
        default=True,
        space_size=size,
        listed=listed,
    )
    evidence = RecordedEvidence(RuntimeMatrix.from_array(task.runtimes_s, 64.0), utility)
    engine = WagerEngine(evidence, utility, settings)
    engine.add(Origin.GIVEN, configuration=0)
    lucky = np.argsort(-utility(task.runtimes_s[:, :_SHAPED]).mean(axis=1), kind="stable")
    entropy, nominated, draws = str(generator.integers(2**62)), 0, 0
    rows = generator.permutation(size) if listed else generator.integers(size, size=_MOST_DRAWS)
    verdict, joined = NOTHING_SEEN, [0]
    for rounds in moments():
        while (halt := engine.advance(PauseAt(rounds, math.inf, 10**9))) is Halt.NEEDS_CONFIGURATIONS:
            for _ in range(min(engine.missing_configurations, _MOST_DRAWS - draws)):
                engine.add(Origin.RANDOM, configuration=int(rows[draws]))
                joined.append(int(rows[draws]))
                draws += 1
            if engine.missing_configurations:
                engine.no_more()
        verdict |= task.seen(engine.progress(), joined)
        if verdict.failed or halt is Halt.DONE:
            break
        if finite and nominated < min(nominees, size) and rounds > 10 * (nominated + 1):
            nominee = int(lucky[nominated])
            nominated += 1
            engine.add(
                Origin.NOMINEE, order=fresh_order(entropy, nominated, positions), configuration=nominee
            )
            joined.append(nominee)
    return verdict

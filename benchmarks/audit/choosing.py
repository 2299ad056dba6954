"""Searches in which somebody else chooses the answer, knowing the truth.

`WagerEngine.progress_of` says what is proved with any configuration as the answer. A live run uses it for the
latest nominee; whoever looks may ask about any of them. So here every configuration is asked about at every
moment, and a search fails if what is said of *one* of them is false *once*. No rule for choosing the answer
(the largest lower bound, the best-proved one, the newest nominee) can fail more often.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.audit.nominating import Task
from benchmarks.audit.searches import TOLERANCE, moments
from benchmarks.audit.verdict import NOTHING_SEEN, Verdict
from benchmarks.audit.worlds import COIN

from utilitune import RuntimeMatrix
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import FixedSet
from utilitune.procedures.orders import fresh_order
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from utilitune.domain import Promise
    from utilitune.procedures.evidence import Evidence
    from utilitune.utility import Utility

    MakeEngine = Callable[[Evidence, Utility, WagerSettings], WagerEngine]
    Order = Callable[[str, int, int], NDArray[np.int32]]

DRAWS = 40
SHAPED = 10
FIXED = 8


class Asking:
    """One search, and everybody who may be asked about in it.

    Args:
        generator: The source of chance.
        delta: The probability with which anything that is said may be false.
        finite: Whether the instances are all there is.
        fixed: Whether the set of configurations is fixed.
        make: Makes the engine; broken ones must be found out.
        order: Makes the order of a nominee.
    """

    def __init__(
        self,
        generator: np.random.Generator,
        delta: float,
        *,
        finite: bool,
        fixed: bool = False,
        make: MakeEngine = WagerEngine,
        order: Order = fresh_order,
    ) -> None:
        self._generator, self._finite, self._fixed, self._order = generator, finite, fixed, order
        self._positions = int(generator.choice([2, 3, 12, 40])) if finite else 150
        size = FIXED if fixed else 300
        self.task = Task.make(generator, size, self._positions, finite=finite)
        utility = parse_utility(COIN)
        settings = WagerSettings(
            delta,
            captime0_s=0.5,
            captime_limit_s=64.0,
            finite_population=finite,
            growth=FixedSet(size) if fixed else Adaptive(),
            announced_gamma=None if fixed else float(generator.choice([0.1, 0.3])),
            default=True,
        )
        evidence = RecordedEvidence(RuntimeMatrix.from_array(self.task.runtimes_s, 64.0), utility)
        self.engine = make(evidence, utility, settings)
        self.engine.add(Origin.GIVEN, configuration=0)
        self._rows = [0]
        self._nominated = 0
        self._lucky = np.argsort(-utility(self.task.runtimes_s[:, :SHAPED]).mean(axis=1), kind="stable")
        self._entropy = str(generator.integers(2**62))

    def fails(self) -> Verdict:
        """Whether anything that is said of any configuration is ever false."""
        verdict = NOTHING_SEEN
        for rounds in moments()[::3]:
            halt = self._go_on(rounds)
            said = [self.engine.progress_of(row) for row in dict.fromkeys(self._rows)]
            failed = any(self._false(each.promise, each.best_index) for each in said)
            worst = min((each.best_index for each in said), key=lambda row: self.task.worth[row])
            boldest = min((each.promise for each in said), key=lambda promise: promise.epsilon)
            verdict |= Verdict(failed, self._false(boldest, worst))
            if failed or halt is Halt.DONE:
                break
            if not self._fixed and rounds > 10 * (self._nominated + 1) and self._nominated < SHAPED:
                self._nominate()
        return verdict

    def _go_on(self, rounds: int) -> Halt:
        engine, size = self.engine, len(self.task.worth)
        while (halt := engine.advance(PauseAt(rounds, math.inf, 10**9))) is Halt.NEEDS_CONFIGURATIONS:
            for _ in range(min(engine.missing_configurations, DRAWS - len(self._rows))):
                row = len(self._rows) if self._fixed else int(self._generator.integers(size))
                engine.add(Origin.RANDOM, configuration=row)
                self._rows.append(row)
            if engine.missing_configurations:
                engine.no_more()
        return halt

    def _nominate(self) -> None:
        """Bring in what looks best by luck, on an order of its own or on fresh instances."""
        row = int(self._lucky[self._nominated])
        self._nominated += 1
        self._rows.append(row)
        if self._finite:
            order = self._order(self._entropy, self._nominated, self._positions)
            arm = self.engine.add(Origin.NOMINEE, order=order, configuration=row)
        else:
            arm = self.engine.add(Origin.MODEL, configuration=row)
        if self._nominated % 3 == 1:
            self.engine.ask_about(arm)

    def _false(self, promise: Promise, row: int) -> bool:
        """Whether what is promised is not so of a configuration, about the best or about the default."""
        worth = self.task.worth
        mine = worth[row]
        if promise.gain is not None and mine < worth[0] + promise.gain - TOLERANCE:
            return True
        if promise.epsilon >= 1 or (promise.gamma is not None and promise.gamma >= 1):
            return False
        ranked = np.sort(worth)
        place = len(ranked) - 1 if promise.gamma is None else len(ranked) * (1.0 - promise.gamma)
        best = ranked[min(math.floor(place + 1e-9), len(ranked) - 1)]
        return bool(best - mine > promise.epsilon + TOLERANCE)


def any_answer_search(
    generator: np.random.Generator, delta: float, *, finite: bool, fixed: bool = False
) -> Verdict:
    """Whether anything said of any configuration of one search is ever false."""
    return Asking(generator, delta, finite=finite, fixed=fixed).fails()

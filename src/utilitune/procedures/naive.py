"""Naive: run every configuration equally often at one captime, as Hoeffding's inequality demands.

With u(κ) < ε, m = ⌊2 ln(2n/δ) / (ε − u(κ))²⌋ + 1 runs of each of n configurations at captime κ make the
largest mean capped utility ε-optimal with probability 1 − δ (Graham, Leyton-Brown & Roughgarden 2023).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import (
    Progress,
    RunRequest,
    StopReason,
    require_delta,
    require_positive,
    require_probability,
)
from utilitune.domain.compiled import compiled
from utilitune.domain.stopping import NOT_STOPPED, epsilon_reached
from utilitune.errors import UsageError
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import is_known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from utilitune.domain import PhaseRecord
    from utilitune.procedures.engine import BegunRun
    from utilitune.procedures.evidence import Evidence, LiveEvidence, RecordedEvidence
    from utilitune.utility import Utility


_SMALLEST_SQUARE = 1e-30  # of ε − u(κ); below it, more runs are needed than anyone can make


def naive_runs(configurations: int, delta: float, epsilon: float, captime_utility: float) -> int:
    """M = ⌊2 ln(2n/δ) / (ε − u(κ))²⌋ + 1 runs of each configuration."""
    square = max((epsilon - captime_utility) ** 2, _SMALLEST_SQUARE)
    return math.floor(2 * math.log(2 * configurations / delta) / square) + 1


@compiled
def _unknown_positions(evidence: Evidence, i: int, end: int, captime_s: float) -> NDArray[np.int64]:
    """Positions before `end` where the outcome of configuration i at the captime is not known."""
    found = np.empty(end, dtype=np.int64)
    count = 0
    for j in range(end):
        if not is_known(evidence, i, j, captime_s):
            found[count] = j
            count += 1
    return found[:count]


class NaiveEngine:
    """Naive(κ) at work.

    Args:
        evidence: The runs.
        utility: The utility function; u(κ) must be below ε.
        delta: Probability with which the promise may fail.
        epsilon: What to prove.
        captime_s: The one captime κ.
        configurations: How many configurations there are.
    """

    phases: tuple[PhaseRecord, ...] = ()

    def __init__(
        self,
        evidence: RecordedEvidence | LiveEvidence,
        utility: Utility,
        *,
        delta: float,
        epsilon: float,
        captime_s: float,
        configurations: int,
    ) -> None:
        require_delta(delta)
        require_probability("epsilon", epsilon)
        require_positive("the captime of Naive", captime_s)
        worth = float(utility(captime_s))
        if worth >= epsilon:
            raise UsageError(
                f"Naive needs a captime with u(captime) < epsilon, but u({captime_s:g} s) = {worth:.4g} is "
                f"not below {epsilon:g}: choose a larger captime or a larger epsilon"
            )
        self.runs_each = naive_runs(configurations, delta, epsilon, worth)
        if self.runs_each > evidence.positions:
            raise UsageError(
                f"Naive needs {self.runs_each} instances for epsilon = {epsilon:g}, but there are only "
                f"{evidence.positions}: bring more instances or choose a larger epsilon"
            )
        self._evidence, self._captime_s, self._worth = evidence, captime_s, worth
        self._delta, self._epsilon, self._size = delta, epsilon, configurations
        self._means = np.full(configurations, -math.inf)
        self.added = 0
        self._done = 0
        self._time_each_s = np.zeros(configurations)
        self._total_s = 0.0

    @property
    def missing_configurations(self) -> int:
        """How many configurations are still to be added."""
        return self._size - self.added

    @property
    def time_each_s(self) -> NDArray[np.float64]:
        """Seconds spent on each configuration so far."""
        return self._time_each_s.copy()

    def add(
        self, origin: Origin = Origin.RANDOM, first_position: int = 0, *, configuration: int | None = None
    ) -> int:
        """Take in the next configuration."""
        del origin, first_position, configuration
        self.added += 1
        return self.added - 1

    def no_more(self) -> None:
        """Refuse: Naive promises something about a set of known size only."""
        raise UsageError(f"{self._size} configurations were asked for, but there are only {self.added}")

    def advance(self, pause: PauseAt) -> Halt:
        """Finish configuration after configuration."""
        if self.added < self._size:
            return Halt.NEEDS_CONFIGURATIONS
        while self._done < self._size:
            if self._total_s >= pause.total_time_s or self._done * self.runs_each >= min(
                pause.runs, pause.rounds
            ):
                return Halt.PAUSED
            if self.needed():
                return Halt.NEEDS_RUNS
            self._finish_row(self._done)
            self._done += 1
        return Halt.DONE

    def _finish_row(self, i: int) -> None:
        evidence = self._evidence.arrays
        runs = evidence.base[i] + evidence.column[: self.runs_each]
        runtimes = evidence.runtime_s[runs]
        finished = runtimes < self._captime_s
        self._means[i] = np.where(finished, evidence.utility[runs], self._worth).mean()
        self._time_each_s[i] = np.minimum(runtimes, self._captime_s).sum()
        self._total_s += float(self._time_each_s[i])

    def needed(self) -> list[RunRequest]:
        """The runs the current configuration still lacks."""
        return self._unknown(self._done, self.runs_each)

    @property
    def imagined_rounds(self) -> int:
        """It imagines nothing: what it will need is certain."""
        return 0

    def likely(self, count: int, begun: Sequence[BegunRun] = ()) -> list[RunRequest]:
        """The runs of the configurations that follow."""
        del begun
        found: list[RunRequest] = []
        for i in range(self._done, self._size):
            found += self._unknown(i, count - len(found))
            if len(found) >= count:
                break
        return found

    def _unknown(self, i: int, most: int) -> list[RunRequest]:
        positions = _unknown_positions(self._evidence.arrays, i, self.runs_each, self._captime_s)
        return [RunRequest(i, j, self._captime_s) for j in positions[:most].tolist()]

    def progress(self) -> Progress:
        """The best mean so far; nothing is proved before the end."""
        done = self._done == self._size
        runs = self._done * self.runs_each
        return Progress(
            best_index=int(np.argmax(self._means)),
            epsilon=self._epsilon if done else 1.0,
            gamma=None,
            delta=self._delta,
            total_time_s=self._total_s,
            runs=runs,
            rounds=runs,
            configurations=self._size,
            alive=self._size,
        )

    def stop_reason(self) -> StopReason:
        """Naive ends when all its runs are made."""
        if self._done < self._size:
            return NOT_STOPPED
        return epsilon_reached(self._epsilon, "a smaller ε needs a new run of Naive")

    def captime_note(self) -> str:
        """Nothing: the captime is the user's choice and part of the promise."""
        return ""

    def shows_runs(self) -> None:
        """None: nobody has asked Naive for certificates."""

    def takes_proposals(self) -> None:
        """None: Naive works on a fixed set."""

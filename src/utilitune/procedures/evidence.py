"""What is known of the runs: the one table every procedure reads, recorded or live.

Compiled rules read an `Evidence` tuple of flat arrays: the run of configuration ``i`` on position
``j`` of the instance order lies at ``base[i] + column[j]``, for ``j < room[i]``. Recorded data is laid
out once, and everything about it is known. Live evidence starts empty and grows run by run; a rule
that meets a run it does not know yet stops there, and the run is asked for. So one loop serves both.

Utilities are evaluated here, once per finished run, so that no compiled rule depends on the form of
a utility function.
"""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain.compiled import inlined
from utilitune.procedures.pair_runtime import PairRuntime

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from utilitune.data import RuntimeMatrix
    from utilitune.domain import RunOutcome, RunRequest
    from utilitune.utility import Utility


_BLOCK = 1 << 20


class Evidence(NamedTuple):
    """The arrays compiled rules read.

    Attributes:
        base: Where the runs of each configuration begin.
        column: Offset of each position of the instance order.
        room: How many positions of each configuration have a place; a single entry holds for all.
        runtime_s: Runtime of each run; infinite where it is not known to finish.
        utility: u(runtime) of each run; u(∞) where it is not known to finish.
        known_s: How far each unfinished run is known; a single entry holds for all.
        failed_s: After how long each run failed by itself; infinite where it is not known to have failed. A
            single entry holds for all.
        least: For evidence of intervals, X of each run (row) looked at up to each captime level (column):
            what it is worth at the least. No columns where a run is worth what its time says.
        most: Y likewise: what it can be worth at the most.
    """

    base: NDArray[np.int64]
    column: NDArray[np.int64]
    room: NDArray[np.int64]
    runtime_s: NDArray[np.float64]
    utility: NDArray[np.float64]
    known_s: NDArray[np.float64]
    failed_s: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]


NO_INTERVALS = np.zeros((1, 0))
"""Stands for `least` and `most` where what a run is worth follows from its time."""


@inlined
def is_known(evidence: Evidence, configuration: int, position: int, captime_s: float) -> bool:
    """Whether the outcome of a run at a captime is known: it finished, or was watched that long."""
    if configuration >= evidence.base.size:
        return False
    if position >= evidence.room[configuration if evidence.room.size > 1 else 0]:
        return False
    run = evidence.base[configuration] + evidence.column[position]
    if evidence.runtime_s[run] < math.inf:
        return True
    known_s: float = evidence.known_s[run if evidence.known_s.size > 1 else 0]
    return captime_s <= known_s


class RecordedEvidence:
    """Evidence from a recorded matrix: rows are configurations in order, all runs are known."""

    default_is_known = False

    def __init__(self, matrix: RuntimeMatrix, utility: Utility) -> None:
        runtimes = np.ascontiguousarray(matrix.runtimes_s, dtype=np.float64)
        rows, width = runtimes.shape
        self.positions = len(matrix.columns)
        self.configurations = rows
        self.arrays = Evidence(
            base=np.arange(rows, dtype=np.int64) * width,
            column=np.ascontiguousarray(matrix.columns, dtype=np.int64),
            room=np.array([self.positions], dtype=np.int64),
            runtime_s=runtimes.reshape(-1),
            utility=_utilities(runtimes.reshape(-1), utility),
            known_s=np.array([math.inf]),
            failed_s=np.array([math.inf]),
            least=NO_INTERVALS,
            most=NO_INTERVALS,
        )

    def look_at(self, captimes_s: NDArray[np.float64]) -> None:
        """Learn of the captimes at which runs will be looked at; nothing depends on them here."""

    def at_the_end(self) -> RecordedEvidence:
        """The same runs, of which nothing is known before their end but how long they last."""
        return copy(self)

    def arranged(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> RecordedEvidence:
        """The same runs, with these rows as configurations and these columns as positions; no copy."""
        other = copy(self)
        other.configurations, other.positions = len(rows), len(columns)
        other.arrays = self.arrays._replace(
            base=self.arrays.base[rows],
            column=np.ascontiguousarray(columns, dtype=np.int64),
            room=np.array([len(columns)], dtype=np.int64),
        )
        return other


def _utilities(runtimes_s: NDArray[np.float64], utility: Utility) -> NDArray[np.float64]:
    """Utilities of all runs, worked out in blocks: intermediate results of a large matrix would not fit."""
    values = np.empty_like(runtimes_s)
    for start in range(0, runtimes_s.size, _BLOCK):
        values[start : start + _BLOCK] = utility(runtimes_s[start : start + _BLOCK])
    return values


class LiveEvidence:
    """Evidence that grows run by run.

    Each configuration owns a block of the flat arrays; a full block moves to the end, twice as long.

    Args:
        utility: The utility function of the run.
        positions: How many instances there are; a large number for an endless generator.
    """

    _FIRST_BLOCK = 8

    default_is_known = False
    """Whether the default is known to its end wherever another configuration is."""

    imaginable = True
    """Whether the worth of a run follows from its time, so that an outcome can be imagined."""

    def __init__(self, utility: Utility, positions: int) -> None:
        self.positions = positions
        self._utility = utility
        self._floor = float(utility(math.inf))
        self._base = np.zeros(0, dtype=np.int64)
        self._capacity = np.zeros(0, dtype=np.int64)
        self._column = np.arange(0, dtype=np.int64)
        self._used = 0
        self._runtime_s = np.zeros(0)
        self._value = np.zeros(0)
        self._known_s = np.zeros(0)
        self._failed_s = np.zeros(0)
        self.reserve_configurations(64)
        self._reserve(2)  # a single entry would read as "the same for all"

    @property
    def utility(self) -> Utility:
        """The utility of time from which captimes follow."""
        return self._utility

    @property
    def arrays(self) -> Evidence:
        """The arrays as they stand; those taken before a growth still hold what was known then."""
        return Evidence(
            base=self._base,
            column=self._column,
            room=self._capacity,
            runtime_s=self._runtime_s,
            utility=self._value,
            known_s=self._known_s,
            failed_s=self._failed_s,
            least=NO_INTERVALS,
            most=NO_INTERVALS,
        )

    def look_at(self, captimes_s: NDArray[np.float64]) -> None:
        """Learn of the captimes at which runs will be looked at; nothing depends on them here."""

    def reserve_configurations(self, count: int) -> None:
        """Make room for configurations 0 … count − 1."""
        have = len(self._base)
        if count <= have:
            return
        grown = max(count, 2 * have)
        first = self._used
        self._reserve((grown - have) * self._FIRST_BLOCK)
        new = first + np.arange(grown - have, dtype=np.int64) * self._FIRST_BLOCK
        self._base = np.concatenate([self._base, new])
        self._capacity = np.concatenate([self._capacity, np.full(grown - have, self._FIRST_BLOCK)])
        self._extend_columns(self._FIRST_BLOCK)

    def tell(self, request: RunRequest, outcome: RunOutcome) -> None:
        """Add what came of a run; what neither finished nor was stopped at its captime never finishes."""
        self.record(request.configuration, request.position, *PairRuntime.of(request, outcome))

    def record(
        self,
        configuration: int,
        position: int,
        runtime_s: float,
        known_s: float,
        failed_s: float = math.inf,
    ) -> None:
        """Add what one run told.

        Args:
            configuration: Whose run.
            position: On which instance of the order.
            runtime_s: Its runtime; infinite if it did not finish.
            known_s: How long it was watched; infinite if it is certain never to finish.
            failed_s: After how long it failed; infinite if it did not, or if nobody knows when.

        Where there are several runs of a pair, `utilitune.procedures.pair_runtime` says what counts.
        """
        at = self._place(configuration, position)
        before = PairRuntime(float(self._runtime_s[at]), float(self._known_s[at]), float(self._failed_s[at]))
        now = before.then(PairRuntime(runtime_s, known_s, failed_s))
        self._runtime_s[at], self._known_s[at], self._failed_s[at] = now
        if math.isfinite(now.runtime_s) and now is not before:
            self._value[at] = float(self._utility(now.runtime_s))

    def knows(self, request: RunRequest) -> bool:
        """Whether the outcome of a run is known, as `is_known` tells compiled rules."""
        configuration, position = request.configuration, request.position
        if configuration >= len(self._base) or position >= self._capacity[configuration]:
            return False
        at = self._base[configuration] + position
        return bool(self._runtime_s[at] < math.inf or request.captime_s <= self._known_s[at])

    def reserve(self, configuration: int, position: int) -> None:
        """Make room for a run."""
        self._place(configuration, position)

    def lacking(self, requests: Iterable[RunRequest]) -> list[RunRequest]:
        """The runs to be made for these to be known: these themselves."""
        return list(requests)

    @property
    def learnable(self) -> tuple[Evidence, Utility]:
        """Runs and the utility of their time, for a model to learn from."""
        return self.arrays, self._utility

    def _place(self, configuration: int, position: int) -> int:
        """Where a run lies in the flat arrays, made if need be."""
        self.reserve_configurations(configuration + 1)
        self._reserve_position(configuration, position)
        return int(self._base[configuration]) + position

    def _reserve(self, count: int) -> None:
        """Make room for `count` more runs at the end of the flat arrays."""
        need = self._used + count
        if need > len(self._runtime_s):
            size = max(need, 2 * len(self._runtime_s), 1024)
            self._runtime_s = _grown(self._runtime_s, size, math.inf)
            self._value = _grown(self._value, size, self._floor)
            self._known_s = _grown(self._known_s, size, 0.0)
            self._failed_s = _grown(self._failed_s, size, math.inf)
            # Whoever holds the arrays of before reads on there, where no run has moved.
            self._base, self._capacity = self._base.copy(), self._capacity.copy()
        self._used = need

    def _reserve_position(self, configuration: int, position: int) -> None:
        """Make room for a position of one configuration, moving its block if need be."""
        capacity = int(self._capacity[configuration])
        if position < capacity:
            return
        grown = max(2 * capacity, position + 1)
        old = int(self._base[configuration])
        new = self._used
        self._reserve(grown)
        for values in (self._runtime_s, self._value, self._known_s, self._failed_s):
            values[new : new + capacity] = values[old : old + capacity]
        self._base[configuration] = new
        self._capacity[configuration] = grown
        self._extend_columns(grown)

    def _extend_columns(self, count: int) -> None:
        if count > len(self._column):
            self._column = np.arange(count, dtype=np.int64)


def _grown(values: NDArray[np.float64], size: int, fill: float) -> NDArray[np.float64]:
    """A longer copy, padded with `fill`."""
    longer = np.full(size, fill)
    longer[: len(values)] = values
    return longer

"""Structured Procrastination with Confidence (SPC): always run whoever may be the fastest, hard runs later.

Algorithm 1 of Kleinberg, Leyton-Brown, Lucier and Graham ("Procrastinating with confidence: near-optimal,
anytime, adaptive algorithm configuration", NeurIPS 2019). The configuration with the smallest lower
confidence bound on its mean runtime runs next. Runs that time out wait in its queue and are continued,
with a larger cap, once the queue is full. The answer at any time is the configuration that has begun the
most instances. Continued runs pay only the extra seconds.

One compiled loop plays until a limit is reached; the smallest bound is found in O(log n). A bound changes
with the runs of its own configuration and, slowly, with the number of steps, so all others are brought up to
date only every so many steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from utilitune.domain import StopReason, require_positive, require_whole
from utilitune.domain.compiled import compiled, inlined
from utilitune.domain.stopping import INSTANCES_EXHAUSTED, next_point
from utilitune.errors import UsageError
from utilitune.procedures.selection import build_tournament, update_tournament
from utilitune.rivals.rival import POINTS_PER_DECADE, RivalStanding, check_optional_captime

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from utilitune.domain.stopping import Budget
    from utilitune.procedures.evidence import Evidence
    from utilitune.rivals.rival import RecordedRuns

_SMALLEST_MULTIPLIER = 1.01  # below, hard runs would be continued practically for ever
_SHORTEST_CAP_S = 1e-6
_NEVER = 2**62
_LONGEST_QUEUE = 1024  # 25 log2(t log2 r) stays below for any number of steps a machine can make
_FIRST_BLOCK = 16
_BANDS = 20  # β is zero in the bands beyond for any number of instances up to millions

# Why the loop returned.
PAUSED, NEEDS_ROOM, EXHAUSTED = range(3)
# Slots of the counters.
STEPS, BEST = range(2)


class BenchRules(NamedTuple):
    """The constants of the loop."""

    multiplier: float
    refresh_every: int
    limit_s: float
    positions: int


class ProcrastinationState(NamedTuple):
    """The state of every configuration; arrays are indexed by the order of the draws.

    Attributes:
        evidence: The runs.
        rules: The constants.
        rows: Row of each configuration.
        begun: r, instances begun.
        cap_s: θ, the current cap.
        waiting: Ring buffer of the instances that wait.
        watched_s: How long each of them has run.
        head: Where the queue begins.
        length: How many wait.
        block: Where the sorted capped times of each configuration begin.
        room: How many of them have room there.
        sums_s: Sums of the sorted times up to the end of each band of the bound.
        keys: Minus the lower confidence bounds; infinite before the first run.
        counters: Steps, which are runs, and the current answer.
        total_s: Seconds paid.
    """

    evidence: Evidence
    rules: BenchRules
    rows: NDArray[np.int64]
    begun: NDArray[np.int64]
    cap_s: NDArray[np.float64]
    waiting: NDArray[np.int32]
    watched_s: NDArray[np.float64]
    head: NDArray[np.int64]
    length: NDArray[np.int64]
    block: NDArray[np.int64]
    room: NDArray[np.int64]
    sums_s: NDArray[np.float64]
    keys: NDArray[np.float64]
    counters: NDArray[np.int64]
    total_s: NDArray[np.float64]


@compiled
def queue_size(step: int, begun: int) -> int:
    """How many runs may wait: q = ⌈25 log2(t log2 r)⌉ once r ≥ 2 instances were begun, 25 before."""
    if begun < 2:
        return 25
    return max(25, math.ceil(25.0 * math.log2(step * math.log2(begun))))


@inlined
def band_end(count: int, k: int) -> int:
    """How many of r sorted times lie in bands 0 … k: those exceeded by a share p > 2^(−k−1) before them."""
    return count - (count >> (k + 1))


@compiled
def lower_confidence_bound(times_s: NDArray[np.float64], sums_s: NDArray[np.float64], step: int) -> float:
    """LCB = Σ_l (t_l − t_(l−1)) β(1 − Ĝ(t_(l−1))) over the sorted capped times.

    β(p) = p / (1 + e) with e = sqrt(9 · 2^k ln(k t) / r) for k = ⌊log2(1/p)⌋ ≥ 1 and e = sqrt(9 ln t / r)
    for k = 0; β = 0 where e > ½. As e depends on the band k of p only and grows with it, the sum goes band by
    band and ends with the first such k. The sum over a band a ≤ i < b of the sorted times is, by parts,
    Σ s_i + s_(b−1) (r − b) − s_(a−1) (r − a), and `sums_s` holds the sums of the times up to each band's end.
    """
    r = times_s.size
    total = begin_s = below_s = 0.0
    begin = 0
    for k in range(sums_s.size):
        error = math.sqrt(9.0 * 2.0**k * math.log(max(k, 1) * step) / r)
        if error > 0.5:
            break
        end = band_end(r, k)
        if end > begin:
            end_s = times_s[end - 1]
            area = sums_s[k] - below_s + end_s * (r - end) - begin_s * (r - begin)
            total += area / (1.0 + error)
            begin, begin_s, below_s = end, end_s, sums_s[k]
    return total / r


@compiled
def insert_time(times_s: NDArray[np.float64], sums_s: NDArray[np.float64], count: int, new_s: float) -> None:
    """Put one more time among `count` sorted ones and bring the sums of the bands up to date."""
    at = int(np.searchsorted(times_s[:count], new_s, side="right"))
    for j in range(count, at, -1):
        times_s[j] = times_s[j - 1]
    times_s[at] = new_s
    for k in range(sums_s.size):
        end = band_end(count, k)
        if at < end:
            sums_s[k] += new_s - times_s[end]
        if band_end(count + 1, k) > end:
            sums_s[k] += times_s[end]


@compiled
def raise_time(
    times_s: NDArray[np.float64], sums_s: NDArray[np.float64], change_s: tuple[float, float]
) -> None:
    """Raise one of the sorted times from the first to the second value; bring the sums up to date."""
    old_s, new_s = change_s
    at = int(np.searchsorted(times_s, old_s))
    to = max(at, int(np.searchsorted(times_s, new_s)) - 1)
    for j in range(at, to):
        times_s[j] = times_s[j + 1]
    times_s[to] = new_s
    for k in range(sums_s.size):
        end = band_end(times_s.size, k)
        if at < end:
            sums_s[k] += times_s[min(to, end - 1)] - old_s


@compiled
def _append(bench: ProcrastinationState, i: int, position: int, watched_s: float) -> None:
    """Let a run wait at the end of the queue."""
    at = (bench.head[i] + bench.length[i]) % bench.waiting.shape[1]
    bench.waiting[i, at] = position
    bench.watched_s[i, at] = watched_s
    bench.length[i] += 1


@compiled
def _run(bench: ProcrastinationState, times_s: NDArray[np.float64], i: int) -> None:
    """One step of configuration i: begin an instance, or continue the run that has waited longest."""
    evidence, rules = bench.evidence, bench.rules
    begins = bench.begun[i] < rules.positions and bench.length[i] < min(
        queue_size(bench.counters[STEPS], bench.begun[i]), bench.waiting.shape[1]
    )
    if begins:
        position = bench.begun[i]
        before_s = 0.0
    else:
        position = bench.waiting[i, bench.head[i]]
        before_s = bench.watched_s[i, bench.head[i]]
        bench.head[i] = (bench.head[i] + 1) % bench.waiting.shape[1]
        bench.length[i] -= 1
        bench.cap_s[i] = min(before_s * rules.multiplier, rules.limit_s)
    cap_s = bench.cap_s[i]
    runtime_s = evidence.runtime_s[evidence.base[bench.rows[i]] + evidence.column[position]]
    lasted_s = min(runtime_s, cap_s)
    first, count = bench.block[i], bench.begun[i]
    if begins:
        insert_time(times_s[first:], bench.sums_s[i], count, lasted_s)
        bench.begun[i] += 1
    else:
        raise_time(times_s[first : first + count], bench.sums_s[i], (before_s, lasted_s))
    bench.total_s[0] += lasted_s - before_s
    if runtime_s >= cap_s and cap_s < rules.limit_s:
        _append(bench, i, position, lasted_s)
    best = bench.counters[BEST]
    if bench.begun[i] > bench.begun[best] or (bench.begun[i] == bench.begun[best] and i < best):
        bench.counters[BEST] = i


@compiled
def _update_bound(bench: ProcrastinationState, times_s: NDArray[np.float64], i: int) -> None:
    first = bench.block[i]
    mine_s = times_s[first : first + bench.begun[i]]
    bench.keys[i] = -lower_confidence_bound(mine_s, bench.sums_s[i], bench.counters[STEPS])


@compiled
def advance(
    bench: ProcrastinationState,
    times_s: NDArray[np.float64],
    tree: NDArray[np.int32],
    limits: tuple[float, int],
) -> int:
    """Step after step, until so many seconds or runs are paid, or something is missing."""
    rules = bench.rules
    while bench.total_s[0] < limits[0] and bench.counters[STEPS] < limits[1]:
        i = tree[1]
        if bench.begun[i] == rules.positions and bench.length[i] == 0:
            return EXHAUSTED
        if bench.begun[i] == bench.room[i] and bench.begun[i] < rules.positions:
            return NEEDS_ROOM
        bench.counters[STEPS] += 1
        _run(bench, times_s, i)
        if bench.counters[STEPS] % rules.refresh_every == 0:
            for other in range(bench.keys.size):
                if bench.begun[other] > 0:
                    _update_bound(bench, times_s, other)
            tree[:] = build_tournament(bench.keys, bench.keys.size)
        else:
            _update_bound(bench, times_s, i)
            update_tournament(tree, bench.keys, i)
    return PAUSED


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredProcrastination:
    """Structured Procrastination with Confidence on all configurations.

    Attributes:
        multiplier: By what the cap of a run that timed out grows.
        captime0_s: κ0, the first cap; where it is above the captime, the captime is the first cap.
        captime_s: Runs that last so long count as lasting just that; the recording's cutoff if left out.
        refresh_every: Steps after which all bounds are brought up to date.
    """

    name: ClassVar[str] = "spc"
    anytime: ClassVar[bool] = True

    multiplier: float = 2.0
    captime0_s: float = 1.0
    captime_s: float | None = None
    refresh_every: int = 1000

    def __post_init__(self) -> None:
        require_positive("the first captime", self.captime0_s)
        require_whole("refresh_every", self.refresh_every)
        check_optional_captime(self.captime_s)
        if self.captime0_s < _SHORTEST_CAP_S:
            raise UsageError(
                f"the first captime must be at least {_SHORTEST_CAP_S:g} s, not {self.captime0_s:g} s"
            )
        if not (math.isfinite(self.multiplier) and self.multiplier >= _SMALLEST_MULTIPLIER):
            raise UsageError(
                f"the multiplier of caps must be a number of at least {_SMALLEST_MULTIPLIER:g}, "
                f"not {self.multiplier}"
            )

    def play(self, runs: RecordedRuns, budget: Budget) -> Generator[RivalStanding, None, StopReason]:
        """Play until the budget is used or the instances are."""
        limit_s = runs.captime_s(self.captime_s)
        rules = BenchRules(self.multiplier, min(self.refresh_every, _NEVER), limit_s, runs.positions)
        bench, times_s = _new_bench(runs, rules, min(self.captime0_s, limit_s))
        tree = build_tournament(bench.keys, runs.configurations)
        checkpoint_s = self.captime0_s
        while True:
            limits = (min(checkpoint_s, budget.max_time_s), budget.run_limit)
            state = advance(bench, times_s, tree, limits)
            if state == NEEDS_ROOM:
                times_s = _more_room(bench, times_s, int(tree[1]))
                continue
            yield _standing(bench)
            checkpoint_s = next_point(max(self.captime0_s, float(bench.total_s[0])), POINTS_PER_DECADE)
            if state == EXHAUSTED:
                return StopReason(
                    INSTANCES_EXHAUSTED,
                    f"The fastest configuration has run on all {runs.positions} instances: add instances to "
                    "go on.",
                )


def _new_bench(
    runs: RecordedRuns, rules: BenchRules, first_cap_s: float
) -> tuple[ProcrastinationState, NDArray[np.float64]]:
    """No configuration has run; each has room for a few sorted times."""
    count = runs.configurations
    bench = ProcrastinationState(
        evidence=runs.evidence,
        rules=rules,
        rows=runs.order,
        begun=np.zeros(count, dtype=np.int64),
        cap_s=np.full(count, first_cap_s),
        waiting=np.zeros((count, _LONGEST_QUEUE), dtype=np.int32),
        watched_s=np.zeros((count, _LONGEST_QUEUE)),
        head=np.zeros(count, dtype=np.int64),
        length=np.zeros(count, dtype=np.int64),
        block=np.arange(count, dtype=np.int64) * _FIRST_BLOCK,
        room=np.full(count, _FIRST_BLOCK, dtype=np.int64),
        sums_s=np.zeros((count, _BANDS)),
        keys=np.full(count, math.inf),
        counters=np.zeros(2, dtype=np.int64),
        total_s=np.zeros(1),
    )
    return bench, np.zeros(count * _FIRST_BLOCK)


def _more_room(bench: ProcrastinationState, times_s: NDArray[np.float64], i: int) -> NDArray[np.float64]:
    """Move the sorted times of a configuration to a block twice as long, at the end."""
    used, old, room = int((bench.block + bench.room).max()), int(bench.block[i]), int(bench.room[i])
    if used + 2 * room > len(times_s):
        times_s = np.concatenate([times_s, np.zeros(max(2 * room, len(times_s)))])
    times_s[used : used + room] = times_s[old : old + room]
    bench.block[i], bench.room[i] = used, 2 * room
    return times_s


def _standing(bench: ProcrastinationState) -> RivalStanding:
    best = int(bench.counters[BEST])
    return RivalStanding(
        best_index=int(bench.rows[best]),
        total_time_s=float(bench.total_s[0]),
        runs=int(bench.counters[STEPS]),
        configurations=int((bench.begun > 0).sum()),
        alive=len(bench.rows),
    )

"""The compiled race of CapsAndRuns: caps by quantiles, then means by empirical Bernstein bounds.

Every configuration in turn advances by one slice of one run, until it is decided. Runs are resumable: what
was once watched of a run is never paid again, whichever phase or check asks for it. A run that is not over
at the limit of the recording counts as lasting exactly that long.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain.compiled import compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.evidence import Evidence

# What a configuration is about to do, or how it was decided.
CAP, MEAN, PAUSED, ACCEPTED, REJECTED, EXHAUSTED = range(6)

# Why the loop returned.
GOES_ON, ALL_DECIDED, ONE_LEFT, ENOUGH_PAUSED = range(4)

# Slots of the shared numbers: the global bound T and the account.
BOUND, TOTAL = range(2)
# Slots of the counters: runs begun, and who set the bound last.
RUNS, HOLDER = range(2)


class RaceRules(NamedTuple):
    """The constants of one race.

    Attributes:
        slice_s: Seconds of one turn.
        instances: b, instances of the first phase.
        finishing: How many of them must finish.
        patience: A first phase that takes this many times b·T is abandoned.
        accuracy: ε.
        failure: ζ/n, what one configuration may fail with.
        limit_s: Runs are not known beyond this.
        pause_after: Samples of the second phase after which it pauses; −1 for never.
    """

    slice_s: float
    instances: int
    finishing: int
    patience: float
    accuracy: float
    failure: float
    limit_s: float
    pause_after: int


class RaceAccount(NamedTuple):
    """What all races of one procedure share.

    Attributes:
        evidence: The runs.
        rows: Row of each configuration.
        allowed: The seconds and the runs after which nothing more is begun.
        begun: Which configurations were looked at.
        watched_s: How far each run was watched.
        shared: The global bound and the seconds paid.
        counters: Runs that cost time, and who set the bound last.
    """

    evidence: Evidence
    rows: NDArray[np.int64]
    allowed: tuple[float, int]
    begun: NDArray[np.bool_]
    watched_s: NDArray[np.float64]
    shared: NDArray[np.float64]
    counters: NDArray[np.int64]


class RaceState(NamedTuple):
    """The state of every configuration of a race; arrays are indexed by the order of the draws."""

    account: RaceAccount
    status: NDArray[np.int64]
    pending: NDArray[np.int32]
    walk: NDArray[np.int64]
    work_s: NDArray[np.float64]
    cap_s: NDArray[np.float64]
    samples: NDArray[np.int64]
    elapsed_s: NDArray[np.float64]
    moments: NDArray[np.float64]
    grid: NDArray[np.int64]
    spread: NDArray[np.float64]
    mean_s: NDArray[np.float64]
    lower_s: NDArray[np.float64]


# Slots of the walk through the pending runs of the first phase.
CURSOR, KEPT, LEFT, PASSES, FINISHED = range(5)


def new_account(
    evidence: Evidence, rows: NDArray[np.int64], allowed: tuple[float, int] = (math.inf, 2**62)
) -> RaceAccount:
    """Nothing watched, nothing paid, no bound."""
    return RaceAccount(
        evidence=evidence,
        rows=rows,
        allowed=allowed,
        begun=np.zeros(len(rows), dtype=np.bool_),
        watched_s=np.zeros((len(rows), len(evidence.column))),
        shared=np.array([math.inf, 0.0]),
        counters=np.array([0, -1], dtype=np.int64),
    )


def new_race(account: RaceAccount, instances: int) -> RaceState:
    """All configurations before their first run."""
    count = len(account.rows)
    walk = np.zeros((count, 5), dtype=np.int64)
    walk[:, LEFT] = instances
    return RaceState(
        account=account,
        status=np.full(count, CAP, dtype=np.int64),
        pending=np.tile(np.arange(instances, dtype=np.int32), (count, 1)),
        walk=walk,
        work_s=np.zeros(count),
        cap_s=np.zeros(count),
        samples=np.zeros(count, dtype=np.int64),
        elapsed_s=np.zeros(count),
        moments=np.zeros((count, 2)),
        grid=np.zeros(count, dtype=np.int64),
        spread=np.zeros(count),
        mean_s=np.full(count, math.inf),
        lower_s=np.zeros(count),
    )


@compiled
def watch(account: RaceAccount, limit_s: float, i: int, position: int, until_s: float) -> float:
    """Watch a run up to `until_s`, paying only what was not watched before; return how long it lasted."""
    evidence = account.evidence
    runtime_s = evidence.runtime_s[evidence.base[account.rows[i]] + evidence.column[position]]
    lasted_s: float = min(runtime_s, limit_s, until_s)
    before_s = account.watched_s[i, position]
    account.begun[i] = True
    if lasted_s > before_s:
        if before_s == 0.0:
            account.counters[RUNS] += 1
        account.shared[TOTAL] += lasted_s - before_s
        account.watched_s[i, position] = lasted_s
    return lasted_s


@inlined
def is_spent(account: RaceAccount) -> bool:
    """Whether all the seconds or runs that are allowed were used."""
    used_s: float = account.shared[TOTAL]
    runs: int = account.counters[RUNS]
    return used_s >= account.allowed[0] or runs >= account.allowed[1]


@inlined
def is_over(lasted_s: float, until_s: float, limit_s: float) -> bool:
    """Whether a run watched until `until_s` is over: it ended before, or is not known any further."""
    return lasted_s < until_s or until_s >= limit_s


@compiled
def advance_pending(
    account: RaceAccount,
    pending: NDArray[np.int32],
    walk: NDArray[np.int64],
    i: int,
    slices: tuple[float, float],
) -> tuple[float, float]:
    """One slice for the next pending run, in turns; return the seconds it took and its runtime, if over.

    A run that goes on is looked at again after all others. A runtime of −1 says that it goes on.
    """
    slice_s, limit_s = slices
    position = pending[walk[CURSOR]]
    from_s = walk[PASSES] * slice_s
    lasted_s = watch(account, limit_s, i, position, from_s + slice_s)
    over = is_over(lasted_s, from_s + slice_s, limit_s)
    if over:
        walk[FINISHED] += 1
    else:
        pending[walk[KEPT]] = position
        walk[KEPT] += 1
    walk[CURSOR] += 1
    if walk[CURSOR] == walk[LEFT]:
        walk[LEFT] = walk[KEPT]
        walk[CURSOR] = walk[KEPT] = 0
        walk[PASSES] += 1
    return lasted_s - from_s, lasted_s if over else -1.0


@compiled
def _seek_cap(race: RaceState, rules: RaceRules, i: int) -> None:
    """A turn of the first phase: the cap is the largest of the first so many runtimes."""
    slices = (rules.slice_s, rules.limit_s)
    took_s, runtime_s = advance_pending(race.account, race.pending[i], race.walk[i], i, slices)
    race.work_s[i] += took_s
    race.cap_s[i] = max(race.cap_s[i], runtime_s)
    if race.work_s[i] >= rules.patience * rules.instances * race.account.shared[BOUND]:
        race.status[i] = REJECTED
    elif race.walk[i, FINISHED] >= rules.finishing:
        race.status[i] = PAUSED if rules.pause_after == 0 else MEAN


@compiled
def bernstein_spread(failure: float, grid: int) -> float:
    """At grid point k, x = −a ln(d/3) with a = ⌊1.1^k⌋/⌊1.1^(k−1)⌋, d = (ζ/n) / (10.5844 k^1.1)."""
    ratio = math.floor(1.1**grid) / math.floor(1.1 ** (grid - 1))
    return -ratio * math.log(failure / (10.5844 * grid**1.1) / 3.0)


@inlined
def bernstein_width(variance: float, cap_s: float, spread: float, samples: int) -> float:
    """Empirical Bernstein: c = sqrt(2 v x / j) + 3 τ x / j (Mnih, Szepesvári & Audibert 2008)."""
    return math.sqrt(2.0 * variance * spread / samples) + 3.0 * cap_s * spread / samples


@compiled
def _narrow_mean(race: RaceState, rules: RaceRules, i: int) -> None:
    """A sample of the second phase is complete: update its bounds and the global one, and decide."""
    samples = race.samples[i]
    if samples > math.floor(1.1 ** race.grid[i]):
        race.grid[i] += 1
        race.spread[i] = bernstein_spread(rules.failure, race.grid[i])
    mean = race.moments[i, 0] / samples
    race.mean_s[i] = mean
    if samples < 2:
        return
    variance = max(race.moments[i, 1] / samples - mean * mean, 0.0)
    width = bernstein_width(variance, race.cap_s[i], race.spread[i], samples)
    race.lower_s[i] = mean - width
    shared, counters = race.account.shared, race.account.counters
    if mean + width < shared[BOUND]:
        shared[BOUND] = mean + width
        counters[HOLDER] = i
    if race.lower_s[i] > shared[BOUND]:
        race.status[i] = REJECTED
    elif width <= rules.accuracy / 3.0 * (2.0 * mean - width):
        race.status[i] = ACCEPTED
    elif samples == rules.pause_after:
        race.status[i] = PAUSED


@compiled
def _seek_mean(race: RaceState, rules: RaceRules, i: int) -> None:
    """A turn of the second phase: one slice of the run on the next instance."""
    position = rules.instances + race.samples[i]
    if position >= race.account.evidence.column.size:
        race.status[i] = EXHAUSTED
        return
    cap_s = race.cap_s[i]
    until_s = min(race.elapsed_s[i] + rules.slice_s, cap_s)
    lasted_s = watch(race.account, rules.limit_s, i, position, until_s)
    if lasted_s < until_s or until_s >= cap_s:
        race.samples[i] += 1
        race.elapsed_s[i] = 0.0
        race.moments[i, 0] += lasted_s
        race.moments[i, 1] += lasted_s * lasted_s
        _narrow_mean(race, rules, i)
    else:
        race.elapsed_s[i] = lasted_s


@compiled
def _settled(race: RaceState, members: NDArray[np.int64]) -> int:
    """Whether the race is over: nobody goes on, or one does and every other is worse than the bound."""
    going = 0
    close = False
    for i in members:
        status = race.status[i]
        if status in (CAP, MEAN):
            going += 1
        elif status in (ACCEPTED, EXHAUSTED) and race.lower_s[i] <= race.account.shared[BOUND]:
            close = True
    if going == 0:
        return ALL_DECIDED
    return ONE_LEFT if going == 1 and not close else GOES_ON


@compiled
def _turn(race: RaceState, rules: RaceRules, i: int) -> bool:
    """A turn of one configuration; whether it still takes any."""
    if race.status[i] == CAP:
        _seek_cap(race, rules, i)
    elif race.status[i] == MEAN:
        _seek_mean(race, rules, i)
    else:
        return False
    return True


@compiled
def advance_race(
    race: RaceState, rules: RaceRules, members: NDArray[np.int64], pause_total_s: float, enough: int
) -> int:
    """Turns for all members until the race is settled, so much is paid, or `enough` members pause.

    When the budget is spent it returns at once, otherwise only where a round of turns is complete.
    """
    paused = 0
    for i in members:
        paused += race.status[i] == PAUSED
    while True:
        state = _settled(race, members)
        if state == ALL_DECIDED or (state == ONE_LEFT and rules.pause_after < 0):
            return state
        if race.account.shared[TOTAL] >= pause_total_s:
            return GOES_ON
        for i in members:
            if is_spent(race.account):
                return GOES_ON
            if _turn(race, rules, i) and race.status[i] == PAUSED:
                paused += 1
                if paused == enough:
                    return ENOUGH_PAUSED


@compiled
def precheck(
    account: RaceAccount, i: int, instances: int, spread: float, slices: tuple[float, float]
) -> bool:
    """Whether a configuration looks good enough, on few runs, to be raced against the bound T.

    Stage 1 seeks the time τ within which 80 % of b' runs finish, and gives up at 1.9 b' T seconds of work.
    Stage 2 runs on b' further instances at cap τ, stops when it has taken more than 2.99 b' T, and passes if
    mean − (sd sqrt(2 x / j) + 3 τ x / j) ≤ T. Where the budget ends it, nothing speaks against it yet.
    """
    bound_s: float = account.shared[BOUND]
    pending = np.arange(instances).astype(np.int32)
    walk = np.zeros(5, dtype=np.int64)
    walk[LEFT] = instances
    work_s = cap_s = 0.0
    finishing = math.ceil(0.8 * instances)
    while walk[FINISHED] < finishing:
        if is_spent(account):
            return True
        took_s, runtime_s = advance_pending(account, pending, walk, i, slices)
        work_s += took_s
        cap_s = max(cap_s, runtime_s)
        if work_s >= 1.9 * instances * bound_s:
            return False
    work_s = squares = 0.0
    samples = 0
    while samples < instances and work_s <= 2.99 * instances * bound_s:
        if is_spent(account):
            return True
        lasted_s = watch(account, slices[1], i, instances + samples, cap_s)
        work_s += lasted_s
        squares += lasted_s * lasted_s
        samples += 1
    mean = work_s / samples
    variance = max(squares / samples - mean * mean, 0.0)
    passed: bool = mean - bernstein_width(variance, cap_s, spread, samples) <= bound_s
    return passed

"""CapsAndRuns, ImpatientCapsAndRuns and SPC in plain Python: slow, short, for comparison only.

Nothing here is shared with the package. A configuration's work is a generator that yields at the end of
each of its turns, so that the procedures read as the papers tell them: estimate a quantile, then a mean.
Only what is known up to the limit of a recording is seen: a run that reaches it lasts just that long.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    Turns = Generator[None, None, None]
    """Yields at the end of every turn."""

Value = TypeVar("Value")


@dataclass
class Outcome:
    """The answer, what it cost and how many were looked at and not rejected.

    SPC adds its answer and the seconds paid after each step.
    """

    row: int
    total_s: float
    runs: int
    configurations: int
    alive: int
    steps: list[tuple[int, float]] = field(default_factory=list)


class Meter:
    """Runs that can be continued: only what is new is paid."""

    def __init__(self, runtimes: Sequence[Sequence[float]], limit_s: float) -> None:
        self.runtimes = [[min(runtime, limit_s) for runtime in row] for row in runtimes]
        self.limit_s = limit_s
        self.reached: dict[tuple[int, int], float] = {}

    def run(self, row: int, instance: int, until_s: float) -> bool:
        """Continue a run up to `until_s` seconds of its own time; whether it is finished then."""
        runtime = self.runtimes[row][instance]
        watched = min(runtime, until_s)
        self.reached[row, instance] = max(watched, self.seen(row, instance))
        return runtime < until_s or until_s >= self.limit_s

    def seen(self, row: int, instance: int) -> float:
        return self.reached.get((row, instance), 0.0)

    def outcome(self, row: int, rejected: int = 0) -> Outcome:
        """What was paid so far; a run that takes no time costs nothing and is not counted."""
        looked_at = len({row for row, _ in self.reached})
        costs = [seconds for seconds in self.reached.values() if seconds > 0]
        return Outcome(row, math.fsum(costs), len(costs), looked_at, looked_at - rejected)


@dataclass
class Race:
    """What the configurations of one race share: T, and the settings."""

    meter: Meter
    epsilon: float
    delta: float
    zeta: float
    slice_s: float
    original: bool = False
    rivals: int = 1
    bound_s: float = math.inf
    holder: int = -1

    def phase_one_instances(self) -> int:
        if self.original:
            return math.ceil(48 * math.log(3 * self.rivals / self.zeta) / self.delta)
        return math.ceil(26 * math.log(2 * self.rivals / self.zeta) / self.delta)


@dataclass(eq=False)
class Racer:
    """One configuration: its cap and mean once they are known, and how its race ended."""

    row: int
    tau: float | None = None
    samples: list[float] = field(default_factory=list)
    lower: float = 0.0
    rejected: bool = False
    accepted: bool = False
    exhausted: bool = False

    @property
    def undecided(self) -> bool:
        return not (self.rejected or self.accepted or self.exhausted)


def find_cap(
    race: Race, row: int, instances: int, needed: int, patience: float
) -> Generator[None, None, float | None]:
    """Phase I: slices in turn until enough have finished; None when the work reaches `patience`·b·T.

    As everywhere, the caller ends the last turn.
    """
    waiting = deque((instance, 0.0) for instance in range(instances))
    finished: list[float] = []
    work = 0.0
    while True:
        instance, before = waiting.popleft()
        until = before + race.slice_s
        over = race.meter.run(row, instance, until)
        runtime = race.meter.runtimes[row][instance]
        work += (runtime if over else until) - before
        if work >= patience * instances * race.bound_s:
            return None
        if over:
            finished.append(runtime)
        else:
            waiting.append((instance, until))
        if len(finished) == needed:
            return max(finished)
        yield


def capped_run(race: Race, row: int, instance: int, cap_s: float) -> Generator[None, None, float]:
    """A run up to the cap, a slice per turn; how long it took."""
    until = race.slice_s
    while not race.meter.run(row, instance, min(until, cap_s)) and until < cap_s:
        yield
        until += race.slice_s
    return min(race.meter.runtimes[row][instance], cap_s)


def variance(samples: list[float]) -> float:
    mean = fmean(samples)
    return fmean((sample - mean) ** 2 for sample in samples)


def bernstein_width(samples: list[float], tau: float, zeta: float, rivals: int) -> float:
    """Half the width around the mean of j ≥ 2 samples.

    The grid index k follows j with ⌊1.1^k⌋ ≥ j, but grows by one per sample at most (Mnih et al. 2008).
    """
    j = len(samples)
    k = 1
    while math.floor(1.1**k) < j and k < j - 1:
        k += 1
    ratio = math.floor(1.1**k) / math.floor(1.1 ** (k - 1))
    d = zeta / (10.5844 * k**1.1 * rivals)
    x = -ratio * math.log(d / 3)
    return math.sqrt(2 * variance(samples) * x / j) + 3 * tau * x / j


def racing(race: Race, racer: Racer, most_samples: int | None = None) -> Turns:
    """Phase I, then Phase II until it is decided, the instances are used up or it is to pause."""
    b = race.phase_one_instances()
    if racer.tau is None:
        needed = math.ceil(b * (1 - 0.75 * race.delta))
        racer.tau = yield from find_cap(race, racer.row, b, needed, 2 if race.original else 1.5)
        racer.rejected = racer.tau is None
        if racer.tau is None or most_samples == 0:
            return
        yield
    while len(racer.samples) != most_samples:
        instance = b + len(racer.samples)
        if instance == len(race.meter.runtimes[racer.row]):
            racer.exhausted = True
            return
        racer.samples.append((yield from capped_run(race, racer.row, instance, racer.tau)))
        if len(racer.samples) >= 2:
            decide(race, racer)
            if not racer.undecided:
                return
        yield


def decide(race: Race, racer: Racer) -> None:
    """New bounds after a sample, T with them, and whether they reject or accept the configuration."""
    mean = fmean(racer.samples)
    width = bernstein_width(racer.samples, racer.tau, race.zeta, race.rivals)
    if mean + width < race.bound_s:
        race.bound_s, race.holder = mean + width, racer.row
    racer.lower = mean - width
    racer.rejected = racer.lower > race.bound_s
    racer.accepted = not racer.rejected and width <= race.epsilon / 3 * (2 * mean - width)


def take_turns(race: Race, racers: list[Racer], most_samples: int | None = None) -> None:
    """Rounds of turns until all are decided or pause, or one is left and every other is worse than T."""
    going = [(racer, racing(race, racer, most_samples)) for racer in racers if racer.undecided]
    while going and not (most_samples is None and one_left(race, racers)):
        going = [(racer, turns) for racer, turns in going if not ends(turns)]


def ends(turns: Generator[None, None, object]) -> bool:
    """Make a turn; whether it was the last."""
    try:
        next(turns)
    except StopIteration:
        return True
    return False


def one_left(race: Race, racers: list[Racer]) -> Racer | None:
    """The only configuration that neither was rejected nor has a lower bound beyond T."""
    undecided = [racer for racer in racers if racer.undecided]
    close = [racer for racer in racers if racer.accepted or racer.exhausted]
    if len(undecided) == 1 and all(racer.lower > race.bound_s for racer in close):
        return undecided[0]
    return None


def answer(race: Race, racers: list[Racer]) -> Outcome:
    """The one left, else the least mean of those accepted or out of instances, else whoever set T."""
    left = one_left(race, racers)
    finished = [racer for racer in racers if racer.accepted or racer.exhausted]
    if left:
        row = left.row
    elif finished:
        row = min(finished, key=lambda racer: fmean(racer.samples)).row
    else:
        row = race.holder
    return race.meter.outcome(row, sum(racer.rejected for racer in racers))


def caps_and_runs(race: Race, rows: Sequence[int]) -> Outcome:
    """CapsAndRuns on these rows, in the order in which they were drawn."""
    race.rivals = len(rows)
    racers = [Racer(row) for row in rows]
    take_turns(race, racers)
    return answer(race, racers)


def precheck(race: Race, row: int, pools: int) -> bool:
    """Whether a configuration may be as good as the best known: a rough cap, then a rough mean."""
    b = math.ceil(32.1 * math.log(2 * pools / race.zeta))
    cap = play_out(find_cap(race, row, b, math.ceil(0.8 * b), 1.9))
    if cap is None:
        return False
    samples: list[float] = []
    while len(samples) < b and math.fsum(samples) <= 2.99 * b * race.bound_s:
        samples.append(play_out(capped_run(race, row, b + len(samples), cap)))
    x = math.log(3 * pools / race.zeta)
    width = math.sqrt(2 * variance(samples) * x / len(samples)) + 3 * cap * x / len(samples)
    return fmean(samples) - width <= race.bound_s


def play_out(turns: Generator[None, None, Value]) -> Value:
    """All turns at once."""
    while True:
        try:
            next(turns)
        except StopIteration as end:
            return end.value


def pool_sizes(gamma: float, zeta: float) -> list[int]:
    pools = math.ceil(math.log2(0.5 / gamma))
    return [math.ceil(math.log(zeta / pools) / math.log(1 - 2**k * gamma)) for k in reversed(range(pools))]


def instances_for_checks(race: Race, gamma: float, *, guess: bool) -> int:
    """How many instances ImpatientCapsAndRuns may look at before the third sample of a mean."""
    zeta = race.zeta / (13 if guess else 12)
    sizes = pool_sizes(gamma, zeta)
    caps = replace(race, zeta=zeta, rivals=sizes[-1]).phase_one_instances() + 2
    prechecks = 2 * math.ceil(32.1 * math.log(2 * len(sizes) / zeta))
    rough = replace(race, zeta=zeta / 6, rivals=sizes[-1], delta=0.75).phase_one_instances()
    return max(caps, prechecks, rough if guess else 0)


def impatient_caps_and_runs(race: Race, order: Sequence[int], gamma: float, *, guess: bool) -> Outcome:
    """ImpatientCapsAndRuns on rows in the order in which they were drawn."""
    race.zeta /= 13 if guess else 12
    sizes = pool_sizes(gamma, race.zeta)
    race.rivals = sizes[-1]
    everyone = [Racer(row) for row in order[: sizes[-1]]]
    guesses = quickest(race, everyone, sizes[0]) if guess else []
    joined: list[Racer] = []
    for size in sizes:
        wanted = [
            racer for racer in everyone if racer in everyone[:size] or (not joined and racer in guesses)
        ]
        newcomers = [racer for racer in wanted if racer not in joined]
        if joined:
            reject_by_precheck(race, newcomers, len(sizes))
        take_turns(race, newcomers, race.phase_one_instances())
        joined += newcomers
    reject_by_precheck(race, everyone, len(sizes))
    take_turns(race, everyone)
    return answer(race, everyone)


def reject_by_precheck(race: Race, racers: list[Racer], pools: int) -> None:
    """Precheck all but the holder of T."""
    for racer in racers:
        if racer.row != race.holder and not precheck(race, racer.row, pools):
            racer.rejected = True
            racer.accepted = racer.exhausted = False


def quickest(race: Race, racers: list[Racer], count: int) -> list[Racer]:
    """The first so many to find their caps for δ = ¾."""
    rough = Race(race.meter, 1.0, 0.75, race.zeta / 6, race.slice_s, race.original, len(racers))
    going = [(racer, racing(rough, Racer(racer.row), most_samples=0)) for racer in racers]
    found: list[Racer] = []
    while going:
        for racer, turns in tuple(going):
            if ends(turns):
                going.remove((racer, turns))
                found.append(racer)
                if len(found) == count:
                    return found
    return found


def lower_confidence_bound(times: Iterable[float], step: int) -> float:
    """Σ_l (t_l − t_(l−1)) β(1 − Ĝ(t_(l−1))): the area under the survival curve, less where it is unsure.

    Terms with the same k are added first, so that equal times in another order give equal bounds.
    """
    ordered = sorted(times)
    r = len(ordered)
    areas: dict[int, float] = {}
    before = 0.0
    for position, time in enumerate(ordered):
        if time > before:
            k = math.floor(math.log2(r / (r - position)))
            areas[k] = areas.get(k, 0.0) + (time - before) * (r - position)
            before = time
    total = 0.0
    for k, area in areas.items():
        error = math.sqrt(9 * 2**k * math.log(max(k, 1) * step) / r)
        total += area / (1 + error) if error <= 0.5 else 0.0
    return total / r


def spc(meter: Meter, order: Sequence[int], multiplier: float, cap0: float, refresh: int) -> Outcome:
    """Structured Procrastination with Confidence until the next one to run has nothing left to run.

    Once all its instances have begun, a configuration continues those that wait, however few they are.
    """
    queues: dict[int, deque[tuple[int, float]]] = {row: deque() for row in order}
    times: dict[int, list[float]] = {row: [] for row in order}
    theta = dict.fromkeys(order, cap0)
    bounds = dict.fromkeys(order, -math.inf)
    steps: list[tuple[int, float]] = []
    total = 0.0
    while True:
        row = min(order, key=bounds.__getitem__)
        step, begun = len(steps) + 1, len(times[row])
        q = math.ceil(25 * math.log2(step * math.log2(begun))) if begun > 1 else 25
        if begun < len(meter.runtimes[row]) and len(queues[row]) < q:
            instance = begun
            times[row].append(0.0)
        elif queues[row]:
            instance, theta[row] = queues[row].popleft()
        else:
            break
        if not meter.run(row, instance, theta[row]):
            queues[row].append((instance, theta[row] * multiplier))
        total += meter.seen(row, instance) - times[row][instance]
        times[row][instance] = meter.seen(row, instance)
        for other in order if step % refresh == 0 else [row]:
            if times[other]:
                bounds[other] = lower_confidence_bound(times[other], step)
        steps.append((max(order, key=lambda each: len(times[each])), total))
    return replace(meter.outcome(steps[-1][0]), steps=steps)

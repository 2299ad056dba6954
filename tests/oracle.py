"""Naive, UP, OUP and COUP in plain Python, line by line from the paper: slow, short, for comparison only.

Nothing here is shared with the package. Every round recounts all runs of a configuration and looks at
all configurations, as the pseudocode does. Line numbers are those of the paper's Algorithms 1 and 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def uniform(k0: float) -> Callable[[float], float]:
    return lambda t: 1 - t / k0 if t < k0 else 0.0


def log_laplace(k0: float, alpha: float = 1.0) -> Callable[[float], float]:
    return lambda t: 1 - 0.5 * (t / k0) ** alpha if t < k0 else 0.5 * (k0 / t) ** alpha


@dataclass
class Setting:
    """The recorded runtimes (rows: configurations, in instance order) and what is done with them."""

    runtimes: Sequence[Sequence[float]]
    utility: Callable[[float], float]
    delta: float
    epsilon: float | None = None
    new_rule: bool = True
    captime0: float = 1.0
    cutoff: float = math.inf
    resume: bool = False


@dataclass
class Outcome:
    best: int = 0
    epsilon: float = 1.0
    alive: int = 0
    total_time: float = 0.0
    runs: int = 0
    rounds: int = 0
    stop: str = ""
    phases: list[tuple[int, int, int, float, float, int]] = field(default_factory=list)


@dataclass
class Arm:
    m: int = 0
    level: int = 1
    finished: float = 0.0
    mean: float = 0.0
    upper: float = 1.0
    lower: float = 0.0


class Table:
    """The configurations in play, what each run has cost, and one round of one configuration."""

    def __init__(self, setting: Setting, count: int) -> None:
        self.setting = setting
        self.arms = [Arm() for _ in range(count)]
        self.outcome = Outcome()
        self.capped_at: dict[tuple[int, int], float] = {}
        self.completed: set[tuple[int, int]] = set()

    def captime(self, level: int) -> float:
        return min(self.setting.captime0 * 2 ** (level - 1), self.setting.cutoff)

    def width(self, scale: float, m: int, level: int) -> float:
        return math.sqrt(math.log(scale * m**2 * level**2) / (2 * m))

    def doubles(self, arm: Arm, width: float) -> bool:
        captime = self.captime(arm.level)
        if captime >= self.setting.cutoff:
            return False
        u = self.setting.utility(captime)
        if self.setting.new_rule:
            return 2 * (1 - u) * width <= u * (1 - arm.finished + width)
        return 2 * width <= u * (1 - arm.finished)

    def run(self, i: int, j: int, captime: float) -> None:
        if (i, j) in self.completed:
            return
        runtime = self.setting.runtimes[i][j]
        paid_before = self.capped_at.get((i, j), 0.0) if self.setting.resume else 0.0
        self.outcome.runs += 1
        self.outcome.total_time += min(runtime, captime) - paid_before
        if runtime < captime:
            self.completed.add((i, j))
        else:
            self.capped_at[i, j] = captime

    def play(self, i: int, scale: float) -> bool:
        """Lines 8–17; False if there is no further instance."""
        arm, runtimes, u = self.arms[i], self.setting.runtimes[i], self.setting.utility
        if arm.m == len(runtimes):
            return False
        arm.m += 1
        if self.doubles(arm, self.width(scale, arm.m, arm.level)):
            arm.level += 1
            for j in range(arm.m):
                self.run(i, j, self.captime(arm.level))
        else:
            self.run(i, arm.m - 1, self.captime(arm.level))
        captime = self.captime(arm.level)
        arm.finished = sum(t < captime for t in runtimes[: arm.m]) / arm.m
        arm.mean = sum(u(min(t, captime)) for t in runtimes[: arm.m]) / arm.m
        self.tighten(arm, scale)
        self.outcome.rounds += 1
        return True

    def tighten(self, arm: Arm, scale: float) -> None:
        u = self.setting.utility(self.captime(arm.level))
        width = self.width(scale, arm.m, arm.level)
        arm.upper = min(arm.upper, arm.mean + (1 - u) * width)
        arm.lower = max(arm.lower, arm.mean - width - u * (1 - arm.finished))

    def look(self, candidates: Sequence[int]) -> list[int]:
        """Lines 18–24: find the answer; return the candidates that are not proved worse than it."""
        best = max(candidates, key=lambda i: (self.arms[i].lower, -i))
        lower = self.arms[best].lower
        alive = [i for i in candidates if self.arms[i].upper >= lower or i == best]
        self.outcome.best = best
        self.outcome.alive = len(alive)
        self.outcome.epsilon = max(0.0, max(self.arms[i].upper for i in alive) - lower)
        return alive

    def most_promising(self, candidates: Sequence[int]) -> int:
        return max(candidates, key=lambda i: (self.arms[i].upper, -i))

    def ended(self, alive: Sequence[int]) -> str:
        target = self.setting.epsilon
        if target is not None and self.outcome.epsilon <= target:
            return "epsilon-reached"
        return "one-left" if len(alive) == 1 else ""


def up(setting: Setting) -> Outcome:
    n = len(setting.runtimes)
    table = Table(setting, n)
    alive = table.look(range(n))
    while not (stop := table.ended(alive)):
        played = [table.play(i, 11 * n / setting.delta) for i in alive]
        alive = table.look(alive)
        if not all(played):
            stop = "instances-exhausted"
            break
    table.outcome.stop = stop
    return table.outcome


def oup(setting: Setting) -> Outcome:
    n = len(setting.runtimes)
    table = Table(setting, n)
    alive = table.look(range(n))
    while not (stop := table.ended(alive)):
        if not table.play(table.most_promising(alive), 11 * n / setting.delta):
            stop = "instances-exhausted"
            break
        alive = table.look(alive)
    table.outcome.stop = stop
    return table.outcome


def coup(
    setting: Setting, epsilon: Callable[[int], float], gamma: Callable[[int], float], phases: int
) -> Outcome:
    """Ends after `phases` phases, or when a phase needs more configurations than there are."""
    table = Table(setting, 0)
    outcome, arms, delta = table.outcome, table.arms, setting.delta
    for p in range(1, phases + 1):
        n = math.ceil(math.log(math.pi**2 * p**2 / (3 * delta)) / gamma(p))
        if n > len(setting.runtimes):
            outcome.stop = "configurations-exhausted"
            return outcome
        scale = 36 * p**2 * n / delta
        arms.extend(Arm() for _ in range(n - len(arms)))
        for arm in arms:
            arm.upper, arm.lower = 1.0, 0.0
            if arm.m:
                table.tighten(arm, scale)
        table.look(range(n))
        while outcome.epsilon >= epsilon(p) and table.ended(range(n)) != "epsilon-reached":
            if not table.play(table.most_promising(range(n)), scale):
                outcome.stop = "instances-exhausted"
                return outcome
            table.look(range(n))
        outcome.phases.append((p, n, outcome.best, outcome.epsilon, outcome.total_time, outcome.runs))
        if table.ended(range(n)) == "epsilon-reached":
            outcome.stop = "epsilon-reached"
            return outcome
    outcome.stop = "phases-done"
    return outcome


def naive(setting: Setting, captime: float) -> Outcome:
    """Enough runs of everybody for Hoeffding's inequality; ε must be set and above u(captime)."""
    assert setting.epsilon is not None
    n, u = len(setting.runtimes), setting.utility
    m = math.floor(2 * math.log(2 * n / setting.delta) / (setting.epsilon - u(captime)) ** 2) + 1
    runs = [[min(t, captime) for t in row[:m]] for row in setting.runtimes]
    means = [sum(u(t) for t in row) / m for row in runs]
    return Outcome(
        best=means.index(max(means)),
        epsilon=setting.epsilon,
        alive=n,
        total_time=math.fsum(t for row in runs for t in row),
        runs=n * m,
        rounds=n * m,
        stop="epsilon-reached",
    )

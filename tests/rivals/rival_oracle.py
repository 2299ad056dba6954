"""Successive Halving, Hyperband and AC-Band once more, as plainly as their definitions can be said.

Nothing here is shared with `utilitune.rivals`. Runtimes are exact fractions (or infinity), so that ties
are ties; logarithms have 50 digits. What the papers leave open is as in `docs/rivals.md`: a run is
complete if it takes less than its captime, rows are drawn in a given order that starts again at its end, and
ties go to whoever was drawn first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Time = Fraction | float
    Table = Sequence[Sequence[Time]]


class Outcome(NamedTuple):
    """What a procedure answered, and what it paid."""

    answer: int
    paid_s: Fraction
    runs: int


@dataclass(frozen=True)
class World:
    """Runtimes, a row per configuration; the order of draws; the captime; and what a stopped run is worth."""

    times_s: Table
    order: Sequence[int]
    captime_s: Fraction
    worth: Callable[[Fraction], Fraction]

    @property
    def rows(self) -> int:
        """How many configurations there are."""
        return len(self.times_s)

    @property
    def instances(self) -> int:
        """How many instances there are."""
        return len(self.times_s[0])


def best_first(candidates: Sequence[int], value: Callable[[int], Fraction]) -> list[int]:
    """Candidates by falling value; equals stay in the order given, which is that of drawing."""
    return sorted(candidates, key=lambda row: -value(row))


def mean(values: Sequence[Fraction]) -> Fraction:
    """Sum over number."""
    return sum(values, Fraction(0)) / len(values)


def successive_halving(world: World, budget: int) -> Outcome:
    """Jamieson & Talwalkar 2016: L = ceil(log2 n) rounds of floor(B/(|S|·L)) further instances for each of S.

    Ranked by the mean over all instances so far; ceil(|S|/2) survive. There are no instances after the last.
    """
    rounds = (world.rows - 1).bit_length()
    survivors = list(world.order)
    paid_s, runs, used = Fraction(0), 0, 0
    for _ in range(rounds):
        until = min(used + budget // (len(survivors) * rounds), world.instances)
        for row in survivors:
            paid_s += sum(min(time_s, world.captime_s) for time_s in world.times_s[row][used:until])
            runs += until - used
        used = until

        def value(row: int, until: int = until) -> Fraction:
            return mean([world.worth(min(time_s, world.captime_s)) for time_s in world.times_s[row][:until]])

        kept = best_first(survivors, value)[: math.ceil(len(survivors) / 2)]
        survivors = [row for row in survivors if row in kept]
    return Outcome(survivors[0], paid_s, runs)


def hyperband(world: World, resource_s: Fraction, eta: int) -> Outcome:
    """Li et al. 2018: s_max = floor(log_η R); for s = s_max … 0, n = ceil((s_max+1)·η^s/(s+1)), r = R·η^(−s).

    In rung i = 0 … s all that are left get r·η^i seconds, and the best max(1, floor(n_i/η)) go on. The answer
    is the best of the brackets' winners.
    """
    s_max = 0
    while eta ** (s_max + 1) <= resource_s:
        s_max += 1
    drawn, paid_s, runs = 0, Fraction(0), 0
    known: dict[int, int] = dict.fromkeys(range(world.rows), 0)  # instances a row need not be run on again
    winners: list[tuple[Fraction, int]] = []
    for s in range(s_max, -1, -1):
        count = min(world.rows, math.ceil(Fraction((s_max + 1) * eta**s, s + 1)))
        bracket = [world.order[(drawn + step) % world.rows] for step in range(count)]
        drawn += count
        for rung in range(s + 1):
            value: dict[int, Fraction] = {}
            for row in bracket:
                left_s, scores = resource_s / eta ** (s - rung), []
                for instance, time_s in enumerate(world.times_s[row]):
                    if left_s == 0:
                        break
                    captime_s = min(world.captime_s, left_s)
                    spent_s = min(time_s, captime_s)
                    scores.append(world.worth(spent_s))
                    left_s -= spent_s
                    if instance >= known[row]:
                        paid_s += spent_s
                        runs += 1
                        if time_s <= captime_s or captime_s == world.captime_s:
                            known[row] = instance + 1
                value[row] = mean(scores)
            kept = best_first(bracket, value.__getitem__)[: max(1, len(bracket) // eta)]
            if rung == s:
                winners.append((value[kept[0]], kept[0]))
            bracket = [row for row in bracket if row in kept]
    return Outcome(max(winners, key=lambda winner: winner[0])[1], paid_s, runs)


def ac_band_plan(race_size: int, alpha: float, delta: float, budget: int) -> list[tuple[int, int]]:
    """Brandt et al. 2023, AC-Band: (n_e, floor(B/C_e)) for the epochs e = 1 … E; see the guide's formulas."""
    with localcontext() as context:
        context.prec = 50
        tiny = Decimal(10) ** -30  # so that what is a whole number is not missed by a rounding error
        draws = math.ceil(Decimal(str(delta)).ln() / (1 - Decimal(str(alpha))).ln() - tiny)
        n0 = draws + 1
        epochs = (n0 - 1).bit_length()  # n0 − N = 1
        ln_b = (1 + Decimal(race_size - 1) / epochs).ln()
        c1 = Decimal(2).ln() / ln_b
        c2 = 1 + Decimal(n0 + 4 * n0).ln() / ln_b
        c3 = Decimal(race_size).ln() / ln_b
        plan = []
        for e in range(1, epochs + 1):
            above = 2**e * (c1 * epochs - (2**epochs - 1) * (2 * c1 - c2 - c3))
            below = 2**epochs * (-e * c1 + c2 + c3)
            plan.append((math.ceil(Fraction(n0, 2**e)) + 1, math.floor(budget * below / above + tiny)))
        return plan


def ac_band(world: World, race_size: int, plan: Sequence[tuple[int, int]], *, by_wins: bool) -> Outcome:
    """Brandt et al. 2023: in each epoch the incumbent and n_e − 1 fresh rows go through eliminations.

    With 2^ρ = (e+k−1)/e: f(x) = floor(x/2^ρ), g(x) = max(f(k), 1)·floor(x/k) + x mod k. R counts how often g
    takes n to ≤ k, and then f to ≤ 1. In a race all pay the time of the first who finishes; it alone scores.
    """
    drawn, first, paid_s, runs = 1, 0, Fraction(0), 0  # `first`: the first instance not used yet
    incumbent = world.order[0]
    for e, (wanted, instances) in enumerate(plan, start=1):
        active = [incumbent]
        while len(active) < min(wanted, world.rows):
            row = world.order[drawn % world.rows]
            drawn += 1
            if row not in active:
                active.append(row)
        rounds = rounds_of_elimination(len(active), race_size, e)
        while len(active) > 1:
            size = min(race_size, len(active))
            groups = [active[at : at + size] for at in range(0, len(active) - size + 1, size)]
            share = instances // (len(groups) * rounds)
            kept = active[len(groups) * size :]
            for group in groups:
                score = dict.fromkeys(group, Fraction(0))
                for instance in range(first, first + share):
                    winner = min(group, key=lambda row, at=instance: world.times_s[row][at])
                    time_s = world.times_s[winner][instance]
                    if time_s < world.captime_s:
                        score[winner] += 1 if by_wins else world.worth(time_s)
                    paid_s += len(group) * min(time_s, world.captime_s)
                    runs += len(group)
                first += share
                kept += best_first(group, score.__getitem__)[: max(1, size * e // (e + race_size - 1))]
            active = [row for row in active if row in kept]
        incumbent = active[0]
    return Outcome(incumbent, paid_s, runs)


def rounds_of_elimination(configurations: int, race_size: int, e: int) -> int:
    """R = R1 + R2 of `ac_band`."""
    count, rounds = configurations, 0
    while count > race_size:
        count = max(race_size * e // (e + race_size - 1), 1) * (count // race_size) + count % race_size
        rounds += 1
    while count > 1:
        count = count * e // (e + race_size - 1)
        rounds += 1
    return rounds

"""Whatever an engine says at any moment follows from the runs it has looked at, by docs/theory.md alone.

The formulas are written down once more, without any part of the engine's bookkeeping: no trees, no running
bounds, no leader. From all runs looked at, they give the smallest ε that may be said. An engine may say more,
since it computes some bounds late or in steps, and never less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune.certificate.betting import lower_bound, paired_bound
from utilitune.data import RuntimeMatrix
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import SCHEDULES, FixedSet, Phases
from utilitune.procedures.orders import fresh_order
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings
from utilitune.procedures.wager.beside import Beside
from utilitune.procedures.wager.growth import GammaGrid
from utilitune.procedures.wager.roster import Role, Roster
from utilitune.procedures.wager.shares import Weights
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from utilitune.domain import Progress

UTILITY = parse_utility("uniform(k0=8)")
LIMIT_S = 16.0
MODES = ("fixed", "adaptive", "announced", "phases", "listed")
TOLERANCE = 1e-6
RUNG = 1.0 / 32.0  # where the ladder of a bound ends depends on where it began
MOST_DRAWS = 40
CHOSEN = (Origin.MODEL, Origin.NOMINEE)


@dataclass(frozen=True)
class Member:
    """Who is in play, as docs/theory.md counts them: `rank` is 0 for who need not be ruled out."""

    configuration: int
    origin: Origin
    number: int
    rank: int
    first: int = 0
    order: np.ndarray | None = None


@dataclass
class Game:
    """An engine, and all that has happened to it."""

    mode: str
    finite: bool
    generator: np.random.Generator
    members: list[Member] = field(default_factory=list)
    closed: bool = False

    def __post_init__(self) -> None:
        chance = self.generator
        self.positions = int(chance.choice([1, 2, 8, 25])) if self.finite else 60
        self.size = int(chance.choice([2, 5, 9])) if self.mode in ("listed", "fixed") else 12
        self.delta = float(chance.choice([0.5, 0.1]))
        times = chance.lognormal(1.0, 1.2, (self.size, 1)) * chance.lognormal(0.0, 1.0, (1, self.positions))
        self.runtimes_s = times * chance.lognormal(0.0, chance.choice([0.05, 1.0]), times.shape)
        self.growth = {"fixed": FixedSet(self.size), "phases": Phases(SCHEDULES["default"])}.get(
            self.mode, Adaptive()
        )
        settings = WagerSettings(
            self.delta,
            captime0_s=0.5,
            captime_limit_s=LIMIT_S,
            finite_population=self.finite,
            growth=self.growth,
            announced_gamma=0.3 if self.mode == "announced" else None,
            default=True,
            space_size=self.size,
            listed=self.mode == "listed",
        )
        evidence = RecordedEvidence(RuntimeMatrix.from_array(self.runtimes_s), UTILITY)
        self.engine = WagerEngine(evidence, UTILITY, settings)
        self._order = chance.permutation(np.arange(1, self.size)).tolist()
        self.beside_s = np.zeros(self.runtimes_s.shape)
        self.join(0, Origin.GIVEN)

    @property
    def draws(self) -> int:
        return sum(each.origin is Origin.RANDOM or self.mode == "fixed" for each in self.members)

    def join(self, configuration: int, origin: Origin) -> None:
        """One more member; rows of the evidence are configurations."""
        chosen = origin in CHOSEN
        number = 1 + sum(each.origin in (CHOSEN if chosen else (origin,)) for each in self.members)
        drawn = origin is Origin.RANDOM or self.mode == "fixed"
        repeated = any(each.rank and each.configuration == configuration for each in self.members)
        rank = self.draws + 1 if drawn and not repeated else 0
        order = fresh_order("any", number, self.positions) if origin is Origin.NOMINEE else None
        first = self.engine.frontier if origin is Origin.MODEL else 0
        self.members.append(Member(configuration, origin, number, rank, first, order))
        self.engine.add(origin, first, configuration=configuration, order=order)

    def _supply(self) -> None:
        engine = self.engine
        while engine.missing_configurations:
            if self.mode not in ("fixed", "listed") and self.draws >= MOST_DRAWS:
                self.closed = True
                engine.no_more()
                return
            among = self._order if self.mode in ("fixed", "listed") and self._order else None
            if self.mode == "listed" and not among:
                self.join(0, Origin.RANDOM)
            else:
                self.join(among.pop() if among else int(self.generator.integers(self.size)), Origin.RANDOM)

    def _choose(self) -> None:
        """Bring in what had luck on the first instances."""
        if self.mode == "fixed" or len(self.members) > 3 * MOST_DRAWS:
            return
        lucky = int(
            np.argmin(self.runtimes_s[:, :4].mean(axis=1) * self.generator.uniform(0.5, 1, self.size))
        )
        if self.finite:
            self.join(lucky, Origin.NOMINEE)
        elif 2 * self.engine.frontier <= self.positions:
            self.join(lucky, Origin.MODEL)

    def _look_beside(self) -> None:
        """Somebody looks at some more runs of who is in play: those that succeed, if there is a choice."""
        if not self.finite:
            return
        for each in {member.configuration for member in self.members}:
            if self.generator.random() < 0.5:
                continue
            quick = np.argsort(self.runtimes_s[each])[: self.positions // 2 + 1]
            captimes_s = self.generator.choice([0.1, 1.3, 6.0, LIMIT_S], quick.size)
            for position, captime_s in zip(quick.tolist(), captimes_s.tolist(), strict=True):
                self.beside_s[each, position] = max(self.beside_s[each, position], captime_s)
                self.engine.look_beside(each, position, captime_s)

    def claims(self) -> Iterator[list[Progress]]:
        """What it says now and then: of its answer, and of everybody who is in play."""
        rounds, engine = 0, self.engine
        for moment in range(8):
            if moment % 3 == 1:
                self._look_beside()
            while (halt := engine.advance(PauseAt(rounds, math.inf, 10**9))) is Halt.NEEDS_CONFIGURATIONS:
                yield [engine.progress()]
                self._supply()
            everybody = sorted({each.configuration for each in self.members})
            yield [engine.progress(), *map(engine.progress_of, everybody)]
            if halt is Halt.DONE:
                return
            rounds = int(1.7 * rounds) + 3
            self._choose()


class Theory:
    """What may be said of a game, from the runs that were looked at."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.population = game.positions if game.finite else 0
        seen = game.engine.observed()
        self.captime_s = game.beside_s.copy()
        np.maximum.at(self.captime_s, (seen.configuration, seen.position), seen.captime_s)
        finished = game.runtimes_s < self.captime_s
        self.least = np.where(finished, UTILITY(game.runtimes_s), 0.0)
        self.most = np.where(finished, UTILITY(game.runtimes_s), UTILITY(self.captime_s))
        self.largest = self.most.mean(axis=1) if game.finite else np.ones(game.size)
        bounds = self._for_bounds()
        lower, upper, paired = (0.02, 0.13, 0.85) if game.mode in ("fixed", "listed") else (0.2, 0.6, 0.2)
        rest = 0.98 * bounds
        self.lower, self.upper, self.paired, self.gain = (
            lower * rest,
            upper * rest,
            paired * rest,
            0.01 * bounds,
        )
        self.whole = len({each.configuration for each in game.members if each.rank}) == game.size
        self._known: dict[tuple[int, int], float] = {}

    def _for_bounds(self) -> float:
        delta = self.game.delta
        if self.game.mode in ("fixed", "listed"):
            return delta
        if self.game.mode != "phases":
            return delta / 2
        return delta - SCHEDULES["default"].spent_on_gamma(delta)

    def weight(self, member: Member) -> float:
        """w_b."""
        b, size = member.number, self.game.size
        chosen = 20.0 / ((b + 19) * (b + 20))
        if self.game.mode == "fixed":
            return 1.0 / (size - 1)
        if self.game.mode == "listed":
            return 0.1 * chosen if member.origin in CHOSEN else 0.9 / (size - 1)
        if member.origin is Origin.GIVEN:
            return 0.1 / (b * (b + 1))
        return 0.5 * 100.0 / ((b + 99) * (b + 100)) if member.origin is Origin.RANDOM else 0.4 * chosen

    def rank_share(self, k: int, draws: int) -> float:
        """r_k with so many draws in play; there are never more than a thousand."""
        mode, announced = self.game.mode, self._announced_draws()
        if mode in ("fixed", "listed"):
            return 1.0
        if mode == "announced":
            if draws < announced and not (self.whole and draws == self.game.draws):
                return 0.3 * (0.5 / (1 + math.log(announced)) + 0.5 * k / announced)
            return 0.6 if k <= announced else 0.1 / (1 + math.log(1000 / announced))
        even = 1.0 / (2 + math.log(1000))
        return 0.5 * even + 0.5 * k / 1000 if mode == "phases" else even

    def _announced_draws(self) -> int:
        return math.ceil(math.log(0.9 * self.game.delta / 2) / math.log(0.7))

    def _along(self, member: Member) -> np.ndarray:
        if member.order is not None:
            return member.order
        return np.arange(member.first, self.game.positions)

    def _answers(self, configuration: int) -> list[Member]:
        """Who may be judged by tests: a proposal on a list has none."""
        found = [each for each in self.game.members if each.configuration == configuration]
        return [each for each in found if not (self.game.finite and each.origin is Origin.MODEL)]

    def lower_of(self, configuration: int) -> float:
        """The best LCB_b."""
        found = [
            lower_bound(
                self.least[configuration][self._along(each)], self.population, self.lower * self.weight(each)
            )
            for each in self._answers(configuration)
        ]
        certain = self.least[configuration].mean() if self.game.finite else 0.0
        return max([certain, *found])

    def difference(self, i: int, b: int, share: float) -> float:
        """The best bound on U_i − U_b along an order of b."""
        found = [
            1.0 - paired_bound(1.0 - self.most[i][along] + self.least[b][along], self.population, share * w)
            for along, w in ((self._along(each), self.weight(each)) for each in self._answers(b))
        ]
        return min([1.0, *found])

    def epsilon(self, b: int, draws: int) -> float:
        """The smallest ε about the best of the first so many draws."""
        if (b, draws) not in self._known:
            self._known[b, draws] = self._epsilon(b, draws)
        return self._known[b, draws]

    def _epsilon(self, b: int, draws: int) -> float:
        lower, largest = self.lower_of(b), 0.0
        for each in self.game.members:
            k, i = each.rank, each.configuration
            if not 0 < k <= draws or i == b:
                continue
            share = self.rank_share(k, draws)
            upper = 1.0 - lower_bound(1.0 - self.most[i], self.population, self.upper * share)
            alone = min(upper, self.largest[i]) - lower
            if alone > largest:
                largest = max(largest, min(alone, self.difference(i, b, self.paired * share)))
        return largest

    def points(self) -> list[tuple[int, float | None]]:
        """Numbers of draws that are all in play, with γ."""
        game, have = self.game, self.game.draws
        if game.mode == "fixed":
            return [(have, None)] if self.whole else []
        if game.mode == "listed":
            return [(game.size, 0.0)] if self.whole else []
        found = [point for point in self._grid() if point[0] <= have]
        found = [(n, min(gamma for m, gamma in found if m <= n)) for n, _ in found]
        return [*found, (have, 0.0)] if self.whole else found

    def _grid(self) -> Iterator[tuple[int, float]]:
        delta, have, part = self.game.delta, self.game.draws, 1.0
        if self.game.mode == "phases":
            phases = (SCHEDULES["default"].phase(p, delta) for p in range(1, 40))
            yield from ((phase.configurations, phase.gamma) for phase in phases if phase is not None)
            return
        if self.game.mode == "announced":
            n, part = self._announced_draws(), 0.1
            n = min(n, have) if self.game.closed else n
            yield n, 1 - (0.9 * delta / 2) ** (1 / n)
        n = math.ceil(math.log(delta / 2 * 10 / 110) / math.log(0.5))
        for p in range(1, 12):
            last = self.game.closed and n > have
            n = have if last else n
            yield n, 1 - (part * delta / 2 * 10 / ((p + 9) * (p + 10))) ** (1 / n)
            if last:
                return
            n = math.ceil(1.5 * n)

    def allows(self, said: Progress) -> bool:
        """Whether the theory allows what is said: of the answer itself, or by way of somebody else."""
        b, promise = said.best_index, said.promise
        if promise.gain is not None and promise.gain > TOLERANCE - (b and self.difference(0, b, self.gain)):
            return False
        if promise.epsilon >= 1.0:
            return True
        most = promise.epsilon + TOLERANCE
        draws = [n for n, gamma in self.points() if gamma is None or gamma <= (promise.gamma or 0.0) + 1e-12]
        if any(self.epsilon(b, n) <= most for n in draws):
            return True
        others = {each.configuration for each in self.game.members} - {b}
        return any(self.epsilon(a, n) + self._behind(a, b) <= most for a in others for n in draws)

    def _behind(self, a: int, b: int) -> float:
        """By how much b may be behind a: by counting, or the default by a test of its own."""
        counted = float(self.largest[a]) - self.lower_of(b)
        if b:
            return counted
        along = [
            1.0
            - paired_bound(1.0 - self.most[a][places] + self.least[0][places], self.population, self.gain * w)
            for places, w in ((self._along(each), self.weight(each)) for each in self._answers(a))
        ]
        return min([counted, *along])


def unfounded(mode: str, *, finite: bool, seeds: range) -> tuple[int, list[Progress]]:
    """How much was said in some games, and what of it does not follow from the runs."""
    count, found = 0, []
    for seed in seeds:
        game = Game(mode, finite, np.random.default_rng(seed))
        for said in game.claims():
            theory = Theory(game)
            count += sum(each.epsilon < 1.0 for each in said)
            found += [each for each in said if not theory.allows(each)]
    return count, found


@pytest.mark.parametrize("finite", [True, False], ids=["list", "sample"])
@pytest.mark.parametrize("mode", MODES)
def test_what_is_said_follows_from_the_runs(mode: str, finite: bool):
    count, found = unfounded(mode, finite=finite, seeds=range(3))
    assert count > 20
    assert not found


@pytest.mark.parametrize("mode", MODES)
def test_looks_of_others_never_make_a_promise_worse(mode: str):
    """Runs with gaps between them came after those without one, and lost what the bet had won on these."""
    searched = better = 0
    for seed in range(4):
        game = Game(mode, finite=True, generator=np.random.default_rng(seed))
        for _ in game.claims():
            everybody = sorted({each.configuration for each in game.members})
            before = [game.engine.progress_of(each) for each in everybody]
            game._look_beside()
            for earlier, now in zip(before, map(game.engine.progress_of, everybody), strict=True):
                searched += 1
                assert game.engine.worth(now) <= game.engine.worth(earlier) + RUNG
                if now.best_index == earlier.best_index and earlier.gain is not None:
                    assert now.gain is not None
                    assert now.gain >= earlier.gain - RUNG
                    better += now.gain > earlier.gain + TOLERANCE
    assert searched > 20
    assert better > 5


def _spend_more(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = Weights.weight
    monkeypatch.setattr(Weights, "weight", lambda *arguments: 3.0 * weight(*arguments))


def _forget_a_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    join = Roster.join

    def joined(self: Roster, origin: Origin, row: int) -> Role:
        role = join(self, origin, row)
        return role._replace(rank=0) if role.rank == 3 else role

    monkeypatch.setattr(Roster, "join", joined)


def _count_draws_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GammaGrid, "gamma_of_last", lambda grid, number, _: grid.gamma(number))


def _believe_more_than_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    note = Beside.note
    monkeypatch.setattr(
        Beside, "note", lambda beside, row, position, captime_s: note(beside, row, position, 8.0 * captime_s)
    )


def _leave_out_what_was_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Letting quick runs move to the front: the order is no longer random."""
    levels = Beside.levels
    monkeypatch.setattr(
        Beside, "levels", lambda beside, play, row: -np.sort(-levels(beside, play, row), kind="stable")
    )


@pytest.mark.parametrize(
    "mistake",
    [
        _spend_more,
        _forget_a_draw,
        _count_draws_that_are_missing,
        _believe_more_than_was_seen,
        _leave_out_what_was_not_seen,
    ],
)
def test_a_mistake_is_found_out(
    mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
):
    mistake(monkeypatch)
    assert any(unfounded("adaptive", finite=True, seeds=range(seed, seed + 1))[1] for seed in range(6))

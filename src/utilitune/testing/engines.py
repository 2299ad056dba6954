"""What every engine keeps: its state follows from the outcomes of runs, never from who made them when.

The suite plays the engine on runtimes that it makes up: on a recording, and live, where runs arrive in any
order, some of them unasked for or longer than asked. Runtimes are multiples of 1/8 s, so that sums of them
are exact.
"""

from __future__ import annotations

import math
import random
from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from utilitune.data import RuntimeMatrix
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import LiveEvidence, RecordedEvidence, is_known
from utilitune.procedures.looking_ahead import EverySlot
from utilitune.testing.base import ContractError, Suite, expect
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Iterator

    from utilitune.domain import RunRequest
    from utilitune.procedures.engine import Engine
    from utilitune.utility import Utility

_FOREVER = PauseAt(rounds=2**62, total_time_s=math.inf, runs=2**62)
_UTILITY = "uniform(k0=16)"
_PATIENCE = 100_000


class EngineSuite(Suite):
    """The contract of `Engine`.

    Attributes:
        configurations: How many configurations there are; a procedure that asks for more hears `no_more`.
        positions: How many instances.
        captime_limit_s: The largest captime; no run may be asked for beyond it.
        seeds: Which made-up tasks are played.
        runs_per_step: How many runs one step takes at most; a pause is kept within one step.
    """

    configurations = 6
    positions = 300
    captime_limit_s = 64.0
    seeds = (1, 2, 3)
    runs_per_step = 1

    @abstractmethod
    def build(
        self, evidence: RecordedEvidence | LiveEvidence, utility: Utility, configurations: int
    ) -> Engine:
        """The engine to check, on this evidence, for a set of so many configurations."""

    def test_live_runs_in_any_order_lead_to_the_recorded_state(self) -> None:
        """Several workers, runs ahead of need and runs nobody asked for change nothing."""
        for seed in self.seeds:
            recorded, live = self._played(seed, live=False), self._played(seed, live=True)
            expect(live.state() == recorded.state(), f"live: {live.state()}; recorded: {recorded.state()}")

    def test_pauses_change_nothing(self) -> None:
        """By rounds, by runs and by time."""
        for seed in self.seeds:
            paused = _Game(self, seed, live=False)
            paused.play(paused.pauses())
            whole = self._played(seed, live=False)
            expect(paused.state() == whole.state(), f"paused: {paused.state()}; whole: {whole.state()}")

    def test_a_resumed_run_reaches_the_same_state(self) -> None:
        """A new engine walks through what is known to exactly where the old one stood."""
        for seed in self.seeds:
            game = _Game(self, seed, live=True)
            for _ in range(40):
                if game.step(_FOREVER) is Halt.DONE:
                    break
            game.until_runs_are_needed()
            again = _Game(self, seed, live=True, evidence=game.evidence)
            again.until_runs_are_needed()
            expect(
                again.engine.progress() == game.engine.progress(),
                f"resumed at {again.engine.progress()} instead of {game.engine.progress()}",
            )

    def test_a_pause_is_kept(self) -> None:
        """To the step in rounds and runs; by time with the step that reaches it."""
        game = _Game(self, self.seeds[0], live=False)
        if game.until(PauseAt(rounds=17, total_time_s=math.inf, runs=2**62)) is Halt.PAUSED:
            rounds = game.engine.progress().rounds
            expect(
                0 <= rounds - 17 < self.runs_per_step, f"asked to pause at round 17, it paused at {rounds}"
            )
        runs = game.engine.progress().runs
        if game.until(PauseAt(rounds=2**62, total_time_s=math.inf, runs=runs + 5)) is Halt.PAUSED:
            made = game.engine.progress().runs
            expect(
                0 <= made - runs - 5 < self.runs_per_step,
                f"asked to pause at run {runs + 5}, it paused at {made}",
            )
        spent_s = game.engine.progress().total_time_s
        if game.until(PauseAt(rounds=2**62, total_time_s=spent_s + 50.0, runs=2**62)) is Halt.PAUSED:
            now_s = game.engine.progress().total_time_s
            expect(now_s >= spent_s + 50.0, f"asked to pause at {spent_s + 50.0} s, it paused at {now_s} s")

    def test_configurations_are_counted_from_0(self) -> None:
        """And without more to be had, it asks for no more."""
        game = _Game(self, self.seeds[0], live=False)
        halt = game.engine.advance(_FOREVER)
        expect(halt is Halt.NEEDS_CONFIGURATIONS, f"without any configuration it answered {halt}")
        expect(game.engine.missing_configurations > 0, "it needs configurations but says not how many")
        numbers = [game.engine.add(Origin.RANDOM) for _ in range(3)]
        expect(numbers == [0, 1, 2], f"the first three configurations got the numbers {numbers}")
        expect(game.engine.added == 3, f"of three configurations given it counts {game.engine.added}")

    def test_what_is_spent_never_shrinks_and_adds_up(self) -> None:
        """Over configurations, and from one look to the next."""
        game = _Game(self, self.seeds[0], live=False)
        before = None
        for pause in game.pauses():
            halt = game.step(pause)
            if not game.engine.added:
                continue
            now = game.engine.progress()
            if before is not None:
                expect(
                    now.total_time_s >= before.total_time_s and now.runs >= before.runs,
                    "what was spent shrank",
                )
            expect(now.alive <= now.configurations, "more configurations are in play than there are")
            each_s = float(game.engine.time_each_s.sum())
            expect(
                math.isclose(each_s, now.total_time_s),
                f"{each_s} s over all, but {now.total_time_s} s in total",
            )
            before = now
            if halt is Halt.DONE:
                return

    def test_done_stays_done_and_says_why(self) -> None:
        """With advice."""
        game = self._played(self.seeds[0], live=False)
        before = game.state()
        expect(game.engine.advance(_FOREVER) is Halt.DONE, "it went on after it was done")
        expect(game.state() == before, "advancing an engine that is done changed it")
        reason = game.engine.stop_reason()
        expect(reason.code and reason.advice, f"the reason {reason} lacks a code or advice")

    def _played(self, seed: int, *, live: bool) -> _Game:
        game = _Game(self, seed, live=live)
        game.play()
        return game


class _Game:
    """One engine, what is known to it, and the runtimes nobody but the game knows."""

    def __init__(
        self,
        suite: EngineSuite,
        seed: int,
        *,
        live: bool,
        evidence: LiveEvidence | RecordedEvidence | None = None,
    ) -> None:
        self._chance = random.Random(seed)  # noqa: S311 -- no secret
        self._limit_s = suite.captime_limit_s
        self._runtimes_s = _runtimes(suite, seed)
        utility = parse_utility(_UTILITY)
        matrix = RuntimeMatrix.from_array(self._runtimes_s, self._limit_s)
        self.evidence: LiveEvidence | RecordedEvidence
        if evidence is not None:
            self.evidence = evidence
        else:
            self.evidence = (
                LiveEvidence(utility, suite.positions) if live else RecordedEvidence(matrix, utility)
            )
        self.engine = suite.build(self.evidence, utility, suite.configurations)

    def step(self, pause: PauseAt) -> Halt:
        """Advance once, and give what is missing."""
        halt = self.engine.advance(pause)
        if halt is Halt.NEEDS_CONFIGURATIONS:
            self._add()
        elif halt is Halt.NEEDS_RUNS:
            self._make_runs()
        return halt

    def play(self, pauses: Iterator[PauseAt] | None = None) -> None:
        """To the end."""
        for _ in range(_PATIENCE):
            if self.step(_FOREVER if pauses is None else next(pauses)) is Halt.DONE:
                return
        raise ContractError(f"it is not done after {_PATIENCE} calls")

    def until(self, pause: PauseAt) -> Halt:
        """Go on until this pause or the end."""
        for _ in range(_PATIENCE):
            halt = self.step(pause)
            if halt in {Halt.PAUSED, Halt.DONE}:
                return halt
        raise ContractError(f"it neither pauses nor ends within {_PATIENCE} calls")

    def until_runs_are_needed(self) -> None:
        """Go on with what is known."""
        while self.engine.advance(_FOREVER) is Halt.NEEDS_CONFIGURATIONS:
            self._add()

    def pauses(self) -> Iterator[PauseAt]:
        """Pauses after a few more rounds, seconds and runs each."""
        while True:
            here = self.engine.progress()
            yield PauseAt(
                rounds=here.rounds + self._chance.randint(1, 200),
                total_time_s=here.total_time_s + self._chance.choice([1.0, 50.0, 5000.0, math.inf]),
                runs=here.runs + self._chance.randint(1, 200),
            )

    def state(self) -> tuple[object, ...]:
        """Everything one can ask an engine that is done."""
        engine = self.engine
        return (
            engine.progress(),
            engine.stop_reason(),
            tuple(engine.phases),
            tuple(engine.time_each_s.tolist()),
        )

    def _add(self) -> None:
        left = len(self._runtimes_s) - self.engine.added
        for _ in range(min(self.engine.missing_configurations, left)):
            self.engine.add(Origin.RANDOM)
        if self.engine.missing_configurations:
            self.engine.no_more()

    def _make_runs(self) -> None:
        needed = self.engine.needed()
        expect(needed, "it needs runs but names none")
        count = self._chance.choice([0, 3, 10])
        likely = self.engine.likely(count, self._chance.choice([(), EverySlot()]))
        expect(len(likely) <= count, f"asked for {count} likely runs, it named {len(likely)}")
        for request in [*needed, *likely]:
            self._check(request)
        batch = [(each.configuration, each.position, each.captime_s) for each in [*needed, *likely]]
        batch += [self._unasked() for _ in range(self._chance.choice([0, 0, 2]))]
        self._chance.shuffle(batch)
        for run in batch[: self._chance.choice([1, 5, len(batch)])]:
            self._record(*run)

    def _check(self, request: RunRequest) -> None:
        known = is_known(self.evidence.arrays, request.configuration, request.position, request.captime_s)
        expect(not known, f"{request} is known already")
        expect(0 < request.captime_s <= self._limit_s, f"{request} goes past the largest captime")
        expect(0 <= request.position < self._runtimes_s.shape[1], f"{request} is on no instance")
        expect(0 <= request.configuration < self.engine.added, f"{request} is of no configuration")

    def _unasked(self) -> tuple[int, int, float]:
        rows, columns = self._runtimes_s.shape
        return (
            self._chance.randrange(rows),
            self._chance.randrange(columns),
            self._chance.choice([0.5, 2.0, 4.0]),
        )

    def _record(self, configuration: int, position: int, captime_s: float) -> None:
        if not isinstance(self.evidence, LiveEvidence):
            raise ContractError("it needs runs although all are recorded")
        runtime_s = float(self._runtimes_s[configuration, position])
        if runtime_s < captime_s:
            self.evidence.record(configuration, position, runtime_s, captime_s)
        else:
            self.evidence.record(configuration, position, math.inf, captime_s)


def _runtimes(suite: EngineSuite, seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Multiples of 1/8 s with heavy tails; some configurations are quick, some runs never end."""
    generator = np.random.default_rng(seed)
    scale = generator.uniform(-1.0, 4.0, (suite.configurations, 1))
    runtimes_s = np.exp(scale + generator.normal(0.0, 1.5, (suite.configurations, suite.positions)))
    runtimes_s = np.ceil(np.minimum(runtimes_s, 1e6) * 8.0) / 8.0
    runtimes_s[generator.random(runtimes_s.shape) < 0.02] = math.inf
    return runtimes_s

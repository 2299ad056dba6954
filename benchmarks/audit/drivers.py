"""One search as users make it: a live run on a virtual clock, ask and tell, stopped and resumed, reused.

The program has one parameter with many levels; its runtimes stand in a table. The truth is the mean over the
listed instances, or, where they are a sample, the chance that made the table.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.audit.searches import TOLERANCE
from benchmarks.audit.verdict import NOTHING_SEEN, Verdict
from benchmarks.audit.worlds import COIN, NEVER, World

from utilitune import Scenario, Tuner
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.events import ConfigurationJoined, LeaderChanged, RunStopped
from utilitune.live.reusing import EarlierRuns
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import CommandSpec, ListedInstances, Population, StopRules, instance_source
from utilitune.spaces import ParameterSpace
from utilitune.store import read_run_folder
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from utilitune.domain import Promise
    from utilitune.live.events import Event

LEVELS = 200


@dataclass(frozen=True, eq=False)
class Program:
    """A program whose runtimes are known.

    Attributes:
        times_s: Levels × instances.
        finite: Whether its instances are all there is.
        chances: What each level is worth where they are not.
        procedure: Who searches.
        delta: The probability with which the promise may fail.
    """

    times_s: np.ndarray
    chances: np.ndarray
    procedure: str
    delta: float
    finite: bool = True
    options: tuple[tuple[str, object], ...] = ()
    copies: int = 1

    @classmethod
    def make(
        cls, generator: np.random.Generator, procedure: str, delta: float, *, finite: bool, **options: object
    ) -> Program:
        """A program with levels that are worth anything, most of them little."""
        levels = int(generator.choice([2, 9, LEVELS]))
        sizes = [60, 120] if procedure == "naive" else [1, 2, 3, 12, 40]
        instances = int(generator.choice(sizes)) if finite else 300
        chances = generator.beta(2.0, 3.0, levels)
        won = generator.random((levels, instances)) < chances[:, None]
        quick_s = generator.choice([0.01, 1.0, 5.0], (levels, 1))
        chances = chances * parse_utility(COIN)(quick_s[:, 0])
        return cls(np.where(won, quick_s, NEVER), chances, procedure, delta, finite, tuple(options.items()))

    @property
    def worth(self) -> np.ndarray:
        """What each level is truly worth."""
        return parse_utility(COIN)(self.times_s).mean(axis=1) if self.finite else self.chances

    def world(self) -> World:
        """The levels as a space of equally likely draws."""
        return World(self.times_s, self.worth, parse_utility(COIN), space=np.sort(self.worth))

    def scenario(self, seed: int, **changes: object) -> Scenario:
        """The program as a user describes it."""
        names = tuple(f"i{number}" for number in range(self.times_s.shape[1])) * self.copies
        top = len(self.times_s) - 1
        plain = Scenario(
            name="audit",
            directory=Path(tempfile.gettempdir()),
            target=CommandSpec((sys.executable, "{instance}", "{parameters}")),
            space=ParameterSpace.from_tables({"x": {"type": "integer", "range": [0, top], "default": top}}),
            training=ListedInstances(names, files=False),
            utility=COIN,
            population=Population.FINITE if self.finite else Population.INFINITE,
            captime0_s=0.5,
            max_captime_s=64.0,
            delta=self.delta,
            seed=seed,
            procedure=self.procedure,
            options=dict(self.options),
        )
        return replace(plain, **changes)

    def behaves(self, job: object) -> SimulatedRun:
        """What the program does."""
        _, instance, argument = job.task.argv
        level = int(argument.removeprefix("--x="))
        return SimulatedRun(float(self.times_s[level, int(instance[1:])]))

    def seen(self, level: int, promise: Promise, levels: list[int]) -> Verdict:
        """Whether a promise is false of a level, and of the worst one in play."""
        worst = min(levels, key=lambda each: self.worth[each])
        return Verdict(self._broken(level, promise, levels), self._broken(worst, promise, levels))

    def _broken(self, level: int, promise: Promise, levels: list[int]) -> bool:
        """Whether a promise about a level is false, about the best or about the default."""
        if promise.gain is not None and self.worth[level] < self.worth[-1] + promise.gain - TOLERANCE:
            return True
        if promise.epsilon >= 1 or (promise.gamma is not None and promise.gamma >= 1):
            return False
        if promise.gamma is None:
            best = max(self.worth[each] for each in levels)
        else:
            best = self.world().best_but(promise.gamma)
        return bool(best - self.worth[level] > promise.epsilon + TOLERANCE)


class Watcher:
    """Listens to a run and remembers whether it ever promised too much."""

    levels: dict[int, int]

    def __init__(self, program: Program) -> None:
        self.program, self.levels, self.verdict = program, {}, NOTHING_SEEN

    def __call__(self, event: Event) -> None:
        if isinstance(event, ConfigurationJoined):
            self.levels[event.index] = event.assignment["x"]
        elif isinstance(event, LeaderChanged | RunStopped):
            self.look(event.progress.best_index, event.progress.promise)

    def look(self, answer: int, promise: Promise) -> None:
        """Look at a promise about the answer."""
        if answer in self.levels:
            known = list(self.levels.values())
            self.verdict |= self.program.seen(self.levels[answer], promise, known)


def _options(procedure: str, levels: int) -> dict[str, object]:
    if procedure == "coup":
        return {"phases": 3}
    if procedure == "naive":
        return {"configurations": 4, "captime_s": 64.0}
    return {} if procedure == "wager" else {"configurations": min(levels, 6)}


def _start(
    program: Program, scenario: Scenario, folder: Path | None, workers: int, **settings: object
) -> Verdict:
    """Run until a stop; whether it ever promised too much."""
    watcher = Watcher(program)
    if folder is not None and folder.exists():
        with contextlib.closing(read_run_folder(folder)) as store:
            watcher.levels = {each.index: each.assignment["x"] for each in store.configurations()}
    chosen = replace(settings_of(scenario, workers=workers), **settings)
    backend = SimulatedBackend(workers, program.behaves)
    result = run_scenario(scenario, folder, chosen, backend=backend, on_event=watcher)
    for point in result.trajectory:
        watcher.look(point.best_index, point.promise)
    return watcher.verdict


def _stop(generator: np.random.Generator, procedure: str, most: int = 400) -> StopRules:
    epsilon = 0.5 if procedure == "naive" else float(generator.choice([0.05, 0.2, 0.4]))
    return StopRules(epsilon=epsilon, runs=int(generator.integers(20, most)))


def parallel_search(generator: np.random.Generator, procedure: str, delta: float, *, finite: bool) -> Verdict:
    """Several workers, whose runs end in any order."""
    program = Program.make(generator, procedure, delta, finite=finite, proposals=0.0)
    program = replace(program, options=tuple(_options(procedure, len(program.times_s)).items()))
    scenario = program.scenario(int(generator.integers(2**31)), stop=_stop(generator, procedure))
    return _start(program, _without_model(scenario), None, int(generator.choice([2, 4, 16])))


def _without_model(scenario: Scenario) -> Scenario:
    if scenario.procedure != "wager":
        return scenario
    return replace(scenario, options={**scenario.options, "proposals": 0.0})


def resumed_search(generator: np.random.Generator, procedure: str, delta: float, *, finite: bool) -> Verdict:
    """Stopped several times and resumed with another ε, γ, budget and number of workers."""
    program = Program.make(generator, procedure, delta, finite=finite)
    program = replace(program, options=tuple(_options(procedure, len(program.times_s)).items()))
    scenario = _without_model(program.scenario(int(generator.integers(2**31))))
    verdict = NOTHING_SEEN
    with tempfile.TemporaryDirectory() as place:
        folder, runs = Path(place) / "run", 0
        for _ in range(3):
            runs += int(generator.integers(5, 120))
            epsilon = 0.5 if procedure == "naive" else float(generator.choice([0.05, 0.2, 0.4]))
            stop = StopRules(epsilon=epsilon, gamma=generator.choice([None, 0.1, 0.4]), runs=runs)
            workers = int(generator.choice([1, 2, 8]))
            verdict |= _start(program, replace(scenario, stop=stop), folder, workers)
    return verdict


def reused_search(generator: np.random.Generator, procedure: str, delta: float, *, finite: bool) -> Verdict:
    """Runs of an earlier folder count, for another utility that was fixed beforehand."""
    program = Program.make(generator, procedure, delta, finite=finite)
    program = replace(program, options=tuple(_options(procedure, len(program.times_s)).items()))
    scenario = _without_model(program.scenario(int(generator.integers(2**31))))
    first = replace(scenario, utility="step(deadline=2)", stop=_stop(generator, procedure, 200))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "first"
        run_scenario(
            first, folder, settings_of(first, workers=2), backend=SimulatedBackend(2, program.behaves)
        )
        second = replace(scenario, stop=_stop(generator, procedure, 200))
        with contextlib.closing(read_run_folder(folder)) as store:
            earlier = EarlierRuns.read(store, folder, second)
        return _start(program, second, Path(place) / "second", 2, earlier=earlier)


def ask_tell_search(
    generator: np.random.Generator, procedure: str, delta: float, *, finite: bool, copies: int = 1
) -> Verdict:
    """Trials told in any order, some forgotten and asked for again; looked at after every one."""
    program = Program.make(generator, procedure, delta, finite=finite)
    settings = _options(procedure, len(program.times_s))
    program = replace(program, options=tuple(settings.items()), copies=copies)
    if copies > 1:
        wide = generator.random((len(program.times_s), program.times_s.shape[1] * copies))
        program = replace(program, times_s=np.repeat(program.times_s, copies, axis=1))
        program = replace(program, times_s=np.where(wide < 0.2, NEVER, program.times_s))
    seed = int(generator.integers(2**31))
    plain = replace(program, copies=1)
    scenario = _without_model(plain.scenario(seed, stop=_stop(generator, procedure, 250)))
    if copies > 1:
        names = tuple(f"i{number}" for number in range(program.times_s.shape[1] // copies))
        scenario = replace(scenario, training=ListedInstances(names * copies, files=False))
    columns = _columns(scenario, copies)
    levels: set[int] = set()
    verdict = NOTHING_SEEN
    with Tuner(scenario) as search:
        while not search.done:
            trials = search.ask(int(generator.integers(1, 9)))
            for place in generator.permutation(len(trials)):
                trial = trials[place]
                level = trial.configuration["x"]
                levels.add(level)
                if generator.random() < 0.05:
                    search.forget(trial)
                    continue
                time_s = program.times_s[level, columns[trial.request.position]]
                search.tell(trial, float(time_s) if time_s < trial.captime_s else None)
                verdict |= program.seen(search.best["x"], search.promise, sorted(levels))
                if verdict.failed:
                    return verdict
    return verdict


def _columns(scenario: Scenario, copies: int) -> list[int]:
    """The column of the table that each position of the order shows; every copy has one of its own."""
    source = instance_source(scenario)
    seen: dict[int, int] = {}
    columns = []
    for position in range(source.count or 0):
        number = int(source.name(position)[1:])
        columns.append(number * copies + seen.get(number, 0))
        seen[number] = seen.get(number, 0) + 1
    return columns

"""`whatif` under the utility of the run itself is never better than the run.

It makes a promise of its own, for every utility at once, and pays for that. A run that promised less than
`whatif` says of the same runs would have left something out that its own data show. (An early version did:
its answer was proved to ε = 0.608 only, although the default had been run on the whole list.)
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.live.simulated_scenarios import backend, make_scenario, runtime_s

from utilitune.data import RuntimeMatrix
from utilitune.domain.stopping import Budget
from utilitune.live.exploring import Exploring
from utilitune.live.running import run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.procedures.bounds.every_utility import CensoredRuns
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import FixedSet
from utilitune.procedures.wager import Adaptive, WagerEngine, WagerSettings
from utilitune.reports.whatif import WhatIf, whatif, whatif_run
from utilitune.scenario import ListedInstances, Population, Scenario
from utilitune.scenario.model import SearchRules
from utilitune.spaces import ParameterSpace
from utilitune.utility import LogLaplace, Step, Uniform, Utility, parse_utility

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DELTA = 0.1
CUTOFF_S = 300.0
UTILITIES = (LogLaplace(10.0), Uniform(30.0), Step(12.0))
ROUNDING = 1e-9


def runtimes(world: str, rows: int, columns: int, seed: int) -> RuntimeMatrix:
    """Instances that are hard for all, near ties, or runs that are rarely good."""
    generator = np.random.default_rng([seed, 17])
    if world == "rarely good":
        times = np.where(
            generator.random((rows, columns)) < generator.uniform(0.02, 0.2, (rows, 1)), 1.0, np.inf
        )
        return RuntimeMatrix.from_array(times, CUTOFF_S)
    spread = 0.05 if world == "near ties" else 0.8
    logs = 2.0 + generator.normal(0, 1.2, (1, columns)) + generator.normal(0, spread, (rows, 1))
    return RuntimeMatrix.from_array(np.exp(logs + generator.normal(0, 0.5, (rows, columns))), CUTOFF_S)


def told(engine: WagerEngine, matrix: RuntimeMatrix, *, growing: bool = False) -> WhatIf:
    """What the same runs say for every utility at once."""
    seen, found = engine.observed(), []
    for row in range(engine.added):
        mine = seen.configuration == row
        positions, captimes_s = seen.position[mine], seen.captime_s[mine]
        assert positions.tolist() == list(range(positions.size))
        found.append(CensoredRuns.capped(matrix.runtimes_s[row, matrix.columns[positions]], captimes_s))
    population = matrix.positions if engine.finite_population else 0
    return whatif(found, delta=DELTA, population=population, growing=growing)


@pytest.mark.parametrize("finite", [True, False], ids=["list", "endless"])
@pytest.mark.parametrize("world", ["hard for all", "near ties", "rarely good"])
@pytest.mark.parametrize("rows", [2, 7, 30])
def test_a_fixed_set_promises_no_less_at_any_moment(rows: int, world: str, finite: bool):
    for number, utility in enumerate(UTILITIES):
        matrix = runtimes(world, rows, 60 if finite else 900, 10 * rows + number)
        settings = WagerSettings(
            DELTA, captime_limit_s=CUTOFF_S, finite_population=finite, growth=FixedSet(rows)
        )
        engine = WagerEngine(RecordedEvidence(matrix, utility), utility, settings)
        for _ in range(rows):
            engine.add(Origin.RANDOM)
        for proved, said in _looked_at_often(engine, matrix, utility):
            assert proved <= said + ROUNDING, f"after {engine.runs} runs"


def _looked_at_often(
    engine: WagerEngine, matrix: RuntimeMatrix, utility: Utility
) -> Iterator[tuple[float, float]]:
    """The ε of a run and the ε that the same runs have by every utility's bound, again and again."""
    rounds, halt = 1, Halt.PAUSED
    while halt is Halt.PAUSED:
        halt = engine.advance(PauseAt(rounds=rounds, total_time_s=math.inf, runs=2**62))
        yield engine.progress().epsilon, told(engine, matrix).under(utility).epsilon
        rounds = 2 * rounds + 1


@pytest.mark.parametrize("finite", [True, False], ids=["list", "endless"])
def test_nor_does_a_set_that_grows(finite: bool):
    """Here ε is that of one stage with its γ, and the promise may be that of an earlier one."""
    matrix = runtimes("hard for all", 400, 60 if finite else 900, 3)
    utility = UTILITIES[0]
    settings = WagerSettings(
        DELTA,
        captime_limit_s=CUTOFF_S,
        finite_population=finite,
        growth=Adaptive(),
        given=False,
        chosen=False,
    )
    engine = WagerEngine(RecordedEvidence(matrix, utility), utility, settings)
    for rounds in (50, 200, 800):
        while engine.advance(PauseAt(rounds, math.inf, 2**62)) is Halt.NEEDS_CONFIGURATIONS:
            for _ in range(engine.missing_configurations):
                engine.add(Origin.RANDOM)
        assert engine.added <= matrix.rows
        progress = engine.progress()
        said = told(engine, matrix, growing=True).under(utility).epsilon
        gamma = engine._stage.gamma
        assert progress.gamma is not None
        assert gamma is not None
        assert progress.epsilon + progress.gamma <= said + gamma + ROUNDING


@pytest.mark.parametrize("population", list(Population), ids=lambda each: each.value)
def test_nor_does_a_live_run_of_a_fixed_set(tmp_path: Path, population: Population):
    scenario = make_scenario(tmp_path, procedure="wager", population=population)
    folder = tmp_path / "run"
    for runs in (40, 150, 700):
        settings = replace(settings_of(scenario, workers=2), budget=Budget(max_runs=runs))
        result = run_scenario(scenario, folder, settings, backend=backend(2))
        said = whatif_run(folder).under(scenario.utility)
        assert result.promise.epsilon <= said.epsilon + ROUNDING


@pytest.mark.parametrize("population", list(Population), ids=lambda each: each.value)
def test_nor_does_a_run_in_a_small_space_and_repeated_draws_share_their_runs(
    tmp_path: Path, population: Population
):
    """The default is drawn once more, and is not run once more: what is known of it still counts."""
    few = ParameterSpace.from_tables({"x": {"type": "categorical", "values": [0.9, 0.1, 0.3, 0.5]}})
    scenario = make_scenario(tmp_path, procedure="wager", options={}, population=population, space=few)
    for runs in (10, 40, 150, 2000):
        settings = replace(settings_of(scenario, workers=2), budget=Budget(max_runs=runs))
        result = run_scenario(scenario, tmp_path / "run", settings, backend=backend(2))
        answer = whatif_run(tmp_path / "run").under(scenario.utility)
        assert result.progress.epsilon <= answer.epsilon + ROUNDING
    if population is Population.FINITE:
        assert answer.epsilon == pytest.approx(0.0, abs=1e-6)


def searching(directory: Path, seed: int, instances: int) -> Scenario:
    """A run on a list that searches as much as it proves."""
    return make_scenario(
        directory,
        procedure="wager",
        options={"entropy": "the same"},
        population=Population.FINITE,
        training=ListedInstances(tuple(f"i{seed}_{number}" for number in range(instances)), files=False),
        search=SearchRules(0.5),
        seed=seed,
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_search_has_looked_at_counts_in_the_promise_of_a_run(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
):
    """A version that left it out had a larger ε than `whatif` at every other early moment of such runs."""
    scenario = searching(tmp_path, seed, instances=40)
    said: list[tuple[float, float]] = []
    searched = 0

    def close(asker: Exploring) -> None:
        nonlocal searched
        engine, looked = asker.proof.engine, asker.proof.looked_at()
        assert isinstance(engine, WagerEngine)
        searched += len(looked) - len(engine.observed().position)
        worths = defaultdict[int, float](float)
        for (number, position), captime_s in looked.items():
            x = float(asker._hunt.assignment_of(number)["x"])
            time_s = runtime_s(x, asker_names[position])
            worths[number] += float(parse_utility(scenario.utility)(time_s)) if time_s < captime_s else 0.0
        proved, _ = asker._choice.candidates()
        if proved is not None:
            counted = 1.0 - max(worths.values(), default=0.0) / 40 + (engine._stage.gamma or 0.0)
            said.append((engine.worth(proved), counted))

    task = Task(scenario)
    asker_names = [task.training.name(position) for position in range(40)]
    monkeypatch.setattr(Exploring, "close", close)
    for runs in range(20, 300, 20):
        settings = replace(settings_of(scenario, workers=1), budget=Budget(max_runs=runs))
        run_scenario(scenario, tmp_path / "run", settings, backend=backend(1))
    assert searched > 20
    assert all(proved <= counted + ROUNDING for proved, counted in said), said


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("seed", range(2))
def test_until_its_end_a_run_says_no_less_than_whatif_of_who_takes_part(
    tmp_path: Path, seed: int, workers: int, monkeypatch: pytest.MonkeyPatch
):
    """Runs that were made ahead of need, or for the ε of an earlier start, were left out once."""
    scenario = searching(tmp_path, seed, instances=12)
    ends: list[tuple[float, set[int]]] = []
    base: list[float] = []

    def close(asker: Exploring) -> None:
        engine = asker.proof.engine
        assert isinstance(engine, WagerEngine)
        with asker._by_what_counts():
            proved, _ = asker._choice.candidates()
        without, _ = asker._choice.candidates()
        if proved is not None and without is not None and not asker.is_over:
            base.append(engine.worth(without) - engine.worth(proved))
            ends.append((proved.epsilon, set(asker.proof._entrants.numbers)))

    monkeypatch.setattr(Exploring, "close", close)
    compared = 0
    for place, runs in enumerate(range(15, 165, 10)):
        settings = settings_of(scenario, workers=workers)
        procedure = replace(settings.specification, epsilon=(0.01, 0.3, 0.02)[place % 3])
        settings = replace(settings, specification=procedure, budget=Budget(max_runs=runs))
        before = len(ends)
        run_scenario(scenario, tmp_path / "run", settings, backend=backend(workers))
        if len(ends) == before:
            continue
        epsilon, members = ends[-1]
        found = whatif_run(tmp_path / "run").under(scenario.utility)
        if found.best_index in members:
            compared += 1
            assert epsilon <= found.epsilon + ROUNDING
    assert compared >= 4
    assert max(base) > 0.01, "all runs said no more than those that were looked at"

"""Whole runs for the quality of solutions, on a virtual clock."""

from __future__ import annotations

import contextlib
import hashlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from live.simulated_scenarios import assert_workers_and_stops_change_nothing, make_scenario
from utilitune.domain import Objective, RunStatus
from utilitune.errors import ScenarioError, UsageError
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.evaluation import plan_evaluation, run_evaluation
from utilitune.live.running import run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.scenario.model import CommandSpec, QualityRules
from utilitune.store import MemoryStore, Snapshot, read_run_folder
from utilitune.targets.wrappers import Contract, WrapperRules
from utilitune.utility import Goal

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.scenario import Scenario

LIMIT_S = 5.0


def quality_scenario(directory: Path, **changes: object) -> Scenario:
    scenario = make_scenario(directory)
    target = CommandSpec(scenario.target.argv, rules=WrapperRules(Contract.IRACE))
    settings = {
        "target": target,
        "quality": QualityRules(),
        "utility": "compared(to=default, alpha=5)",
        "max_captime_s": LIMIT_S,
    }
    return replace(scenario, **(settings | changes))


def cost(x: float, instance: str) -> float:
    """Small near x = 0.3; instances differ by a factor."""
    noise = int.from_bytes(hashlib.sha256(instance.encode()).digest()[:2], "big") / 65536
    return (1 + 9 * noise) * (1 + abs(x - 0.3))


def behaviour(job: object) -> SimulatedRun:
    _, instance, argument = job.task.argv
    x = float(argument.removeprefix("--x="))
    if x > 0.97:
        return SimulatedRun(1.0, exit_code=1)
    return SimulatedRun(1.0 if x < 0.5 else 2.0, matches=(f"{cost(x, instance)} 77",))


def run(scenario: Scenario, folder: Path | None = None, workers: int = 1, **settings: object):
    chosen = replace(settings_of(scenario), **settings)
    return run_scenario(scenario, folder, chosen, backend=SimulatedBackend(workers, behaviour))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"procedure": "up"},
        {"procedure": "wager"},
        {"procedure": "wager", "options": {}},
        {"procedure": "coup", "options": {"phases": 1}},
        {"utility": "gap(best=0, worst=20)"},
        {"utility": "product(gap(best=0, worst=20), uniform(k0=100))", "procedure": "wager"},
    ],
)
def test_every_procedure_configures_for_quality(tmp_path: Path, changes: dict):
    scenario = quality_scenario(tmp_path, **changes)
    scenario = replace(scenario, stop=replace(scenario.stop, epsilon=0.3))
    result = run(scenario, tmp_path / "run")
    assert abs(result.best["x"] - 0.3) < 0.6  # better than the default
    assert result.promise.epsilon < 1
    with_store = read_run_folder(tmp_path / "run")
    runs = list(with_store.runs())
    assert {record.request.captime_s for record in runs} == {LIMIT_S}
    pairs = [(record.request.configuration, record.request.position) for record in runs]
    assert len(set(pairs)) == len(pairs)  # a finished run is never repeated
    assert all((record.outcome.quality is None) == record.outcome.failed for record in runs)
    with_store.close()


def test_the_default_is_run_wherever_it_is_compared_with(tmp_path: Path):
    scenario = quality_scenario(tmp_path, procedure="wager", options={})
    scenario = replace(scenario, stop=replace(scenario.stop, runs=150))
    run(scenario, tmp_path / "run", workers=3)
    store = read_run_folder(tmp_path / "run")
    positions = {record.request.position for record in store.runs()}
    defaults = {record.request.position for record in store.runs(configuration=0)}
    store.close()
    assert len(positions - defaults) <= 3  # the last ones under way
    assert len(positions) > 5


def test_workers_and_interruptions_change_nothing(tmp_path: Path):
    scenario = quality_scenario(tmp_path, procedure="wager", options={"configurations": 6})
    assert_workers_and_stops_change_nothing(scenario, tmp_path, behaviour)


def test_larger_may_be_better(tmp_path: Path):
    scenario = quality_scenario(
        tmp_path, quality=QualityRules(better=Goal.LARGER), utility="gap(best=30, worst=0)", procedure="wager"
    )
    scenario = replace(scenario, stop=replace(scenario.stop, epsilon=0.3))
    assert run(scenario).best["x"] > 0.5


def test_a_run_that_reports_nothing_has_failed_and_is_worth_nothing(tmp_path: Path):
    scenario = quality_scenario(tmp_path, stop=replace(make_scenario(tmp_path).stop, runs=12))
    silent = SimulatedBackend(1, lambda job: SimulatedRun(1.0, matches=(behaviour(job).matches or (None,))))
    result = run_scenario(scenario, tmp_path / "run", backend=silent)
    assert result.progress.runs == 12


def test_stopped_runs_without_a_solution_are_worth_nothing(tmp_path: Path):
    scenario = quality_scenario(tmp_path, stop=replace(make_scenario(tmp_path).stop, runs=8))
    endless = SimulatedBackend(1, lambda _: SimulatedRun(math.inf))
    run_scenario(scenario, tmp_path / "run", backend=endless)
    store = read_run_folder(tmp_path / "run")
    assert {record.outcome.status for record in store.runs()} == {RunStatus.TIMEOUT}
    store.close()


@pytest.mark.parametrize(
    ("objective", "about"), [(Objective.QUALITY, "quality"), (Objective.ANYTIME, "solutions at any time")]
)
def test_time_alone_has_no_utility(tmp_path: Path, objective: Objective, about: str):
    scenario = quality_scenario(tmp_path, quality=QualityRules(objective))
    sentence = f"is only possible where the time of runs counts, but this scenario is about {about}$"
    with pytest.raises(ScenarioError, match=f"^this {sentence}"):
        _ = Task(scenario).utility


@pytest.mark.parametrize("utility", ["compared(to=default, alpha=5)", "gap(best=0, worst=20)"])
def test_an_evaluation_compares_what_solutions_are_worth(tmp_path: Path, utility: str):
    scenario = quality_scenario(tmp_path, procedure="up", options={"configurations": 5}, utility=utility)
    scenario = replace(scenario, stop=replace(scenario.stop, runs=60), test=scenario.training)
    run(scenario, tmp_path / "run")
    with contextlib.closing(read_run_folder(tmp_path / "run")) as store:
        with pytest.raises(UsageError, match="solutions are judged at the scenario's limit, 5 s: leave"):
            plan_evaluation(store, scenario, captime_s=1.0)
        plan = plan_evaluation(store, scenario, 1)
    snapshot = Snapshot(scenario.snapshot(), plan.digest)
    found = run_evaluation(plan, MemoryStore(snapshot), SimulatedBackend(1, behaviour))
    assert found.of_solutions
    ours, theirs = found.chosen, found.default
    better = ours.mean_quality < theirs.mean_quality
    assert (ours.mean_utility > theirs.mean_utility) == better
    assert (found.difference > 0) == better
    if "compared" in utility:
        assert theirs.mean_utility == 0.5
    assert found.difference_interval.low <= found.difference <= found.difference_interval.high
    assert found.to_dict()["default"]["mean_quality"] == theirs.mean_quality

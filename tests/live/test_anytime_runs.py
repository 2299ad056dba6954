"""Whole runs for solutions that improve while a program runs, on a virtual clock."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from live.simulated_scenarios import assert_workers_and_stops_change_nothing, make_scenario
from live.test_quality_runs import cost
from utilitune.domain import Objective, RunStatus
from utilitune.errors import UsageError
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.running import _tell_of_search, run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.scenario.model import CommandSpec, QualityRules, SearchRules
from utilitune.store import MemoryStore, read_run_folder
from utilitune.targets.verdict import VerdictRules

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.scenario import Scenario

LIMIT_S = 16.0
MOMENTS_S = (0.05, 0.3, 1.0, 4.0, 12.0)


def anytime_scenario(directory: Path, **changes: object) -> Scenario:
    scenario = make_scenario(directory)
    rules = VerdictRules(quality_pattern="(.*)", bound_pattern="b(.*)")
    settings = {
        "target": CommandSpec(scenario.target.argv, rules=rules),
        "quality": QualityRules(Objective.ANYTIME),
        "utility": "product(gap(best=1, worst=20), uniform(k0=16))",
        "captime0_s": 0.1,
        "max_captime_s": LIMIT_S,
        "procedure": "wager",
        "options": {"configurations": 6},
    }
    return replace(scenario, **(settings | changes))


def behaviour(job: object) -> SimulatedRun:
    """Solutions come closer and closer to what the configuration reaches in the end; one in ten fails."""
    _, instance, argument = job.task.argv
    x = float(argument.removeprefix("--x="))
    reached = cost(x, instance)
    found = [(s, f"{reached * (1 + 1 / (1 + 4 * s))}", "1", None) for s in MOMENTS_S]
    if x > 0.97:
        return SimulatedRun(0.5, exit_code=1, trace=tuple(found[:2]), matches=(found[1][1], "1"))
    return SimulatedRun(math.inf, trace=tuple(found))


def run(scenario: Scenario, folder: Path | None = None, workers: int = 1, **settings: object):
    chosen = replace(settings_of(scenario), **settings)
    return run_scenario(scenario, folder, chosen, backend=SimulatedBackend(workers, behaviour))


@pytest.mark.parametrize(
    ("changes", "early"),
    [
        ({}, True),
        ({"options": {}}, True),
        ({"utility": "product(compared(to=default, alpha=2), uniform(k0=16))"}, True),
        ({"utility": "gap(best=1, worst=20)"}, False),
        ({"procedure": "oup"}, False),
        ({"procedure": "up"}, False),
        ({"procedure": "coup", "options": {"phases": 1}}, False),
    ],
)
def test_every_procedure_configures_for_solutions_at_any_time(tmp_path: Path, changes: dict, early: bool):
    scenario = anytime_scenario(tmp_path, **changes)
    scenario = replace(scenario, stop=replace(scenario.stop, epsilon=0.3))
    result = run(scenario, tmp_path / "run")
    assert abs(result.best["x"] - 0.3) < 0.65  # better than the default, or as good as it
    assert result.promise.epsilon < 1
    store = read_run_folder(tmp_path / "run")
    runs = list(store.runs())
    store.close()
    captimes_s = {record.request.captime_s for record in runs}
    assert (min(captimes_s) < LIMIT_S) == early or not early
    if scenario.procedure != "wager":
        assert captimes_s == {LIMIT_S}
    for record in runs:
        expected = [s for s in MOMENTS_S if s <= record.request.captime_s]
        if record.outcome.status is RunStatus.TIMEOUT:
            assert [point.time_s for point in record.outcome.trace] == expected
    assert any(record.outcome.trace for record in runs)


def test_workers_and_interruptions_change_nothing(tmp_path: Path):
    scenario = anytime_scenario(tmp_path)
    assert_workers_and_stops_change_nothing(scenario, tmp_path, behaviour)


@pytest.mark.parametrize(
    ("discount", "share"),
    [
        ("log-laplace(k0=1)", 0.5),
        ("log-laplace(k0=4)", 0.5),
        ("uniform(k0=12)", 0.5),
        ("uniform(k0=16)", 0.6),
    ],
)
def test_early_looks_cost_less_than_runs_to_the_limit(discount: str, share: float, tmp_path: Path):
    """At most half; a little more where a solution is worth something until the very limit."""
    scenario = anytime_scenario(tmp_path, utility=f"product(gap(best=1, worst=20), {discount})")
    scenario = replace(scenario, stop=replace(scenario.stop, epsilon=0.3))
    early = run(scenario)
    full = run(replace(scenario, captime0_s=LIMIT_S))
    assert early.promise.epsilon <= 0.3
    assert full.promise.epsilon <= 0.3
    assert early.progress.total_time_s < share * full.progress.total_time_s


def test_users_are_told_that_nothing_is_searched(tmp_path: Path):
    scenario = anytime_scenario(tmp_path)
    for rules, told in ((SearchRules(), 1), (SearchRules(share=0.0), 0)):
        task = Task(replace(scenario, search=rules))
        store = MemoryStore(task.snapshot)
        for _ in range(2):  # once, however often it is started
            _tell_of_search(task, settings_of(task.scenario), store)
        texts = [event.text for event in store.events() if event.kind == "warning"]
        assert len(texts) == told
        assert all('There is no search for objective = "anytime" yet' in text for text in texts)


def test_a_configuration_from_elsewhere_is_not_silently_left_out(tmp_path: Path):
    with pytest.raises(UsageError, match="a configuration from elsewhere cannot be proved"):
        run(anytime_scenario(tmp_path), found={"x": 0.4})

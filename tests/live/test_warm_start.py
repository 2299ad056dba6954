"""Configurations that are tried first, and runs of an earlier folder: what counts, what the promise says."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from live.simulated_scenarios import backend, make_scenario
from utilitune import Tuner, whatif_run
from utilitune.domain.stopping import Budget
from utilitune.errors import UsageError
from utilitune.live.result import RunResult
from utilitune.live.reusing import EarlierRuns
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import ListedInstances, Population, StopRules, instance_source
from utilitune.scenario.model import SearchRules
from utilitune.spaces import Assignment, ParameterSpace
from utilitune.store import read_run_folder
from utilitune.store.records import StoredOrigin


def settings(scenario, earlier=None, **budget):
    return replace(settings_of(scenario, workers=1), budget=Budget(**budget), earlier=earlier)


def earlier_of(folder: Path, scenario) -> EarlierRuns:
    store = read_run_folder(folder)
    try:
        return EarlierRuns.read(store, folder, scenario)
    finally:
        store.close()


def first_run(tmp_path: Path, **changes: object):
    scenario = make_scenario(tmp_path, **changes)
    run_scenario(scenario, tmp_path / "first", settings(scenario, max_runs=80), backend=backend(1))
    return scenario


def test_listed_configurations_are_tried_first_and_give_no_credit_for_gamma(tmp_path: Path):
    listed = tuple(Assignment({"x": x}) for x in (0.3, 0.9, 0.31))
    plain = make_scenario(tmp_path, procedure="coup", options={})
    warm = replace(plain, initial=listed)
    results = [
        run_scenario(each, None, settings(each, max_runs=10), backend=backend(1)) for each in (plain, warm)
    ]
    assert results[1].progress.configurations == results[0].progress.configurations + 2
    assert results[1].progress.gamma == results[0].progress.gamma


def test_the_default_is_first_and_nothing_twice(tmp_path: Path):
    scenario = make_scenario(tmp_path, initial=(Assignment({"x": 0.3}), Assignment({"x": 0.9})))
    folder = tmp_path / "run"
    run_scenario(scenario, folder, settings(scenario, max_runs=10), backend=backend(1))
    store = read_run_folder(folder)
    records = store.configurations()
    store.close()
    assert [(each.assignment["x"], each.origin) for each in records[:2]] == [
        (0.9, StoredOrigin.DEFAULT),
        (0.3, StoredOrigin.USER),
    ]
    assert records[2].origin is StoredOrigin.RANDOM


def test_earlier_runs_are_not_made_again_and_prove_the_same(tmp_path: Path):
    scenario = first_run(tmp_path)
    other = replace(scenario, utility="uniform(k0=40)", stop=replace(scenario.stop, epsilon=0.7))
    cold = run_scenario(other, None, settings(other), backend=backend(1))
    folder = tmp_path / "second"
    warm = run_scenario(
        other, folder, settings(other, earlier_of(tmp_path / "first", other)), backend=backend(1)
    )
    assert warm.best == cold.best
    assert warm.progress.epsilon == cold.progress.epsilon
    assert warm.progress.runs < cold.progress.runs
    assert warm.progress.total_time_s < cold.progress.total_time_s


def test_earlier_runs_count_towards_no_budget_whoever_goes_on(tmp_path: Path):
    scenario = first_run(tmp_path)
    other = replace(scenario, utility="uniform(k0=40)", stop=StopRules(runs=12))
    folder = tmp_path / "second"
    earlier = earlier_of(tmp_path / "first", other)
    warm = run_scenario(other, folder, settings(other, earlier, max_runs=12), backend=backend(1))
    assert warm.stop_reason.code == "run-limit"
    taken_over = sum(run["taken_over"] for run in warm.runs)
    assert 0 < taken_over < len(warm.runs) == taken_over + 12
    with Tuner(other, folder) as tuner:
        assert tuner.stop_reason.code == "run-limit"
        assert (tuner.progress, tuner.promise) == (warm.progress, warm.promise)
    with Tuner(replace(other, stop=StopRules(runs=13)), folder) as tuner:
        assert len(tuner.ask(5)) == 1


def test_earlier_runs_that_a_kill_left_out_are_taken_over_at_the_next_start(tmp_path: Path):
    scenario = first_run(tmp_path)
    other = replace(scenario, utility="uniform(k0=40)", stop=replace(scenario.stop, epsilon=0.7))
    earlier = earlier_of(tmp_path / "first", other)
    undisturbed = run_scenario(other, tmp_path / "second", settings(other, earlier), backend=backend(1))
    folder = tmp_path / "third"
    run_scenario(other, folder, settings(other, earlier, max_runs=1), backend=backend(1))
    with closing(sqlite3.connect(folder / "run.sqlite")) as stored, stored:
        configuration = stored.execute("SELECT max(configuration) FROM runs WHERE started_at = 0").fetchone()
        stored.execute("DELETE FROM runs WHERE started_at = 0 AND configuration = ?", configuration)
    resumed = run_scenario(other, folder, settings(other, earlier), backend=backend(1))
    assert resumed.progress == undisturbed.progress
    assert len(resumed.runs) == len(undisturbed.runs)


def test_the_promise_says_what_it_rests_on_also_after_a_second_start(tmp_path: Path):
    scenario = first_run(tmp_path)
    other = replace(scenario, utility="uniform(k0=40)", stop=replace(scenario.stop, epsilon=0.7))
    folder = tmp_path / "second"
    earlier = earlier_of(tmp_path / "first", other)
    run_scenario(other, folder, settings(other, earlier, max_runs=3), backend=backend(1))
    resumed = run_scenario(other, folder, settings(other, earlier), backend=backend(1))
    said = f"This uses runs of {tmp_path / 'first'}: it holds if neither the utility nor the configurations"
    assert resumed.promise.sentence().count(said) == 1
    store = read_run_folder(folder)
    assert said in RunResult.read(store, folder).promise.sentence()
    taken = [run for run in store.runs() if run.taken_over]
    store.close()
    assert taken
    assert resumed.progress.runs == len(resumed.runs) - len(taken)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"seed": 2}, "has another seed, so its instances come in another order"),
        ({"memory_bytes": 10**9}, "has another memory limit"),
    ],
)
def test_runs_that_mean_something_else_are_refused(tmp_path: Path, changes: dict, complaint: str):
    scenario = first_run(tmp_path)
    with pytest.raises(UsageError, match=complaint):
        earlier_of(tmp_path / "first", replace(scenario, **changes))


def test_a_configuration_that_the_earlier_run_found_cannot_be_listed_on_the_same_order(tmp_path: Path):
    scenario = first_run(tmp_path)
    store = read_run_folder(tmp_path / "first")
    found = Assignment(store.configurations()[3].assignment)
    store.close()
    with pytest.raises(UsageError, match=r"configuration 1 to try first was found by .*another seed"):
        earlier_of(tmp_path / "first", replace(scenario, initial=(found,)))


@pytest.mark.parametrize("procedure", ["coup", "oup"])
def test_what_is_kept_is_where_the_run_ended(tmp_path: Path, procedure: str):
    options = {"configurations": 3} if procedure == "oup" else {}
    scenario = make_scenario(tmp_path, procedure=procedure, options=options)
    folder = tmp_path / "kept"
    result = run_scenario(scenario, folder, settings(scenario, max_runs=60), backend=backend(1))
    store = read_run_folder(folder)
    last = store.last_progress()
    store.close()
    assert last is not None
    assert last.progress == result.progress


def test_no_more_runs_are_made_than_the_budget_has(tmp_path: Path):
    scenario = make_scenario(tmp_path)
    for limit in (1, 7, 20):
        result = run_scenario(scenario, None, settings(scenario, max_runs=limit), backend=backend(4))
        assert result.progress.runs == limit
        assert result.stop_reason.code == "run-limit"


def test_nor_can_it_be_the_default(tmp_path: Path):
    scenario = first_run(tmp_path)
    store = read_run_folder(tmp_path / "first")
    found = store.configurations()[3].assignment["x"]
    store.close()
    space = ParameterSpace.from_tables({"x": {"type": "float", "range": [0.0, 1.0], "default": found}})
    with pytest.raises(UsageError, match=r"the default was found by .*another seed"):
        earlier_of(tmp_path / "first", replace(scenario, space=space))


def test_what_was_given_before_is_no_find_even_if_it_was_drawn_again(tmp_path: Path):
    space = ParameterSpace.from_tables(
        {"x": {"type": "ordinal", "values": [0.1, 0.3, 0.6, 0.9], "default": 0.9}}
    )
    scenario = first_run(tmp_path, space=space, options={"configurations": 20})
    store = read_run_folder(tmp_path / "first")
    drawn = [each.assignment["x"] for each in store.configurations() if each.origin is StoredOrigin.RANDOM]
    store.close()
    assert 0.9 in drawn
    earlier_of(tmp_path / "first", scenario)


def test_narrowed_parameters_are_part_of_the_condition(tmp_path: Path):
    scenario = first_run(tmp_path)
    space = ParameterSpace.from_tables({"x": {"type": "float", "range": [0.2, 0.4], "default": 0.4}})
    narrowed = replace(scenario, space=space)
    folder = tmp_path / "second"
    earlier = earlier_of(tmp_path / "first", narrowed)
    result = run_scenario(narrowed, folder, settings(narrowed, earlier, max_runs=30), backend=backend(1))
    assert "neither the utility nor the parameters nor the configurations to try first" in (
        result.promise.condition
    )
    told = whatif_run(folder).promise()
    assert "it holds if neither the parameters nor the configurations to try first were chosen" in told


def test_listed_configurations_that_were_tuned_on_these_instances_are_part_of_the_condition(tmp_path: Path):
    """One that was fitted to the first instances of the order looks perfect, and is not."""
    instances = tuple(f"i{n}" for n in range(300))
    scenario = make_scenario(
        tmp_path,
        training=ListedInstances(instances, files=False),
        population=Population.FINITE,
        initial=(Assignment({"x": 0.25}),),
        procedure="wager",
        options={"configurations": 2},
        utility="step(deadline=8)",
    )
    order = instance_source(scenario)
    fitted = {order.name(position) for position in range(60)}

    def solves(level: float, instance: str) -> bool:
        return instance in fitted if level == 0.25 else instance in instances[::2]

    with Tuner(scenario, tmp_path / "run") as search:
        for _ in range(90):
            for trial in search.ask():
                search.tell(trial, 0.01 if solves(trial.configuration["x"], trial.instance) else None)
        assert search.best["x"] == 0.25  # which solves a fifth of the list, the default half of it
        assert search.promise.epsilon < 0.3
        assert "It holds if the configurations to try first were not chosen by runs" in (
            search.promise.sentence()
        )
    assert whatif_run(tmp_path / "run").promise().endswith("on these very instances.")
    plain = replace(scenario, initial=())
    with Tuner(plain) as search:
        assert search.promise.condition == ""


def test_no_condition_takes_the_place_of_another(tmp_path: Path):
    """That entropy was given says nothing of where the configurations to try first come from."""
    scenario = make_scenario(
        tmp_path,
        population=Population.FINITE,
        initial=(Assignment({"x": 0.25}),),
        procedure="wager",
        options={"entropy": "fixed"},
        search=SearchRules(share=0.25),
    )
    result = run_scenario(
        scenario, tmp_path / "run", settings(scenario, None, max_runs=30), backend=backend(1)
    )
    for told in (result.promise.condition, whatif_run(tmp_path / "run").promise()):
        assert "the entropy that was given" in told
        assert "the configurations to try first were not chosen by runs on these very instances" in told

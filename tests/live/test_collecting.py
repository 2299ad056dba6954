"""Collections: the right runs, made once, put into a matrix; broken programs are noticed."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from utilitune.domain import RunStatus
from utilitune.errors import ScenarioError, TargetError, UsageError
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.collecting import GridSize, collect, collect_into, plan_size
from utilitune.scenario import (
    CommandSpec,
    FailurePolicy,
    GeneratedInstances,
    ListedInstances,
    Population,
    Scenario,
)
from utilitune.scenario.instances import instance_source
from utilitune.spaces import ParameterSpace
from utilitune.store import MemoryStore, Snapshot

SCENARIO = Scenario(
    name="toy",
    directory=Path(),
    target=CommandSpec(("true", "{parameters}", "{instance}")),
    space=ParameterSpace.from_tables(
        {
            "alpha": {"type": "float", "range": [0.0, 1.0], "default": 0.8},
            "extra": {"type": "categorical", "values": ["no", "yes"], "default": "no"},
            "depth": {"type": "integer", "range": [1, 9], "default": 5, "when": "extra == 'yes'"},
        }
    ),
    training=ListedInstances(tuple("123456789"), files=False),
    utility="uniform(k0=10)",
    max_captime_s=4.0,
)


class Program:
    """Counts its runs; takes alpha seconds per unit of the instance."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, job) -> SimulatedRun:
        self.runs += 1
        words = job.task.argv
        return SimulatedRun(float(words[1].partition("=")[2]) * float(words[-1]))


def fresh_store() -> MemoryStore:
    return MemoryStore(Snapshot(SCENARIO.snapshot(), SCENARIO.digest()))


def collected(store: MemoryStore, program, size: GridSize, scenario: Scenario = SCENARIO, seen=None):
    with SimulatedBackend(3, program) as backend:
        show = None if seen is None else (lambda done, total: seen.append((done, total)))
        return collect_into(store, backend, scenario, size, show)


def test_the_matrix_holds_every_run_and_the_features_of_its_configurations():
    store, program, seen = fresh_store(), Program(), []
    matrix = collected(store, program, GridSize(5, 6, 4.0), seen=seen)
    assert matrix.shape == (5, 6)
    assert program.runs == 30
    assert (seen[0], seen[-1]) == ((0, 30), (30, 30))
    assert matrix.configurations == ("default", "c1", "c2", "c3", "c4")
    instances = instance_source(SCENARIO)
    assert matrix.instances == tuple(instances.name(position) for position in range(6))
    alphas = [record.assignment["alpha"] for record in store.configurations()]
    expected = np.outer(alphas, [float(name) for name in matrix.instances])
    assert np.allclose(matrix.runtimes_s, np.where(expected < 4.0, expected, math.inf))
    assert matrix.cutoff_s == 4.0
    assert matrix.feature_names == ("alpha", "extra", "depth")
    assert np.allclose(matrix.features[:, 0], alphas)
    off = [record.assignment["extra"] == "no" for record in store.configurations()]
    assert np.isnan(matrix.features[:, 2]).tolist() == off


def test_a_larger_collection_makes_only_what_is_new():
    store, program = fresh_store(), Program()
    small = collected(store, program, GridSize(3, 4, 4.0))
    large = collected(store, program, GridSize(5, 6, 4.0))
    assert program.runs == 30
    assert np.array_equal(large.runtimes_s[:3, :4], small.runtimes_s)
    shorter = collected(store, program, GridSize(5, 6, 1.0))
    assert program.runs == 30
    assert np.array_equal(shorter.runtimes_s, np.where(large.runtimes_s < 1.0, large.runtimes_s, math.inf))
    longer = collected(store, program, GridSize(5, 6, 8.0))
    capped = int(np.isinf(large.runtimes_s).sum())
    assert program.runs == 30 + capped
    assert np.isfinite(longer.runtimes_s).sum() > np.isfinite(large.runtimes_s).sum()


def test_an_interrupted_collection_goes_on():
    store, program = fresh_store(), Program()

    def interrupted(job) -> SimulatedRun:
        if program.runs == 11:
            raise KeyboardInterrupt
        return program(job)

    with pytest.raises(KeyboardInterrupt):
        collected(store, interrupted, GridSize(4, 5, 4.0))
    kept = sum(store.counts().values())
    assert 0 < kept <= 11
    before = program.runs
    matrix = collected(store, program, GridSize(4, 5, 4.0))
    assert program.runs - before == 20 - kept
    assert np.array_equal(
        matrix.runtimes_s, collected(fresh_store(), Program(), GridSize(4, 5, 4.0)).runtimes_s
    )


def test_a_broken_program_is_noticed_at_once():
    def broken(job) -> SimulatedRun:
        return SimulatedRun(0.1, exit_code=1)

    with pytest.raises(TargetError, match=r"^5 runs in a row ended as crashed .*reproduces one of them: cd "):
        collected(fresh_store(), broken, GridSize(5, 6, 4.0))


def test_one_failure_is_a_run_that_never_ends_unless_the_scenario_says_to_stop():
    def sometimes(job) -> SimulatedRun:
        return SimulatedRun(0.1, exit_code=int(job.task.argv[-1] == "3"))

    matrix = collected(fresh_store(), sometimes, GridSize(3, 9, 4.0))
    assert np.isinf(matrix.runtimes_s).sum(axis=0).tolist() == [
        3 * (name == "3") for name in matrix.instances
    ]
    strict = replace(SCENARIO, policies={RunStatus.CRASHED: FailurePolicy.ABORT})
    with pytest.raises(TargetError, match="which the scenario says to stop at"):
        collected(fresh_store(), sometimes, GridSize(3, 9, 4.0), strict)


def test_what_is_left_out_follows_from_the_scenario():
    assert plan_size(SCENARIO, 7) == GridSize(7, 9, 4.0)
    assert plan_size(SCENARIO, 7, 2, 1.5) == GridSize(7, 2, 1.5)
    with pytest.raises(UsageError, match="no largest captime: say with --captime"):
        plan_size(replace(SCENARIO, max_captime_s=None), 7)
    endless = replace(
        SCENARIO,
        training=GeneratedInstances(("make", "{seed}", "{output}"), "made"),
        population=Population.INFINITE,
    )
    with pytest.raises(UsageError, match="have no end: say with --instances"):
        plan_size(endless, 7)
    assert plan_size(endless, 7, 3).instances == 3


@pytest.mark.parametrize(
    ("size", "text"),
    [
        ((0, 1, 1.0), "configurations must be at least 1"),
        ((1, 0, 1.0), "instances"),
        ((1, 1, 0.0), "captime"),
    ],
)
def test_impossible_sizes_are_refused(size, text):
    with pytest.raises(UsageError, match=text):
        GridSize(*size)


def test_more_instances_than_there_are_are_refused():
    with pytest.raises(ScenarioError, match="10 instances were asked for, but the scenario has 9"):
        collected(fresh_store(), Program(), GridSize(2, 10, 4.0))


def test_real_runs_are_kept_in_a_folder(tmp_path: Path):
    scenario = replace(SCENARIO, directory=tmp_path)
    first = collect(scenario, tmp_path / "kept", GridSize(2, 2, 4.0), workers=1)
    again = collect(scenario, tmp_path / "kept", GridSize(2, 2, 4.0), workers=1)
    assert np.isfinite(first.runtimes_s).all()
    assert np.array_equal(first.runtimes_s, again.runtimes_s)


def test_further_seeds_of_an_instance_are_columns_of_their_own():
    scenario = replace(SCENARIO, training=ListedInstances(("1", "2", "2#2") + ("2",) * 2, files=False))
    matrix = collected(fresh_store(), lambda job: SimulatedRun(1.0), GridSize(2, 5, 4.0), scenario)
    assert sorted(matrix.instances) == ["1", "2", "2#2", "2#2#", "2#3"]


def test_a_draw_that_repeats_an_earlier_one_is_not_run_again():
    small = {"extra": {"type": "categorical", "values": ["no", "yes"], "default": "no"}}
    scenario = replace(SCENARIO, space=ParameterSpace.from_tables(small))
    runs = 0

    def program(job) -> SimulatedRun:  # never of the same runtime twice
        nonlocal runs
        runs += 1
        return SimulatedRun(1.0 + runs / 100)

    store = MemoryStore(Snapshot(scenario.snapshot(), scenario.digest()))
    matrix = collected(store, program, GridSize(8, 3, 4.0), scenario)
    assert matrix.shape == (8, 3)
    assert runs == 6
    assert len(set(matrix.same_as().tolist())) == 2

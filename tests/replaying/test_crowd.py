"""Many workers on paper: the same answer, sooner, and what the guesses cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from utilitune import ProcedureSpec, Recording, read_matrix, replay
from utilitune.cli.simulate import _sentences
from utilitune.domain.stopping import Budget
from utilitune.errors import UsageError
from utilitune.execution.simulated_cluster import Conditions
from utilitune.replaying.crowd import Crowd, CrowdResult, simulate

DATA = "synthetic:rows=30,columns=800,seed=4,cutoff_s=600"
WAGER = ProcedureSpec(epsilon=0.2)
PERFECT = Conditions(handling_s=0.0)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return Recording.of(DATA, "log-laplace(k0=60)")


@pytest.fixture(scope="module")
def results(recording: Recording) -> list[CrowdResult]:
    return simulate(recording, WAGER, Crowd([1, 4, 32], PERFECT))


def test_one_worker_does_what_a_replay_does(recording: Recording, results: list[CrowdResult]):
    replayed = replay(recording, WAGER)
    alone = results[0]
    assert alone.best == replayed.best
    assert alone.epsilon == replayed.progress.epsilon
    assert alone.runs == alone.runs_needed == replayed.progress.runs
    assert alone.wall_s == pytest.approx(replayed.progress.total_time_s)
    assert (alone.useful, alone.speed_up, alone.efficiency) == (pytest.approx(1.0), 1.0, 1.0)


def test_more_workers_reach_the_same_state_sooner(results: list[CrowdResult]):
    for each in results[1:]:
        assert (each.best, each.epsilon, each.runs_needed) == (
            results[0].best,
            results[0].epsilon,
            results[0].runs_needed,
        )
        assert 1.0 < each.speed_up <= each.workers
        assert each.efficiency == pytest.approx(each.speed_up / each.workers)
        assert 0.0 < each.useful <= 1.0
        assert 0.0 < each.busy <= 1.0 + 1e-9
    assert results[1].useful > 0.5


@pytest.mark.parametrize("procedure", ["oup", "up", "coup"])
def test_other_procedures_do_too(recording: Recording, procedure: str):
    spec = ProcedureSpec(procedure, epsilon=0.5, phases=1 if procedure == "coup" else None)
    alone, several = simulate(recording, spec, Crowd([1, 8], PERFECT))
    assert (alone.best, alone.epsilon) == (several.best, several.epsilon)
    assert several.wall_s < alone.wall_s


@pytest.mark.parametrize("procedure", ["wager", "oup"])
def test_every_worker_is_kept_busy_where_that_is_asked_for(recording: Recording, procedure: str):
    """Which runs are made beside those that are needed changes neither the answer nor its proof."""
    spec = WAGER if procedure == "wager" else ProcedureSpec(procedure, epsilon=0.7)
    alone, useful = simulate(recording, spec, Crowd([1, 100], PERFECT))
    [filled] = simulate(recording, spec, Crowd([100], PERFECT, "all"))
    for each in (useful, filled):
        assert (each.best, each.epsilon, each.runs_needed) == (alone.best, alone.epsilon, alone.runs_needed)
    assert filled.busy >= 0.95
    assert filled.runs >= filled.runs_needed
    if procedure == "wager":
        assert useful.busy < filled.busy
        assert filled.wall_s < useful.wall_s


def test_guesses_that_there_are_not_are_refused(recording: Recording):
    with pytest.raises(UsageError, match="there is no guesses 'some'"):
        simulate(recording, WAGER, Crowd([4], guesses="some"))


@pytest.mark.parametrize("guesses", ["useful", "all"])
def test_a_coordinator_that_lags_behind_changes_no_answer(guesses: str):
    """Short runs end while results are handled; a thousand workers once needed other runs than one."""
    short = Recording.of(
        "synthetic:rows=60,columns=800,seed=1,median_s=0.005,cutoff_s=7.2", "log-laplace(k0=0.06)"
    )
    spec = ProcedureSpec(epsilon=0.2, captime0_s=0.001)
    alone, crowd = simulate(
        short, spec, Crowd([1, 300], Conditions(latency_s=0.005, handling_s=0.001), guesses)
    )
    assert (crowd.best, crowd.epsilon, crowd.runs_needed) == (alone.best, alone.epsilon, alone.runs_needed)


def test_a_set_that_grows_reaches_the_same_state(recording: Recording):
    spec = ProcedureSpec(epsilon=0.4, growth="adaptive")
    alone, several = simulate(recording, spec, Crowd([1, 8], PERFECT))
    assert (alone.best, alone.epsilon, alone.gamma) == (several.best, several.epsilon, several.gamma)


def test_bad_conditions_cost_time_and_change_no_answer(recording: Recording, results: list[CrowdResult]):
    bad = Conditions(latency_s=1.0, mtbf_s=120.0, spot_s=300.0, speed_spread=0.3, handling_s=0.01)
    [found] = simulate(recording, WAGER, Crowd([4], bad))
    assert (found.best, found.epsilon) == (results[1].best, results[1].epsilon)
    assert found.wall_s > results[1].wall_s
    assert found.losses > 0
    assert found.coordinator > 0.0


def test_what_is_proved_in_the_stored_order_says_what_it_rests_on():
    matrix = read_matrix("synthetic:rows=20,columns=300,seed=1,cutoff_s=600")
    stored = replace(matrix, random_columns=False)
    few = Budget(max_runs=20)
    [found] = simulate(stored, WAGER, Crowd([2], PERFECT), budget=few, seed=None)
    assert found.condition == "This holds only if the data hold their instances in random order."
    assert found.to_dict()["condition"] == found.condition
    assert found.condition in _sentences([found])
    [found] = simulate(stored, WAGER, Crowd([2], PERFECT), budget=few, seed=5)
    assert not found.condition


def test_the_promise_falls_over_time(results: list[CrowdResult]):
    for each in results:
        times_s = [point.wall_s for point in each.promise]
        epsilons = [point.epsilon for point in each.promise]
        assert times_s == sorted(times_s)
        assert epsilons == sorted(epsilons, reverse=True)
        assert (times_s[-1], epsilons[-1]) == (each.wall_s, each.epsilon)


def test_the_same_seed_gives_the_same_figures(recording: Recording):
    conditions = Conditions(mtbf_s=200.0, speed_spread=0.2)
    first, second = (simulate(recording, WAGER, Crowd([8], conditions))[0].to_dict() for _ in range(2))
    assert {**first, "own_cpu_s": 0.0} == {**second, "own_cpu_s": 0.0}


def test_a_budget_ends_it(recording: Recording):
    [found] = simulate(recording, WAGER, Crowd([4], PERFECT), budget=Budget(max_runs=20))
    assert found.stop_reason == "run-limit"
    assert found.epsilon > 0.2


def test_data_in_any_order_gives_the_row_of_the_data():
    matrix = Recording.of(DATA, "log-laplace(k0=60)").matrix
    [found] = simulate(matrix, WAGER, Crowd([2], PERFECT), seed=5)
    assert found.best == replay(matrix, WAGER, seed=5).best


@pytest.mark.parametrize("workers", [[0], [-1], [2_000_000]])
def test_workers_that_make_no_sense_are_refused(recording: Recording, workers: list[int]):
    with pytest.raises(UsageError, match="number of workers"):
        simulate(recording, WAGER, Crowd(workers))


def test_more_configurations_than_rows_are_refused(recording: Recording):
    with pytest.raises(UsageError, match="holds only 30"):
        simulate(recording, ProcedureSpec(epsilon=0.2, configurations=31))


def test_rows_that_repeat_an_earlier_one_are_run_once():
    few = read_matrix("synthetic:rows=5,columns=500,seed=1,cutoff_s=600")
    rows = np.tile(np.arange(5), 8)
    matrix = replace(
        few,
        runtimes_s=few.runtimes_s[rows],
        features=np.eye(5)[rows],
        feature_names=tuple("abcde"),
        configurations=tuple(f"c{number}" for number in range(40)),
    )
    spec = ProcedureSpec(growth="adaptive", epsilon=0.3)
    [crowd] = simulate(matrix, spec, Crowd([3]))
    alone = replay(matrix, spec)
    assert crowd.best == alone.best
    assert crowd.epsilon == alone.progress.epsilon
    assert alone.progress.configurations > 5 >= alone.progress.alive

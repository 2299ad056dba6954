"""A replay promises nothing that the order of the stored data could make false without a word.

Data are stored sorted: by name, by family, by how configurations were found. A promise rests on random
orders, so a replay draws them, or says what it rests on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from utilitune import Budget, ProcedureSpec, Recording, RuntimeMatrix, replay
from utilitune.data.matrix import random_order

UTILITY = "uniform(k0=60)"
GROWING = ProcedureSpec("wager", delta=0.1, growth="adaptive", proposals=0.0)
ONLY_IF = "This holds only if the data hold their"


def by_family() -> RuntimeMatrix:
    """Configuration 0 is best on the first, easy half of the instances, and hopeless on the second half."""
    noise = np.random.default_rng(0).random((3, 4000))
    easy, hard = noise[:, :2000], noise[:, 2000:]
    levels = np.array([[2.0, 59.0], [20.0, 20.0], [25.0, 25.0]])
    return RuntimeMatrix.from_array(np.hstack([levels[:, :1] + easy, levels[:, 1:] + hard]), 100.0)


def worst_first(rows: int = 400) -> RuntimeMatrix:
    """Configurations sorted by what they are worth, the worst one first."""
    noise = np.random.default_rng(1).random((rows, 600))
    return RuntimeMatrix.from_array(np.linspace(58.0, 1.0, rows)[:, None] + noise, 100.0)


def means(matrix: RuntimeMatrix) -> np.ndarray:
    return np.clip(1.0 - matrix.runtimes_s / 60.0, 0.0, 1.0).mean(axis=1)


def best_but(matrix: RuntimeMatrix, gamma: float) -> float:
    """OPT^γ: the largest worth that at least a fraction γ of the rows reaches."""
    worth = np.sort(means(matrix))[::-1]
    return float(worth[int(np.ceil(gamma * len(worth) - 1e-9)) - 1])


@pytest.mark.parametrize("population", ["infinite", "finite"])
@pytest.mark.parametrize("procedure", ["wager", "oup", "up"])
def test_instances_sorted_by_family_make_no_promise_false(procedure: str, population: str):
    matrix = by_family()
    truth = means(matrix)
    for seed in range(5):
        spec = ProcedureSpec(procedure, delta=0.1, epsilon=0.1, population=population)
        result = replay(matrix, spec, utility=UTILITY, seed=seed)
        assert result.promise.condition == ""
        assert truth[result.progress.best_index] >= truth.max() - result.promise.epsilon


@pytest.mark.parametrize("seed", range(5))
def test_configurations_sorted_by_worth_are_no_random_draws(seed: int):
    matrix = worst_first()
    result = replay(matrix, GROWING, utility=UTILITY, budget=Budget(max_runs=3000), seed=seed)
    promise = result.promise
    assert promise.gamma is not None
    assert promise.gamma < 0.5
    assert promise.epsilon < 0.2
    assert means(matrix)[result.progress.best_index] >= best_but(matrix, promise.gamma) - promise.epsilon


def test_stored_order_is_had_by_asking_and_the_promise_says_what_it_rests_on():
    sorted_by_family = replay(by_family(), ProcedureSpec(delta=0.1, epsilon=0.1), utility=UTILITY, seed=None)
    assert sorted_by_family.best == "c0"  # wrong, and that is why the sentence says so
    assert f"{ONLY_IF} instances in random order." in sorted_by_family.promise.sentence()
    assert ONLY_IF in sorted_by_family.to_dict()["promise"]
    grown = replay(worst_first(), GROWING, utility=UTILITY, budget=Budget(max_runs=3000), seed=None)
    assert f"{ONLY_IF} instances and their configurations in random order." in grown.promise.sentence()


def test_what_was_drawn_at_random_stays_as_it_is_and_needs_no_condition():
    matrix = by_family().resample(9000, seed=4)
    spec = ProcedureSpec("oup", delta=0.1, epsilon=0.2)
    asked = replay(matrix, spec, utility=UTILITY, seed=None)
    assert asked.promise.condition == ""  # all rows take part: their order says nothing
    shuffled = Recording.of(matrix, UTILITY).shuffled(3)
    here, there = (replay(shuffled, spec, seed=seed) for seed in (0, None))
    assert here.trajectory == there.trajectory
    assert here.promise == there.promise
    assert here.promise.condition == ""


def test_a_resampled_matrix_with_stored_rows_rests_on_the_rows_alone():
    resampled = worst_first().resample(5000, seed=1)
    result = replay(resampled, GROWING, utility=UTILITY, budget=Budget(max_runs=2000), seed=None)
    assert f"{ONLY_IF} configurations in random order." in result.promise.sentence()


def test_the_last_phase_rests_on_the_same():
    data, spec = "synthetic:rows=30,columns=4000,seed=3", ProcedureSpec("coup", delta=0.4)
    whole = replay(data, replace(spec, phases=1), utility=UTILITY, seed=None)
    budget = Budget(max_runs=whole.progress.runs + 1)
    begun = replay(data, spec, utility=UTILITY, budget=budget, seed=None)
    assert begun.last_phase.endswith(whole.promise.sentence())
    assert ONLY_IF in begun.last_phase


def test_an_order_of_your_own_counts_as_a_stored_one():
    recording = Recording.of(by_family(), UTILITY).shuffled(1)
    own = recording.arranged(np.array([2, 0, 1]), recording.matrix)
    assert recording.condition(growing=True) == ""
    assert "their configurations" in own.condition(growing=True)
    assert "their configurations" not in own.in_random_order(5).condition(growing=True)


def test_rows_and_columns_come_from_different_streams():
    square = RuntimeMatrix.from_array(np.arange(1.0, 401.0).reshape(20, 20))
    shuffled = Recording.of(square, UTILITY).shuffled(7)
    assert shuffled.rows.tolist() != shuffled.matrix.columns.tolist()
    assert shuffled.rows.tolist() == random_order(7, 20).tolist()
    assert sorted(shuffled.rows) == sorted(shuffled.matrix.columns) == list(range(20))


def test_seeds_give_different_orders_and_the_same_seed_the_same():
    runs = [
        replay(
            by_family(), ProcedureSpec("oup", delta=0.1, epsilon=0.2), utility=UTILITY, seed=seed
        ).progress.total_time_s
        for seed in (1, 2, 1)
    ]
    assert runs[0] == runs[2] != runs[1]


def test_shuffling_a_resampled_order_keeps_its_draws():
    resampled = by_family().resample(7000, seed=2)
    assert sorted(resampled.shuffle_columns(1).columns) == sorted(resampled.columns)

"""Recorded qualities and traces: what `collect` writes down, procedures replay with the same promise."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from live import test_anytime_runs, test_quality_runs
from utilitune import ProcedureSpec, RuntimeMatrix, read_matrix, replay
from utilitune.data import write_matrix
from utilitune.errors import DataError, UsageError, UtilityError
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.collecting import GridSize, collect_into, plan_size
from utilitune.live.task import Task
from utilitune.replaying.recording import Recording
from utilitune.replaying.replay import replay_rival
from utilitune.rivals.successive_halving import SuccessiveHalving
from utilitune.store import MemoryStore

ROWS, COLUMNS = 8, 12


def recorded(scenario, behaviour) -> tuple[RuntimeMatrix, MemoryStore]:
    store = MemoryStore(Task(scenario).snapshot)
    size = GridSize(ROWS, COLUMNS, scenario.limit_s)
    with SimulatedBackend(2, behaviour) as backend:
        return collect_into(store, backend, scenario, size), store


def qualities(tmp_path: Path, **changes: object):
    scenario = test_quality_runs.quality_scenario(tmp_path, **changes)
    return scenario, *recorded(scenario, test_quality_runs.behaviour)


def traces(tmp_path: Path, **changes: object):
    scenario = test_anytime_runs.anytime_scenario(tmp_path, **changes)
    return scenario, *recorded(scenario, test_anytime_runs.behaviour)


def true_worths(scenario, store) -> np.ndarray:
    """What the runs are worth, by the judge of the live run."""
    judge = Task(scenario).judge()
    outcomes = {(run.request.configuration, run.request.position): run.outcome for run in store.runs()}
    return np.array(
        [[judge.worth(j, outcomes[i, j], outcomes[0, j]) for j in range(COLUMNS)] for i in range(ROWS)]
    )


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (qualities, {}),
        (qualities, {"utility": "gap(best=0, worst=20)"}),
        (qualities, {"utility": "product(gap(best=0, worst=20), uniform(k0=100))"}),
        (traces, {}),
        (traces, {"utility": "compared(to=default, alpha=5)"}),
        (traces, {"utility": "relative-gap(to=bound, limit=20)"}),
    ],
)
def test_recorded_runs_are_worth_what_live_ones_are(tmp_path: Path, make, changes):
    scenario, matrix, store = make(tmp_path, **changes)
    write_matrix(matrix, tmp_path / "runs.npz")
    again = Recording.of(tmp_path / "runs.npz")
    found = again.evidence.arrays.utility.reshape(ROWS, COLUMNS)
    assert found == pytest.approx(true_worths(scenario, store))
    assert str(again.worth) == scenario.utility


@pytest.mark.parametrize("make", [qualities, traces])
@pytest.mark.parametrize("procedure", ["wager", "oup", "up", "coup", "naive"])
def test_every_procedure_replays_solutions(tmp_path: Path, make, procedure: str):
    scenario, matrix, store = make(tmp_path)
    finite = {"population": "finite"} if procedure in ("wager", "up") else {}
    spec = ProcedureSpec(procedure, epsilon=0.5 if procedure == "naive" else 0.05, growth=None, **finite)
    if procedure == "coup":
        spec = replace(spec, epsilon=None, phases=1)
    data = matrix.resample(60, seed=1) if procedure == "naive" else matrix
    result = replay(data, spec, seed=3)
    worth = true_worths(scenario, store).mean(axis=1)
    best = matrix.configurations.index(result.best)
    if finite:
        assert worth.max() - worth[best] <= result.progress.epsilon + 1e-9
    most_s = np.minimum(data.runtimes_s, scenario.limit_s)[:, data.columns].sum()
    assert 0 < result.progress.total_time_s <= most_s * (1 + 1e-9)  # no run is repeated


def test_early_looks_at_traces_cost_less_than_full_runs(tmp_path: Path):
    _, matrix, _ = traces(tmp_path)
    long = matrix.resample(600, seed=2)
    early, full = (
        replay(long, ProcedureSpec(name, epsilon=0.3, growth="fixed")).progress.total_time_s
        for name in ("wager", "oup")
    )
    assert early < full


def test_another_utility_may_be_asked_for(tmp_path: Path):
    _, matrix, _ = qualities(tmp_path)
    spec = ProcedureSpec("wager", epsilon=0.2, population="finite")
    assert replay(matrix, spec, utility="gap(best=0, worst=30)").best
    with pytest.raises(UtilityError, match="judges the time of a run alone"):
        replay(matrix, spec, utility="uniform(k0=60)")
    with pytest.raises(UtilityError, match="here smaller is better"):
        replay(matrix, spec, utility="gap(best=30, worst=0)")
    laid_out = Recording.of(matrix)
    with pytest.raises(UsageError, match=r"laid out for compared\(to=default"):
        Recording.of(laid_out, "gap(best=0, worst=30)")
    runtimes = RuntimeMatrix.from_array([[1.0, 2.0]], 5.0)
    with pytest.raises(UtilityError, match="judges the quality of a solution"):
        replay(runtimes, spec, utility="gap(best=0, worst=30)")


def test_rows_and_orders_are_as_for_runtimes(tmp_path: Path):
    scenario, matrix, store = traces(tmp_path)
    worth = true_worths(scenario, store)
    taken = matrix.take_rows([5, 2])
    assert Recording.of(taken).evidence.arrays.utility.reshape(2, COLUMNS) == pytest.approx(worth[[5, 2]])
    shuffled = Recording.of(matrix).shuffled(4)
    arrays = shuffled.evidence.arrays
    seen = arrays.utility[arrays.base[0] + arrays.column[0]]
    assert seen == pytest.approx(worth[shuffled.rows[0], shuffled.matrix.columns[0]])


def test_what_cannot_be_is_refused_in_a_sentence(tmp_path: Path):
    scenario, matrix, _ = qualities(tmp_path)
    with pytest.raises(UsageError, match=r"^rivals play on recorded runtimes, and these are solutions"):
        replay_rival(matrix, SuccessiveHalving(budget=20))
    with pytest.raises(UsageError, match=r"written as \.npz"):
        write_matrix(matrix, tmp_path / "runs.csv")
    with pytest.raises(UsageError, match=r"^solutions are judged at the scenario's limit, 5 s"):
        plan_size(scenario, 3, captime_s=1.0)
    with pytest.raises(DataError, match="need the limit"):
        Recording.of(replace(matrix, cutoff_s=math.inf))
    solutions = matrix.solutions
    for broken in (
        {"first": solutions.first + 1000},
        {"count": solutions.count[:3]},
        {"time_s": np.full(solutions.time_s.size, np.nan)},
    ):
        with pytest.raises(DataError):
            replace(matrix, solutions=replace(solutions, **broken))
    with pytest.raises(DataError, match="is not a valid Objective"):
        Recording.of(replace(matrix, solutions=replace(solutions, objective="taste")))


def test_a_file_without_all_parts_is_refused(tmp_path: Path):
    _, matrix, _ = qualities(tmp_path)
    arrays = {"runtimes_s": matrix.runtimes_s, "cutoff_s": np.array(5.0)} | matrix.solutions.arrays()
    del arrays["solution_bound"]
    np.savez(tmp_path / "runs.npz", **arrays)
    with pytest.raises(DataError, match="no usable solution_bound"):
        read_matrix(tmp_path / "runs.npz")

"""Replay through the public API: the published check figures, budgets, trajectories, interruption."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import utilitune
from utilitune import Budget, ProcedureSpec, Progress, RuntimeMatrix, UtilituneError, read_matrix, replay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOG_LAPLACE = "log-laplace(k0=60, alpha=1)"
UNIFORM = "uniform(k0=60)"


@pytest.fixture(scope="session")
def bnsl(aslib_scenario: Callable[[str], Path]) -> RuntimeMatrix:
    return read_matrix(aslib_scenario("BNSL-2016")).resample(20_000, seed=1)


@pytest.fixture(scope="session")
def sat12(aslib_scenario: Callable[[str], Path]) -> RuntimeMatrix:
    return read_matrix(aslib_scenario("SAT12-INDU")).resample(20_000, seed=1)


@pytest.mark.parametrize(
    ("utility", "name", "doubling", "figures"),
    [
        (LOG_LAPLACE, "oup", "new", (3_241_919.41, 31_931, 26_859)),
        (LOG_LAPLACE, "oup", "old", (5_821_855.24, 59_312, 40_763)),
        (LOG_LAPLACE, "up", "new", (8_088_531.47, 73_470, 65_714)),
        (LOG_LAPLACE, "up", "old", (9_940_162.36, 92_436, 68_305)),
        (UNIFORM, "oup", "new", (482_907.65, 13_725, 13_482)),
        (UNIFORM, "oup", "old", (627_662.07, 19_529, 14_280)),
        (UNIFORM, "up", "new", (1_112_343.21, 30_151, 29_908)),
        (UNIFORM, "up", "old", (1_232_768.21, 35_436, 30_187)),
    ],
)
def test_up_and_oup_give_the_check_figures(
    bnsl: RuntimeMatrix, utility: str, name: str, doubling: str, figures: tuple[float, int, int]
):
    total_time_s, runs, rounds = figures
    result = replay(
        bnsl, ProcedureSpec(name, delta=0.1, epsilon=0.1, doubling=doubling), utility=utility, seed=None
    )
    progress = result.progress
    assert (progress.best_index, progress.runs, progress.rounds) == (6, runs, rounds)
    assert progress.total_time_s == pytest.approx(total_time_s, rel=1e-6, abs=0.005)
    assert result.stop_reason.code == "epsilon-reached"
    assert progress.epsilon <= 0.1


@pytest.mark.parametrize(
    ("utility", "epsilon", "captime_s", "figures"),
    [(LOG_LAPLACE, 0.25, 300.0, (452, 534_012.37)), (UNIFORM, 0.1, 60.0, (1016, 317_188.13))],
)
def test_naive_gives_the_check_figures(
    bnsl: RuntimeMatrix, utility: str, epsilon: float, captime_s: float, figures: tuple[int, float]
):
    runs_each, total_time_s = figures
    spec = ProcedureSpec("naive", delta=0.1, epsilon=epsilon, captime_s=captime_s)
    result = replay(bnsl, spec, utility=utility, seed=None)
    assert (result.progress.best_index, result.progress.runs) == (6, 8 * runs_each)
    assert result.progress.total_time_s == pytest.approx(total_time_s, rel=1e-6)


def test_coup_gives_the_check_figures(sat12: RuntimeMatrix):
    result = replay(sat12, ProcedureSpec("coup", delta=0.01), utility=LOG_LAPLACE, seed=None)
    expected = [
        (1, 9, 0, 0.843214, 47_729.19, 693),
        (2, 14, 7, 0.711853, 128_313.86, 1_672),
        (3, 22, 9, 0.602976, 250_289.43, 3_245),
    ]
    assert len(result.phases) == len(expected)
    for phase, (number, count, best, epsilon, total_time_s, runs) in zip(
        result.phases, expected, strict=True
    ):
        assert (phase.phase, phase.configurations, phase.best_index, phase.runs) == (
            number,
            count,
            best,
            runs,
        )
        assert phase.epsilon == pytest.approx(epsilon, abs=5e-7)
        assert phase.total_time_s == pytest.approx(total_time_s, rel=1e-6)
        assert phase.gamma == math.exp(-number / 3)
    assert result.stop_reason.code == "configurations-exhausted"
    assert "Phase 4 needs 33 configurations, but there are only 31" in result.stop_reason.advice


def test_resuming_pays_less_and_decides_the_same(bnsl: RuntimeMatrix):
    restart = replay(bnsl, ProcedureSpec("oup", delta=0.1, epsilon=0.2)).progress
    resume = replay(bnsl, ProcedureSpec("oup", delta=0.1, epsilon=0.2, accounting="resume")).progress
    assert resume.total_time_s < restart.total_time_s
    assert (resume.best_index, resume.rounds, resume.epsilon) == (
        restart.best_index,
        restart.rounds,
        restart.epsilon,
    )


@pytest.fixture
def small() -> RuntimeMatrix:
    return RuntimeMatrix.from_array([[2.0, 5.0, 30.0], [1.0, 3.0, 40.0]], 50).resample(5000, seed=2)


def test_a_time_budget_ends_a_replay_with_a_valid_answer(small: RuntimeMatrix):
    result = replay(small, ProcedureSpec("oup", delta=0.1), budget=Budget(max_time_s=1000))
    assert result.stop_reason.code == "time-limit"
    assert "max_time_s of the Budget" in result.stop_reason.advice
    assert 1000 <= result.progress.total_time_s < 1000 + 2 * 50 * result.progress.rounds
    assert 0 < result.progress.epsilon < 1


def test_a_run_budget_ends_a_replay(small: RuntimeMatrix):
    result = replay(small, ProcedureSpec("up", delta=0.1), budget=Budget(max_runs=200))
    assert result.stop_reason.code == "run-limit"
    assert result.progress.runs >= 200


def test_the_trajectory_is_logarithmic_and_ends_with_the_result(small: RuntimeMatrix):
    result = replay(small, ProcedureSpec("oup", delta=0.1, epsilon=0.2))
    assert result.trajectory[-1] == result.progress
    for earlier, later in pairwise(result.trajectory[:-1]):
        assert later.total_time_s >= 10 ** (1 / 20) * earlier.total_time_s * (1 - 1e-12)
        assert later.epsilon <= earlier.epsilon
    assert len(result.trajectory) > 20


def test_a_run_budget_of_any_size_is_understood(small: RuntimeMatrix):
    huge = replay(small, ProcedureSpec("oup", delta=0.1, epsilon=0.3), budget=Budget(max_runs=10**23))
    assert huge.stop_reason.code == "epsilon-reached"


def test_a_longer_budget_continues_the_same_search(small: RuntimeMatrix):
    short = replay(small, ProcedureSpec("oup", delta=0.1), budget=Budget(max_time_s=2000))
    long = replay(small, ProcedureSpec("oup", delta=0.1), budget=Budget(max_time_s=20_000))
    shared = len(short.trajectory) - 1
    assert long.trajectory[:shared] == short.trajectory[:shared]


def test_progress_is_reported_along_the_way(small: RuntimeMatrix):
    seen: list[Progress] = []
    result = replay(small, ProcedureSpec("oup", delta=0.1, epsilon=0.2), on_progress=seen.append)
    assert len(seen) > 5
    assert seen[0].rounds == 0
    assert [each.rounds for each in seen] == sorted(each.rounds for each in seen)
    assert seen[-1].rounds <= result.progress.rounds


def test_an_interruption_leaves_a_valid_answer(small: RuntimeMatrix):
    def interrupt(progress: Progress) -> None:
        if progress.rounds > 100:
            raise KeyboardInterrupt

    result = replay(small, ProcedureSpec("oup", delta=0.1), on_progress=interrupt)
    assert result.stop_reason.code == "interrupted"
    assert result.progress.rounds > 100
    assert 0 < result.progress.epsilon < 1


def test_defaults_and_text_sources_do():
    result = replay("synthetic:rows=4,columns=300,seed=1", utility="uniform(k0=5m)")
    assert result.procedure == "wager"
    assert result.best.startswith("c")
    assert result.promise.sentence().startswith("With probability 95 %")


def test_a_result_is_strict_json(small: RuntimeMatrix):
    for spec in (
        ProcedureSpec("oup", delta=0.1, epsilon=0.3),
        ProcedureSpec("naive", delta=0.1, epsilon=0.6, captime_s=40.0),
    ):
        result = replay(small, spec, utility="uniform(k0=40)")
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["best"] == result.best


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"max_time_s": 0.0}, "the time budget must be a positive number"),
        ({"max_time_s": math.nan}, "the time budget must be a positive number"),
        ({"max_runs": 0}, "the run budget must be a whole number of at least 1, not 0"),
        ({"max_runs": -3}, "the run budget must be a whole number"),
        ({"max_runs": 0.5}, "the run budget must be a whole number of at least 1, not 0.5"),
    ],
)
def test_a_budget_that_is_none_is_refused(arguments: dict[str, float], sentence: str):
    with pytest.raises(UtilituneError, match=sentence):
        Budget(**arguments)


def test_a_first_captime_past_the_recorded_cutoff_is_refused(small: RuntimeMatrix):
    for name in ("oup", "wager"):
        with pytest.raises(
            UtilituneError, match=r"first captime \(60 s\) is above the largest captime \(50 s\)"
        ):
            replay(small, ProcedureSpec(name, delta=0.1, captime0_s=60.0))


def test_replay_is_the_packages_front_door():
    assert utilitune.replay is replay


def test_coup_stopped_inside_a_phase_falls_back_on_the_last_complete_one():
    data, spec = "synthetic:rows=30,columns=4000,seed=3", ProcedureSpec("coup", delta=0.4)
    whole = replay(data, replace(spec, phases=1), utility=UNIFORM)
    assert whole.stop_reason.code == "phases-done"
    assert whole.last_phase == ""
    begun = replay(data, spec, utility=UNIFORM, budget=Budget(max_runs=whole.progress.runs + 1))
    assert begun.stop_reason.code == "run-limit"
    assert begun.progress.epsilon > whole.progress.epsilon
    assert begun.last_phase.startswith("Phase 1, the last complete one, proved more of its answer")
    assert begun.last_phase.endswith(whole.promise.sentence())
    assert whole.best in begun.last_phase

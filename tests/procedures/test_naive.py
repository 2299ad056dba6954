from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from procedures.random_replays import Replay, counts, named, replays
from utilitune import ProcedureSpec, RuntimeMatrix, UtilituneError, parse_utility, replay
from utilitune.procedures.engine import Halt, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.naive import NaiveEngine, naive_runs

FOREVER = PauseAt(rounds=2**62, total_time_s=math.inf, runs=2**62)


def engine_on(rows: int, positions: int = 200, **changes: float) -> NaiveEngine:
    utility = parse_utility("uniform(k0=4)")
    matrix = RuntimeMatrix.from_array([[1.0, 9.0]] * rows).resample(positions, seed=0)
    settings_ = {"delta": 0.1, "epsilon": 0.5, "captime_s": 4.0, "configurations": rows, **changes}
    return NaiveEngine(RecordedEvidence(matrix, utility), utility, **settings_)


@settings(max_examples=60)
@given(
    task=replays(),
    epsilon=st.sampled_from([0.5, 0.7, 0.9]),
    captime=st.sampled_from([3.0, 3.5, 4.0]),
)
def test_naive_agrees_with_the_oracle(task: Replay, epsilon: float, captime: float):
    task.setting.epsilon, task.setting.utility = epsilon, oracle.uniform(4)
    spec = named(task, "naive", epsilon=epsilon, captime_s=captime)
    try:
        result = replay(task.matrix, spec, utility="uniform(k0=4)", seed=None)
    except UtilituneError as error:
        needed = naive_runs(task.matrix.rows, spec.delta, epsilon, oracle.uniform(4)(captime))
        assert needed > task.matrix.positions
        assert f"Naive needs {needed} instances" in str(error)  # noqa: PT017 -- the only way to fail here
    else:
        expected = oracle.naive(task.setting, captime)
        assert counts(result.progress) == counts(expected)
        assert result.progress.epsilon == epsilon
        assert result.stop_reason.code == expected.stop


def test_the_number_of_runs_is_the_papers():
    assert naive_runs(8, 0.1, 0.1, 0.0) == 1016
    assert naive_runs(8, 0.1, 0.25, 0.1) == 452


def test_no_epsilon_is_too_small_for_a_number():
    assert naive_runs(8, 0.1, 1e-200, 0.0) > 10**30


def test_a_captime_still_worth_epsilon_is_refused():
    with pytest.raises(UtilituneError, match=r"u\(2 s\) = 0\.5 is not below 0\.5: choose a larger captime"):
        engine_on(2, captime_s=2.0)


def test_too_few_instances_are_refused_with_the_number_needed():
    with pytest.raises(
        UtilituneError, match=r"Naive needs 30 instances for epsilon = 0\.5, but there are only 3"
    ):
        engine_on(2, positions=3)


@pytest.mark.parametrize("changes", [{"delta": 0.0}, {"epsilon": 1.0}, {"captime_s": -1.0}])
def test_impossible_settings_are_refused(changes: dict[str, float]):
    with pytest.raises(UtilituneError, match="must"):
        engine_on(2, **changes)


def test_nothing_is_promised_before_the_end():
    engine = engine_on(3)
    assert engine.advance(FOREVER) is Halt.NEEDS_CONFIGURATIONS
    for _ in range(3):
        engine.add()
    assert engine.advance(PauseAt(rounds=1, total_time_s=math.inf, runs=2**62)) is Halt.PAUSED
    assert engine.progress().epsilon == 1.0
    assert engine.stop_reason().code == "not-stopped"
    assert engine.advance(FOREVER) is Halt.DONE
    assert engine.progress().epsilon == 0.5


def test_a_set_that_cannot_be_filled_is_refused():
    engine = engine_on(3)
    engine.add()
    with pytest.raises(UtilituneError, match="3 configurations were asked for, but there are only 1"):
        engine.no_more()


def test_a_captime_past_the_recorded_cutoff_is_refused():
    matrix = RuntimeMatrix.from_array([[1.0, 2.0]], cutoff_s=5).resample(500, seed=0)
    with pytest.raises(UtilituneError, match=r"captime of Naive \(8 s\) is above the largest captime"):
        replay(matrix, ProcedureSpec("naive", delta=0.1, epsilon=0.5, captime_s=8.0), utility="uniform(k0=4)")

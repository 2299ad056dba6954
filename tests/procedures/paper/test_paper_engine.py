"""UP, OUP and COUP against the oracle, and their engine's ways to stop."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from procedures.random_replays import Replay, counts, named, replays
from utilitune import ProcedureSpec, ReplayResult, RuntimeMatrix, UtilituneError, parse_utility, replay
from utilitune.procedures.captime import Doubling
from utilitune.procedures.engine import Halt, Origin, PauseAt
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import listed_schedule
from utilitune.procedures.paper.engine import PaperSettings, coup, oup, up

FOREVER = PauseAt(rounds=2**62, total_time_s=math.inf, runs=2**62)
UNIFORM = parse_utility("uniform(k0=16)")


def assert_agreement(result: ReplayResult, expected: oracle.Outcome) -> None:
    assert counts(result.progress) == counts(expected)
    assert result.stop_reason.code == expected.stop
    assert result.progress.epsilon == pytest.approx(expected.epsilon, abs=1e-12)


@settings(max_examples=150)
@given(task=replays())
def test_oup_agrees_with_the_oracle(task: Replay):
    result = replay(task.matrix, named(task, "oup"), utility=task.utility, seed=None)
    assert_agreement(result, oracle.oup(task.setting))


@settings(max_examples=150)
@given(task=replays())
def test_up_agrees_with_the_oracle(task: Replay):
    result = replay(task.matrix, named(task, "up"), utility=task.utility, seed=None)
    assert_agreement(result, oracle.up(task.setting))


@settings(max_examples=100)
@given(
    task=replays(rows=(8, 14), positions=120),
    epsilons=st.sampled_from([(0.9, 0.8, 0.7), (0.8, 0.8, 0.5), (0.6, 0.5, 0.4)]),
    gammas=st.sampled_from([(0.9, 0.8, 0.6), (0.7, 0.6, 0.5), (0.95, 0.7, 0.2)]),
)
def test_coup_agrees_with_the_oracle(task: Replay, epsilons: tuple[float, ...], gammas: tuple[float, ...]):
    schedule = listed_schedule(epsilons, gammas)
    result = replay(task.matrix, named(task, "coup", schedule=schedule), utility=task.utility, seed=None)
    expected = oracle.coup(task.setting, lambda p: epsilons[p - 1], lambda p: gammas[p - 1], phases=3)
    assert_agreement(result, expected)
    assert [
        (phase.phase, phase.configurations, phase.best_index, phase.total_time_s, phase.runs)
        for phase in result.phases
    ] == [(p, n, best, total, runs) for p, n, best, _, total, runs in expected.phases]
    assert [phase.epsilon for phase in result.phases] == pytest.approx(
        [epsilon for _, _, _, epsilon, _, _ in expected.phases], abs=1e-12
    )
    assert [phase.gamma for phase in result.phases] == list(gammas[: len(result.phases)])


@pytest.mark.parametrize("doubling", ["new", "old"])
def test_up_strikes_off_everybody_worse_as_the_oracle_does(doubling: str):
    # Configuration 2 is worth 3/4 or 1, configuration 0 at most 1/4; 1 and 3 never answer.
    matrix = RuntimeMatrix.from_array([[12, math.inf], [math.inf] * 2, [4, 0], [math.inf] * 2])
    matrix = matrix.resample(2000, seed=3)
    setting = oracle.Setting(
        matrix.runtimes_s[:, matrix.columns].tolist(), oracle.uniform(16), 0.1, new_rule=doubling == "new"
    )
    result = replay(matrix, ProcedureSpec("up", delta=0.1, doubling=doubling), utility="uniform(k0=16)")
    assert_agreement(result, oracle.up(setting))
    assert (result.stop_reason.code, result.progress.alive, result.best) == ("one-left", 1, "c2")


def test_oup_ends_when_one_configuration_is_proved_better_than_all_others():
    # A rival is left alone while its upper bound is below the leader's, so the proof takes many runs.
    matrix = RuntimeMatrix.from_array([[math.inf], [1.0], [math.inf]]).resample(200_000, seed=0)
    result = replay(matrix, ProcedureSpec("oup", delta=0.4), utility="uniform(k0=8)")
    assert (result.stop_reason.code, result.progress.alive, result.best) == ("one-left", 1, "c1")


def test_a_single_configuration_is_the_best_of_its_set_without_any_run():
    result = replay(RuntimeMatrix.from_array([[1.0, 2.0]]), ProcedureSpec("oup", delta=0.1))
    assert (result.stop_reason.code, result.progress.runs) == ("one-left", 0)


def test_crossed_bounds_end_the_search_even_without_a_target():
    # A long run of answers at once, then none ever again: no random order looks like this, so the lower
    # bound ends above every upper bound. The search must end there instead of playing on for ever.
    row = [0.0] * 600 + [math.inf] * 4000
    data = RuntimeMatrix.from_array([row, row])
    result = replay(data, ProcedureSpec("oup", delta=0.4), utility="uniform(k0=1)", seed=None)
    assert result.stop_reason.code == "one-left"
    assert result.progress.epsilon == 0


def test_the_target_ends_a_phase_early_and_the_whole_search():
    matrix = RuntimeMatrix.from_array([[0.0], [4.0]] * 5).resample(3000, seed=0)
    schedule = listed_schedule([0.3, 0.2], [0.9, 0.5])
    result = replay(
        matrix, ProcedureSpec("coup", delta=0.4, epsilon=0.5, schedule=schedule), utility="uniform(k0=16)"
    )
    assert result.stop_reason.code == "epsilon-reached"
    assert 0.3 < result.progress.epsilon <= 0.5
    assert [phase.phase for phase in result.phases] == [1]


def test_the_number_of_phases_can_be_limited():
    matrix = RuntimeMatrix.from_array([[0.0], [4.0]] * 10).resample(3000, seed=0)
    schedule = listed_schedule([0.6, 0.5, 0.4], [0.9, 0.8, 0.7])
    result = replay(
        matrix, ProcedureSpec("coup", delta=0.4, schedule=schedule, phases=2), utility="uniform(k0=16)"
    )
    assert result.stop_reason.code == "phases-done"
    assert "2 phases" in result.stop_reason.advice
    assert len(result.phases) == 2


def test_configurations_not_drawn_at_random_do_not_count_towards_gamma():
    evidence = RecordedEvidence(RuntimeMatrix.from_array([[0.0]] * 20), UNIFORM)
    engine = coup(evidence, UNIFORM, PaperSettings(0.4), listed_schedule([0.9], [0.9]))
    drawn = engine.missing_configurations
    engine.add(Origin.GIVEN)
    engine.add(Origin.MODEL)
    assert engine.missing_configurations == drawn


@pytest.mark.parametrize("make", [up, oup])
def test_a_fixed_set_that_cannot_be_filled_is_refused(make: type):
    evidence = RecordedEvidence(RuntimeMatrix.from_array([[0.0]]), UNIFORM)
    engine = make(evidence, UNIFORM, PaperSettings(0.1), 3)
    engine.add()
    assert engine.advance(FOREVER) is Halt.NEEDS_CONFIGURATIONS
    assert engine.missing_configurations == 2
    with pytest.raises(UtilituneError, match="3 configurations were asked for, but there are only 1"):
        engine.no_more()


def test_a_first_phase_that_cannot_be_filled_is_refused_with_the_gamma_that_would_do():
    with pytest.raises(UtilituneError, match=r"needs 9 configurations.* only 8.* at least 0\.725") as caught:
        replay(RuntimeMatrix.from_array([[0.0]] * 8), ProcedureSpec("coup", delta=0.01))
    # The advice works: a first γ of that size fits.
    schedule = listed_schedule([0.9], [float(str(caught.value).split("at least ")[1].split(" ")[0])])
    result = replay(
        RuntimeMatrix.from_array([[0.0]] * 8), ProcedureSpec("coup", delta=0.01, schedule=schedule)
    )
    assert result.progress.configurations == 8


def test_where_no_gamma_would_do_the_first_phase_asks_for_more_configurations():
    with pytest.raises(UtilituneError, match="bring more configurations, or choose a larger delta"):
        replay(RuntimeMatrix.from_array([[0.0]]), ProcedureSpec("coup", delta=0.01))


def test_before_its_first_round_an_engine_promises_nothing():
    evidence = RecordedEvidence(RuntimeMatrix.from_array([[1.0], [2.0]]), UNIFORM)
    engine = oup(evidence, UNIFORM, PaperSettings(0.1, doubling=Doubling.OLD), 2)
    assert engine.progress().epsilon == 1.0
    assert engine.stop_reason().code == "not-stopped"
    assert engine.captime_note() == ""


@pytest.mark.parametrize(("field", "value"), [("delta", 0.0), ("delta", math.nan), ("epsilon", 1.0)])
def test_settings_refuse_what_is_no_probability(field: str, value: float):
    with pytest.raises(UtilituneError, match=f"{field} must lie strictly between 0 and 1"):
        PaperSettings(**{"delta": 0.1, field: value})

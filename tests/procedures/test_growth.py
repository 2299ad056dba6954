from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune import UtilituneError
from utilitune.procedures.growth import SCHEDULES, least_gamma, listed_schedule, named_schedule


def test_the_default_schedule_grows_as_in_the_paper():
    counts = [SCHEDULES["default"].phase(p, delta=0.01).configurations for p in (1, 2, 3, 4)]
    assert counts == [9, 14, 22, 33]


@pytest.mark.parametrize(
    ("name", "epsilon", "gamma"),
    [
        ("default", lambda p: math.exp(-p / 6), lambda p: math.exp(-p / 3)),
        ("gamma-focus", lambda p: math.exp(-p / 30), lambda p: math.exp(-p / 3)),
        ("epsilon-focus", lambda p: math.exp(-p / 3), lambda p: math.exp(-p / 30)),
        ("balanced", lambda p: math.exp(-p / 5), lambda p: math.exp(-p / 5)),
        ("gamma-then-epsilon", lambda p: math.exp(-(p**3) / 300), lambda p: math.exp(-(p**2) / 30)),
    ],
)
def test_named_schedules_are_the_papers(name: str, epsilon: object, gamma: object):
    for p in range(1, 8):
        phase = named_schedule(name).phase(p, delta=0.1)
        assert (phase.number, phase.epsilon, phase.gamma) == (p, epsilon(p), gamma(p))
        assert phase.configurations == math.ceil(math.log(math.pi**2 * p**2 / 0.3) / gamma(p))


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("delta", [0.01, 0.2])
def test_what_phases_spend_on_gamma_covers_the_chance_to_miss_any_of_them(name: str, delta: float):
    """Draws are worth the fraction of the space that is better: γ_p is missed if none of n_p is below it."""
    schedule = SCHEDULES[name]
    spent = schedule.spent_on_gamma(delta)
    assert 0 < spent <= delta / 2
    phases = [schedule.phase(p, delta) for p in range(1, 101)]
    missed = sum(math.exp(phase.configurations * math.log1p(-phase.gamma)) for phase in phases)
    assert missed + 3 * delta / (math.pi**2 * 100) <= spent


def test_a_schedule_that_ends_spends_what_its_phases_do():
    schedule = listed_schedule([0.5, 0.2], [0.5, 0.25])
    counts = [schedule.phase(p, 0.1).configurations for p in (1, 2)]
    assert schedule.spent_on_gamma(0.1) == pytest.approx(0.5 ** counts[0] + 0.75 ** counts[1])


@given(number=st.integers(1, 50), count=st.integers(1, 10**6), delta=st.floats(1e-6, 0.99))
def test_that_many_configurations_are_enough_for_the_least_gamma(number: int, count: int, delta: float):
    gamma = least_gamma(number, count, delta)
    assert gamma * count == pytest.approx(math.log(math.pi**2 * number**2 / (3 * delta)))


def test_an_own_schedule_ends_after_its_last_phase():
    schedule = listed_schedule([0.5, 0.3], [0.9, 0.2])
    assert schedule.phase(2, 0.1).gamma == 0.2
    assert schedule.phase(2, 0.1).epsilon == 0.3
    assert schedule.phase(3, 0.1) is None


@pytest.mark.parametrize(
    ("epsilons", "gammas", "sentence"),
    [
        ([], [], "at least one; got 0 and 0"),
        ([0.5], [0.5, 0.4], "got 1 and 2"),
        ([0.5, 1.0], [0.5, 0.4], "ε of phase 2 must lie strictly between 0 and 1, not 1"),
        ([0.5, 0.4], [0.0, 0.4], "γ of phase 1 must lie strictly between 0 and 1, not 0"),
        ([0.5, math.nan], [0.5, 0.4], "ε of phase 2 must lie strictly between 0 and 1, not nan"),
        ([0.5, 0.4], [0.5, 0.5], "γ must decrease from phase to phase, but phase 2 has 0.5 after 0.5"),
        ([0.5, 0.4, 0.3], [0.5, 0.2, 0.3], "phase 3 has 0.3 after 0.2"),
        ([0.4, 0.5], [0.5, 0.4], "ε must not grow from phase to phase, but phase 2 has 0.5 after 0.4"),
    ],
)
def test_an_own_schedule_that_is_none_is_refused(epsilons: list[float], gammas: list[float], sentence: str):
    with pytest.raises(UtilituneError) as caught:
        listed_schedule(epsilons, gammas)
    assert sentence in str(caught.value)


def test_an_unknown_schedule_is_refused_with_the_nearest_name():
    with pytest.raises(UtilituneError, match="unknown schedule 'balance'; did you mean 'balanced'"):
        named_schedule("balance")


@pytest.mark.parametrize("configurations", [5, 9, 14, 100, 972, 2000])
def test_a_schedule_can_end_with_all_configurations_there_are(configurations):
    usual = named_schedule("default")
    ending = usual.ending_with(configurations, delta=0.05, epsilon=0.001)
    phases = [ending.phase(number, 0.05) for number in range(1, ending.length + 1)]
    assert (phases[-1].configurations, phases[-1].epsilon) == (configurations, 0.001)
    assert phases[:-1] == [usual.phase(number, 0.05) for number in range(1, len(phases))]
    assert all(phase.configurations < configurations for phase in phases[:-1])

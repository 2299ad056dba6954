"""The checker's own numbers are those that the procedure uses, and sum to δ at the most."""

from __future__ import annotations

import pytest

from certificate.certified_runs import by_time, claiming, made, resealed
from utilitune.certificate import verify
from utilitune.certificate.shares import SCHEDULES, StatedShares, announced_draws
from utilitune.procedures import growth
from utilitune.procedures.wager.growth import GammaGrid
from utilitune.procedures.wager.shares import fixed_shares, growing_shares, upper_threshold
from utilitune.scenario.model import StopRules

DELTAS = (0.01, 0.05, 0.2)


def of_run(delta: float, *, fixed: int = 0, schedule: str = "") -> StatedShares:
    return StatedShares(delta, fixed, default=True, given=True, chosen=True, schedule=schedule)


def test_every_schedule_is_known_to_the_checker():
    assert set(SCHEDULES) == set(growth.SCHEDULES)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("delta", DELTAS)
def test_phases_have_the_same_draws_and_shares(name: str, delta: float):
    schedule, checked = growth.SCHEDULES[name], of_run(delta, schedule=name)
    assert checked.for_gamma == pytest.approx(schedule.spent_on_gamma(delta))
    for number in range(1, 9):
        phase = schedule.phase(number, delta)
        assert checked.draws_for(phase.gamma, None, phase.configurations) == phase.configurations
        assert checked.draws_for(phase.gamma, None, phase.configurations - 1) is None
    assert checked.draws_for(1e-300, None, 10**9) is None
    played = growing_shares(delta, spent=schedule.spent_on_gamma(delta), default=True)
    assert_same(checked, played)


@pytest.mark.parametrize("size", [0, 2, 100, 101, 5000])
@pytest.mark.parametrize("delta", DELTAS)
def test_other_sets_have_the_same_shares(size: int, delta: float):
    played = fixed_shares(delta, size, default=True) if size else growing_shares(delta, default=True)
    assert_same(of_run(delta, fixed=size), played)


@pytest.mark.parametrize("gamma", [0.9, 0.3, 0.05, 0.001])
@pytest.mark.parametrize("delta", DELTAS)
def test_an_announced_gamma_has_the_same_draws_and_shares(gamma: float, delta: float):
    point = GammaGrid(delta, gamma).announced_point
    assert announced_draws(delta, gamma) == point.draws
    checked = StatedShares(delta, 0, default=True, given=True, chosen=True, announced=point.draws)
    played = growing_shares(delta, default=True, announced=point.draws)
    assert_same(checked, played)
    after = played._replace(reached=True)
    for rank in (1, point.draws, point.draws + 1, 1001, 40_000):
        threshold = 1.0 / (checked.part("upper") * checked.rank_weight(rank, reached=True))
        assert threshold == pytest.approx(upper_threshold(after, rank))


def assert_same(checked: StatedShares, played) -> None:
    assert checked.part("lower") == pytest.approx(played.lower)
    assert checked.part("upper") == pytest.approx(played.upper)
    assert checked.part("paired") == pytest.approx(played.paired)
    assert checked.gain == pytest.approx(played.gain)
    for rank in (1, 7, 999, 1000, 1001, 40_000):
        threshold = 1.0 / (checked.part("upper") * checked.rank_weight(rank))
        assert threshold == pytest.approx(upper_threshold(played, rank))
    total = sum(checked.part(kind) for kind in ("lower", "upper", "paired"))
    assert total + 2 * checked.gain + checked.for_gamma <= checked.delta * (1 + 1e-9)


@pytest.fixture(scope="module")
def phased(tmp_path_factory):
    place = tmp_path_factory.mktemp("phased")
    scenario = by_time(place, options={"growth": "phases"}, stop=StopRules(runs=400))
    return made(scenario, place / "run")


def test_a_smaller_gamma_than_the_phase_has_is_refuted(phased):
    gamma = phased["promise"]["gamma"]
    assert verify(phased).valid
    sentence = phased["promise"]["sentence"].replace(f"{gamma:.3g}", f"{gamma / 2:.3g}")
    assert not verify(claiming(phased, gamma=gamma / 2, sentence=sentence)).valid


@pytest.mark.parametrize("schedule", ["epsilon-focus", "nobody's", 7, ["default"]])
def test_another_schedule_is_refuted(phased, schedule):
    forged = resealed(phased, rules={**phased["rules"], "schedule": schedule})
    assert not verify(forged).valid


def test_phases_of_a_set_that_is_known_are_refuted(phased):
    forged = resealed(phased, rules={**phased["rules"], "fixed": len(phased["configurations"])})
    assert not verify(forged).valid


@pytest.fixture(scope="module")
def announced(tmp_path_factory):
    """A run that has all draws its announced γ needs."""
    place = tmp_path_factory.mktemp("announced")
    return made(by_time(place, stop=StopRules(runs=110, gamma=0.3)), place / "run")


def test_the_draws_of_an_announced_gamma_have_shares_of_their_own(announced):
    assert announced["rules"]["undivided"] is True
    assert announced["promise"]["gamma"] <= 0.3
    assert verify(announced).valid


def test_without_these_shares_less_is_proved(announced):
    """The same runs under the rule of earlier versions: what is claimed now is not proved then."""
    before = {name: value for name, value in announced["rules"].items() if name != "undivided"}
    assert not verify(resealed(announced, rules=before)).valid
    assert not verify(resealed(announced, rules={**before, "undivided": False})).valid


@pytest.mark.parametrize("value", [1, "yes", None, [True]])
def test_an_undivided_share_is_settled_with_yes_or_no(announced, value):
    assert not verify(resealed(announced, rules={**announced["rules"], "undivided": value})).valid

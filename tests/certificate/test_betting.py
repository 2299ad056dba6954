"""The checker's own arithmetic against the procedure's, which it does not import."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.certificate import betting
from utilitune.certificate.shares import StatedShares
from utilitune.procedures.bounds import betting as procedure
from utilitune.procedures.bounds.paired import difference_bound
from utilitune.procedures.wager.shares import (
    Kind,
    Weights,
    fixed_shares,
    fixed_weight,
    growing_shares,
    upper_threshold,
)

WORTHS = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.97, 1.0]) | st.floats(0, 1), min_size=0, max_size=60)


def test_the_bets_are_the_same():
    assert betting.FRACTIONS.tolist() == procedure.FRACTIONS.tolist()
    assert betting.WEIGHTS.tolist() == procedure.WEIGHTS.tolist()
    assert betting.PAIRED_WEIGHTS.tolist() == procedure.PAIRED_WEIGHTS.tolist()


@pytest.mark.parametrize("default", [False, True])
@pytest.mark.parametrize("fixed", [0, 1, 2, 50, 100, 101, 2000])
def test_the_shares_are_the_same(fixed, default):
    checked = StatedShares(0.07, fixed, default=default, given=True, chosen=True)
    played = fixed_shares(0.07, fixed, default=default) if fixed else growing_shares(0.07, default=default)
    for kind in ("lower", "upper", "paired"):
        assert checked.part(kind) == pytest.approx(getattr(played, kind))
    assert checked.gain == pytest.approx(played.gain)
    weights = Weights.of(given=True, chosen=True)
    for number in (1, 7, 3000):
        weight = fixed_weight(fixed) if fixed else weights.weight(Kind.DRAW, number)
        assert checked.weight("draw", number) == pytest.approx(weight)
        assert checked.part("upper") * checked.rank_weight(number) == pytest.approx(
            1 / upper_threshold(played, number)
        )


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("size", [1, 2, 9, 50])
def test_the_shares_of_a_listed_space_are_the_same(size, chosen):
    checked = StatedShares(0.07, 0, default=True, given=True, chosen=chosen, listed=size)
    played, weights = fixed_shares(0.07, size, default=True), Weights.of_listed(size, chosen=chosen)
    for kind in ("lower", "upper", "paired"):
        assert checked.part(kind) == pytest.approx(getattr(played, kind))
    assert checked.gain == pytest.approx(played.gain)
    for number in (1, 7, 3000):
        for kind in Kind:
            assert checked.weight(kind.value, number) == pytest.approx(weights.weight(kind, number))
        assert checked.rank_weight(number) == 1


def plainly_refuted(values, population, mean, delta):
    """The formula of the theory page, product by product."""
    capital, spent = [1.0] * 8, 0.0
    for j, value in enumerate(values):
        hypothesis = mean if not population else (population * mean - spent) / (population - j)
        if hypothesis <= 0:
            break
        bets = betting.FRACTIONS.tolist()
        capital = [c * ((1 - bet) + bet * value / hypothesis) for c, bet in zip(capital, bets, strict=True)]
        spent += value
        if np.dot(capital, betting.WEIGHTS) >= 1 / delta:
            return True
    return bool(population) and sum(values) > population * mean


@given(WORTHS, st.sampled_from([0, 60, 200]), st.sampled_from([0.2, 0.01, 1e-5]))
def test_it_proves_at_least_what_the_procedure_proves_and_no_more_than_the_formula(values, population, delta):
    array = np.array(values)
    theirs = procedure.lower_bound(array, delta, population)
    ours = betting.lower_bound(array, population, delta)
    assert ours >= theirs - 1e-7
    if ours > 1e-6:
        assert plainly_refuted(values, population, ours * (1 - 1e-9) - 1e-12, delta)


@given(WORTHS, WORTHS, st.sampled_from([0, 60, 200]), st.sampled_from([0.2, 1e-5]))
def test_so_it_does_of_differences(one, other, population, delta):
    count = min(len(one), len(other))
    most, least = np.array(one[:count]), np.array(other[:count])
    theirs = 1.0 - difference_bound(most, least, delta, population)
    assert betting.paired_bound(1.0 - most + least, population, delta) >= theirs - 1e-7


def test_a_whole_list_is_known_exactly():
    values = np.array([0.0, 1.0, 0.5, 0.25])
    assert betting.lower_bound(values, 4, 1e-6) == pytest.approx(values.mean(), abs=1e-9)


def test_false_means_are_refuted_no_more_often_than_they_may():
    generator = np.random.default_rng(5)
    delta, wrong = 0.2, 0
    for _ in range(2000):
        world = generator.choice([0.0, 1.0], size=40, p=[0.3, 0.7])
        order = generator.permutation(world)
        wrong += betting.refutes(order[:25], 40, float(world.mean()), delta)
    assert wrong / 2000 <= delta


def test_nothing_is_refuted_by_nothing():
    assert not betting.refutes(np.zeros(0), 0, 0.5, 0.1)
    assert not betting.refutes(np.ones(5), 0, 0.5, 0.0)
    assert betting.refutes(np.zeros(0), 0, -0.1, 0.1)

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utilitune.search.proposers.base import Runs
from utilitune.search.proposers.censoring import PerConfiguration, PerRun, Worths, thinned
from utilitune.utility import parse_utility

UTILITY = parse_utility("uniform(k0=10)")


def test_the_worth_of_a_run_is_known_as_far_as_it_was_watched():
    runs = Runs.of([(0, 0, 2.0, 2.0), (0, 1, math.inf, 4.0), (0, 2, math.inf, math.inf)])
    worths = Worths.of(runs, UTILITY)
    assert worths.least.tolist() == pytest.approx([0.8, 0.0, 0.0])
    assert worths.most.tolist() == pytest.approx([0.8, 0.6, 0.0])
    assert worths.information.tolist() == pytest.approx([1.0, 0.4, 1.0])


@given(
    least=st.floats(0, 0.5),
    width=st.floats(0, 0.5),
    expected=st.floats(-3, 3),
    deviation=st.floats(0.02, 1),
)
def test_an_imputed_worth_lies_in_its_range(least, width, expected, deviation):
    worths = Worths(np.array([least]), np.array([least + width]))
    (value,) = worths.imputed(np.array([expected]), deviation)
    assert least <= value <= least + width


def test_an_imputed_worth_is_the_mean_of_the_normal_cut_to_its_range():
    draws = np.random.default_rng(1).normal(0.7, 0.2, 400_000)
    kept = draws[(draws > 0.0) & (draws < 0.6)]
    worths = Worths(np.array([0.0]), np.array([0.6]))
    assert worths.imputed(np.array([0.7]), 0.2)[0] == pytest.approx(kept.mean(), abs=0.001)


def test_instance_hardness_is_taken_out():
    """A configuration that only met easy instances is not mistaken for a better one."""
    hardness = np.linspace(-0.3, 0.3, 40)
    records, values = [], []
    for configuration, level in enumerate([0.5] * 10 + [0.4]):
        positions = range(40) if configuration < 10 else range(30, 40)
        for position in positions:
            records.append((configuration, position, 1.0, 1.0))
            values.append(level + hardness[position])
    runs = Runs.of(records)
    design = PerConfiguration(runs, np.ones(len(values)), np.eye(11))
    levels = design.target(np.array(values))
    for _ in range(20):
        levels = design.target(np.array(values))
    assert np.mean(values[-10:]) > 0.6
    assert levels[10] < levels[:10].min() - 0.03
    assert design.expected(levels) == pytest.approx(values, abs=0.1)


def test_configurations_weigh_as_much_as_their_runs_tell():
    runs = Runs.of([(0, 0, math.inf, 0.1), (0, 1, math.inf, 0.1), (1, 0, 3.0, 3.0), (1, 1, 3.0, 3.0)])
    design = PerConfiguration(runs, Worths.of(runs, UTILITY).information, np.eye(2))
    assert design.weight[0] < 0.02
    assert design.weight[1] > 0.3


def test_rows_of_single_runs_hold_parameters_and_instance_features():
    runs = Runs.of([(0, 2, 1.0, 1.0), (1, 0, 2.0, 2.0)])
    features, instances = np.array([[0.1], [0.2]]), np.array([[5.0, 6.0], [7.0, 8.0], [9.0, 10.0]])
    design = PerRun(runs, np.array([1.0, 0.5]), features, instances)
    assert design.features.tolist() == [[0.1, 1.0, 1.0], [0.2, 0.0, 0.0]]  # scaled by what has runs
    assert design.references.tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert design.target(np.array([0.3, 0.4])).tolist() == [0.3, 0.4]


def test_many_runs_are_thinned_at_the_expense_of_those_who_have_most():
    records = [(0, position, 1.0, 1.0) for position in range(9000)]
    records += [(configuration, 0, 1.0, 1.0) for configuration in range(1, 50)]
    kept = thinned(Runs.of(records), np.random.default_rng(1))
    assert len(kept.configuration) == 6000
    assert set(kept.configuration) == set(range(50))
    few = Runs.of(records[:10])
    assert thinned(few, np.random.default_rng(1)) is few

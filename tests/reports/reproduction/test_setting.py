"""What the experiments mean on a data set, and the truth about its configurations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from utilitune import RuntimeMatrix, read_matrix
from utilitune.errors import UsageError
from utilitune.reports.reproduction.setting import Setting, Truth


def test_data_like_the_papers_get_its_numbers():
    small = RuntimeMatrix.from_array(np.full((4, 5), 10.0), cutoff_s=900)
    setting = Setting.of("x", small)
    assert (setting.k0_s, setting.runtime_k0_s, setting.captimes_s) == (
        60.0,
        100.0,
        (1.0, 10.0, 100.0, 500.0),
    )
    assert setting.captime0_s == 1.0
    assert setting.accuracy == 0.25
    cplex = Setting.of("x", RuntimeMatrix.from_array(np.full((4, 5), 10.0), cutoff_s=10_000))
    assert (cplex.runtime_k0_s, cplex.captimes_s[-1], cplex.accuracy) == (3000.0, 5000.0, 0.1)


def test_where_runtime_is_optimised_k0_is_beyond_nine_of_ten_runs():
    runtimes = np.tile(np.arange(1.0, 101.0), (5, 1)) * np.array([[1.0], [1.0], [4.0], [9.0], [9.0]])
    setting = Setting.of("x", RuntimeMatrix.from_array(runtimes, cutoff_s=5000))
    assert setting.runtime_k0_s == 400.0  # nine of ten runs of the middle configuration end within 360 s


def test_other_data_get_numbers_of_their_own_size():
    setting = Setting.of("shipped:kissat", read_matrix("shipped:kissat"))
    assert setting.rows == 100
    assert setting.stored == 300
    assert 0.001 < setting.k0_s < setting.runtime_k0_s < 1
    assert all(captime_s <= 5 for captime_s in setting.captimes_s)
    assert (
        Setting.of("x", read_matrix("shipped:kissat"), k0_s=0.5).log_laplace == "log-laplace(k0=0.5, alpha=1)"
    )


def test_the_fingerprint_follows_the_data():
    one = RuntimeMatrix.from_array([[1.0, 2.0], [2.0, 3.0]], cutoff_s=9)
    assert Setting.of("a", one).digest == Setting.of("b", one).digest
    described, told_otherwise = (
        replace(one, features=np.array([[first], [2.0]]), feature_names=("a",)) for first in (1.0, 3.0)
    )
    others = [
        RuntimeMatrix.from_array([[1.0, 2.5], [2.0, 3.0]], cutoff_s=9),
        one.resample(4, seed=1),
        described,
        told_otherwise,
    ]
    assert len({Setting.of("a", each).digest for each in (one, *others)}) == 5


def test_data_without_a_cutoff_are_refused():
    with pytest.raises(UsageError, match=r"names no cutoff.*runs\.csv\?cutoff=300"):
        Setting.of("runs.csv", RuntimeMatrix.from_array([[1.0, math.inf]]))


def test_gaps_by_hand():
    runtimes = [[1.0] * 9 + [math.inf], [2.0] * 10, [4.0] * 10]
    matrix = RuntimeMatrix.from_array(runtimes, cutoff_s=100)
    truth = Truth.of(matrix, ["uniform(k0=10)"], (0.1, 0.2))
    assert truth.utility["uniform(k0=10)"] == pytest.approx([0.81, 0.8, 0.6])
    assert truth.utility_gap("uniform(k0=10)", 0) == 0
    assert truth.utility_gap("uniform(k0=10)", 2) == pytest.approx(1 - 0.6 / 0.81)
    assert truth.capped_runtime_s[0.2] == pytest.approx([1.0, 2.0, 4.0])
    assert truth.runtime_gap(0.2, 1) == pytest.approx(0.5)


def test_data_on_which_nothing_can_be_compared_are_refused():
    with pytest.raises(UsageError, match="one configuration only: there is nothing to compare"):
        Setting.of("x", RuntimeMatrix.from_array([[1.0, 2.0]], cutoff_s=9))
    two = RuntimeMatrix.from_array([[1.0, 2.0], [2.0, 1.0]], cutoff_s=9)
    with pytest.raises(
        UsageError, match=r"k0 = 3600 s is too long for runs recorded up to 9 s.*smaller --k0"
    ):
        Setting.of("x", two, k0_s=3600.0)

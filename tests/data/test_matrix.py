"""The matrix type refuses what are no runtimes and resamples by index."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from utilitune.data import RuntimeMatrix
from utilitune.errors import DataError, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SMALL = RuntimeMatrix.from_array([[1.0, 7.0, 5.0], [2.0, 3.0, math.inf]], cutoff_s=5)


def test_times_at_or_past_the_cutoff_did_not_finish():
    assert SMALL.runtimes_s.tolist() == [[1.0, math.inf, math.inf], [2.0, 3.0, math.inf]]
    assert SMALL.finished_share == 0.5
    assert (SMALL.rows, SMALL.positions, SMALL.shape) == (2, 3, (2, 3))
    assert SMALL.configurations == ("c0", "c1")


def test_the_given_array_is_left_as_it_is():
    given_array = np.array([[1.0, 9.0]])
    matrix = RuntimeMatrix.from_array(given_array, cutoff_s=5)
    assert given_array.tolist() == [[1.0, 9.0]]
    assert matrix.runtimes_s.tolist() == [[1.0, math.inf]]


def test_without_a_cutoff_nothing_is_censored():
    assert RuntimeMatrix.from_array([[1e300, math.inf]]).runtimes_s.tolist() == [[1e300, math.inf]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_taken_over_without_a_copy(dtype: type[np.floating[Any]]):
    array = np.ones((3, 4), dtype=dtype)
    matrix = RuntimeMatrix.from_array(array)
    assert matrix.runtimes_s.dtype == dtype
    assert np.shares_memory(matrix.runtimes_s, array)


def test_other_layouts_become_contiguous_doubles():
    matrix = RuntimeMatrix.from_array(np.arange(6).reshape(2, 3).T)
    assert matrix.runtimes_s.flags.c_contiguous
    assert matrix.runtimes_s.dtype == np.float64


@given(st.integers(1, 50), st.integers(0, 2**32))
def test_resampling_follows_the_documented_draws(count: int, seed: int):
    matrix = SMALL.resample(count, seed)
    assert matrix.columns.tolist() == np.random.default_rng(seed).integers(0, 3, count).tolist()
    assert matrix.runtimes_s is SMALL.runtimes_s
    assert matrix.positions == count


def test_resampling_twice_draws_from_the_first_sample():
    once = SMALL.resample(1, seed=3)
    assert set(once.resample(20, seed=4).columns.tolist()) == set(once.columns.tolist())


@given(npst.arrays(np.float64, (5, 3), elements=st.floats(0, 100)), st.integers(0, 2**32))
def test_shuffling_keeps_rows_and_names_together(array: NDArray[np.float64], seed: int):
    matrix = RuntimeMatrix.from_array(array)
    shuffled = matrix.shuffle_rows(seed)
    assert sorted(shuffled.configurations) == sorted(matrix.configurations)
    for name, row in zip(shuffled.configurations, shuffled.runtimes_s, strict=True):
        assert row.tolist() == array[matrix.configurations.index(name)].tolist()


def test_rows_bring_their_features_along():
    matrix = RuntimeMatrix(
        runtimes_s=np.ones((3, 2)),
        cutoff_s=9,
        configurations=("a", "b", "c"),
        instances=("x", "y"),
        columns=np.arange(2),
        features=np.array([[1.0], [2.0], [3.0]]),
        feature_names=("size",),
    )
    chosen = matrix.take_rows([2, 0])
    assert chosen.configurations == ("c", "a")
    assert chosen.features is not None
    assert chosen.features.tolist() == [[3.0], [1.0]]


@pytest.mark.parametrize(
    ("runtimes", "text"),
    [
        ([[1.0, math.nan]], "'c0' on instance 'i1' is not a number"),
        ([[1.0], [-2.0]], "'c1' on instance 'i0' is negative"),
        ([[]], "empty"),
        (np.empty((0, 3)), "empty"),
        ([1.0, 2.0], "1 dimensions"),
        ([[1.0], [1.0, 2.0]], "differ in length"),
        ([["fast"]], "must be numbers"),
    ],
)
def test_what_is_no_runtime_matrix_is_refused(runtimes: ArrayLike, text: str):
    with pytest.raises(DataError, match=text):
        RuntimeMatrix.from_array(runtimes)


@pytest.mark.parametrize("cutoff_s", [0, -1, math.nan])
def test_a_cutoff_must_be_positive(cutoff_s: float):
    with pytest.raises(DataError, match="cutoff must be a positive"):
        RuntimeMatrix.from_array([[1.0]], cutoff_s)


@pytest.mark.parametrize(
    ("names", "text"),
    [(("a",), "1 configuration names were given for 2"), (("a", "a"), "'a' occurs more than once")],
)
def test_names_must_match_and_differ(names: tuple[str, ...], text: str):
    with pytest.raises(DataError, match=text):
        RuntimeMatrix.from_array([[1.0], [2.0]], configurations=names)


def test_features_must_fit_the_rows():
    with pytest.raises(DataError, match="features have shape"):
        RuntimeMatrix(
            np.ones((2, 1)),
            1,
            ("a", "b"),
            ("x",),
            np.arange(1),
            features=np.ones((1, 1)),
            feature_names=("f",),
        )


def test_orders_and_choices_outside_the_matrix_are_refused():
    with pytest.raises(UsageError, match="at least 1"):
        SMALL.resample(0, seed=1)
    with pytest.raises(UsageError, match="between 0 and 1"):
        SMALL.take_rows([2])
    with pytest.raises(UsageError, match="between 0 and 2"):
        RuntimeMatrix(SMALL.runtimes_s, 5, SMALL.configurations, SMALL.instances, np.array([3]))


def test_rows_with_the_same_features_and_runs_are_the_same_configuration():
    nan = math.nan
    runtimes_s = [[1, 2], [3, 4], [1, 2], [3, 4], [1, 2], [1, 5]]
    features = np.array([[0.0, nan], [1.0, 2.0], [-0.0, -nan], [1.0, 2.0], [0.0, 1.0], [0.0, nan]])
    matrix = RuntimeMatrix.from_array(runtimes_s, 100.0)
    assert matrix.same_as().tolist() == [0, 1, 2, 3, 4, 5]
    described = replace(matrix, features=features, feature_names=("a", "b"))
    assert described.same_as().tolist() == [0, 1, 0, 1, 4, 5]
    assert described.take_rows([5, 3, 2, 1, 0]).same_as().tolist() == [0, 1, 2, 1, 2]

"""Recorded runs laid out once: the same answers as without, in whatever order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from utilitune import ProcedureSpec, Recording, RuntimeMatrix, parse_utility, replay, replay_rival
from utilitune.errors import UsageError
from utilitune.rivals import rival_named

UTILITY = parse_utility("uniform(k0=20)")
SPECIFICATION = ProcedureSpec("oup", delta=0.1, epsilon=0.3)


@pytest.fixture(scope="module")
def matrix() -> RuntimeMatrix:
    generator = np.random.default_rng(7)
    runtimes_s = np.exp(generator.normal(1.5, 1.0, (6, 800)) + np.linspace(0, 1, 6)[:, None])
    plain = RuntimeMatrix.from_array(runtimes_s, 60.0)
    return replace(plain, features=generator.random((6, 2)), feature_names=("a", "b"))


def by_hand(matrix: RuntimeMatrix, seed: int, positions: int | None) -> RuntimeMatrix:
    """The same order of configurations and instances, by copying."""
    columns = matrix.shuffle_columns(seed) if positions is None else matrix.resample(positions, seed)
    return columns.shuffle_rows(seed)


@pytest.mark.parametrize("positions", [None, 3000])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_shuffled_recording_is_what_a_shuffled_matrix_is(matrix, seed, positions):
    recording = Recording.of(matrix, UTILITY).shuffled(9).shuffled(seed, positions)
    here = replay(recording, SPECIFICATION)
    there = replay(by_hand(matrix.shuffle_columns(9), seed, positions), SPECIFICATION, utility=UTILITY)
    assert here.best == there.best
    assert here.progress.total_time_s == there.progress.total_time_s
    assert here.progress.epsilon == there.progress.epsilon
    assert [here.time_each_s[row] for row in recording.rows] == list(there.time_each_s)
    assert matrix.configurations[here.progress.best_index] == here.best


def test_rivals_draw_in_the_order_of_the_recording(matrix):
    recording = Recording.of(matrix, UTILITY).shuffled(3)
    rival = rival_named("hyperband", {"resource": "90", "eta": "3"})
    here = replay_rival(recording, rival)
    there = replay_rival(by_hand(matrix, 3, None), rival, utility=UTILITY)
    assert (here.best, here.standing.total_time_s) == (there.best, there.standing.total_time_s)


def test_features_follow_their_configurations(matrix):
    recording = Recording.of(matrix, UTILITY).shuffled(4)
    assert recording.features is not None
    assert (recording.features == matrix.features[recording.rows]).all()


def test_what_is_laid_out_keeps_its_own_utility(matrix):
    recording = Recording.of(matrix, UTILITY)
    assert Recording.of(recording) is recording
    assert Recording.of(recording, "uniform(k0=20)") is recording
    assert replay(recording, SPECIFICATION, utility=UTILITY).best == replay(recording, SPECIFICATION).best


def test_another_utility_than_the_recordings_own_is_refused(matrix):
    recording = Recording.of(matrix, UTILITY)
    with pytest.raises(UsageError, match=r"for uniform\(k0=20\), not for uniform\(k0=1\): leave"):
        replay(recording, SPECIFICATION, utility="uniform(k0=1)")
    with pytest.raises(UsageError, match="lay the matrix out anew"):
        replay_rival(recording, rival_named("hyperband", {"resource": "90"}), utility="log-laplace(k0=60)")


def test_the_usual_utility(matrix):
    assert Recording.of(matrix).utility == parse_utility("log-laplace(k0=60)")


def test_seconds_of_every_row_add_up(matrix):
    result = replay(Recording.of(matrix, UTILITY).shuffled(5), SPECIFICATION)
    assert sum(result.time_each_s) == pytest.approx(result.progress.total_time_s)
    assert len(result.time_each_s) == matrix.rows


def test_a_replay_leaves_the_recording_as_it_was(matrix):
    growing = ProcedureSpec("wager", delta=0.1, growth="adaptive", epsilon=0.3)
    recording = Recording.of(matrix, UTILITY)
    assert replay(recording, growing).trajectory == replay(recording, growing).trajectory

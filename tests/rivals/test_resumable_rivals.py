"""The rivals that continue stopped runs, against plain versions of themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rivals.recorded_runs import play, recorded
from rivals.resumable_oracle import (
    Meter,
    Outcome,
    Race,
    caps_and_runs,
    impatient_caps_and_runs,
    instances_for_checks,
    pool_sizes,
    spc,
)
from utilitune import UtilituneError
from utilitune.rivals.caps_and_runs import CapsAndRuns
from utilitune.rivals.impatient import ImpatientCapsAndRuns
from utilitune.rivals.rival import RivalStanding
from utilitune.rivals.structured_procrastination import StructuredProcrastination

CUTOFFS_S = st.sampled_from([math.inf, 40.0, 6.0])
SEEDS = st.none() | st.integers(0, 3)
PRECISION = st.fixed_dictionaries(
    {
        "epsilon": st.sampled_from([0.1, 0.25, 0.9]),
        "delta": st.sampled_from([0.5, 0.8, 0.95]),
        "zeta": st.sampled_from([0.3, 0.9]),
        "original_constants": st.booleans(),
        # Sums of such slices are exact, so that both sides agree on runs that end just with a slice.
        "slice_s": st.sampled_from([0.75, 3.0, 10.0, 100.0]),
    }
)


@st.composite
def tables(draw: st.DrawFn, rows: st.SearchStrategy[int], columns: list[int]) -> np.ndarray:
    """Runtimes of fast and slow configurations: smooth, with ties, constant, with zeros, or slowing down."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    shape = draw(rows), draw(st.sampled_from(columns))
    means = rng.choice([0.5, 1.0, 2.0, 5.0, 20.0, 60.0], (shape[0], 1))
    smooth = rng.exponential(1.0, shape) * means
    match draw(st.sampled_from(["smooth", "ties", "constant", "zeros", "slowing"])):
        case "smooth":
            return smooth
        case "ties":
            return np.ceil(4 * smooth) / 4
        case "constant":
            return np.broadcast_to(means, shape).copy()
        case "zeros":
            return np.where(rng.random(shape) < 0.4, 0.0, np.ceil(smooth))
        case _:
            turns = rng.integers(shape[1] // 8, shape[1], (shape[0], 1))
            return np.where(np.arange(shape[1]) < turns, 0.25, means)


def race_on(table: np.ndarray, limit_s: float, precision: dict[str, Any]) -> Race:
    return Race(
        Meter(table.tolist(), limit_s),
        precision["epsilon"],
        precision["delta"],
        precision["zeta"],
        precision["slice_s"],
        precision["original_constants"],
    )


def assert_same(standing: RivalStanding, outcome: Outcome) -> None:
    assert standing.best_index == outcome.row
    assert standing.total_time_s == pytest.approx(outcome.total_s, rel=1e-9)
    assert standing.configurations == outcome.configurations
    assert standing.alive == outcome.alive


@settings(max_examples=100)
@given(tables(st.integers(1, 5), [120, 300, 700]), CUTOFFS_S, SEEDS, PRECISION, st.sampled_from([None, 5.0]))
def test_caps_and_runs_is_its_plain_version(
    table: np.ndarray, cutoff_s: float, seed: int | None, precision: dict[str, Any], captime_s: float | None
):
    runs = recorded(table, cutoff_s, seed=seed)
    race = race_on(table, min(cutoff_s, captime_s or math.inf), precision)
    race.rivals = len(table)
    rival = CapsAndRuns(**precision, captime_s=captime_s)
    if race.phase_one_instances() + 2 > table.shape[1]:
        with pytest.raises(UtilituneError, match=r"^caps for delta = .* but there are only"):
            play(rival, runs)
        return
    outcome = caps_and_runs(race, runs.order.tolist())
    points, _ = play(rival, runs)
    assert_same(points[-1], outcome)
    assert points[-1].runs == outcome.runs


@settings(max_examples=20)
@given(tables(st.just(9), [400]), CUTOFFS_S, PRECISION, st.sampled_from([0.5, 0.4]))
def test_caps_and_runs_on_so_many_draws_is_its_plain_version(
    table: np.ndarray, cutoff_s: float, precision: dict[str, Any], gamma: float
):
    precision |= {"zeta": 0.9, "original_constants": False}
    draws = math.ceil(math.log(0.9 / 7) / math.log(1 - gamma))
    race = race_on(table, cutoff_s, precision | {"zeta": 0.9 / 7})
    runs = recorded(table, cutoff_s, seed=1)
    outcome = caps_and_runs(race, runs.order[:draws].tolist())
    assert_same(play(CapsAndRuns(**precision, gamma=gamma), runs)[0][-1], outcome)


@settings(max_examples=45)
@given(
    tables(st.integers(12, 28), [600, 1000, 300]),
    CUTOFFS_S,
    SEEDS,
    PRECISION,
    st.tuples(st.sampled_from([0.45, 0.4, 0.3, 0.2, 0.15]), st.booleans()),
)
def test_impatient_caps_and_runs_is_its_plain_version(
    table: np.ndarray,
    cutoff_s: float,
    seed: int | None,
    precision: dict[str, Any],
    pools: tuple[float, bool],
):
    gamma, guess = pools
    runs = recorded(table, cutoff_s, seed=seed)
    race = race_on(table, cutoff_s, precision)
    rival = ImpatientCapsAndRuns(**precision, gamma=gamma, guess_best=guess)
    sizes = pool_sizes(gamma, race.zeta / (13 if guess else 12))
    if sizes[-1] > len(table) or instances_for_checks(race, gamma, guess=guess) > table.shape[1]:
        with pytest.raises(UtilituneError, match="but there are only"):
            play(rival, runs)
        return
    outcome = impatient_caps_and_runs(race, runs.order.tolist(), gamma, guess=guess)
    points, _ = play(rival, runs)
    assert_same(points[-1], outcome)
    assert points[-1].runs == outcome.runs


@settings(max_examples=60)
@given(
    tables(st.integers(1, 3), [30, 300, 450]),
    CUTOFFS_S,
    SEEDS,
    st.sampled_from([1.5, 2.0, 3.0]),
    st.tuples(st.sampled_from([0.25, 1.0, 4.0]), st.sampled_from([1, 7, 1000])),
)
def test_structured_procrastination_is_its_plain_version_at_all_times(
    table: np.ndarray,
    cutoff_s: float,
    seed: int | None,
    multiplier: float,
    start: tuple[float, int],
):
    captime0_s, refresh_every = start
    runs = recorded(table, cutoff_s, seed=seed)
    outcome = spc(Meter(table.tolist(), cutoff_s), runs.order.tolist(), multiplier, captime0_s, refresh_every)
    rival = StructuredProcrastination(
        multiplier=multiplier, captime0_s=captime0_s, refresh_every=refresh_every
    )
    points, _ = play(rival, runs)
    assert points[-1].runs == len(outcome.steps)
    assert_same(points[-1], outcome)
    for point in points:
        row, total_s = outcome.steps[point.runs - 1]
        assert point.best_index == row
        assert point.total_time_s == pytest.approx(total_s, rel=1e-9)

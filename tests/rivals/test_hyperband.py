from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rivals.recorded_runs import constant, exponential, play, recorded
from utilitune import UtilituneError
from utilitune.rivals.hyperband import Hyperband, _Look, _spend, brackets, largest_bracket
from utilitune.rivals.rival import RankedBy, Scores


def test_brackets_are_the_published_ones():
    # Li et al. (2018), R = 81 and η = 3: five brackets s = 4 … 0, with n = ⌈5 · 3^s / (s + 1)⌉.
    assert [[tuple(rung) for rung in rungs] for rungs in brackets(81, 3)] == [
        [(81, 1), (27, 3), (9, 9), (3, 27), (1, 81)],
        [(34, 3), (11, 9), (3, 27), (1, 81)],
        [(15, 9), (5, 27), (1, 81)],
        [(8, 27), (2, 81)],
        [(5, 81)],
    ]


def test_no_bracket_starts_more_configurations_than_there_are():
    assert [rungs[0].configurations for rungs in brackets(81, 3, rows=20)] == [20, 20, 15, 8, 5]


@given(st.integers(2, 6), st.integers(0, 7))
def test_the_number_of_brackets_is_exact_at_powers(eta: int, power: int):
    assert largest_bracket(float(eta**power), eta) == power
    assert largest_bracket(math.nextafter(eta ** (power + 1), 0), eta) == power


def test_spending_worked_by_hand():
    # Captime 2, u(t) = 1 − t/4; the runs take .5, .25, 2 (capped) and 1 seconds: .5, .75, 2.75, 3.75 in all.
    runs = recorded([[0.5, 0.25, 3, 1]], cutoff_s=2, utility="uniform(k0=4)")
    scores = Scores(runs, RankedBy.UTILITY, 2.0)
    look = _Look(0)
    # 1 s: two complete, .25 s left for the third: (.875 + .9375 + u(.25) = .9375) / 3.
    assert _spend(look, 1.0, scores, runs) == (1.0, 3)
    assert look.value == pytest.approx(2.75 / 3)
    # 2 s: the same two complete, 1.25 s for the third, which begins anew: (.875 + .9375 + .6875) / 3.
    assert _spend(look, 2.0, scores, runs) == (1.25, 1)
    assert look.value == pytest.approx(2.5 / 3)
    # 4 s: all complete, .25 s stay unused: (.875 + .9375 + u(2) = .5 + .75) / 4; new are the last two runs.
    assert _spend(look, 4.0, scores, runs) == (3.0, 2)
    assert look.value == pytest.approx(3.0625 / 4)
    # A second look with fewer seconds costs nothing: all of it is known.
    assert _spend(look, 1.0, scores, runs) == (0.0, 0)


def test_nothing_begins_once_the_seconds_are_used():
    # The second run ends with the last second: it is complete, and the third is not begun, short as it is.
    runs = recorded([[0.5, 0.5, 0, 1]], utility="uniform(k0=4)")
    look = _Look(0)
    assert _spend(look, 1.0, Scores(runs, RankedBy.UTILITY, 8.0), runs) == (1.0, 2)
    assert (look.completed, look.value) == (2, 0.875)


def test_rounding_errors_decide_no_ties():
    # With 3.1 s both are cut on the fifth instance: means of .62 s, which floats tell apart.
    # The second row wins the first bracket (3.1 s / 3 take it further), so it stays.
    rows = [[0.1, 0.5, 0.5, 0.6, 9.0], [0.1, 0.2, 0.3, 0.3, 9.0]]
    points, _ = play(Hyperband(resource_s=3.1, objective=RankedBy.RUNTIME), recorded(rows))
    assert [point.best_index for point in points] == [1, 1]


def test_more_seconds_than_the_data_have_are_refused():
    rival = Hyperband(resource_s=1e300)
    with pytest.raises(UtilituneError, match="can use on 2 instances: choose at most 20 s"):
        play(rival, recorded([[1, math.inf], [2, 3]], cutoff_s=10))
    with pytest.raises(UtilituneError, match="choose at most 6 s"):
        play(rival, recorded([[1, 1], [2, 3]]))
    with pytest.raises(UtilituneError, match="choose at most 14 s"):
        play(Hyperband(resource_s=15, captime_s=7), recorded([[1, math.inf], [2, 3]]))
    play(Hyperband(resource_s=14, captime_s=7), recorded([[1, math.inf], [2, 3]]))


def test_instances_advance():
    # On the first instance configuration 0 is faster, on all others it is slower. Looking at one instance
    # again and again would choose it.
    rows = [[0.01] + [5.0] * 99, [0.02] + [0.5] * 99, [0.03] + [6.0] * 99, [0.04] + [7.0] * 99]
    points, _ = play(Hyperband(resource_s=8, eta=2), recorded(rows))
    assert points[-1].best_index == 1


def test_played_by_hand():
    # R = 4, η = 2: s = 2: 4 × 1 s, 2 × 2 s, 1 × 4 s; s = 1: 3 × 2 s, 1 × 4 s; s = 0: 3 × 4 s.
    # Configurations in order 0–3, 4–6, 7–9; each takes a constant time below 1 s that divides 4 s,
    # so nothing is cut and each rung pays what it adds: r_i − r_(i−1).
    rows = constant([0.5, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.125, 0.5], 40)
    points, stop = play(Hyperband(resource_s=4, eta=2), recorded(rows))
    bracket = [4 * 1 + 2 * 1 + 1 * 2, 3 * 2 + 1 * 2, 3 * 4]  # seconds
    assert [point.total_time_s for point in points] == [8, 16, 28]
    assert sum(bracket) == 28
    assert [point.best_index for point in points] == [1, 1, 8]
    assert [point.configurations for point in points] == [4, 7, 10]
    assert stop.code == "finished"
    # Runs: configuration 1 completes 4 per second, 8 completes 8, the others 2.
    first = (2 + 4 + 2 + 2) + (2 + 4) + 2 * 4  # 0 and 1 go on, then 1
    second = 3 * 4 + 4
    third = 8 + 32 + 8
    assert [point.runs for point in points] == [first, first + second, first + second + third]


@given(st.integers(0, 10**6), st.integers(2, 4), st.floats(4, 200), st.floats(0.5, 20))
def test_no_bracket_spends_more_than_its_resource(seed: int, eta: int, resource_s: float, captime_s: float):
    rows = np.random.default_rng(seed).exponential(3.0, (12, 50))
    runs = recorded(rows, cutoff_s=20, seed=seed)
    points, _ = play(Hyperband(resource_s=resource_s, eta=eta, captime_s=captime_s), runs)
    table = brackets(resource_s, eta, rows=12)
    allowed = np.cumsum([sum(rung.configurations * rung.resource_s for rung in rungs) for rungs in table])
    assert len(points) == len(table)
    assert all(point.total_time_s <= most + 1e-6 for point, most in zip(points, allowed, strict=True))


@pytest.mark.parametrize("objective", list(RankedBy))
def test_a_clear_best_row_is_found(objective: RankedBy):
    rows = exponential([6, 5, 0.5, 7, 6, 5], 600)
    points, _ = play(Hyperband(resource_s=200, eta=3, objective=objective), recorded(rows, seed=3))
    assert points[-1].best_index == 2


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"resource_s": 2.5, "eta": 3}, r"\(2.5 s\) must be at least eta \(3\)"),
        ({"resource_s": 100, "eta": 1}, "must be a whole number of at least 2"),
        ({"resource_s": math.inf}, "must be a positive number"),
        ({"resource_s": 100, "captime_s": 0}, "the captime must be a positive number"),
        ({"resource_s": 100, "objective": "utility"}, "the objective must be"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, float], sentence: str):
    with pytest.raises(UtilituneError, match=sentence):
        Hyperband(**settings)

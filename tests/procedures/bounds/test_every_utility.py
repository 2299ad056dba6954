from __future__ import annotations

import doctest
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utilitune.errors import UsageError
from utilitune.procedures.bounds import every_utility, hoeffding
from utilitune.procedures.bounds.every_utility import (
    LISTED_CONSTANT,
    CensoredRuns,
    UtilityBands,
    band_width,
    draw_shares,
    equal_shares,
)
from utilitune.utility import LogLaplace, PiecewiseLinear, Step, Uniform, parse_utility

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Times = NDArray[np.float64]
    Worth = Callable[[Times], Times]

MOMENTS = st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, math.inf])
RUN_LISTS = st.lists(st.tuples(MOMENTS, MOMENTS), max_size=40)
near = pytest.approx


def seen(runs: list[tuple[float, float]], first_position: int = 0) -> CensoredRuns:
    """Runs as (runtime, captime), with ∞ for "never" and "not capped"."""
    return CensoredRuns.capped([t for t, _ in runs], [c for _, c in runs], first_position)


def bounds_of(runs: CensoredRuns, utility: Worth, delta: float = 0.05, population: int = 0):
    lower, upper = UtilityBands([runs], np.array([delta]), population).bounds(utility)
    return float(lower[0]), float(upper[0])


@given(RUN_LISTS, st.sampled_from([0.25, 0.5, 1.0, 2.0, 2.5, 5.0, 9.0]), st.sampled_from([1e-3, 0.5, 0.999]))
def test_a_deadline_is_bounded_by_plain_counts(
    runs: list[tuple[float, float]], deadline: float, delta: float
):
    """U under step(deadline) is P(t < deadline), so the bounds are the band just before the deadline."""
    lower, upper = bounds_of(seen(runs), Step(deadline), delta)
    finished = sum(t < c and t < deadline for t, c in runs)
    stopped = sum(min(t, c) < deadline for t, c in runs)
    width = band_width(len(runs), delta)
    count = max(len(runs), 1)
    assert lower == near(max(0.0, finished / count - width), abs=1e-12)
    assert upper == near(min(1.0, stopped / count + width), abs=1e-12)


@given(RUN_LISTS)
def test_any_utility_is_a_mixture_of_deadlines(runs: list[tuple[float, float]]):
    """u = Σ weight · step: bounds are linear in u, as the two extreme distributions do not depend on it."""
    weights, deadlines = [0.2, 0.5, 0.2], [0.5, 1.2, 4.0]
    steps = [bounds_of(seen(runs), Step(deadline)) for deadline in deadlines]

    def mixture(times: Times) -> Times:
        return 0.1 + sum(w * (times < d) for w, d in zip(weights, deadlines, strict=True))

    lower, upper = bounds_of(seen(runs), mixture)
    assert lower == near(0.1 + sum(w * s[0] for w, s in zip(weights, steps, strict=True)))
    assert upper == near(0.1 + sum(w * s[1] for w, s in zip(weights, steps, strict=True)))


@given(RUN_LISTS, st.integers(0, 39), st.sampled_from([0, 60]), st.sampled_from([0, 7]))
def test_watching_a_run_for_longer_never_loosens_a_bound(
    runs: list[tuple[float, float]], which: int, population: int, first_position: int
):
    longer = [(t, math.inf if number == which else c) for number, (t, c) in enumerate(runs)]
    for utility in (Uniform(3.0), LogLaplace(1.0), parse_utility("piecewise(1s:0.9, 4s:0.3)")):
        before = bounds_of(seen(runs, first_position), utility, population=population)
        after = bounds_of(seen(longer, first_position), utility, population=population)
        assert after[0] >= before[0] - 1e-12
        assert after[1] <= before[1] + 1e-12
        assert 0.0 <= before[0] <= before[1] <= 1.0


@given(st.lists(MOMENTS, min_size=1, max_size=40))
def test_a_list_that_has_finished_is_known_exactly(runtimes: list[float]):
    runs = CensoredRuns.capped(runtimes, math.inf)
    for utility in (Uniform(3.0), Step(1.0), PiecewiseLinear(((1.0, 0.9), (4.0, 0.3)))):
        exact = float(np.mean(utility(np.array(runtimes))))
        assert bounds_of(runs, utility, population=len(runtimes)) == near((exact, exact))


@given(RUN_LISTS, st.integers(0, 30), st.integers(0, 10))
def test_a_list_is_never_bounded_worse_than_by_what_is_certain(
    runs: list[tuple[float, float]], unseen: int, first_position: int
):
    population = first_position + len(runs) + unseen
    if population == 0:
        return
    utility = PiecewiseLinear(((0.5, 1.0), (4.0, 0.25)))
    times, captimes = np.array([t for t, _ in runs]), np.array([c for _, c in runs])
    least = np.where(times < captimes, utility(times), 0.25).sum() + 0.25 * (population - len(runs))
    most = utility(np.minimum(times, captimes)).sum() + population - len(runs)
    lower, upper = bounds_of(seen(runs, first_position), utility, population=population)
    assert lower >= least / population - 1e-12
    assert upper <= most / population + 1e-12


def test_a_proposal_on_a_list_leaves_open_what_it_was_never_run_on():
    """Positions before its first one: anything is possible there."""
    runs = CensoredRuns.capped(np.zeros(30), math.inf, first_position=10)
    lower, upper = bounds_of(runs, Step(1.0), population=40)
    assert (lower, upper) == near((0.75, 1.0))
    never = CensoredRuns.capped(np.full(30, math.inf), 5.0, first_position=10)
    assert bounds_of(never, Step(1.0), population=40) == near((0.0, 0.25))


def test_without_a_share_only_what_is_certain_counts():
    runs = CensoredRuns.capped(np.zeros(500), math.inf)
    assert bounds_of(runs, Step(1.0), delta=0.0) == (0.0, 1.0)
    assert bounds_of(runs, Step(1.0), delta=0.0, population=1000) == near((0.5, 1.0))


def test_a_run_that_never_finishes_is_worth_the_infimum_not_more():
    runs = CensoredRuns(np.full(2000, math.inf), np.zeros(2000, dtype=bool))
    lower, upper = bounds_of(runs, PiecewiseLinear(((0.0, 1.0), (1.0, 0.25))))
    assert lower == near(0.25)
    assert upper == near(0.25 + 0.75 * band_width(2000, 0.05))


def test_before_the_first_run_nothing_is_known():
    nothing = CensoredRuns(np.zeros(0), np.zeros(0, dtype=bool))
    assert bounds_of(nothing, Uniform(1.0)) == (0.0, 1.0)
    assert bounds_of(nothing, Uniform(1.0), population=10) == (0.0, 1.0)


def test_configurations_do_not_mix():
    first, second = seen([(1.0, 2.0)] * 300), seen([(4.0, 3.0)] * 50 + [(0.0, 1.0)])
    together = UtilityBands([first, second, first], np.array([0.01, 0.02, 0.01])).bounds(Uniform(5.0))
    assert (together[0][0], together[1][0]) == near(bounds_of(first, Uniform(5.0), 0.01))
    assert (together[0][1], together[1][1]) == near(bounds_of(second, Uniform(5.0), 0.02))
    assert (together[0][2], together[1][2]) == near(bounds_of(first, Uniform(5.0), 0.01))


@pytest.mark.parametrize("utility", [LogLaplace(60.0), Uniform(60.0), parse_utility("exponential(k0=20)")])
@pytest.mark.parametrize("captime_s", [1.0, 16.0, 256.0])
@pytest.mark.parametrize("runs", [1, 7, 40, 900])
def test_never_wider_than_the_bounds_of_up_and_oup(utility: Worth, captime_s: float, runs: int):
    configurations, delta, level = 10, 0.1, 1
    times = np.random.default_rng(runs).lognormal(3.0, 2.0, runs)
    times[::9] = math.inf
    share = equal_shares(delta, configurations)[0]
    lower, upper = bounds_of(CensoredRuns.capped(times, captime_s), utility, share)
    width = hoeffding.confidence_width(hoeffding.width_scale(configurations, delta), runs, level)
    mean = float(utility(np.minimum(times, captime_s)).mean())
    at_captime, finished = float(utility(captime_s)), float((times < captime_s).mean())
    assert lower >= hoeffding.lower_bound(mean, at_captime, width, finished)
    assert upper <= hoeffding.upper_bound(mean, at_captime, width)


def test_the_constant_for_lists_is_what_the_proof_needs():
    """P ≤ 2e · exp(−x/2)/(1−x) · exp(−L) with x = 1/(2L), at the smallest L that occurs."""
    smallest = math.log(LISTED_CONSTANT * math.pi**2 / 6)
    x = 1 / (2 * smallest)
    assert 2 * math.e * math.exp(-x / 2) / (1 - x) < LISTED_CONSTANT


def test_the_width_for_lists_ends_at_zero():
    assert band_width(200, 0.05, 200) == 0.0
    assert band_width(150, 0.05, 200) == near(band_width(150, 0.05, 10**9) * math.sqrt(1 / 3))
    assert band_width(50, 0.05, 200) == band_width(50, 0.05, 100)


@settings(max_examples=50)
@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_shares_never_spend_more_than_delta(proposed: list[bool]):
    assert draw_shares(0.1, proposed, may_propose=True).sum() <= 0.1
    assert equal_shares(0.1, len(proposed)).sum() == near(0.1)


def test_a_draw_has_the_same_share_whatever_was_proposed_before():
    without = draw_shares(0.1, [False, False], may_propose=True)
    between = draw_shares(0.1, [True, False, True, False], may_propose=True)
    assert between[[1, 3]] == near(without)
    assert draw_shares(0.1, [False, False], may_propose=False) == near([0.05, 0.1 / 6])


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: CensoredRuns(np.zeros(2), np.zeros(3, dtype=bool)), "2 moments and 3 flags"),
        (lambda: CensoredRuns(np.array([-1.0]), np.array([True])), "negative"),
        (lambda: CensoredRuns(np.array([math.nan]), np.array([True])), "NaN"),
        (lambda: CensoredRuns(np.array([math.inf]), np.array([True])), "infinite runtime"),
        (lambda: CensoredRuns(np.zeros(1), np.array([True]), -1), "from 0"),
        (lambda: UtilityBands([], np.zeros(0)), "0 configurations"),
        (lambda: bounds_of(seen([(1.0, 2.0)] * 5), Step(1.0), population=4), "only 4 instances"),
        (lambda: draw_shares(0.1, [True], may_propose=False), "may_propose"),
        (lambda: equal_shares(1.5, 3), "strictly between 0 and 1"),
    ],
)
def test_mistakes_are_named(build: Callable[[], object], text: str):
    with pytest.raises(UsageError, match=text):
        build()


def test_the_examples_in_the_docstrings_are_right():
    result = doctest.testmod(every_utility)
    assert result.attempted
    assert not result.failed

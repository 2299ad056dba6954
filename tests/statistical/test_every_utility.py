"""Coverage of the bounds for every utility at once, and checks that would notice if they were wrong.

A trial fails if *any* bound is wrong for *any* of the utilities at *any* moment looked at. The utilities hold
a deadline at every runtime that can occur, so nothing but the band as a whole can make a trial pass. What is
printed (``pytest -s``) is the share of failed trials with its 99 % interval.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from utilitune.procedures.bounds import every_utility
from utilitune.procedures.bounds.every_utility import CensoredRuns, UtilityBands, band_width
from utilitune.reports.whatif import whatif
from utilitune.utility import Exponential, LogLaplace, Step, Uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Times = NDArray[np.float64]

DELTA = 0.5  # large, so that an invalid band has little room to hide in
MOMENTS = np.array([0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, math.inf])
CHANCES = np.array([0.05, 0.1, 0.1, 0.15, 0.1, 0.15, 0.1, 0.1, 0.05, 0.1])
UTILITIES = (
    *(Step(deadline) for deadline in [*(MOMENTS[:-1] * 1.01), 0.5, 8.0]),
    *(Uniform(k0) for k0 in (2.0, 10.0, 60.0)),
    *(LogLaplace(k0) for k0 in (1.0, 8.0, 100.0)),
    Exponential(6.0),
)
PREFIXES = (1, 2, 3, 4, 6, 9, 13, 20, 30, 45, 70, 120)


def interval(failures: int, trials: int) -> tuple[float, float]:
    """Wilson's 99 % interval for the probability of a failure."""
    z, share = 2.576, failures / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def failure_share(trials: int, fails: Callable[[np.random.Generator], bool]) -> tuple[float, float]:
    """The share of failed trials, and the lower end of its interval; printed."""
    failures = sum(fails(np.random.default_rng(seed)) for seed in range(trials))
    low, high = interval(failures, trials)
    print(f"failed {failures}/{trials} = {failures / trials:.4f}, 99 % interval [{low:.4f}, {high:.4f}]")  # noqa: T201
    return failures / trials, low


def is_wrong(bands: UtilityBands, values: Times, weights: Times) -> bool:
    """Whether a bound misses the true mean utility for any utility."""
    for utility in UTILITIES:
        truth = float(weights @ utility(values))
        lower, upper = bands.bounds(utility)
        if (lower > truth + 1e-9).any() or (upper < truth - 1e-9).any():
            return True
    return False


def uncapped(times: Times, _: np.random.Generator) -> Times:
    return np.full(times.size, math.inf)


def flattering(times: Times, _: np.random.Generator) -> Times:
    """Whoever chose these captimes knows the runtimes: quick runs finish, slow ones are given up at once."""
    return np.where(times <= np.median(times), math.inf, 1e-3)


def damning(times: Times, _: np.random.Generator) -> Times:
    """The opposite: quick runs are given up just before they finish, slow ones are watched for ever."""
    return np.where(times <= np.median(times), 0.999 * times, math.inf)


def haphazard(times: Times, generator: np.random.Generator) -> Times:
    return generator.choice([0.7, 2.0, 8.0, 30.0, 100.0], times.size)


CAPTIME_RULES = (uncapped, flattering, damning, haphazard)


def independent_trial(
    rule: Callable[[Times, np.random.Generator], Times],
) -> Callable[[np.random.Generator], bool]:
    def fails(generator: np.random.Generator) -> bool:
        times = generator.choice(MOMENTS, PREFIXES[-1], p=CHANCES)
        prefixes = [CensoredRuns.capped(times[:m], rule(times[:m], generator)) for m in PREFIXES]
        return is_wrong(UtilityBands(prefixes, np.full(len(PREFIXES), DELTA)), MOMENTS, CHANCES)

    return fails


def listed_trial(generator: np.random.Generator) -> bool:
    """All prefixes of a list in random order; the truth is the mean over the list."""
    listed = np.random.default_rng(7).choice(MOMENTS, 60, p=CHANCES)
    times = generator.permutation(listed)
    prefixes = [CensoredRuns.capped(times[:m], math.inf) for m in range(2, 61, 4)]
    return is_wrong(UtilityBands(prefixes, np.full(15, DELTA), 60), listed, np.full(60, 1 / 60))


@pytest.mark.parametrize("rule", CAPTIME_RULES)
def test_right_for_all_utilities_captimes_and_numbers_of_runs_at_once(rule: Callable[..., Times]):
    share, _ = failure_share(1000, independent_trial(rule))
    assert share <= DELTA


def test_right_for_the_mean_over_a_list():
    share, _ = failure_share(1000, listed_trial)
    assert share <= DELTA


@pytest.mark.parametrize(("trial", "factor"), [(independent_trial(uncapped), 1 / 2), (listed_trial, 1 / 3)])
def test_a_band_that_is_too_narrow_is_found_out(
    trial: Callable[[np.random.Generator], bool], factor: float, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(every_utility, "band_width", lambda *numbers: factor * band_width(*numbers))
    _, low = failure_share(200, trial)
    assert low > DELTA


def test_a_band_without_the_union_over_the_number_of_runs_is_found_out(monkeypatch: pytest.MonkeyPatch):
    """sqrt(ln(2/δ)/(2m)) is right for one m only; whoever may stop at any finds it wrong too often."""
    monkeypatch.setattr(
        every_utility, "band_width", lambda runs, delta, _: math.sqrt(math.log(2 / delta) / (2 * runs))
    )
    _, low = failure_share(200, independent_trial(uncapped))
    assert low > DELTA


WORKERS = 400


def in_order(times: Times, now_s: float) -> CensoredRuns:
    """Every run that was begun counts, those in flight as given up now."""
    return CensoredRuns.capped(times, now_s)


def quick_runs_first(times: Times, now_s: float) -> CensoredRuns:
    """What must not be done: count runs as they come in, forgetting those in flight."""
    return CensoredRuns.capped(times[times < now_s], math.inf)


def parallel_trial(count: Callable[[Times, float], CensoredRuns]) -> Callable[[np.random.Generator], bool]:
    def fails(generator: np.random.Generator) -> bool:
        times = generator.choice(MOMENTS, WORKERS, p=CHANCES)
        moments = [count(times, now_s) for now_s in (0.6, 2.5, 6.0, 25.0)]
        return is_wrong(UtilityBands(moments, np.full(4, DELTA)), MOMENTS, CHANCES)

    return fails


def test_workers_whose_quick_runs_finish_first_bias_nothing():
    share, _ = failure_share(1000, parallel_trial(in_order))
    assert share <= DELTA


def test_counting_quick_runs_first_is_found_out():
    _, low = failure_share(100, parallel_trial(quick_runs_first))
    assert low > DELTA


def proposal_trial(*, fresh: bool) -> Callable[[np.random.Generator], bool]:
    """A model picks the best of 10000 configurations on 6 instances; all are alike, so it fooled itself."""

    def fails(generator: np.random.Generator) -> bool:
        seen = generator.choice(MOMENTS, (10_000, 6), p=CHANCES)
        chosen = int(np.argmax((seen < 1.5).sum(axis=1)))
        later = generator.choice(MOMENTS, 12, p=CHANCES)
        runs = (
            CensoredRuns.capped(later, math.inf, first_position=6)
            if fresh
            else CensoredRuns.capped(seen[chosen], math.inf)
        )
        return is_wrong(UtilityBands([runs], np.array([DELTA])), MOMENTS, CHANCES)

    return fails


def test_a_proposal_judged_on_fresh_instances_is_judged_rightly():
    share, _ = failure_share(300, proposal_trial(fresh=True))
    assert share <= DELTA


def test_a_proposal_judged_on_the_instances_that_shaped_it_is_found_out():
    _, low = failure_share(100, proposal_trial(fresh=False))
    assert low > DELTA


def ranking_trial(generator: np.random.Generator) -> bool:
    """Five configurations, four of them a hair worse; the runs stop when the promise looks best."""
    slowdown = np.array([1.0, 1.05, 1.05, 1.05, 1.05])
    times = generator.choice(MOMENTS, 300, p=CHANCES) * slowdown[:, None]
    truths = {
        utility: np.array([CHANCES @ utility(MOMENTS * each) for each in slowdown]) for utility in UTILITIES
    }
    for runs in (5, 20, 60, 150, 300):
        capped = [
            CensoredRuns.capped(row[:runs], generator.choice([2.0, 10.0, math.inf], runs)) for row in times
        ]
        answers = whatif(capped, delta=DELTA, growing=bool(runs % 2))
        for utility, truth in truths.items():
            found = answers.under(utility)
            if truth[found.best_index] < truth.max() - found.epsilon - 1e-9:
                return True
    return False


def test_the_recommended_configuration_is_within_epsilon_for_all_utilities_at_once():
    share, _ = failure_share(200, ranking_trial)
    assert share <= DELTA

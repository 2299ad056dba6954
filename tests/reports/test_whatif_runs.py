"""The runs from which `whatif` answers, and that bounds by all of them hold."""

from __future__ import annotations

import numpy as np

from utilitune.procedures.bounds.every_utility import UtilityBands, equal_shares
from utilitune.reports.whatif_runs import KnownBands, KnownRuns
from utilitune.utility import parse_utility

UTILITY = parse_utility("uniform(k0=10)")


def known(runtimes_s: np.ndarray, positions: list[int], captime_s: float = 8.0, first: int = 0) -> KnownRuns:
    """Runs on these positions alone, stopped at a captime."""
    made = np.isin(np.arange(runtimes_s.size), positions)
    seen = np.where(made & (runtimes_s < captime_s), runtimes_s, np.inf)
    return KnownRuns.of(seen, np.where(made, np.minimum(runtimes_s, captime_s), 0.0), first)


def test_runs_in_a_row_end_at_the_first_gap():
    found = known(np.arange(1.0, 11.0), [0, 2, 3, 5, 9], first=2)
    assert (found.in_a_row.stop_s.tolist(), found.in_a_row.first_position) == ([3.0, 4.0], 2)
    assert found.everywhere.stop_s.tolist() == [1.0, 3.0, 4.0, 6.0, 8.0]
    assert found.everywhere.finished.tolist() == [True, True, True, True, False]


def test_without_a_list_only_runs_in_a_row_count():
    runs = known(np.full(50, 5.0), [*range(20), *range(30, 50)])
    shares = equal_shares(0.1, 1)
    found, alone = (
        each.bounds(UTILITY) for each in (KnownBands([runs], shares), UtilityBands([runs[0]], shares))
    )
    assert np.array_equal(found, alone)


def test_what_is_certain_never_widens_the_band():
    runtimes_s = np.random.default_rng(3).uniform(0, 10, 60)
    runs = known(runtimes_s, [*range(20), *range(30, 60)])
    shares = equal_shares(0.1, 1)
    lower, upper = KnownBands([runs], shares, 60).bounds(UTILITY)
    band = UtilityBands([runs.in_a_row], shares, 60).bounds(UTILITY)
    assert lower > band[0]
    assert upper < band[1]
    assert lower <= UTILITY(runtimes_s).mean() <= upper


def test_bounds_hold_though_the_runs_beyond_a_gap_were_chosen_by_what_they_show():
    generator, missed = np.random.default_rng(4), 0
    for _ in range(200):
        runtimes_s = generator.uniform(0, 10, 30)
        quickest = np.argsort(runtimes_s)[:15].tolist()
        bands = KnownBands([known(runtimes_s, [*range(10), *quickest])], equal_shares(0.1, 1), 30)
        lower, upper = bands.bounds(UTILITY)
        missed += not lower[0] - 1e-9 <= UTILITY(runtimes_s).mean() <= upper[0] + 1e-9
    assert missed <= 20

"""Do bounds hold that are not divided, for the best of the draws that an announced γ needs?

The best of the first n_A draws is one draw, whatever the runs show, and its upper bound has a large share.
The best so far, before n_A draws are in play, changes from record to record: the broken version gives these
the same large share, and must be found out.
"""

from __future__ import annotations

import numpy as np
import pytest

from utilitune.procedures.bounds.betting import FRACTIONS, WEIGHTS
from utilitune.procedures.wager import tuning
from utilitune.procedures.wager.shares import growing_shares, upper_threshold

DELTA = 0.8
"""Large, so that failures are frequent enough to be told apart."""

NEEDED = 60
RUNS = 120
SEARCHES = 1500


@pytest.fixture(scope="module")
def richest() -> tuple[np.ndarray, np.ndarray]:
    """Which draws of each search are the best so far, and the largest capital against what is true."""
    generator = np.random.default_rng(54)
    worth = generator.uniform(0.3, 0.7, (SEARCHES, NEEDED))
    so_far = np.maximum.accumulate(worth, axis=1)
    record = worth == so_far
    largest = np.zeros((SEARCHES, NEEDED))
    for search, draw in np.argwhere(record):
        loses = generator.random(RUNS) >= worth[search, draw]
        gains = loses / (1.0 - worth[search, draw]) - 1.0
        capital = np.cumprod(1.0 + FRACTIONS[:, None] * gains, axis=1)
        largest[search, draw] = (WEIGHTS @ capital).max()
    return record, largest


def share_refuted(richest: tuple[np.ndarray, np.ndarray], shares, *, last_only: bool) -> float:
    """How often a best draw is refuted that is one: the last of them, or anyone before."""
    record, largest = richest
    thresholds = np.array([upper_threshold(shares, rank) for rank in range(1, NEEDED + 1)])
    refuted = record & (largest >= thresholds)
    if not last_only:
        return float(refuted.any(axis=1).mean())
    last = NEEDED - 1 - np.argmax(record[:, ::-1], axis=1)
    return float(refuted[np.arange(SEARCHES), last].mean())


def test_the_best_of_the_draws_that_were_announced_is_rarely_refuted(richest):
    shares = growing_shares(DELTA, announced=NEEDED)._replace(reached=True)
    assert share_refuted(richest, shares, last_only=True) <= tuning.AT_ANNOUNCED * shares.upper


def test_the_best_so_far_is_rarely_refuted_before(richest):
    shares = growing_shares(DELTA, announced=NEEDED)
    assert share_refuted(richest, shares, last_only=False) <= tuning.BEFORE_ANNOUNCED * shares.upper


def test_shares_that_do_not_fall_before_are_found_out(richest):
    shares = growing_shares(DELTA, announced=NEEDED)._replace(reached=True)
    assert share_refuted(richest, shares, last_only=False) > tuning.AT_ANNOUNCED * shares.upper

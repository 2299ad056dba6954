from __future__ import annotations

import numpy as np

from utilitune.search.proposers.base import Runs
from utilitune.search.proposers.rows import RowProposer
from utilitune.utility import parse_utility

UTILITY = parse_utility("uniform(k0=100)")


def matrix(seed: int):
    """300 rows with two features, one of them inactive at times; quick where the first is near 0.7."""
    generator = np.random.default_rng(seed)
    features = generator.random((300, 2))
    features[generator.random(300) < 0.3, 1] = np.nan
    runtimes_s = 90 * np.abs(features[:, [0]] - 0.7) + 10 * generator.random((300, 30))
    return features, runtimes_s


def test_rows_that_resemble_the_good_ones_are_proposed_first():
    chosen, average = [], []
    for seed in range(10):
        features, runtimes_s = matrix(seed)
        proposer = RowProposer(features, UTILITY, seed)
        rows = list(range(25))
        records = [(i, j, *[float(runtimes_s[i, j])] * 2) for i in rows for j in range(10)]
        proposer.learn(Runs.of(records), rows)
        for number in range(5):
            rows.append(proposer.propose(rows, np.random.default_rng(number)))
        assert len(set(rows)) == 30
        chosen.append(UTILITY(runtimes_s[rows[25:]]).mean())
        average.append(UTILITY(runtimes_s).mean())
    assert np.mean(chosen) > np.mean(average) + 0.15
    assert all(np.array(chosen) > np.array(average))


def test_no_row_is_proposed_when_all_are_known():
    features, _ = matrix(1)
    proposer = RowProposer(features[:6], UTILITY, 1)
    proposer.learn(Runs.of([(i, 0, 1.0, 1.0) for i in range(6)]), range(6))
    assert proposer.propose(range(6), np.random.default_rng(1)) is None
    assert proposer.propose(range(5), np.random.default_rng(1)) == 5

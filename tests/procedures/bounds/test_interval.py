from __future__ import annotations

import numpy as np
import pytest

from utilitune.errors import UsageError
from utilitune.procedures.bounds.interval import mean_interval


def test_the_interval_is_symmetric_and_holds_the_sample_mean():
    sample = np.random.default_rng(1).uniform(-0.3, 0.8, 100)
    low, high = mean_interval(sample, -1.0, 1.0, 0.05)
    assert low < sample.mean() < high
    assert mean_interval(-sample, -1.0, 1.0, 0.05) == pytest.approx((-high, -low))
    assert mean_interval(3 * sample + 5, 2.0, 8.0, 0.05) == pytest.approx((3 * low + 5, 3 * high + 5))


def test_nothing_is_known_without_values_and_everything_without_a_range():
    assert mean_interval([], -1.0, 1.0, 0.05) == (-1.0, 1.0)
    assert mean_interval([2.0, 2.0], 2.0, 2.0, 0.05) == (2.0, 2.0)


def test_equal_values_leave_room():
    low, high = mean_interval([0.5] * 10, 0.0, 1.0, 0.05)
    assert low < 0.4
    assert high > 0.6
    narrower = mean_interval([0.5] * 1000, 0.0, 1.0, 0.05)
    assert 0.4 < narrower[0] < 0.5 < narrower[1] < 0.6


def test_values_outside_the_range_are_refused():
    with pytest.raises(UsageError, match="must lie between 0 and 1"):
        mean_interval([0.5, 1.5], 0.0, 1.0, 0.05)
    with pytest.raises(UsageError, match="must lie between 0 and 1"):
        mean_interval([0.5, float("nan")], 0.0, 1.0, 0.05)


@pytest.mark.long
@pytest.mark.parametrize("count", [5, 30, 300])
@pytest.mark.parametrize("chance", [0.02, 0.5, 0.97])
def test_it_covers_the_mean_of_coins(count: int, chance: float):
    generator = np.random.default_rng([count, int(100 * chance)])
    missed = 0
    for _ in range(1000):
        low, high = mean_interval((generator.random(count) < chance).astype(float), 0.0, 1.0, 0.1)
        missed += not low <= chance <= high
    assert missed <= 100


@pytest.mark.long
@pytest.mark.parametrize("loss", [0.45, 0.95])
def test_looking_again_after_adding_values_spoils_nothing(loss: float):
    """Whoever adds values until the interval excludes 0, in whatever order they then stand, is right."""
    generator = np.random.default_rng(int(100 * loss))
    gain, missed, samples = 0.05, 0, 400
    for _ in range(samples):
        values = np.where(generator.random(320) < gain / (gain + loss), -loss, gain)
        missed += any(
            mean_interval(generator.permutation(values[:count]), -1.0, 1.0, 0.1)[0] > 0
            for count in range(5, 321, 15)
        )
    assert missed <= 0.05 * samples


def test_the_order_of_the_values_means_nothing():
    sample = np.random.default_rng(3).beta(2, 1, 60)
    assert mean_interval(sample, 0.0, 1.0, 0.1) == pytest.approx(
        mean_interval(np.sort(sample), 0.0, 1.0, 0.1)
    )

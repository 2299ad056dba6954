"""Where the runs of peers are stopped."""

from __future__ import annotations

import math

import pytest

from utilitune.rivals.packages import PEERS
from utilitune.rivals.packages.captimes import WORTH_LEFT, advised_captime_s
from utilitune.utility import parse_utility


@pytest.mark.parametrize("name", [*PEERS, "somebody else"])
@pytest.mark.parametrize("text", ["log-laplace(k0=60)", "uniform(k0=10)", "step(deadline=3)"])
def test_a_run_is_stopped_where_little_worth_is_left(name, text):
    utility = parse_utility(text)
    captime_s = advised_captime_s(name, utility, 1e6)
    left = WORTH_LEFT.get(name, 0.2)
    assert float(utility(captime_s * 0.99)) >= left
    assert float(utility(captime_s * 1.01)) <= left


def test_the_largest_captime_is_kept():
    utility = parse_utility("log-laplace(k0=60)")
    assert advised_captime_s("smac", utility, 10.0) == 10.0
    assert advised_captime_s("smac", utility, None) == pytest.approx(150.0)
    assert advised_captime_s("smac", utility, math.inf) == pytest.approx(150.0)


def test_a_utility_that_hardly_falls_says_nothing():
    utility = parse_utility("log-laplace(k0=1e12)")
    assert advised_captime_s("smac", utility, None) is None
    assert advised_captime_s("smac", utility, 5.0) == 5.0

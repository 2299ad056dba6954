"""ε in the user's terms."""

from __future__ import annotations

import math

import pytest

from utilitune.live.standing.terms import epsilon_in_quality, epsilon_in_time
from utilitune.utility import parse_utility


def test_a_difference_of_utility_is_a_difference_of_time():
    text = epsilon_in_time(0.05, parse_utility("uniform(k0=60)"), 10.0)
    assert text == "0.05 of utility ≈ 3 s at a run of 10 s"


def test_a_deadline_is_put_as_a_share_of_runs():
    text = epsilon_in_time(0.05, parse_utility("step(deadline=60)"), 10.0)
    assert text == "0.05 of utility ≈ 5 of 100 runs worth nothing instead of everything"


@pytest.mark.parametrize("utility", ["uniform(k0=60)", "log-laplace(k0=10)", "step(deadline=1)"])
@pytest.mark.parametrize("typical_s", [1e-9, 0.013, 59.9, 1e9])
@pytest.mark.parametrize("epsilon", [1e-6, 0.0049, 0.5, 0.999])
def test_every_difference_can_be_said(utility: str, typical_s: float, epsilon: float):
    text = epsilon_in_time(epsilon, parse_utility(utility), typical_s)
    assert text.startswith(f"{epsilon:.3g} of utility ≈ ")
    assert "inf" not in text
    assert "nan" not in text


@pytest.mark.parametrize("epsilon", [0.0, 1.0, math.inf, math.nan])
def test_what_means_nothing_is_not_said(epsilon: float):
    assert not epsilon_in_time(epsilon, parse_utility("uniform(k0=60)"), 10.0)
    assert not epsilon_in_quality(epsilon)


def test_costs_are_never_seconds():
    assert epsilon_in_quality(0.999).endswith("≈ 100 of 100 runs worth nothing instead of everything")
    assert epsilon_in_quality(0.03) == "0.03 of utility ≈ 3 of 100 runs worth nothing instead of everything"

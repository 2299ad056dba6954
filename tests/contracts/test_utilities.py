"""Every family of utilities, and users' own functions, pass the suite that others are given."""

from __future__ import annotations

import math

import numpy as np
import pytest

from utilitune.testing import ContractError, UtilitySuite
from utilitune.utility import FAMILIES, Utility, parse_utility, utility_from_callable

TEXTS = [
    *(family.example for family in FAMILIES.values()),
    "log-laplace(k0=1h, alpha=3)",
    "uniform(k0=1ms)",
]


def halving(time_s):
    return 0.5**time_s


class OurUtility(UtilitySuite):
    def __init__(self, utility: Utility, *, reads_back: bool = True):
        self.utility = utility
        self.reads_back = reads_back

    def make(self):
        return self.utility


@pytest.mark.parametrize("check", UtilitySuite.checks())
@pytest.mark.parametrize("text", sorted(set(TEXTS)))
def test_a_family_keeps_the_contract(text: str, check: str):
    getattr(OurUtility(parse_utility(text)), check)()


@pytest.mark.parametrize("check", UtilitySuite.checks())
@pytest.mark.parametrize("function", [halving, lambda time_s: 1 / (1 + time_s), lambda time_s: 0.25])
def test_a_function_keeps_the_contract(function, check: str):
    getattr(OurUtility(utility_from_callable(function), reads_back=False), check)()


class Odd(Utility):
    """Gives what it is told to give."""

    def __init__(self, formula):
        self._formula = formula

    def _evaluate(self, time_s):
        return self._formula(time_s)

    def describe(self):
        return "odd"

    def __str__(self):
        return "uniform(k0=1)"


@pytest.mark.parametrize(
    ("formula", "check", "sentence"),
    [
        (lambda t: np.minimum(t, 1.0), "test_worths_lie_between_0_and_1_and_never_rise", "worth more"),
        (lambda t: 2 / (1 + t), "test_worths_lie_between_0_and_1_and_never_rise", "outside"),
        (lambda t: np.full(len(t), 1.0 / len(t)), "test_one_time_and_many_give_the_same", "in an array"),
        (lambda t: np.exp(-np.minimum(t, 9, out=t)), "test_the_times_given_stay_as_they_are", "changed"),
        (lambda t: np.exp(-t), "test_it_describes_itself_in_a_line", "reads back as another"),
    ],
)
def test_a_utility_that_breaks_the_contract_is_found(formula, check: str, sentence: str):
    (name,) = (each for each in UtilitySuite.checks() if each.startswith(check))
    with pytest.raises(ContractError, match=sentence):
        getattr(OurUtility(Odd(formula)), name)()


def test_all_checks_can_be_run_without_pytest():
    OurUtility(parse_utility("uniform(k0=1m)")).check_all()
    with pytest.raises(ContractError):
        OurUtility(Odd(lambda t: np.where(t < math.inf, 0.0, 1.0))).check_all()

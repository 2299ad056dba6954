"""A few trials with faults at random moments; `make faults` makes hundreds."""

from __future__ import annotations

import random
import sys

import pytest

from faults.trials import FAULTS, Trial, tried
from faults.zoo import KINDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.mark.parametrize("seed", range(3))
def test_random_faults_lose_double_and_leave_nothing(tmp_path, seed):
    assert len(tried(tmp_path, seed, faults=2)) <= 2


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_each_fault_once(tmp_path, fault):
    trial = Trial(tmp_path, random.Random(fault.__name__), runs=12)
    fault(trial)
    trial.runs += 2
    trial.describe(trial.runs)
    assert trial.finish() <= trial.runs


def test_the_zoo_is_large():
    assert len(KINDS) >= 20

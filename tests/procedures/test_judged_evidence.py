"""Evidence of runs that are judged by their solutions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.procedures.evidence import is_known
from utilitune.procedures.judged_evidence import JudgedEvidence

LIMIT_S = 10.0


@dataclass(frozen=True)
class Costs:
    """A run is worth 1 − quality; compared, half of what it is better than the default."""

    compares_with_default: bool = False
    limit_s: float = LIMIT_S

    def worth(self, position: int, outcome: RunOutcome, default: RunOutcome | None) -> float:
        assert position >= 0
        if outcome.failed or outcome.quality is None:
            return 0.0
        if not self.compares_with_default:
            return 1.0 - outcome.quality
        return 0.5 + (default.quality - outcome.quality) / 2


def told(evidence: JudgedEvidence, configuration: int, position: int, quality: float | None, **more: object):
    request = RunRequest(configuration, position, more.pop("captime_s", LIMIT_S))
    settings = {"status": RunStatus.FINISHED, "runtime_s": 2.0} | more
    evidence.tell(request, RunOutcome(quality=quality, **settings))


def seen(evidence: JudgedEvidence, configuration: int, position: int) -> tuple[float, float] | None:
    arrays = evidence.arrays
    if not is_known.py_func(arrays, configuration, position, LIMIT_S):
        return None
    at = arrays.base[configuration] + arrays.column[position]
    return float(arrays.runtime_s[at]), float(arrays.utility[at])


def test_a_run_is_a_point_once_it_is_over():
    evidence = JudgedEvidence(Costs(), 100)
    assert seen(evidence, 0, 3) is None
    told(evidence, 0, 3, 0.25)
    assert seen(evidence, 0, 3) == (2.0, 0.75)
    told(evidence, 0, 3, 0.9)
    assert seen(evidence, 0, 3) == (2.0, 0.75)


def test_a_run_that_was_stopped_at_the_limit_is_over_and_never_censored():
    evidence = JudgedEvidence(Costs(), 100)
    told(evidence, 1, 0, 0.5, status=RunStatus.TIMEOUT, runtime_s=LIMIT_S)
    time_s, worth = seen(evidence, 1, 0)
    assert (time_s < LIMIT_S, worth) == (True, 0.5)
    told(evidence, 1, 1, None, status=RunStatus.TIMEOUT, runtime_s=LIMIT_S)
    assert seen(evidence, 1, 1)[1] == 0.0
    told(evidence, 1, 2, None, status=RunStatus.CRASHED, runtime_s=0.1)
    assert seen(evidence, 1, 2) == (0.1, 0.0)


@pytest.mark.parametrize(
    "more",
    [
        {"status": RunStatus.TIMEOUT, "runtime_s": 4.0, "captime_s": 4.0},
        {"runtime_s": 11.0, "captime_s": 20.0},
        {"status": RunStatus.TIMEOUT, "runtime_s": 20.0, "captime_s": 20.0},
        {"status": RunStatus.CRASHED, "runtime_s": 11.0, "captime_s": 20.0, "quality": None},
        {"quality": None},
    ],
)
def test_runs_under_other_limits_or_without_a_quality_say_nothing(more: dict):
    evidence = JudgedEvidence(Costs(), 100)
    told(evidence, 0, 0, **({"quality": 0.5} | more))
    assert seen(evidence, 0, 0) is None
    told(evidence, 0, 0, 0.5)
    assert seen(evidence, 0, 0) == (2.0, 0.5)


class TestComparedWithTheDefault:
    def test_a_run_is_known_once_both_are_over_in_any_order(self):
        evidence = JudgedEvidence(Costs(compares_with_default=True), 100)
        told(evidence, 2, 5, 0.1)
        assert seen(evidence, 2, 5) is None
        told(evidence, 0, 5, 0.3)
        assert seen(evidence, 2, 5) == pytest.approx((2.0, 0.6))
        assert seen(evidence, 0, 5) == (2.0, 0.5)
        told(evidence, 3, 5, 0.9)
        assert seen(evidence, 3, 5) == pytest.approx((2.0, 0.2))
        told(evidence, 0, 5, 0.0)
        told(evidence, 4, 5, 0.9)
        assert seen(evidence, 4, 5) == pytest.approx((2.0, 0.2))

    def test_runs_of_the_default_are_asked_for_where_they_are_lacking(self):
        evidence = JudgedEvidence(Costs(compares_with_default=True), 100)
        wanted, default = RunRequest(2, 5, LIMIT_S), RunRequest(0, 5, LIMIT_S)
        assert evidence.lacking([wanted]) == [wanted, default]
        assert evidence.lacking([wanted, default]) == [wanted, default]
        told(evidence, 2, 5, 0.1)
        assert evidence.lacking([wanted]) == [default]
        told(evidence, 0, 6, 0.1)
        assert evidence.lacking([RunRequest(2, 6, LIMIT_S)]) == [RunRequest(2, 6, LIMIT_S)]


def test_a_model_learns_worths_in_place_of_runtimes():
    evidence = JudgedEvidence(Costs(limit_s=0.5), 100)
    for position, quality in enumerate((0.0, 0.25, 1.0)):
        told(evidence, 0, position, quality, captime_s=0.5, runtime_s=0.4)
    arrays, utility = evidence.learnable
    times = arrays.runtime_s[arrays.base[0] + np.arange(3)]
    assert utility(times).tolist() == [1.0, 0.75, 0.0]
    assert arrays.runtime_s[arrays.base[0] + 3] == math.inf

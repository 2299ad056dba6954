"""Evidence of runs that are worth something while they run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from utilitune.domain import RunOutcome, RunRequest, RunStatus, TracePoint
from utilitune.live.standing.worths import seen
from utilitune.procedures.anytime_evidence import AnytimeEvidence, RecordedLooks
from utilitune.procedures.evidence import is_known
from utilitune.store.records import ConfigurationRecord, StoredOrigin
from utilitune.utility import Step, Uniform

LIMIT_S = 8.0
CAPTIMES_S = np.array([1.0, 2.0, 4.0, 8.0])


@dataclass(frozen=True)
class Best:
    """A run is worth 1 − its best quality, times the default's if it is compared; no bound is known."""

    compares_with_default: bool = False
    limit_s: float = LIMIT_S
    ceiling: object = Step(LIMIT_S)

    def worth(self, position: int, outcome: RunOutcome, default: RunOutcome | None) -> float:
        return float(self.looks(position, outcome, default, np.array([LIMIT_S]))[0][0])

    def looks(self, position, outcome, default, captimes_s):
        assert position >= 0
        scale = 1.0 if not self.compares_with_default else float(default.trace[-1].quality)
        least = [
            max((1 - p.quality * scale for p in outcome.trace if p.time_s <= captime_s), default=0.0)
            for captime_s in captimes_s
        ]
        return np.array(least), np.ones(len(captimes_s))


def told(evidence: AnytimeEvidence, configuration: int, captime_s: float, *points: tuple, **more: object):
    settings = {"status": RunStatus.TIMEOUT, "runtime_s": captime_s} | more
    trace = tuple(TracePoint(*point) for point in points)
    outcome = RunOutcome(trace=trace, quality=trace[-1].quality if trace else None, **settings)
    evidence.tell(RunRequest(configuration, 0, captime_s), outcome)


def begun(judge: Best | None = None) -> AnytimeEvidence:
    evidence = AnytimeEvidence(judge or Best(), 100)
    evidence.look_at(CAPTIMES_S)
    return evidence


def row(evidence: AnytimeEvidence, configuration: int = 0):
    arrays = evidence.arrays
    at = arrays.base[configuration] + arrays.column[0]
    return arrays.least[at].tolist(), arrays.most[at].tolist(), float(arrays.runtime_s[at])


def known(evidence: AnytimeEvidence, captime_s: float, configuration: int = 0) -> bool:
    return bool(is_known.py_func(evidence.arrays, configuration, 0, captime_s))


def test_a_stopped_run_is_known_as_far_as_it_was_watched():
    evidence = begun()
    assert not known(evidence, 1.0)
    told(evidence, 0, 2.0, (0.5, 0.6), (1.5, 0.4))
    assert known(evidence, 2.0)
    assert not known(evidence, 4.0)
    least, most, ended_s = row(evidence)
    assert least[:2] == pytest.approx([0.4, 0.6])
    assert most[:2] == [1.0, 1.0]
    assert ended_s == math.inf


@pytest.mark.parametrize("status", [RunStatus.FINISHED, RunStatus.CRASHED])
def test_a_run_that_ended_is_a_point(status: RunStatus):
    evidence = begun()
    told(evidence, 0, 8.0, (0.5, 0.6), (2.5, 0.25), status=status, runtime_s=3.0)
    least, _, ended_s = row(evidence)
    assert ended_s == 3.0
    assert known(evidence, 8.0)
    assert least[:2] == pytest.approx([0.4, 0.4])
    assert evidence.arrays.utility[evidence.arrays.base[0]] == 0.75


def test_a_run_that_was_watched_to_the_limit_is_over_just_before_it():
    evidence = begun()
    told(evidence, 0, 8.0, (7.9, 0.25))
    assert row(evidence)[2] == math.nextafter(8.0, 0.0)
    assert evidence.arrays.utility[evidence.arrays.base[0]] == 0.75


def test_what_an_earlier_look_has_shown_stays():
    evidence = begun()
    told(evidence, 0, 2.0, (0.5, 0.4))
    told(evidence, 0, 4.0, (0.5, 0.9), (3.0, 0.8))
    least, _, _ = row(evidence)
    assert least == pytest.approx([0.6, 0.6, 0.6, 0.6])
    told(evidence, 0, 8.0, (0.1, 0.9), status=RunStatus.FINISHED, runtime_s=0.2)
    assert row(evidence)[2] == 4.0
    assert evidence.arrays.utility[evidence.arrays.base[0]] == pytest.approx(0.6)


def test_runs_that_came_before_the_captimes_were_known_count():
    early, late = AnytimeEvidence(Best(), 100), begun()
    for evidence in (early, late):
        for configuration in range(20):
            told(evidence, configuration, 4.0, (0.5, 0.4), (3.0, 0.1))
            told(evidence, configuration, 8.0, (0.5, 0.4), (3.0, 0.1), (6.0, 0.0))
    early.look_at(CAPTIMES_S)
    assert [row(early, i) for i in range(20)] == [row(late, i) for i in range(20)]


def test_what_compares_with_the_default_waits_for_its_end():
    evidence = begun(Best(compares_with_default=True))
    asked = RunRequest(2, 0, 2.0)
    full_default = RunRequest(0, 0, LIMIT_S)
    assert evidence.lacking([asked]) == [full_default, asked]
    assert evidence.lacking([RunRequest(0, 0, 1.0)]) == [full_default]
    told(evidence, 2, 2.0, (1.0, 1.0))
    assert not known(evidence, 2.0, 2)
    assert evidence.lacking([asked]) == [full_default]
    told(evidence, 0, LIMIT_S, (1.0, 0.5))
    assert known(evidence, 2.0, 2)
    assert row(evidence, 2)[0][:2] == pytest.approx([0.5, 0.5])
    assert evidence.lacking([RunRequest(2, 0, 4.0)]) == [RunRequest(2, 0, 4.0)]


def test_recorded_runs_are_looked_at_when_the_captimes_are_known():
    worth = np.array([[0.5, 1.0], [0.0, 0.25]])

    def looks(captimes_s: np.ndarray):
        least = np.where(captimes_s >= 2.0, worth[..., None], 0.0)
        return least, np.ones_like(least)

    evidence = RecordedLooks(np.full((2, 2), 7.0), worth, looks)
    evidence.look_at(CAPTIMES_S)
    assert evidence.arrays.least.shape == (4, 4)
    assert evidence.arrays.least[1].tolist() == [0.0, 1.0, 1.0, 1.0]
    other = evidence.arranged(np.array([1, 0]), np.array([1]))
    assert other.arrays.least[other.arrays.base[0] + other.arrays.column[0]].tolist() == [
        0.0,
        0.25,
        0.25,
        0.25,
    ]


def test_a_worth_that_was_reached_early_is_not_lost_in_the_mean_that_is_shown():
    """What was found soon may be worth more than all that time has left; the top must not lie below it."""

    class Discounted(Best):
        def looks(self, position, outcome, default, captimes_s):
            least, _ = super().looks(position, outcome, default, captimes_s)
            return least, np.maximum(least, 1.0 - np.asarray(captimes_s) / LIMIT_S)

    evidence = begun(Discounted(ceiling=Uniform(LIMIT_S)))
    told(evidence, 0, 4.0, (0.1, 0.1))
    least, most = seen(evidence, ConfigurationRecord(0, {}, StoredOrigin.DEFAULT))
    assert least.tolist() == pytest.approx([0.9])
    assert most.tolist() == pytest.approx([0.9])

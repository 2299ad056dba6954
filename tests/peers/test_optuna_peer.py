"""Optuna as a rival: what it pays, what it answers, when it ends."""

from __future__ import annotations

import numpy as np
import pytest

from utilitune import RuntimeMatrix, parse_utility
from utilitune.baselines.rival import Allowance, Objective, RecordedRuns, play_rival
from utilitune.errors import MissingExtraError, UsageError
from utilitune.peers import OptunaPeer, Sampler, optuna_peer

UTILITY = parse_utility("uniform(k0=10)")
FEATURES = np.linspace(0, 1, 25)[:, None]


def recorded() -> RecordedRuns:
    """25 configurations on a line; the one at 0.25 is the best."""
    generator = np.random.default_rng(3)
    means = 1 + 8 * np.abs(FEATURES[:, 0] - 0.25)
    runtimes = means[:, None] * generator.uniform(0.8, 1.2, (25, 200))
    return RecordedRuns.of(RuntimeMatrix.from_array(runtimes, cutoff_s=20), UTILITY)


@pytest.mark.parametrize("sampler", Sampler)
def test_it_finds_a_good_row_and_pays_for_every_new_run_once(sampler: Sampler):
    pytest.importorskip("optuna", reason="the extra 'peers' is not installed")
    runs = recorded()
    peer = OptunaPeer(FEATURES, sampler, instances=16, trials=60, seed=1)
    points, stop = play_rival(peer, runs)
    assert stop.code == "finished"
    assert len(points) == 60
    assert abs(points[-1].best_index - 6) <= 2
    assert points[-1].runs <= 25 * 16
    runtimes = runs.evidence.runtime_s.reshape(25, 200)
    assert points[-1].total_time_s <= runtimes[:, :16].sum()
    times = [point.total_time_s for point in points]
    assert times == sorted(times)
    again, _ = play_rival(peer, runs)
    assert again[-1] == points[-1]


def test_it_stops_when_its_time_is_spent():
    pytest.importorskip("optuna", reason="the extra 'peers' is not installed")
    points, stop = play_rival(OptunaPeer(FEATURES, instances=16), recorded(), Allowance(total_time_s=200.0))
    assert stop.code == "time-limit"
    assert points[-1].total_time_s >= 200
    assert points[-2].total_time_s < 200


def test_runtime_may_be_the_objective():
    pytest.importorskip("optuna", reason="the extra 'peers' is not installed")
    peer = OptunaPeer(FEATURES, instances=8, trials=40, objective=Objective.RUNTIME, captime_s=5.0)
    points, _ = play_rival(peer, recorded())
    assert abs(points[-1].best_index - 6) <= 3


def test_mistakes_are_refused(monkeypatch):
    with pytest.raises(UsageError, match="instances of a trial must be"):
        OptunaPeer(FEATURES, instances=0)
    with pytest.raises(UsageError, match="must be a Sampler"):
        OptunaPeer(FEATURES, "grid")
    monkeypatch.setattr(optuna_peer, "optuna_is_installed", lambda: True)
    with pytest.raises(UsageError, match="features of 3 configurations, but 25 rows"):
        play_rival(OptunaPeer(FEATURES[:3]), recorded())
    monkeypatch.setattr(optuna_peer, "optuna_is_installed", lambda: False)
    with pytest.raises(MissingExtraError, match=r"utilitune\[peers\]"):
        play_rival(OptunaPeer(FEATURES), recorded())

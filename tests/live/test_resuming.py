"""Going on with a run: what a second start may change, and what it may not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from live.simulated_scenarios import backend, make_scenario
from utilitune import Scenario, Tuner
from utilitune.errors import UsageError
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import ListedInstances, StopRules


def naive(folder: Path, epsilon: float) -> Scenario:
    """Two configurations; ε decides how often each is run."""
    return make_scenario(
        folder,
        procedure="naive",
        options={"configurations": 2, "captime_s": 40.0},
        utility="uniform(k0=40)",
        training=ListedInstances(tuple(f"i{n}" for n in range(2000)), files=False),
        stop=StopRules(epsilon=epsilon, runs=20),
    )


def start(scenario: Scenario, folder: Path):
    return run_scenario(scenario, folder, settings_of(scenario, workers=1), backend=backend(1))


@pytest.mark.parametrize("other", [0.2, 0.5])
def test_naive_is_not_resumed_with_another_epsilon(tmp_path: Path, other: float):
    """Chosen after looking at the means, an ε that happens to favour one of them would be proved."""
    folder = tmp_path / "run"
    start(naive(tmp_path, 0.3), folder)
    with pytest.raises(UsageError, match=r"started for ε = 0.3.*same ε, or start another run"):
        start(naive(tmp_path, other), folder)
    with pytest.raises(UsageError, match=r"started for ε = 0.3"):
        Tuner(naive(tmp_path, other), folder)
    resumed = start(replace(naive(tmp_path, 0.3), stop=StopRules(epsilon=0.3)), folder)
    assert resumed.promise.epsilon == 0.3


def test_what_is_proved_at_all_moments_may_be_asked_for_at_any(tmp_path: Path):
    scenario = make_scenario(tmp_path, stop=StopRules(epsilon=0.8))
    folder = tmp_path / "run"
    start(scenario, folder)
    assert start(replace(scenario, stop=StopRules(epsilon=0.7)), folder).promise.epsilon <= 0.7

"""Going on with a run: what a second start may change, and what it may not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from live.simulated_scenarios import backend, make_scenario
from utilitune import Scenario, Tuner
from utilitune.errors import UsageError
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import ListedInstances, StopRules
from utilitune.spaces import Assignment


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


@pytest.mark.parametrize("procedure", ["wager", "oup", "up", "naive"])
@pytest.mark.parametrize("begin", [start, Tuner], ids=["run", "Tuner"])
def test_a_set_too_small_for_what_is_tried_first_is_refused_before_anything_is_written(
    tmp_path: Path, procedure: str, begin: Callable[[Scenario, Path], object]
):
    """One procedure ended when the set was full, the others left configurations out without a word."""
    scenario = make_scenario(tmp_path, procedure=procedure, options={"configurations": 2})
    others = [Assignment({"x": each}) for each in (0.25, 0.75)]
    with pytest.raises(UsageError, match="a set of 2 has no room for the 3 configurations to try first"):
        begin(replace(scenario, initial=tuple(others)), tmp_path / "run")
    assert not (tmp_path / "run").exists()

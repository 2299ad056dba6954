"""What was proved stays proved: a start that asks for another ε or γ never shows less than the one before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from live.simulated_scenarios import backend, make_scenario
from utilitune import Scenario, Tuner
from utilitune.live.choosing import MOST_LOST, MOST_TIMES
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import ListedInstances, Population, StopRules
from utilitune.scenario.model import SearchRules

LISTED = ListedInstances(tuple(f"i{n}" for n in range(60)), files=False)


def a_list(directory: Path, **changes: object) -> Scenario:
    return make_scenario(
        directory,
        procedure="wager",
        options={"entropy": "test"},
        training=LISTED,
        population=Population.FINITE,
        search=SearchRules(),
        **changes,
    )


def start(scenario: Scenario, folder: Path, *, runs: float, workers: int = 2, **asked: float):
    """A start that asks for this ε and γ, and may have made so many runs at its end."""
    scenario = replace(scenario, stop=StopRules(runs=runs, **asked))
    return run_scenario(scenario, folder, settings_of(scenario, workers=workers), backend=backend(workers))


def worth(result) -> float:
    return result.promise.epsilon + (result.promise.gamma or 0.0)


def most_of(shown, *, same: bool) -> float:
    """The most that may be shown next; a clearly better find may cost some of the promise (`choosing`)."""
    before = worth(shown)
    return before if same else max(before + MOST_LOST, MOST_TIMES * before)


@pytest.mark.parametrize("seed", range(6))
def test_another_epsilon_or_gamma_never_shows_less(tmp_path: Path, seed: int):
    scenario, folder = a_list(tmp_path, seed=seed), tmp_path / "run"
    first = start(scenario, folder, runs=400, epsilon=0.4, gamma=0.2)
    assert first.promise.epsilon < 0.9  # there is something to lose
    shown = first
    for epsilon, gamma, runs in ((0.02, 0.2, 400), (0.02, 0.2, 402), (0.3, 0.05, 404), (0.02, 0.02, 500)):
        later = start(scenario, folder, runs=runs, epsilon=epsilon, gamma=gamma)
        assert worth(later) <= most_of(shown, same=later.best == shown.best) + 1e-9
        shown = later


def test_the_earlier_answer_is_named_until_more_is_proved(tmp_path: Path):
    scenario, folder = a_list(tmp_path), tmp_path / "run"
    first = start(scenario, folder, runs=400, epsilon=0.4, gamma=0.2)
    second = start(scenario, folder, runs=len(first.runs), epsilon=0.02, gamma=0.2)
    assert (second.best, second.promise) == (first.best, first.promise)
    assert "An earlier start, which asked for another ε or γ, has proved ε = " in second.note
    third = start(scenario, folder, runs=8000, epsilon=0.1, gamma=0.2)
    assert third.promise.epsilon <= 0.1
    assert "earlier start" not in third.note


def test_the_same_epsilon_and_gamma_go_on_as_if_nothing_had_been_stopped(tmp_path: Path):
    scenario = a_list(tmp_path)
    once = start(scenario, tmp_path / "once", runs=300, workers=1, epsilon=0.05, gamma=0.1)
    for runs in (40, 170, 300):
        parts = start(scenario, tmp_path / "parts", runs=runs, workers=1, epsilon=0.05, gamma=0.1)
    assert (parts.promise.epsilon, parts.promise.gamma) == (once.promise.epsilon, once.promise.gamma)


def test_fixed_sets_keep_what_was_proved_too(tmp_path: Path):
    scenario, folder = make_scenario(tmp_path), tmp_path / "run"
    first = start(scenario, folder, runs=10_000, workers=1, epsilon=0.7)
    second = start(scenario, folder, runs=len(first.runs) + 1, workers=1, epsilon=0.1)
    assert second.promise.epsilon <= first.promise.epsilon


def test_a_tuner_shows_what_was_proved_before(tmp_path: Path):
    scenario, folder = a_list(tmp_path), tmp_path / "run"
    first = start(scenario, folder, runs=400, epsilon=0.4, gamma=0.2)
    asked = replace(scenario, stop=StopRules(epsilon=0.01, gamma=0.2))
    with Tuner(asked, folder) as tuner:
        assert tuner.promise.epsilon <= first.promise.epsilon

"""The same seed and the same outcomes lead to the same state; proposals have tests of their own.

Workers, stops and starts, and the moments at which runs end make no difference. The state is a digest of all
configurations, of the runs that the procedure needed, and of where it stands.
"""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from live.simulated_scenarios import behaviour, make_scenario
from utilitune.domain.stopping import Budget
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import Scenario
from utilitune.store import read_run_folder

CASES = {
    "oup": {"procedure": "oup", "options": {"configurations": 5}},
    "coup": {"procedure": "coup", "options": {}},
}


def play(scenario: Scenario, folder: Path, workers: int, runs: float) -> tuple[str, str]:
    """Why it stopped, and the digest of its state."""
    settings = replace(settings_of(scenario, workers=workers), budget=Budget(max_runs=runs))
    result = run_scenario(scenario, folder, settings, backend=SimulatedBackend(workers, behaviour))
    return result.stop_reason.code, digest(folder, result.progress)


def digest(folder: Path, progress) -> str:
    reader = read_run_folder(folder)
    drawn = [(dict(one.assignment), one.origin.value, one.first_position) for one in reader.configurations()]
    outcomes: dict[tuple[int, int], float] = {}
    for run in reader.runs():
        key = (run.request.configuration, run.request.position)
        if run.outcome.finished:
            assert outcomes.setdefault(key, run.outcome.runtime_s) == run.outcome.runtime_s
    reader.close()
    standing = [
        progress.best_index,
        progress.epsilon,
        progress.gamma,
        progress.rounds,
        progress.configurations,
    ]
    text = json.dumps([drawn[: progress.configurations], standing, progress.alive], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(params=CASES)
def scenario(request, tmp_path) -> Scenario:
    made = make_scenario(tmp_path, **CASES[request.param])
    return replace(
        made, stop=replace(made.stop, epsilon=0.25, gamma=0.4 if request.param == "coup" else None)
    )


def test_any_number_of_workers_and_any_stops_lead_to_one_state(scenario, tmp_path):
    code, expected = play(scenario, tmp_path / "one", 1, 3000)
    assert code != "run-limit"
    assert play(scenario, tmp_path / "again", 1, 3000) == (code, expected)
    for workers in (2, 5):
        assert play(scenario, tmp_path / str(workers), workers, 3000) == (code, expected)
    moments = random.Random(1)
    limit, stopped, state = 0, "run-limit", ""
    while stopped == "run-limit":
        limit += moments.choice([3, 40, 200])
        stopped, state = play(scenario, tmp_path / "pieces", moments.choice([1, 3]), limit)
    assert (stopped, state) == (code, expected)


def test_another_seed_leads_to_another_state(tmp_path):
    states = set()
    for seed in (1, 2, 3):
        made = make_scenario(tmp_path, **CASES["oup"], seed=seed)
        made = replace(made, stop=replace(made.stop, epsilon=0.25))
        states.add(play(made, tmp_path / str(seed), 1, 3000)[1])
    assert len(states) == 3

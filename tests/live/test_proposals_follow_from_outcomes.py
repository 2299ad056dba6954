"""Model-guided runs reach one state: with any number of workers, stopped anywhere, in a thread or not."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import pytest

from live.simulated_scenarios import make_scenario, runtime_s
from utilitune import Tuner
from utilitune.domain.stopping import Budget
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live import supply
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import ListedInstances, Population
from utilitune.search.proposers.model_guided import ModelGuidedProposer
from utilitune.spaces import ParameterSpace
from utilitune.store import read_run_folder
from utilitune.store.records import StoredOrigin

SPACE = ParameterSpace.from_tables(
    {
        "x": {"type": "float", "range": [0.0, 1.0], "default": 0.9},
        "y": {"type": "float", "range": [0.0, 1.0], "default": 0.1},
    }
)


def imagined_s(x: float, y: float, instance: str) -> float:
    return runtime_s(x, instance) + 8 * abs(y - 0.6)


def behaviour(job) -> SimulatedRun:
    """Some configurations fail, and take their time for it."""
    _, instance, *arguments = job.task.argv
    x, y = (float(argument.partition("=")[2]) for argument in arguments)
    if 0.6 < x < 0.75:
        return SimulatedRun(3.0, exit_code=1)
    return SimulatedRun(imagined_s(x, y, instance))


def two_parameters(tmp_path, population=Population.INFINITE, instances=2000):
    names = tuple(f"i{number}" for number in range(instances))
    scenario = make_scenario(
        tmp_path,
        procedure="wager",
        options={},
        space=SPACE,
        utility="uniform(k0=20)",
        population=population,
        training=ListedInstances(names, files=False),
    )
    return replace(scenario, stop=replace(scenario.stop, epsilon=0.15, gamma=0.03))


def play(scenario, folder, workers=1, runs=float("inf")):
    """Run until ε and γ are small, and tell all that the state of a run consists of."""
    settings = replace(settings_of(scenario, workers=workers), budget=Budget(max_runs=runs))
    result = run_scenario(scenario, folder, settings, backend=SimulatedBackend(workers, behaviour))
    progress = result.progress
    reader = read_run_folder(folder)
    drawn = [(one.assignment, one.origin, one.first_position) for one in reader.configurations()]
    reader.close()
    state = progress.best_index, progress.epsilon, progress.gamma, progress.rounds, drawn
    return result.stop_reason.code, state


def proposals_of(state) -> list:
    return [one for one in state[-1] if one[1] is StoredOrigin.MODEL]


@pytest.fixture(params=["prompt", "background"])
def fitted(request, monkeypatch):
    """Fits when asked, as on a virtual clock, or in a thread that is quick or slow by chance."""
    if request.param == "background":
        moments = random.Random(3)
        learn = ModelGuidedProposer.learn

        def at_its_own_pace(self, runs, configurations):
            time.sleep(moments.choice([0.0, 0.0, 0.02]))
            learn(self, runs, configurations)

        monkeypatch.setattr(ModelGuidedProposer, "learn", at_its_own_pace)
        monkeypatch.setattr(supply, "ImmediateProposals", supply.BackgroundProposals)
    return request.param


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize(("population", "instances"), [(Population.INFINITE, 2000), (Population.FINITE, 200)])
def test_several_workers_are_proposed_what_one_is_proposed(tmp_path, population, instances):
    scenario = two_parameters(tmp_path, population, instances)
    code, alone = play(scenario, tmp_path / "1")
    assert code == "epsilon-reached"
    assert len(proposals_of(alone)) >= 4
    for workers in (2, 5):
        assert play(scenario, tmp_path / str(workers), workers) == (code, alone)


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize("workers", [1, 3])
def test_a_run_stopped_anywhere_goes_on_as_if_nothing_had_happened(tmp_path, workers):
    scenario = two_parameters(tmp_path)
    expected = play(scenario, tmp_path / "whole")
    moments = random.Random(workers)
    limit, code = 0, "run-limit"
    while code == "run-limit":
        limit += moments.choice([1, 10, 60])
        code, state = play(scenario, tmp_path / "pieces", workers, limit)
    assert limit > 100
    assert (code, state) == expected


def test_trials_made_elsewhere_in_any_order_lead_to_the_same_proposals(tmp_path):
    scenario = two_parameters(tmp_path)
    drawn = []
    for batch in (1, 6):
        shuffled = random.Random(batch)
        with Tuner(scenario, tmp_path / str(batch)) as tuner:
            while not tuner.done:
                trials = tuner.ask(batch)
                for trial in shuffled.sample(trials, len(trials)):
                    took_s = imagined_s(**trial.configuration, instance=trial.instance)
                    tuner.tell(trial, took_s if took_s < trial.captime_s else None)
        reader = read_run_folder(tmp_path / str(batch))
        drawn.append([(one.assignment, one.origin, one.first_position) for one in reader.configurations()])
        reader.close()
    assert drawn[0] == drawn[1]
    assert any(origin is StoredOrigin.MODEL for _, origin, _ in drawn[0])

"""Small scenarios whose runs take no time: a Python function that is only imagined, on a virtual clock."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import CommandSpec, ListedInstances, Population, Scenario
from utilitune.scenario.model import NO_SEARCH
from utilitune.spaces import ParameterSpace


def runtime_s(x: float, instance: str) -> float:
    """Seconds the imagined program takes: quick near x = 0.3, and some instances are hard."""
    noise = int.from_bytes(hashlib.sha256(instance.encode()).digest()[:2], "big") / 65536
    return 0.5 + 20 * abs(x - 0.3) * (0.5 + noise) + (100.0 if noise > 0.95 else 0.0)


def make_scenario(directory: Path, **changes: object) -> Scenario:
    """One parameter, 300 instances; the command exists but is never run."""
    scenario = Scenario(
        name="imagined",
        directory=directory,
        target=CommandSpec((sys.executable, "{instance}", "{parameters}")),
        space=ParameterSpace.from_tables({"x": {"type": "float", "range": [0.0, 1.0], "default": 0.9}}),
        training=ListedInstances(tuple(f"i{n}" for n in range(300)), files=False),
        utility="log-laplace(k0=10)",
        population=Population.INFINITE,
        captime0_s=1.0,
        max_captime_s=64.0,
        delta=0.1,
        procedure="oup",
        options={"configurations": 6},
        search=NO_SEARCH,
    )
    return replace(scenario, **changes)


def behaviour(job: object) -> SimulatedRun:
    """What the imagined program does."""
    _, instance, argument = job.task.argv
    return SimulatedRun(runtime_s(float(argument.removeprefix("--x=")), instance))


def backend(workers: int) -> SimulatedBackend:
    """Workers on a virtual clock."""
    return SimulatedBackend(workers, behaviour)


def assert_workers_and_stops_change_nothing(
    scenario: Scenario, place: Path, behaves: Callable[[object], SimulatedRun]
) -> None:
    """The same answer and promise from one worker, from five, and from one that is stopped and goes on."""
    scenario = replace(scenario, stop=replace(scenario.stop, epsilon=0.2))

    def run(name: str, workers: int = 1, runs: float = math.inf) -> tuple[object, object]:
        settings = settings_of(scenario)
        settings = replace(settings, budget=replace(settings.budget, max_runs=runs))
        result = run_scenario(scenario, place / name, settings, backend=SimulatedBackend(workers, behaves))
        return result.best, result.promise

    once = run("once")
    assert run("crowd", workers=5) == once
    for runs in (7, 19, 40):
        run("parts", runs=runs)
    assert run("parts") == once

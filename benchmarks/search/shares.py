"""How the share of search changes the answer and what is proved of it, on tasks for tuning.

The whole product runs on a virtual clock: search, random draws and proof share one budget. Printed are, for
each task and share, the mean utility of the answer on unseen instances with its score (0 = default, 1 = best
known), ε and γ.

``python -m benchmarks.search.shares [BUDGET [SEEDS [TASK …]]]``: default runs, number of seeds, tasks.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.search.tuning import UNKIND, tuning_task

from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import CommandSpec, ListedInstances, Population, Scenario
from utilitune.scenario.model import SearchRules
from utilitune.spaces import NumberParameter
from utilitune.utility import LogLaplace, Uniform

if TYPE_CHECKING:
    from benchmarks.search.task import Task

    from utilitune.live.result import RunResult
    from utilitune.spaces import Value
    from utilitune.spaces.parameters import Parameter

SHARES = (0.0, 0.25, 0.5, 0.95)
NAMES = tuple(recipe.name for recipe in UNKIND if not recipe.deadline)
"""Where no task is named; every task of `tuning` will do."""


WORKERS = 2
"""Search plans for so many runs at once, on any machine; they are made one at a time."""


def proved(task: Task, share: float, budget: int, seed: int) -> RunResult:
    """One run of the product on a task."""
    scenario = scenario_of(task, share, seed)
    settings = settings_of(scenario)
    limits = replace(settings.budget, max_time_s=budget * task.default_run_s)
    with tempfile.TemporaryDirectory(prefix="utilitune-share-") as folder:
        return run_scenario(
            scenario,
            Path(folder) / "run",
            replace(settings, budget=limits),
            backend=backend_of(task),
        )


def scenario_of(task: Task, share: float, seed: int) -> Scenario:
    """A task as the product is given it."""
    assert isinstance(task.utility, LogLaplace | Uniform)
    return Scenario(
        name=task.name,
        directory=Path.cwd(),
        target=CommandSpec((sys.executable, "{instance}", "{parameters}")),
        space=task.space,
        training=ListedInstances(tuple(map(str, range(task.training))), files=False),
        utility=f"{task.utility.name}(k0={task.utility.k0})",
        population=Population.FINITE,
        max_captime_s=task.largest_captime_s,
        procedure="wager",
        workers=WORKERS,
        search=SearchRules(share),
        seed=seed,
    )


def backend_of(task: Task) -> SimulatedBackend:
    """What makes the runs of a task, one at a time."""

    def behaviour(job: object) -> SimulatedRun:
        _, instance, *arguments = job.task.argv  # type: ignore[attr-defined]
        texts = dict(each.removeprefix("--").split("=", 1) for each in arguments)
        values = {name: _value(task.space.parameters[name], text) for name, text in texts.items()}
        return SimulatedRun(task.runtime_s(values, int(instance)))

    return SimulatedBackend(1, behaviour)


def _value(parameter: Parameter, text: str) -> Value:
    """A value as it was written into a command."""
    if isinstance(parameter, NumberParameter):
        return int(text) if parameter.integer else float(text)
    return next(value for value in parameter.choices if str(value) == text)


def main(budget: int = 2000, seeds: int = 2, names: tuple[str, ...] = NAMES) -> None:
    """A line per task, share and seed."""
    for name in names:
        task = tuning_task(name)
        print(f"{task.name}: the default is worth {task.test_utility(task.default):.3f}", flush=True)
        for seed in range(seeds):
            for share in SHARES:
                found = proved(task, share, budget, seed)
                promise = found.promise
                print(
                    f"{task.name:16} seed {seed} share {share:.2f}: {task.test_utility(found.best):.3f}"
                    f" (score {task.score(found.best):.3f}),"
                    f" ε = {promise.epsilon:.3f}, γ = {promise.gamma or 0:.4f}, gain ≥ {promise.gain}",
                    flush=True,
                )


if __name__ == "__main__":
    given = sys.argv[1:]
    main(
        int(given[0]) if given else 2000,
        int(given[1]) if len(given) > 1 else 2,
        tuple(given[2:]) or NAMES,
    )

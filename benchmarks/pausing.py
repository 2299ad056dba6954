"""What it saves to continue runs that were stopped at a captime which is raised later, on a real solver.

The demo task (kissat on ordering formulas) is configured twice from the same seed, by procedures that raise
captimes: once every run that is wanted again is started afresh, once it is continued. Both go on until the
same ε is proved. Prints the CPU seconds of all runs, which other work on the machine hardly disturbs, what
was saved, how many runs were continued, and whether the answers are the same.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from utilitune.demo.task import prepare
from utilitune.live.events import RunEnded
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import ListedInstances, Scenario, read_scenario
from utilitune.scenario.model import NO_SEARCH
from utilitune.stopping import Budget

if TYPE_CHECKING:
    from utilitune.live.result import RunResult

SEEDS = (1, 2, 3)
INSTANCES = 40
CONFIGURATIONS = 8
PAUSE_BYTES = 4 << 30
CASES = (("oup", 0.2), ("coup", 0.3), ("wager", 0.1))
"""Procedures, and the ε that each is to prove."""


def main() -> None:
    """Run everything; ten minutes."""
    with tempfile.TemporaryDirectory() as place:
        demo = read_scenario(prepare(Path(place)))
        for procedure, epsilon in CASES:
            for seed in SEEDS:
                _compare(_scenario(demo, procedure, epsilon, seed))


def _scenario(demo: Scenario, procedure: str, epsilon: float, seed: int) -> Scenario:
    listed = demo.training
    if not isinstance(listed, ListedInstances):
        raise TypeError("the demo lists its instances")
    options = {} if procedure == "coup" else {"configurations": CONFIGURATIONS}
    return replace(
        demo,
        training=replace(listed, names=listed.names[:INSTANCES]),
        test=None,
        procedure=procedure,
        options=options,
        stop=replace(demo.stop, epsilon=epsilon, gamma=None, cpu_time_s=None, wall_time_s=None),
        captime0_s=0.01,
        max_captime_s=2.0,
        seed=seed,
        search=NO_SEARCH,
    )


def _compare(scenario: Scenario) -> None:
    afresh, afresh_s, again = _played(scenario)
    paused, paused_s, continued = _played(replace(scenario, pause_memory_bytes=PAUSE_BYTES))
    before_s, after_s = afresh.progress.total_time_s, paused.progress.total_time_s
    print(
        f"{scenario.procedure}, seed {scenario.seed}: {before_s:.1f} s of CPU time afresh "
        f"({afresh.progress.runs} runs, {again} of them again), {after_s:.1f} s continued "
        f"({paused.progress.runs} runs, {continued} of them continued): "
        f"{1 - after_s / before_s:.1%} saved; on the clock {afresh_s:.1f} and {paused_s:.1f} s; "
        f"the answer is {'the same' if afresh.best == paused.best else 'another'}, "
        f"ε = {afresh.promise.epsilon:.3f} and {paused.promise.epsilon:.3f}",
        flush=True,
    )


def _played(scenario: Scenario) -> tuple[RunResult, float, int]:
    """The result, seconds on the clock, and how many runs were of a pair that had been run before."""
    seen: set[tuple[int, int]] = set()
    again = 0

    def note(event: object) -> None:
        nonlocal again
        if isinstance(event, RunEnded):
            pair = event.request.configuration, event.request.position
            again += event.outcome.continued_s > 0 if scenario.pause_memory_bytes else pair in seen
            seen.add(pair)

    settings = replace(settings_of(scenario, workers=1), budget=Budget(max_runs=20_000))
    began_s = time.perf_counter()
    result = run_scenario(scenario, None, settings, on_event=note)
    return result, time.perf_counter() - began_s, again


if __name__ == "__main__":
    main()

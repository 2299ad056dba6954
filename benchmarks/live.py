"""What a whole live run costs beyond its target: scenario, procedure, store and workers together.

Prints: 10 000 runs of a program that does nothing, our own CPU time per run, also with many parameters and
proposals, the share of the workers' time inside runs of 50 ms, and what fifty SIGKILLs of the coordinator
change (nothing).
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from utilitune.domain import Measure
from utilitune.domain.stopping import Budget
from utilitune.live.events import RunBegun, RunEnded
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import CommandSpec, ListedInstances, Population, Scenario
from utilitune.spaces import ParameterSpace

WORKERS = 2
KILLS = 50
PARAMETERS = 36
SLEEP_50_MS = ("/bin/sleep", "0.05")


def main() -> None:
    """Run everything; a few minutes."""
    _no_op_runs(10_000)
    _no_op_runs_with_proposals(10_000)
    _inside_runs(600)
    _kills(KILLS)


def _scenario(folder: Path, argv: tuple[str, ...], measure: str) -> Scenario:
    return Scenario(
        name="benchmark",
        directory=folder,
        target=CommandSpec(argv),
        space=ParameterSpace.from_tables({"x": {"type": "float", "range": [0.0, 1.0], "default": 0.5}}),
        training=ListedInstances(tuple(f"i{n}" for n in range(4_000)), files=False),
        utility="uniform(k0=1s)",
        population=Population.INFINITE,
        measure=Measure(measure),
        captime0_s=1.0,
        max_captime_s=2.0,
    )


def _timed(scenario: Scenario, folder: Path, runs: int) -> tuple[float, float, list[dict]]:
    settings = replace(settings_of(scenario, workers=WORKERS), budget=Budget(max_runs=runs))
    run_scenario(scenario, None, replace(settings, budget=Budget(max_runs=20)))  # warm
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    result = run_scenario(scenario, folder, settings)
    wall_s = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    own_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall_s, own_s, list(result.runs)


def _no_op_runs(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        wall_s, own_s, made = _timed(
            _scenario(Path(folder), ("/bin/true",), "cpu"), Path(folder) / "run", runs
        )
    line(f"{len(made):,} no-op runs", f"{wall_s:.1f} s", "< 60 s", wall_s < 60)
    per_run_ms = 1000 * own_s / len(made)
    line("coordinator's CPU per run", f"{per_run_ms:.2f} ms", "<= 2 ms", per_run_ms <= 2)


def _no_op_runs_with_proposals(runs: int) -> None:
    """Runs that differ by chance alone, on the scale of the utility: many configurations are worth a try."""
    kinds = (
        {"type": "float", "range": [0.0, 1.0], "default": 0.5},
        {"type": "integer", "range": [1, 1000], "default": 10, "log": True},
        {"type": "categorical", "values": ["a", "b", "c", "d"], "default": "a"},
    )
    tables = {f"p{number}": kinds[number % len(kinds)] for number in range(PARAMETERS)}
    with tempfile.TemporaryDirectory() as folder:
        plain = _scenario(Path(folder), ("/bin/true", "{parameters}"), "cpu")
        scenario = replace(
            plain, space=ParameterSpace.from_tables(tables), utility="uniform(k0=4ms)", captime0_s=0.01
        )
        _, own_s, made = _timed(scenario, Path(folder) / "run", runs)
    proposals = len({run["configuration"] for run in made if run["origin"] == "model"})
    per_run_ms = 1000 * own_s / len(made)
    what = f"... {PARAMETERS} parameters, {proposals} proposals"
    line(what, f"{per_run_ms:.2f} ms", "<= 2 ms", per_run_ms <= 2)


def _inside_runs(runs: int) -> None:
    share = share_inside(runs)
    line("workers' time inside 50 ms runs", f"{share:.1%}", ">= 90 %", share >= 0.9)


def share_inside(runs: int, cluster: str | None = None) -> float:
    """Which share of the workers' time is inside runs of 50 ms, from the first start to the last end."""
    moments: list[float] = []
    inside_s = 0.0

    def note(event: object) -> None:
        nonlocal inside_s
        if isinstance(event, RunBegun | RunEnded):
            moments.append(time.perf_counter())
        if isinstance(event, RunEnded):
            inside_s += event.outcome.wall_s

    with tempfile.TemporaryDirectory() as folder:
        scenario = replace(_scenario(Path(folder), SLEEP_50_MS, "wall"), cluster=cluster)
        settings = replace(settings_of(scenario, workers=WORKERS), budget=Budget(max_runs=runs))
        run_scenario(scenario, None, replace(settings, budget=Budget(max_runs=20)))  # warm
        run_scenario(scenario, Path(folder) / "run", settings, on_event=note)
    return inside_s / (WORKERS * (moments[-1] - moments[0]))


def _kills(kills: int) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from end_to_end.killing import killed_again_and_again, start, told, write_scenario

    folder = Path(tempfile.mkdtemp())
    scenario = write_scenario(folder, 15 * (kills + 2), "wager")
    start(scenario, folder / "whole", f"whole-{os.getpid()}").wait()
    made = killed_again_and_again(scenario, folder / "killed", random.Random(2), kills)
    same = told(folder / "killed") == told(folder / "whole")
    line(f"{made} SIGKILLs of the coordinator", "same state" if same else "DIFFERENT", "same state", same)
    shutil.rmtree(folder)


def line(what: str, measured: str, target: str, good: bool) -> None:
    print(f"{what:<36}{measured:>14}   target {target:<12}{'ok' if good else 'MISSED'}", flush=True)

"""How the folders in `earlier_version` were made; run it with the version whose folders are to be kept.

    python tests/live/earlier_folders.py

Each folder was stopped after `HALFWAY` runs. ``expected.json`` holds every run that the same version makes
when it goes on to `WHOLE` runs: a later version that resumes the folder has to make exactly these. (The rules
of `wager` have changed since, which only a changed promise justifies: its second half was made anew from the
same folder.)
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sqlite3
from dataclasses import astuple, replace
from pathlib import Path

from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.collecting import GridSize, collect_into
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import CommandSpec, ListedInstances, Population, Scenario
from utilitune.spaces import ParameterSpace
from utilitune.store import open_run_folder, read_run_folder
from utilitune.store.records import Snapshot

HERE = Path(__file__).parent / "earlier_version"
HALFWAY, WHOLE = 120, 240
PROCEDURES = {"coup": {}, "wager": {}}
SIZE = GridSize(4, 6, 8.0)


def scenario(procedure: str, runs: int = WHOLE) -> Scenario:
    """Two parameters, 300 instances; the command exists but is never run."""
    told = Scenario(
        name="earlier",
        directory=Path(),
        target=CommandSpec(("sh", "{instance}", "{parameters}")),
        space=ParameterSpace.from_tables(
            {
                "x": {"type": "float", "range": [0.0, 1.0], "default": 0.9},
                "y": {"type": "float", "range": [0.0, 1.0], "default": 0.1},
            }
        ),
        training=ListedInstances(tuple(f"i{n}" for n in range(300)), files=False),
        utility="log-laplace(k0=10)",
        population=Population.INFINITE,
        captime0_s=1.0,
        max_captime_s=64.0,
        delta=0.1,
        procedure=procedure,
        options=PROCEDURES[procedure],
        seed=16,
    )
    return replace(told, stop=replace(told.stop, runs=runs))


def behaviour(job: object) -> SimulatedRun:
    """What the imagined program does: some instances are hard, and some runs crash."""
    _, instance, *arguments = job.task.argv
    x, y = (float(argument.partition("=")[2]) for argument in arguments)
    hard = int.from_bytes(hashlib.sha256(f"{instance}".encode()).digest()[:2], "big") / 65536
    runtime_s = 0.5 + 20 * (abs(x - 0.4) + abs(y - 0.7)) * (0.5 + hard)
    return SimulatedRun(runtime_s, exit_code=int(x > 0.95 and hard > 0.9))


def backend(workers: int = 1) -> SimulatedBackend:
    """Workers on a virtual clock."""
    return SimulatedBackend(workers, behaviour)


def made(folder: Path) -> list[list[object]]:
    """Every run of a folder."""
    with contextlib.closing(read_run_folder(folder)) as store:
        return [
            [*astuple(each.request), each.outcome.status.value, each.outcome.runtime_s]
            for each in store.runs()
        ]


def go_on(folder: Path, procedure: str, runs: int) -> None:
    """Start or resume the run in a folder, up to a number of runs."""
    told = scenario(procedure, runs)
    run_scenario(told, folder, settings_of(told, workers=1), backend=backend())


def collect(folder: Path) -> list[list[float]]:
    """Record a small grid into a folder."""
    told = scenario("coup")
    with contextlib.closing(open_run_folder(folder, Snapshot(told.snapshot(), told.digest()))) as store:
        store.begin_session({"captime_s": SIZE.captime_s, "workers": 2})
        matrix = collect_into(store, backend(2), told, SIZE)
        store.end_session()
    return matrix.runtimes_s.tolist()


def main() -> None:
    """Make everything anew."""
    expected = {}
    for procedure in PROCEDURES:
        folder, whole = HERE / procedure, HERE / "whole"
        for each in (folder, whole):
            shutil.rmtree(each, ignore_errors=True)
        go_on(folder, procedure, HALFWAY)
        shutil.copytree(folder, whole)
        go_on(whole, procedure, WHOLE)
        expected[procedure] = made(whole)
        shutil.rmtree(whole)
        strip(folder)
    shutil.rmtree(HERE / "grid", ignore_errors=True)
    expected["grid"] = collect(HERE / "grid")
    strip(HERE / "grid")
    (HERE / "expected.json").write_text(json.dumps(expected))


def strip(folder: Path) -> None:
    """Take out what names this machine."""
    (folder / "lock").unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as file:
        file.execute("UPDATE sessions SET machine = '{}'")
        file.commit()
        file.execute("VACUUM")


if __name__ == "__main__":
    main()

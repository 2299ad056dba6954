"""Runs a small deterministic scenario in a process of its own and kills that without warning."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from utilitune.errors import StoreError
from utilitune.procedures.naming import ProcedureSpec, are_compiled, warm_up
from utilitune.store import read_run_folder
from utilitune.utility import parse_utility

TARGET = '''
"""A target that reports a runtime which follows from its arguments, so runs are the same every time."""
import sys, time
x, y, instance = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
time.sleep({pause})
print("runtime", 0.1 + (3 * abs(x - 0.4) + abs(y - 0.7)) * (1 + instance % 7))
'''

SCENARIO = """
name = "killed"
utility = "log-laplace(k0=1s)"
seed = 16  # the set grows early, so that there are proposals
[target]
command = ["{python}", "-I", "-S", "target.py", "{{parameters}}", "{{instance}}"]
template = "{{value}}"
runtime_pattern = "runtime ([0-9.]+)"
[parameters.x]
type = "float"
range = [0.0, 1.0]
default = 0.9
[parameters.y]
type = "float"
range = [0.0, 1.0]
default = 0.1
[instances]
training = [{instances}]
files = false
population = "infinite"
[limits]
smallest_captime = "100ms"
largest_captime = "10s"
[budget]
runs = {runs}
[promise]
delta = 0.1
[procedure]
{procedure}
"""

BRIEF = "0.004"
"""How long the target really takes, in seconds: as short as can be."""

MARK = "UTILITUNE_KILL_TEST"
MOST_BETWEEN_KILLS = 24


def write_scenario(
    folder: Path, runs: int, procedure: str, *, pause: str = BRIEF, instances: int = 200
) -> Path:
    """Write the scenario and its target into a folder, and see that its rules are compiled.

    A run that begins before they are makes runs meanwhile that others do not make.

    Args:
        folder: Where they go.
        runs: How many runs are made in all.
        procedure: Its name, or lines of its settings.
        pause: How long the target really takes, in seconds; an expression may name its instance.
        instances: How many there are.
    """
    (folder / "target.py").write_text(TARGET.replace("{pause}", pause))
    path = folder / "scenario.toml"
    names = ", ".join(f'"{number}"' for number in range(1, instances + 1))
    settings = procedure if "=" in procedure else f'name = "{procedure}"'
    path.write_text(SCENARIO.format(python=sys.executable, instances=names, runs=runs, procedure=settings))
    specification = ProcedureSpec(settings.split('"')[1], population="infinite")
    if not are_compiled(specification):
        warm_up(specification, parse_utility("log-laplace(k0=1s)"))
    return path


def start(scenario: Path, folder: Path, mark: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "utilitune", "run", str(scenario), "--folder", str(folder), "--workers", "1"],
        env={**os.environ, MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def alive_with(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                    found.append((entry / "cmdline").read_bytes().decode(errors="replace"))
            except OSError:
                continue
    return found


def nobody_is_left(mark: str) -> bool:
    deadline = time.monotonic() + 10
    while alive_with(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive_with(mark)


def told(folder: Path) -> list[tuple]:
    reader = read_run_folder(folder)
    runs = [
        (run.request.configuration, run.request.position, run.request.captime_s, run.outcome.runtime_s)
        for run in reader.runs()
    ]
    reader.close()
    return runs


def drawn(folder: Path) -> list[tuple]:
    reader = read_run_folder(folder)
    found = [(one.assignment, one.origin, one.first_position) for one in reader.configurations()]
    reader.close()
    return found


def killed_again_and_again(scenario: Path, folder: Path, moments: random.Random, most_kills: int) -> int:
    """Start, kill after a few further runs, start again; then let it finish. Returns the kills."""
    mark = f"killed-{os.getpid()}"
    for kills in range(most_kills):
        before = told(folder) if kills else []
        process = start(scenario, folder, mark)
        enough = len(before) + moments.randint(1, MOST_BETWEEN_KILLS)
        while process.poll() is None and count(folder) < enough:
            time.sleep(moments.uniform(0.0, 0.02))
        if process.poll() is not None:
            return kills
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        assert nobody_is_left(mark), alive_with(mark)
        assert told(folder)[: len(before)] == before
    assert start(scenario, folder, mark).wait(300) == 0
    return most_kills


def count(folder: Path) -> int:
    """How many runs are stored; none while there is no store."""
    try:
        return len(told(folder))
    except StoreError:
        return 0

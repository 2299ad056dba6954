"""Instances that a command makes: each is there before its first run."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from utilitune.certificate import verify
from utilitune.certificate.issuing import certify
from utilitune.domain import Guesses
from utilitune.domain.stopping import Budget
from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.live.first_start import SEEN_TO
from utilitune.live.reusing import EarlierRuns
from utilitune.live.running import open_store, run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.scenario import read_scenario
from utilitune.store import read_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.execution.backend import Job

SCENARIO = """
utility = "uniform(k0=10)"
[target]
command = ["true", "{{parameters}}", "{{instance}}"]
[parameters.a]
type = "bool"
[instances]
training = {{ generator = [{python}, "-I", "-S", "make.py", "{{seed}}", "{{output}}"], suffix = ".txt" }}
[budget]
runs = 6
[procedure]
name = "oup"
configurations = 2
"""


def test_every_run_finds_its_instance(tmp_path: Path):
    (tmp_path / "make.py").write_text("import sys; open(sys.argv[2], 'w').write(sys.argv[1])")
    (tmp_path / "scenario.toml").write_text(SCENARIO.format(python=json.dumps(sys.executable)))
    missing = []

    def behaves(job: Job) -> SimulatedRun:
        instance = tmp_path / job.task.argv[-1]
        if not instance.exists():
            missing.append(instance)
        return SimulatedRun(0.5)

    result = run_scenario(read_scenario(tmp_path / "scenario.toml"), backend=SimulatedBackend(2, behaves))
    assert result.progress.runs == 6
    assert missing == []
    assert result.stop_reason.code == "run-limit"


PROVED = """
utility = "uniform(k0=10)"
[target]
command = ["true", "{{parameters}}", "{{instance}}"]
[parameters.a]
type = "float"
range = [0.0, 4.0]
default = 3.0
[instances]
training = {{ generator = [{python}, "-I", "-S", "make.py", "{{seed}}", "{{output}}"], suffix = ".txt" }}
[budget]
runs = {runs}
[procedure]
name = "wager"
{more}
[search]
share = {share}
"""


@pytest.mark.parametrize(("workers", "guesses"), [(1, Guesses.USEFUL), (4, Guesses.ALL)])
@pytest.mark.parametrize(
    ("share", "more"), [(0.0, "proposals = 0.5"), (0.5, ""), (0.0, "configurations = 3")]
)
def test_wager_works_on_a_generator_without_end(
    tmp_path: Path, workers: int, guesses: Guesses, share: float, more: str
):
    """The number that stood for "without end" did not fit where positions are kept."""
    (tmp_path / "make.py").write_text("import sys; open(sys.argv[2], 'w').write(sys.argv[1])")

    def behaves(job: Job) -> SimulatedRun:
        a = float(job.task.argv[1].removeprefix("--a="))
        return SimulatedRun(0.5 + 2 * abs(a - 1.0) + len((tmp_path / job.task.argv[-1]).read_text()) / 9)

    for runs in (15, 30):
        text = PROVED.format(python=json.dumps(sys.executable), runs=runs, share=share, more=more)
        (tmp_path / "scenario.toml").write_text(text)
        scenario = read_scenario(tmp_path / "scenario.toml")
        settings = replace(settings_of(scenario), workers=workers, guesses=guesses)
        result = run_scenario(
            scenario, tmp_path / "run", settings, backend=SimulatedBackend(workers, behaves)
        )
        assert result.progress.runs == runs
    with contextlib.closing(read_run_folder(tmp_path / "run")) as store:
        assert verify(certify(store)).valid


def test_what_is_judged_behind_many_instances_of_an_earlier_run_is_certified(tmp_path: Path):
    """It has fewer runs than instances are passed over, which looked like a made-up position."""
    (tmp_path / "make.py").write_text("import sys; open(sys.argv[2], 'w').write(sys.argv[1])")
    text = PROVED.format(python=json.dumps(sys.executable), runs=25, share=0.5, more="")
    (tmp_path / "scenario.toml").write_text(text)
    scenario = read_scenario(tmp_path / "scenario.toml")
    backend = SimulatedBackend(1, lambda job: SimulatedRun(float(job.task.argv[1].removeprefix("--a="))))
    run_scenario(scenario, tmp_path / "first", backend=backend)
    with contextlib.closing(open_store(Task(scenario), tmp_path / "first")) as store:
        store.keep_fact(SEEN_TO, "300")
    with contextlib.closing(read_run_folder(tmp_path / "first")) as store:
        earlier = EarlierRuns.read(store, tmp_path / "first", scenario)
    found = scenario.space.validate({"a": 0.01})
    settings = replace(settings_of(scenario), earlier=earlier, found=found, budget=Budget(max_runs=80))
    run_scenario(scenario, tmp_path / "second", settings, backend=backend)
    with contextlib.closing(read_run_folder(tmp_path / "second")) as store:
        content = certify(store)
    assert max(content["runs"]["position"]) >= 300 > len(content["runs"]["position"])
    verdict = verify(content)
    assert verdict.valid, verdict.reason


def test_a_stop_is_obeyed_while_an_instance_is_made(tmp_path: Path):
    (tmp_path / "make.py").write_text("import time; open('run/stop-requested', 'w'); time.sleep(60)")
    (tmp_path / "scenario.toml").write_text(SCENARIO.format(python=json.dumps(sys.executable)))
    scenario = read_scenario(tmp_path / "scenario.toml")
    backend = SimulatedBackend(2, lambda job: SimulatedRun(0.5))
    result = run_scenario(scenario, tmp_path / "run", backend=backend)
    assert result.stop_reason.code == "stop-requested"
    assert result.progress.runs == 0


PATIENT = """
import os, sqlite3, sys, time
begun = len(os.listdir("begun"))
kept = sqlite3.connect("file:run/run.sqlite?mode=ro", uri=True, isolation_level=None)
deadline_s = time.monotonic() + 20
while begun and next(kept.execute("SELECT count(*) FROM runs"))[0] < begun:
    if time.monotonic() > deadline_s:
        sys.exit("a run that has ended was not kept")
    time.sleep(0.02)
open(sys.argv[2], "w").close()
"""
SOLVE = """
import os, sys, time
open(f"begun/{os.getpid()}", "w").close()
time.sleep(0.1 if "--a=true" in sys.argv else 0.4)
"""


def test_a_run_that_ends_while_an_instance_is_made_is_kept_at_once(tmp_path: Path):
    (tmp_path / "make.py").write_text(PATIENT)
    (tmp_path / "solve.py").write_text(SOLVE)
    (tmp_path / "begun").mkdir()
    python = json.dumps(sys.executable)
    text = SCENARIO.format(python=python).replace('"true"', f'{python}, "-I", "-S", "solve.py"')
    (tmp_path / "scenario.toml").write_text(text)
    scenario = read_scenario(tmp_path / "scenario.toml")
    result = run_scenario(scenario, tmp_path / "run", settings_of(scenario, workers=2))
    assert result.stop_reason.code == "run-limit"
    requests = [(run["configuration"], run["position"], run["captime_s"]) for run in result.runs]
    assert len(set(requests)) == len(requests) == 6

"""Instances that a command makes: each is there before its first run."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from utilitune.execution.simulated import SimulatedBackend, SimulatedRun
from utilitune.scenario import read_scenario
from utilitune.session.opening import run_scenario

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


def test_a_stop_is_obeyed_while_an_instance_is_made(tmp_path: Path):
    (tmp_path / "make.py").write_text("import time; open('run/stop-requested', 'w'); time.sleep(60)")
    (tmp_path / "scenario.toml").write_text(SCENARIO.format(python=json.dumps(sys.executable)))
    scenario = read_scenario(tmp_path / "scenario.toml")
    backend = SimulatedBackend(2, lambda job: SimulatedRun(0.5))
    result = run_scenario(scenario, tmp_path / "run", backend=backend)
    assert result.stop_reason.code == "stop-requested"
    assert result.progress.runs == 0

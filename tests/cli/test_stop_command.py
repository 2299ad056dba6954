"""``utilitune stop``: a run at work ends in good order, and nobody is left in doubt."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from cli.live_runs import Toy, invoke
from utilitune.errors import StoreError
from utilitune.scenario import read_scenario
from utilitune.store import Snapshot, open_run_folder, read_run_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_nobody_at_work(tmp_path: Path):
    toy = Toy.write(tmp_path)
    toy.run()
    told = invoke("stop", toy.folder)
    assert told.exit_code == 0
    assert "No run is at work" in told.stdout
    assert not (toy.folder / "stop-requested").exists()


def test_a_run_that_takes_its_time(tmp_path: Path):
    toy = Toy.write(tmp_path)
    scenario = read_scenario(toy.scenario)
    store = open_run_folder(toy.folder, Snapshot(scenario.snapshot(), scenario.digest()))
    try:
        assert "is still at work" in invoke("stop", toy.folder, "--wait", "0").stdout
        assert store.stop_requested()
    finally:
        store.close()


def test_a_real_run_is_stopped(tmp_path: Path):
    toy = Toy.write(tmp_path, runs=100_000)
    command = [sys.executable, "-m", "utilitune", "run", str(toy.scenario), "--plain", "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + 60
        while not _has_runs(toy.folder) and time.monotonic() < deadline:
            time.sleep(0.05)
        told = invoke("stop", toy.folder, "--wait", "60s")
        assert run.wait(60) == 0
    assert told.stdout.startswith("Stopped on request")
    assert "runs are kept" in told.stdout
    reader = read_run_folder(toy.folder)
    try:
        assert reader.sessions()[-1].stop.code == "stop-requested"
    finally:
        reader.close()


def _has_runs(folder: Path) -> bool:
    if not (folder / "run.sqlite").exists():
        return False
    try:
        reader = read_run_folder(folder)
    except StoreError:
        return False
    try:
        return sum(reader.counts().values()) > 0
    finally:
        reader.close()

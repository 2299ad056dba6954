"""A run that somebody pauses, lets go on and extends from outside."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.live_runs import Toy
from utilitune.domain.stopping import Budget
from utilitune.live.live_run import LiveRun, Terms
from utilitune.live.proof import proof_of
from utilitune.live.running import run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.scenario import read_scenario
from utilitune.store import MemoryStore, RunFolderReader, read_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from utilitune.live.events import View


class Visitor:
    """Pauses a run after its first runs, looks at it for a while, and lets it go on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reader: RunFolderReader | None = None
        self.seen_paused: list[int] = []
        self.went_on = False

    def __call__(self, view: View) -> None:
        if self._reader is None:
            self._reader = read_run_folder(self._folder)
        if self.went_on or view.progress.runs < 2:
            return
        self._reader.request_pause(pause=True)
        if not view.workers_busy:
            self.seen_paused.append(view.progress.runs)
        if len(self.seen_paused) == 4:
            self._reader.request_pause(pause=False)
            self.went_on = True


def test_nothing_is_begun_during_a_pause(tmp_path: Path):
    toy = Toy.write(tmp_path, runs=14)
    visitor = Visitor(toy.folder)
    result = run_scenario(read_scenario(toy.scenario), toy.folder, on_update=visitor)
    assert visitor.went_on
    assert len(set(visitor.seen_paused)) == 1
    assert result.progress.runs == 14


def test_a_stop_ends_a_pause(tmp_path: Path):
    toy = Toy.write(tmp_path, runs=14)

    def pause_and_stop(_: View) -> None:
        reader = read_run_folder(toy.folder)
        reader.request_pause(pause=True)
        reader.request_stop()

    result = run_scenario(read_scenario(toy.scenario), toy.folder, on_update=pause_and_stop)
    assert result.stop_reason is not None
    assert result.stop_reason.code == "stop-requested"


def test_more_time_moves_the_limit_on_the_clock(tmp_path: Path):
    task = Task(read_scenario(Toy.write(tmp_path).scenario))
    store = MemoryStore(task.snapshot)
    proof = proof_of(task, settings_of(task.scenario).specification, store, live=False)
    live = LiveRun(task, store, proof, Terms(Budget(max_wall_s=100.0)))
    live.spending = replace(live.spending, elapsed_before_s=150.0)
    store.request_more_time(100.0)
    assert live.spent() is None
    assert live.budget.max_wall_s == 200.0
    live.spending = replace(live.spending, elapsed_before_s=250.0)
    reason = live.spent()
    assert reason is not None
    assert reason.code == "wall-limit"

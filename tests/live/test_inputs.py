"""Instances and programs that change while a run is at work, or between two starts of it."""

from __future__ import annotations

import contextlib

import pytest

from cli.live_runs import Toy, behaves, invoke
from utilitune.domain import RunStatus
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.events import RunBegun, RunEnded
from utilitune.live.result import RunResult
from utilitune.live.running import run_scenario
from utilitune.scenario import read_scenario
from utilitune.scenario.fingerprints import InputChangedError
from utilitune.store import read_run_folder


def run(toy: Toy, on_event=None) -> RunResult:
    return run_scenario(
        read_scenario(toy.scenario), toy.folder, backend=SimulatedBackend(2, behaves), on_event=on_event
    )


@contextlib.contextmanager
def stored(toy: Toy):
    store = read_run_folder(toy.folder)
    yield store
    store.close()


def kept(toy: Toy) -> list[tuple]:
    with stored(toy) as store:
        return [(run.request, run.outcome.status, run.outcome.runtime_s) for run in store.runs()]


class Spoiler:
    """Spoils an instance after so many runs; at once when a run on it begins, if asked to."""

    def __init__(self, toy: Toy, after: int, spoil, *, while_it_runs: bool = False) -> None:
        self.place = toy.scenario.parent
        self.left = after
        self.spoil = spoil
        self.while_it_runs = while_it_runs
        self.spoiled: str | None = None
        self.runs_on_it_after = 0

    def __call__(self, event) -> None:
        if isinstance(event, RunEnded):
            self.left -= 1
            self.runs_on_it_after += event.instance == self.spoiled
        kind = RunBegun if self.while_it_runs else RunEnded
        if isinstance(event, kind) and self.left <= 0 and self.spoiled is None:
            self.spoiled = event.instance
            self.spoil(self.place / event.instance)


def spoil_all(path) -> None:
    for instance in path.parent.iterdir():
        instance.write_text("another content altogether")


@pytest.mark.parametrize("while_it_runs", [False, True])
@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda path: path.unlink(), "is gone"),
        (lambda path: path.write_text("x"), "changed"),
        (spoil_all, "changed"),
    ],
)
def test_a_changed_instance_ends_the_run_with_nothing_false_in_it(tmp_path, spoil, says, while_it_runs):
    toy = Toy.write(tmp_path, runs=60)
    files = {path: path.read_text() for path in (tmp_path / "train").iterdir()}
    spoiler = Spoiler(toy, 10, spoil, while_it_runs=while_it_runs)
    with pytest.raises(InputChangedError, match=says):
        run(toy, spoiler)
    assert spoiler.runs_on_it_after == 0
    before = kept(toy)
    assert len(before) >= 10
    assert all(status in {RunStatus.FINISHED, RunStatus.TIMEOUT} for _, status, _ in before)
    with stored(toy) as store:
        assert store.sessions()[-1].stop.code == "failed"
        assert says in store.sessions()[-1].stop.advice
        promise = RunResult.read(store, toy.folder).promise
    assert "as they were when the run began" in promise.condition
    assert "as they were when the run began" in invoke("status", toy.folder).stdout.replace("\n", " ")

    for path, text in files.items():
        path.write_text(text)
    result = run(toy)
    assert kept(toy)[: len(before)] == before
    assert len(kept(toy)) == len({request for request, _, _ in kept(toy)})
    assert result.progress.runs == len(kept(toy))


def test_a_touched_instance_changes_nothing(tmp_path):
    toy = Toy.write(tmp_path, runs=30)
    result = run(toy, Spoiler(toy, 5, lambda path: path.write_text(path.read_text())))
    assert result.promise.condition == ""


def test_a_program_replaced_between_two_starts_is_told_in_the_promise(tmp_path):
    toy = Toy.write(tmp_path, runs=20)
    assert run(toy).promise.condition == ""
    (tmp_path / "solver.py").write_text("raise SystemExit(1)\n")
    toy.describe(runs=30)
    result = run(toy)
    assert "solver.py) was changed between two starts" in result.promise.condition
    assert "makes no difference" in result.promise.condition
    toy.describe(runs=40)
    assert run(toy).promise.condition == result.promise.condition  # said once


def test_a_program_replaced_at_work_is_told_in_the_promise(tmp_path):
    toy = Toy.write(tmp_path, runs=30)
    solver = tmp_path / "solver.py"
    result = run(toy, Spoiler(toy, 5, lambda path: solver.write_text("pass\n")))
    assert "was changed while this run was at work" in result.promise.condition

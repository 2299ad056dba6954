"""``utilitune status``: words, JSON and watching, while a run is at work and afterwards."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, invoke
from utilitune.cli import status as module
from utilitune.cli.summary import print_result
from utilitune.domain import PhaseRecord
from utilitune.errors import StoreError
from utilitune.live.nominating import GIVEN_ENTROPY
from utilitune.live.result import RunResult
from utilitune.live.reusing import CONDITION, FREE_CONDITION
from utilitune.live.standing.standing import elapsed_s
from utilitune.scenario import read_scenario
from utilitune.store import RunFolder, Snapshot, open_run_folder

if TYPE_CHECKING:
    from pathlib import Path


def opened(toy: Toy) -> RunFolder:
    """The folder as a coordinator holds it."""
    scenario = read_scenario(toy.scenario)
    return open_run_folder(toy.folder, Snapshot(scenario.snapshot(), scenario.digest()))


def words_of(text: str) -> str:
    """Output without line breaks."""
    return " ".join(text.split())


def test_a_run_that_has_ended(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = toy.run()
    shown = words_of(invoke("status", toy.folder).stdout)
    assert result.promise.sentence() in shown
    assert "Not at work" in shown
    finished = sum(run["status"] == "finished" for run in result.runs)
    assert 0 < finished < 60
    assert f"60 ({finished} finished, {60 - finished} timeout)" in shown
    assert "solver.py" in shown


def test_earlier_runs_are_named_only_where_they_count(tmp_path: Path):
    """A promise that rests on something else, such as entropy that was given, uses no earlier runs."""
    toy = Toy.write(tmp_path)
    toy.run()
    store = opened(toy)
    store.add_event(CONDITION, GIVEN_ENTROPY)
    store.close()
    assert "earlier run" not in invoke("status", toy.folder).stdout
    store = opened(toy)
    store.add_event(FREE_CONDITION, "This uses runs of before.run.")
    for number in range(9):
        store.add_event("warning", f"number {number}")
    store.close()
    assert "with those of the earlier run" in words_of(invoke("status", toy.folder).stdout)


def test_only_what_this_promise_rests_on_is_told(tmp_path: Path):
    """What a promise about every utility rests on is less, and would contradict the other one."""
    toy = Toy.write(tmp_path)
    toy.run()
    store = opened(toy)
    store.add_event(CONDITION, "It holds if neither the utility nor δ was chosen.")
    store.add_event(FREE_CONDITION, "It holds if δ was not chosen.")
    store.close()
    shown = words_of(invoke("status", toy.folder).stdout)
    assert "neither the utility nor δ was chosen" in shown
    assert "if δ was not chosen" not in shown


def test_what_the_last_complete_phase_proved_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    toy = Toy.write(tmp_path)
    now = toy.run().progress
    store = opened(toy)
    store.add_phase(PhaseRecord.of(3, replace(now, epsilon=now.epsilon / 2)))
    result = RunResult.read(store, toy.folder)
    store.close()
    assert result.last_phase.startswith("Phase 3, the last complete one, proved more")
    sentence = "".join(result.last_phase.split())  # long paths are broken within
    assert sentence in "".join(invoke("status", toy.folder).stdout.split())
    print_result(result)
    assert sentence in "".join(capsys.readouterr().out.split())


def test_as_json(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = toy.run()
    told = json.loads(invoke("status", toy.folder, "--json").stdout)
    assert told["at_work"] is False
    assert told["epsilon"] == result.progress.epsilon
    assert told["best"] == dict(result.best)
    assert sum(told["runs_by_status"].values()) == 60
    assert told["stop_reason"] == "run-limit"
    assert told["elapsed_s"] > 0


def test_before_anything_is_proved_and_while_at_work(tmp_path: Path):
    toy = Toy.write(tmp_path)
    store = opened(toy)
    try:
        assert "Nothing is proved yet" in invoke("status", toy.folder).stdout
        store.begin_session({"procedure": {}})
        store.add_event("warning", "the machine [is] busy")
        shown = words_of(invoke("status", toy.folder).stdout)
    finally:
        store.close()
    assert f"At work (process {os.getpid()})" in shown
    assert "warning the machine [is] busy" in shown


def test_a_run_that_was_killed_says_how_to_go_on(tmp_path: Path):
    toy = Toy.write(tmp_path)
    store = opened(toy)
    store.begin_session({"procedure": {}})
    store.close()
    assert "start it again to go on" in words_of(invoke("status", toy.folder).stdout)


def test_watching_ends_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    toy = Toy.write(tmp_path)
    toy.run()
    store = opened(toy)
    monkeypatch.setattr(module.time, "sleep", lambda _: store.close())
    lines = invoke("status", toy.folder, "--watch", "--json").stdout.splitlines()
    assert [json.loads(line)["at_work"] for line in lines] == [True, False]
    assert "Not at work" in invoke("status", toy.folder, "--watch").stdout


def test_time_of_a_killed_start_ends_with_its_last_sign_of_life(tmp_path: Path):
    toy = Toy.write(tmp_path)
    store = opened(toy)
    store.begin_session({"procedure": {}})
    store.close()
    assert elapsed_s(store_sessions(toy), []) == pytest.approx(0, abs=5)
    sessions = [replace(session, elapsed_s=None) for session in store_sessions(toy)]  # of an earlier version
    start = sessions[0].started_at
    assert elapsed_s(sessions, [start - 1, start + 5, start + 7]) == pytest.approx(7)
    assert elapsed_s(sessions, []) == 0
    assert elapsed_s(sessions, [], now=time.time()) == pytest.approx(time.time() - start, abs=5)


def store_sessions(toy: Toy):
    store = opened(toy)
    try:
        return store.sessions()
    finally:
        store.close()


def test_no_run_folder(tmp_path: Path):
    with pytest.raises(StoreError, match="is no run folder"):
        invoke("status", tmp_path)

"""Looking at a run at work: only what is new is told, and the writer never waits."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from reports.dashboard.stored_runs import Writer, small_run
from utilitune.reports.dashboard import working_out
from utilitune.reports.dashboard.watching import LOOK_EVERY_S, REST_SHARE, WatchedRun, Watcher
from utilitune.store import read_run_folder

if TYPE_CHECKING:
    from pathlib import Path


def watched(writer: Writer) -> WatchedRun:
    run = WatchedRun(writer.folder)
    assert run.look()
    assert not run.is_complete
    assert run.look()
    assert run.is_complete
    return run


def test_what_is_new_is_told_and_nothing_else(tmp_path: Path):
    writer = small_run(tmp_path, end=False)
    run = watched(writer)
    whole = run.whole()
    assert whole["at_work"]
    assert len(whole["configurations"]["rows"]) == 30
    assert not run.look()
    writer.add_runs(2, 8, range(3, 5))
    writer.add_configurations(1)
    writer.add_progress(0.02)
    assert run.look()
    news = run.update(whole["digest_revision"])
    assert [row[0] for row in news["configurations"]["rows"]] == [3, 4, 30]
    assert news["promise"]["epsilon"] == 0.02
    assert run.update(news["digest_revision"])["configurations"]["rows"] == []
    writer.end()
    assert run.look()
    assert not run.summary()["at_work"]


def test_news_agree_with_a_fresh_look(tmp_path: Path):
    writer = small_run(tmp_path, end=False)
    run = watched(writer)
    for start in range(8, 20, 4):
        writer.add_runs(4, start, range(0, 30, 3))
        run.look()
    writer.end()
    run.look()
    assert run.whole()["configurations"] == watched(writer).whole()["configurations"]


def test_a_writer_can_write_and_close_while_it_is_watched(tmp_path: Path):
    writer = small_run(tmp_path, end=False)
    run = watched(writer)
    writer.add_runs(1, 8)
    writer.end()
    assert run.look()
    with contextlib.closing(read_run_folder(writer.folder)) as store:
        assert len(store.configurations()) == 30
        assert store.sessions()[-1].stop is not None


def test_a_folder_that_vanishes_is_explained(tmp_path: Path):
    writer = small_run(tmp_path)
    run = WatchedRun(writer.folder)
    shutil.rmtree(writer.folder)
    assert run.look()
    assert "is no run folder" in run.summary()["problem"]
    assert not run.look()
    assert not run.whole()["complete"]


def test_a_run_without_progress_has_no_answer_yet(tmp_path: Path):
    writer = Writer(tmp_path)
    run = watched(writer)
    assert run.summary()["answer"] is None
    assert run.whole()["configurations"]["rows"] == []
    writer.end()


def test_one_configuration_comes_with_its_runs(tmp_path: Path):
    run = watched(small_run(tmp_path))
    facts = run.configuration(4)
    assert len(facts["runs"]) == 8
    assert facts["runs"][0]["output"] == "core dumped"
    assert facts["distribution"]["runs"] == 8


def test_everything_is_plain_json(tmp_path: Path):
    run = watched(small_run(tmp_path, hostile=True))
    for value in (run.whole(), run.summary(), run.update(0), run.configuration(4)):
        assert json.loads(json.dumps(value, allow_nan=False)) == value


@pytest.mark.long
def test_the_watcher_tells_of_news_and_ends(tmp_path: Path):
    writer = small_run(tmp_path)
    told: list[int] = []
    run = WatchedRun(writer.folder)
    watcher = Watcher([run], told.append)
    watcher.start()
    while not run.is_complete:
        pass
    watcher.stop()
    assert told[:2] == [0, 0]
    assert not watcher._thread.is_alive()


def test_the_watcher_rests_in_proportion_to_what_its_looks_cost(monkeypatch: pytest.MonkeyPatch):
    waited: list[float] = []

    class Costly:
        def look(self) -> bool:
            _work(0.03)
            return False

    watcher = Watcher([Costly()], lambda _: None)  # type: ignore[list-item]

    def wait(rest_s: float) -> bool:
        waited.append(rest_s)
        _work(0.02)  # for pages that are open, meanwhile
        return len(waited) >= 4

    monkeypatch.setattr(watcher._stop, "wait", wait)
    watcher._work()
    assert waited[0] == pytest.approx(0.05)
    assert all(5 * LOOK_EVERY_S < 0.05 * REST_SHARE <= rest_s <= 15.0 for rest_s in waited[2:])


def _work(seconds: float) -> None:
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass


def test_importance_is_worked_out_when_somebody_asks_and_not_twice_for_the_same_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[int] = []

    def worked_out(space: object, rows: list[object]) -> dict[str, object]:
        asked.append(len(rows))
        return {"rows": [], "skill": 0.5, "note": ""}

    monkeypatch.setattr(working_out, "importance_apart", worked_out)
    writer = small_run(tmp_path, end=False)
    run = watched(writer)
    assert run.whole()["importance"]["runs"] == 0
    writer.add_runs(1, 8)
    assert run.look()
    assert asked == []
    found = run.importance()
    assert (found["runs"], found["skill"]) == (270, 0.5)
    assert run.importance() is found
    assert run.whole()["importance"] == found
    writer.add_runs(1, 9)
    assert run.look()
    assert run.whole()["importance"] == found
    assert run.importance()["runs"] == 300
    assert asked == [30, 30]
    writer.end()


def test_importance_of_a_run_that_has_not_been_read_is_not_known(tmp_path: Path):
    assert WatchedRun(small_run(tmp_path).folder).importance()["runs"] == 0


def test_a_run_is_shown_at_once_while_all_its_runs_are_being_read(tmp_path: Path):
    run = WatchedRun(small_run(tmp_path).folder)
    assert run.look()
    with run._lock:  # as it is while the digest reads
        assert run.summary()["answer"] is not None


def test_a_run_that_is_deleted_and_made_again_is_another_one(tmp_path: Path):
    writer = small_run(tmp_path)
    run = watched(writer)
    before = run.whole()
    shutil.rmtree(writer.folder)
    assert run.look()
    assert "no run folder" in run.summary()["problem"]
    assert not run.is_complete
    assert not run.look()
    small_run(tmp_path, configurations=5)
    assert run.look()
    assert run.look()
    after = run.whole()
    assert len(after["configurations"]["rows"]) == 5
    assert after["opened"] != before["opened"]
    assert not run.summary()["problem"]


def test_a_run_that_is_made_again_between_two_looks_is_noticed(tmp_path: Path):
    writer = small_run(tmp_path)
    run = watched(writer)
    writer.folder.rename(tmp_path / "old.run")
    small_run(tmp_path, configurations=5)
    assert run.look()
    assert run.look()
    assert len(run.whole()["configurations"]["rows"]) == 5

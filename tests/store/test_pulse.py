"""How long a start lasted and how many runs it stored, whatever happened to clocks and files."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import time

import pytest

from utilitune.domain import RunOutcome, RunRequest, RunStatus, StopReason
from utilitune.errors import StoreError
from utilitune.live.spending import elapsed_s
from utilitune.store import Snapshot, open_run_folder, read_run_folder
from utilitune.store.pulse import PULSE_NAME, Beat, read_pulse
from utilitune.store.records import ConfigurationRecord, RunRecord, StoredOrigin

SNAPSHOT = Snapshot({"name": "x"}, "digest")
DAY_S = 86_400.0


@pytest.fixture
def clocks(monkeypatch):
    """Two clocks to set: the one people set, and the one nobody sets."""

    class Clocks:
        wall_s = 1e9
        steady_s = 100.0

        def pass_by(self, seconds: float, jump: float = 0.0) -> None:
            self.steady_s += seconds
            self.wall_s += seconds + jump

    clocks = Clocks()
    monkeypatch.setattr(time, "time", lambda: clocks.wall_s)
    monkeypatch.setattr(time, "monotonic", lambda: clocks.steady_s)
    return clocks


def begun(folder):
    store = open_run_folder(folder, SNAPSHOT)
    store.begin_session({})
    return store


def add_run(store, position: int = 0) -> None:
    if not store.configurations():
        store.add_configuration(ConfigurationRecord(0, {}, StoredOrigin.DEFAULT))
    store.add_run(
        RunRecord(RunRequest(0, position, 1.0), RunOutcome(RunStatus.FINISHED, 0.5), started_at=1.0)
    )


def abandon(store) -> None:
    """As a kill leaves it: nothing is moved over, nothing is said."""
    store._connection.close()
    store._lock.release()


@pytest.mark.parametrize("jump", [0.0, -DAY_S, DAY_S])
def test_a_start_lasts_as_long_as_it_lasted_whatever_the_clock_says(tmp_path, clocks, jump):
    store = begun(tmp_path)
    clocks.pass_by(30.0, jump)
    store.end_session(StopReason("done", "."))
    store.close()
    clocks.pass_by(1000.0)
    store = begun(tmp_path)
    assert [session.elapsed_s for session in store.sessions()] == [pytest.approx(30.0), pytest.approx(0.0)]
    store.close()


@pytest.mark.parametrize("jump", [0.0, -DAY_S, DAY_S])
def test_a_start_that_was_killed_lasted_until_its_last_run(tmp_path, clocks, jump):
    store = begun(tmp_path)
    clocks.pass_by(20.0, jump)
    add_run(store)
    clocks.pass_by(5.0, jump)
    abandon(store)
    reader = read_run_folder(tmp_path)
    assert reader.sessions()[-1].elapsed_s == pytest.approx(20.0)
    reader.close()
    for _ in range(2):
        store = begun(tmp_path)
        abandon(store)
    reader = read_run_folder(tmp_path)
    lasted = [session.elapsed_s for session in reader.sessions()]
    assert lasted == [pytest.approx(20.0), pytest.approx(0.0), pytest.approx(0.0)]
    reader.close()


def test_runs_that_vanish_with_the_log_are_told_of(tmp_path):
    store = begun(tmp_path)
    for position in range(5):
        add_run(store, position)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("run.sqlite", PULSE_NAME):  # as after a kill and a deleted log
        shutil.copy(tmp_path / name, copy)
    store.close()
    store = begun(copy)
    [event] = store.events()
    assert event.kind == "warning"
    assert event.text.startswith("5 runs that had been stored are missing")
    store.close()


def test_a_folder_without_its_database_is_not_taken_for_a_new_one(tmp_path):
    begun(tmp_path).close()
    (tmp_path / "run.sqlite").unlink()
    with pytest.raises(StoreError, match="is gone"):
        begun(tmp_path)


def test_a_kill_loses_nothing_and_says_nothing(tmp_path):
    store = begun(tmp_path)
    add_run(store)
    abandon(store)
    store = begun(tmp_path)
    assert len(list(store.runs())) == 1
    assert store.events() == []
    store.close()


@pytest.mark.parametrize(
    "text",
    ["", "1", "a b c", "-1 2 3", "1 2 nan", "1 2 inf", "1 2 3 nan", "1 2 3 4 5", "\xff", "9" * 5000 + " 1 1"],
)
def test_a_pulse_that_makes_no_sense_is_none(tmp_path, text):
    path = tmp_path / PULSE_NAME
    path.write_bytes(text.encode("latin-1"))
    assert read_pulse(path) is None


def test_a_pulse_of_before_is_read(tmp_path):
    path = tmp_path / PULSE_NAME
    path.write_text("4 2 3.5".ljust(63) + "\n")
    assert read_pulse(path) == Beat(4, 2, 3.5)


@pytest.mark.parametrize("jump", [-DAY_S, DAY_S])
@pytest.mark.parametrize("lost", [0, 1, 2])
def test_starts_that_vanish_with_the_log_have_lasted_all_the_same(tmp_path, clocks, jump, lost):
    for number in range(4):
        store = begun(tmp_path)
        clocks.pass_by(10.0, jump)
        add_run(store, number)
        abandon(store)
    with contextlib.closing(sqlite3.connect(tmp_path / "run.sqlite")) as connection, connection:
        connection.execute("DELETE FROM sessions WHERE number > ?", (4 - lost,))
        connection.execute("DELETE FROM durations WHERE session >= ?", (4 - lost,))
    for _ in range(2):
        store = begun(tmp_path)
        before = store.sessions()[:-1]
        assert elapsed_s(store, before) == pytest.approx(40.0)
        abandon(store)


def test_a_pulse_is_read_back(tmp_path):
    store = begun(tmp_path)
    add_run(store)
    beat = read_pulse(tmp_path / PULSE_NAME)
    assert beat == Beat(1, 1, pytest.approx(beat.elapsed_s))
    store.close()


def test_a_folder_of_before_has_no_durations_and_opens(tmp_path):
    store = begun(tmp_path)
    store._connection.execute("DROP TABLE durations")
    abandon(store)
    (tmp_path / PULSE_NAME).unlink()
    reader = read_run_folder(tmp_path)
    assert reader.sessions()[0].elapsed_s is None
    reader.close()
    begun(tmp_path).close()

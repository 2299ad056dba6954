"""Changed inputs are noticed: cheaply, by content, and without false alarms."""

from __future__ import annotations

import os

import pytest

from scenario.scenario_files import write_files
from utilitune.errors import ScenarioError
from utilitune.scenario import fingerprints, read_scenario
from utilitune.scenario.fingerprints import (
    FileWatch,
    Fingerprint,
    InputChangedError,
    ProgramWatch,
    program_files,
)
from utilitune.scenario.instances import instance_source


@pytest.fixture
def scenario(tmp_path):
    return read_scenario(write_files(tmp_path))


def test_an_instance_that_stays_is_looked_at_only_once(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("1")
    watch = FileWatch(tmp_path)
    watch.require_unchanged("a")
    monkeypatch.setattr(
        fingerprints, "content_digest", lambda path: pytest.fail("its content was read again")
    )
    for _ in range(3):
        watch.require_unchanged("a")


def test_a_touched_or_restored_instance_is_the_same(tmp_path):
    path = tmp_path / "a"
    path.write_text("1")
    watch = FileWatch(tmp_path)
    watch.require_unchanged("a")
    os.utime(path, (1, 1))
    watch.require_unchanged("a")
    path.unlink()
    with pytest.raises(InputChangedError, match="gone"):
        watch.require_unchanged("a")
    path.write_text("1")
    watch.require_unchanged("a")


@pytest.mark.parametrize("text", ["2", "", "11", "1\n"])
def test_another_content_is_another_instance(tmp_path, text):
    path = tmp_path / "a"
    path.write_text("1")
    watch = FileWatch(tmp_path, lambda: {"a": Fingerprint.of(path)})
    watch.require_unchanged("a")
    path.write_text(text)
    with pytest.raises(InputChangedError, match="has changed") as caught:
        watch.require_unchanged("a")
    assert "'a'" in caught.value.condition()
    with pytest.raises(ScenarioError):
        watch.require_unchanged("a")


def test_a_change_that_keeps_size_and_date_is_found(tmp_path):
    path = tmp_path / "a"
    path.write_text("1")
    before = path.stat()
    watch = FileWatch(tmp_path)
    watch.require_unchanged("a")
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # clocks of file systems tick slowly
        path.write_text("2")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    with pytest.raises(InputChangedError, match="has changed"):
        watch.require_unchanged("a")


@pytest.mark.parametrize("place", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_or_a_device_in_its_place_is_not_waited_for(tmp_path, place):
    path = tmp_path / "a"
    path.write_text("1")
    watch = FileWatch(tmp_path)
    watch.require_unchanged("a")
    path.unlink()
    place(path)
    with pytest.raises(InputChangedError, match="gone"):
        watch.require_unchanged("a")


def test_listed_instances_are_checked_when_they_are_used(scenario):
    source = instance_source(scenario)
    assert source.prepare(0)
    path = scenario.directory / source.name(0)
    path.write_text("other")
    with pytest.raises(InputChangedError):
        source.prepare(0)
    assert source.prepare(1)
    (scenario.directory / source.name(1)).unlink()
    with pytest.raises(InputChangedError):
        source.prepare(1)


def test_what_was_hashed_at_the_start_counts_and_not_what_is_there_at_first_use(scenario):
    known = {name: Fingerprint.of(scenario.directory / name) for name in scenario.training.names}
    source = instance_source(scenario, known=lambda: known)
    (scenario.directory / source.name(2)).write_text("changed before its first run")
    with pytest.raises(InputChangedError):
        source.prepare(2)


def test_the_program_is_what_is_started_and_what_its_command_names(scenario):
    assert program_files(scenario) == ("solver",)
    (scenario.directory / "extra.py").write_text("pass")


def test_a_replaced_program_is_noticed_within_and_between_starts(scenario):
    watch = ProgramWatch.of(scenario)
    before = watch.stored()
    assert watch.changes() == ()
    assert ProgramWatch.of(scenario).differs_from(before) == ()
    os.utime(scenario.directory / "solver", (1, 1))
    assert watch.changes() == ()
    (scenario.directory / "solver").write_text("#!/bin/sh\nexit 1\n")
    assert watch.changes() == ("solver",)
    assert watch.changes() == ()
    assert ProgramWatch.of(scenario).differs_from(before) == ("solver",)


@pytest.mark.parametrize("stored", [None, [], {"solver": None}, {"solver": []}, {"solver": "x"}, 3])
def test_what_an_earlier_version_kept_or_somebody_damaged_is_no_change_or_one(scenario, stored):
    assert set(ProgramWatch.of(scenario).differs_from(stored)) <= {"solver"}

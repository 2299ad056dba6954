"""Instance features from a command: made once, kept, read by models and reports."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from utilitune.errors import ScenarioError
from utilitune.live.task import Task
from utilitune.scenario import ListedInstances, Scenario, read_scenario
from utilitune.scenario.features import read_feature_table
from utilitune.scenario.writer import write_scenario
from utilitune.search.proposers.instance_features import read_instance_features

SCENARIO = """
utility = "uniform(k0=1)"
[target]
command = ["true", "{parameters}"]
[parameters.x]
type = "bool"
[instances]
training = ["a", "b c"]
files = false
features = ["./describe", "{instance}", "now"]
"""
DESCRIBE = '#!/bin/sh\necho called >> calls\necho "length, words"\necho "${#1}, 3"\n'


def scenario(folder: Path, program: str = DESCRIBE) -> Scenario:
    path = folder / "scenario.toml"
    path.write_text(SCENARIO)
    (folder / "describe").write_text(program)
    (folder / "describe").chmod(0o755)
    return read_scenario(path)


def test_features_are_made_once_and_kept(tmp_path: Path):
    told = scenario(tmp_path)
    assert told.features == ("./describe", "{instance}", "now")
    path = Task(told).feature_file()
    assert read_feature_table(path) == {
        "a": {"length": "1", "words": "3"},
        "b c": {"length": "3", "words": "3"},
    }
    assert Task(told).feature_file() == path
    assert (tmp_path / "calls").read_text().count("called") == 2
    assert read_instance_features(path, ["b c", "a"]).tolist() == [[3.0, 3.0], [1.0, 3.0]]


def test_what_is_known_is_kept_when_a_later_instance_fails(tmp_path: Path):
    told = scenario(
        tmp_path, DESCRIBE.replace("echo called", "[ -e well ] || [ ! -e calls ] || exit 1\necho called")
    )
    with pytest.raises(ScenarioError, match="the command for instance features failed on"):
        Task(told).feature_file()
    (tmp_path / "well").touch()
    assert len(read_feature_table(Task(told).feature_file())) == 2
    assert (tmp_path / "calls").read_text().count("called") == 2


def test_what_is_known_is_kept_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("utilitune.scenario.features._KEEP_EVERY_S", -1.0)
    Task(scenario(tmp_path, DESCRIBE.replace("echo called", "cat features-*.csv"))).feature_file()
    assert (tmp_path / "calls").read_text().splitlines()[0] == "instance,length,words"


def test_a_command_that_leaves_something_running_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("utilitune.scenario.features._LONGEST_S", 30.0)
    helper = "setsid sh -c 'echo $$ >> left; exec sleep 600' & until [ -s left ]; do sleep 0.02; done"
    program = DESCRIBE.replace("echo called >> calls", helper)
    try:
        assert len(read_feature_table(Task(scenario(tmp_path, program)).feature_file())) == 2
    finally:
        for process in (tmp_path / "left").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)


def test_features_that_cannot_be_kept_are_one_clear_sentence(tmp_path: Path):
    told = scenario(tmp_path)
    path = Task(told).feature_file()
    path.unlink()
    path.with_name(path.name + ".part").mkdir()
    with pytest.raises(
        ScenarioError, match=r"\.csv: the instance features cannot be kept .*\(Is a directory\)"
    ):
        Task(told).feature_file()
    odd = replace(told, training=ListedInstances(("a\udcff",), files=False))
    path.with_name(path.name + ".part").rmdir()
    with pytest.raises(ScenarioError, match=r"cannot be kept .* not UTF-8.* instances\.features"):
        Task(odd).feature_file()
    assert not list(tmp_path.glob("features-*"))


def test_a_command_survives_snapshot_and_writer(tmp_path: Path):
    told = scenario(tmp_path)
    assert Scenario.from_snapshot(told.snapshot()) == told
    (tmp_path / "again.toml").write_text(write_scenario(told))
    assert read_scenario(tmp_path / "again.toml").features == told.features


@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        ("#!/bin/sh\nexit 3\n", "the command for instance features failed on 'b c'|failed on 'a'"),
        ("#!/bin/sh\necho a,b\necho 1\n", "must print a line of names and a line of as many numbers"),
        ("#!/bin/sh\n", "must print a line of names"),
    ],
)
def test_a_command_that_does_not_do_its_work_is_refused(tmp_path: Path, program: str, complaint: str):
    with pytest.raises(ScenarioError, match=complaint):
        Task(scenario(tmp_path, program)).feature_file()


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ('["./describe"]', r"scenario.toml:10: .*needs \{instance\} in a word"),
        ('["./nobody", "{instance}"]', r"scenario.toml:10: the program './nobody' does not exist"),
    ],
)
def test_a_wrong_command_is_refused_with_its_line(tmp_path: Path, command: str, complaint: str):
    scenario(tmp_path)
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO.replace('["./describe", "{instance}", "now"]', command))
    with pytest.raises(ScenarioError, match=complaint):
        read_scenario(path)


def test_names_that_end_in_the_same_file_name_match(tmp_path: Path):
    path = tmp_path / "features.csv"
    path.write_text("instance,size\ndata/a.cnf,1\ndata/b.cnf,3\n")
    assert read_instance_features(path, ["../data/b.cnf", "a.cnf"]).tolist() == [[3.0], [1.0]]


def test_instances_are_generated_before_they_are_described(tmp_path: Path):
    scenario(tmp_path, '#!/bin/sh\necho lines\nwc -l < "$1"\n')
    (tmp_path / "make").write_text('#!/bin/sh\nseq 3 > "$1"\n')
    (tmp_path / "make").chmod(0o755)
    path = tmp_path / "scenario.toml"
    generated = 'training = { generator = ["./make", "{output}", "{seed}"], count = 2 }'
    path.write_text(SCENARIO.replace('training = ["a", "b c"]\nfiles = false', generated))
    kept = Task(read_scenario(path)).feature_file()
    assert kept is not None
    assert list(read_feature_table(kept).values()) == [{"lines": "3"}, {"lines": "3"}]

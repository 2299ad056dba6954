"""Which test instances are training instances, too: by name, by place and by content."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from live.simulated_scenarios import make_scenario
from utilitune.scenario import GeneratedInstances, ListedInstances, overlap
from utilitune.scenario.instances import instance_source
from utilitune.scenario.overlap import copies_in, overlap_of

if TYPE_CHECKING:
    from pathlib import Path


def same(folder: Path, training: list[str], test: list[str], *, files: bool = True) -> tuple[str, ...]:
    ours, theirs = (ListedInstances(tuple(names), files=files) for names in (training, test))
    return overlap_of(make_scenario(folder, training=ours, test=theirs)).names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train").mkdir()
    (tmp_path / "test").mkdir()
    for name, text in {"train/a": "one", "train/b": "two", "test/c": "three", "test/d": "two"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_by_name(folder: Path):
    assert same(folder, ["a", "b"], ["c", "b", "b"], files=False) == ("b",)
    assert same(folder, ["a", "b"], ["c", "d"], files=False) == ()


def test_names_that_no_file_can_have(folder: Path):
    """Instances of a Python function can be long texts, such as JSON."""
    text = "x" * 5000
    assert same(folder, [text, "a"], [text, "y" * 300], files=False) == (text,)


def test_by_place(folder: Path):
    (folder / "test" / "link").symlink_to(folder / "train" / "a")
    assert same(folder, ["train/a"], ["test/../train/a", "test/c", "test/link"]) == (
        "test/../train/a",
        "test/link",
    )
    assert same(folder, ["train/a"], [str(folder / "train" / "a")]) == (str(folder / "train" / "a"),)


def test_by_content(folder: Path):
    assert same(folder, ["train/a", "train/b"], ["test/c", "test/d"]) == ("test/d",)
    assert same(folder, ["train/a", "train/b"], ["test/d"], files=False) == ("test/d",)


def test_content_is_read_only_where_that_is_cheap(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(overlap, "MOST_BYTES", 8)
    assert same(folder, ["train/b"], ["test/d"]) == ("test/d",)  # three bytes twice
    assert same(folder, ["train/a", "train/b"], ["test/d"]) == ()


def test_what_was_not_compared_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch):
    ours, theirs = (
        ListedInstances(names, files=True) for names in (("train/a", "train/b"), ("test/c", "test/d"))
    )
    scenario = make_scenario(folder, training=ours, test=theirs)
    assert overlap.overlap_of(scenario).note() == ""
    monkeypatch.setattr(overlap, "MOST_BYTES", 8)
    found = overlap.overlap_of(scenario)
    assert found == ((), 1)
    assert "1 was compared with the training instances by name only" in found.note()


_NAMES = ("a", "b", "link", "hard", "copy", "long", "other", "again", "gone")


def test_copies_within_a_list(folder: Path):
    (folder / "train" / "link").symlink_to("a")
    (folder / "train" / "hard").hardlink_to(folder / "train" / "b")
    (folder / "train" / "copy").write_text("one")
    (folder / "train" / "long").write_bytes(b"x" * 9000 + b"1")
    (folder / "train" / "other").write_bytes(b"x" * 9000 + b"2")
    (folder / "train" / "again").write_bytes(b"x" * 9000 + b"2")
    names = tuple(f"train/{name}" for name in _NAMES)
    pairs = (
        ("train/link", "train/a"),
        ("train/hard", "train/b"),
        ("train/copy", "train/a"),
        ("train/again", "train/other"),
    )
    assert copies_in(folder, ListedInstances(names)) == (pairs, 0)
    assert copies_in(folder, ListedInstances(("train/a", "train/a"))) == ((), 0)
    assert copies_in(folder, ListedInstances(("a", "b", "x" * 5000), files=False)) == ((), 0)
    assert copies_in(folder, GeneratedInstances(("make", "{output}"), "made", count=5)) == ((), 0)


def test_large_copies_are_not_read_to_their_ends(folder: Path, monkeypatch: pytest.MonkeyPatch):
    for name in "cde":
        (folder / "train" / name).write_bytes(b"x" * 9000)
    monkeypatch.setattr(overlap, "MOST_BYTES", 20_000)
    names = ListedInstances(("train/a", "train/c", "train/d", "train/e"))
    assert copies_in(folder, names) == ((), 2)
    (folder / "train" / "f").write_text("one")
    assert copies_in(folder, ListedInstances((*names.names, "train/f"))) == ((("train/f", "train/a"),), 2)


def test_files_that_the_generator_of_training_has_made(folder: Path):
    made = GeneratedInstances(("make", "{output}"), "made", suffix=".cnf", count=5)
    scenario = make_scenario(folder, training=made)
    source = instance_source(scenario)
    first, last, unmade = source.name(0), source.name(4), source.name(5)
    (folder / "made").mkdir()
    (folder / first).write_text("made first")
    (folder / "test" / "copy").write_text("made first")
    (folder / "test" / "link").symlink_to(folder / first)
    (folder / "made" / "training-0-1.cnf").write_text("of another seed")
    names = ("test/c", first, last, unmade, "made/training-0-1.cnf", "test/copy", "test/link", f"./{first}")
    listed = ListedInstances(names, files=True)
    assert overlap_of(replace(scenario, test=listed)).names == (
        first,
        last,
        "test/copy",
        "test/link",
        f"./{first}",
    )


def test_files_that_are_missing_and_instances_that_are_made(folder: Path):
    assert same(folder, ["train/a", "gone"], ["test/c", "lost"]) == ()
    made = GeneratedInstances(("make", "{output}"), "made", count=5)
    assert overlap_of(make_scenario(folder, training=made, test=made)).names == ()
    assert overlap_of(make_scenario(folder)).names == ()

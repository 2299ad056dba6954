from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from scenario.scenario_files import changed, write_files
from utilitune.errors import ScenarioError
from utilitune.scenario import Scenario, instance_source, read_scenario
from utilitune.scenario.instances import TEST, derived_seed
from utilitune.scenario.model import ListedInstances, Population
from utilitune.scenario.writer import write_scenario

TRAINING = 'training = "train"'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_files(tmp_path)


def test_a_list_is_taken_in_one_random_order_without_repetition(path: Path):
    names = ", ".join(f'"i{number}"' for number in range(50))
    changed(path, (TRAINING, f"files = false\ntraining = [{names}]"))
    source = instance_source(read_scenario(path))
    order = [source.name(position) for position in range(50)]
    assert source.count == 50
    assert sorted(order) == sorted(f"i{number}" for number in range(50))
    assert order != [f"i{number}" for number in range(50)]
    assert order == [instance_source(read_scenario(path)).name(position) for position in range(50)]
    changed(path, ('name = "small"', "seed = 2"))
    assert order != [instance_source(read_scenario(path)).name(position) for position in range(50)]


def test_the_order_does_not_depend_on_how_the_instances_are_listed(path: Path):
    first = instance_source(read_scenario(path))
    changed(path, (TRAINING, 'training = ["train/two words.cnf", "train/one.cnf", "train/-three.cnf"]'))
    second = instance_source(read_scenario(path))
    assert [first.name(k) for k in range(3)] == [second.name(k) for k in range(3)]


def test_seeds_follow_from_scenario_seed_role_and_position(path: Path):
    changed(path, (TRAINING, TRAINING + '\ntest = "train"'))
    scenario = read_scenario(path)
    training, test = instance_source(scenario), instance_source(scenario, TEST)
    seeds = [training.seed(position) for position in range(1000)]
    assert len(set(seeds)) == 1000
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert seeds[0] == derived_seed(1, "training", "run", 0) == 354962518
    assert seeds[:3] != [test.seed(position) for position in range(3)]


def test_no_test_instances_is_said_clearly(path: Path):
    with pytest.raises(ScenarioError, match=r"add instances\.test"):
        instance_source(read_scenario(path), TEST)


def with_generator(path: Path, script: str) -> Path:
    maker = path.parent / "make"
    maker.write_text(f"#!/bin/sh\n{script}\n")
    maker.chmod(0o755)
    generator = '{ generator = ["./make", "{seed}", "{output}"], suffix = ".cnf", folder = "made here" }'
    return changed(path, (TRAINING, f"training = {generator}"))


def test_generated_instances_are_made_once_on_demand(path: Path):
    source = instance_source(read_scenario(with_generator(path, 'echo "$1" > "$2"; echo x >> calls')))
    assert source.count is None
    for position in (0, 7, 7):
        source.prepare(position)
    made = path.parent / source.name(7)
    assert made.parent.name == "made here"
    assert made.suffix == ".cnf"
    assert made.read_text().strip() in made.name
    assert (path.parent / "calls").read_text() == "x\nx\n"
    assert len(list(made.parent.iterdir())) == 2
    assert source.name(0) != source.name(7)


@pytest.mark.parametrize(
    ("script", "fragment"),
    [("echo broken >&2; exit 3", "exit code 3): broken"), ("true", "it wrote no file")],
)
def test_a_failing_generator_is_named(path: Path, script: str, fragment: str):
    source = instance_source(read_scenario(with_generator(path, script)))
    with pytest.raises(ScenarioError) as caught:
        source.prepare(0)
    assert fragment in str(caught.value)
    assert "try it by hand: " in str(caught.value)
    assert not [each for each in (path.parent / "made here").iterdir() if each.name.startswith(".")]


SLOW = 'echo begun > begun; echo "$1" > "$2"; sleep 60 & wait'


def test_a_generator_that_takes_too_long_is_ended_and_named(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("utilitune.scenario.generating.LONGEST_GENERATION_S", 0.3)
    source = instance_source(read_scenario(with_generator(path, SLOW)))
    with pytest.raises(ScenarioError, match=r"did not end within .*make .*; make it faster, or"):
        source.prepare(0)
    assert list((path.parent / "made here").iterdir()) == []


def test_a_generator_is_given_up_when_a_stop_is_asked_for(path: Path):
    source = instance_source(read_scenario(with_generator(path, SLOW)))
    assert not source.prepare(0, (path.parent / "begun").exists)
    assert list((path.parent / "made here").iterdir()) == []


def test_an_error_of_whoever_is_asked_meanwhile_is_not_the_generators(path: Path):
    source = instance_source(read_scenario(with_generator(path, SLOW)))

    def stopping() -> bool:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as caught:
        source.prepare(0, stopping)
    assert not isinstance(caught.value, ScenarioError)
    assert list((path.parent / "made here").iterdir()) == []


def test_a_generator_that_leaves_something_running_is_not_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("utilitune.scenario.generating.LONGEST_GENERATION_S", 30)
    helper = "setsid sh -c 'echo $$ > left; exec sleep 600' & until [ -s left ]; do sleep 0.02; done"
    script = f'{helper}; echo "$1" > "$2"'
    source = instance_source(read_scenario(with_generator(path, script)))
    try:
        assert source.prepare(0)
        os.kill(int((path.parent / "left").read_text()), 0)  # still there
    finally:
        os.kill(int((path.parent / "left").read_text()), signal.SIGKILL)


def test_another_process_may_be_quicker_to_make_the_same_instance(path: Path):
    theirs = '"made here/training-${2##*-training-}"'
    script = f'mkdir "$2" {theirs}; touch "$2/ours" {theirs}/theirs'
    source = instance_source(read_scenario(with_generator(path, script)))
    assert source.prepare(0)
    assert [each.name for each in (path.parent / source.name(0)).iterdir()] == ["theirs"]
    assert len(list((path.parent / "made here").iterdir())) == 1


def test_an_instance_that_cannot_be_kept_is_one_clear_sentence(path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    source = instance_source(read_scenario(with_generator(path, 'echo "$1" > "$2"')))
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ScenarioError, match=r"cannot be kept in .*made here: No space left on device"):
        source.prepare(0)


KILLED = """
import os, signal, sys
from utilitune.scenario import instance_source, read_scenario

def kill() -> bool:
    if os.path.exists("begun"):
        os.kill(os.getpid(), signal.SIGKILL)
    return False

instance_source(read_scenario(sys.argv[1])).prepare(0, kill)
"""


def test_what_a_killed_process_left_of_an_instance_is_removed_and_nothing_else(path: Path):
    script = 'echo "$1" > "$2"; echo begun > begun'
    scenario = with_generator(path, f"{script}; exec sleep 3")
    killed = subprocess.run([sys.executable, "-c", KILLED, scenario], cwd=path.parent, check=False)
    assert killed.returncode == -signal.SIGKILL
    folder = path.parent / "made here"
    [left] = folder.iterdir()
    assert left.name.startswith(".utilitune-")
    machine_and_process, _, instance = left.name.partition("-training-")
    machine = machine_and_process.rpartition("-")[0]
    kept = {
        ".somebodys": "has another name",
        f".utilitune-elsewhere-{2**22 + 1}-training-{instance}": "is written on another machine",
        f"{machine}-{os.getppid()}-training-{instance}": "somebody waits for",
    }
    for name, text in kept.items():
        (folder / name).write_text(text)
    folder_left = folder / f"{machine_and_process}-training-1-2.cnf"
    folder_left.mkdir()
    (folder_left / "part").touch()
    (path.parent / "make").write_text(f"#!/bin/sh\n{script}\n")
    source = instance_source(read_scenario(scenario))
    assert source.prepare(3)
    assert {each.name for each in folder.iterdir()} == {*kept, Path(source.name(3)).name}


def test_generated_test_instances_need_a_count(path: Path):
    generator = '{ generator = ["./solver", "{seed}", "{output}"] }'
    with pytest.raises(ScenarioError, match="need a count"):
        read_scenario(changed(path, (TRAINING, f"{TRAINING}\ntest = {generator}")))


def test_a_finite_population_of_generated_instances_is_refused(path: Path):
    generator = '{ generator = ["./solver", "{seed}", "{output}"] }'
    with pytest.raises(ScenarioError, match='population = "infinite"'):
        read_scenario(changed(path, (TRAINING, f'training = {generator}\npopulation = "finite"')))


def listed(path: Path, names: tuple[str, ...], seed: int = 1) -> list[str]:
    scenario = replace(read_scenario(path), training=ListedInstances(names, files=False), seed=seed)
    source = instance_source(scenario)
    return [source.name(position) for position in range(len(names))]


class TestSeveralSeedsPerInstance:
    def test_names_that_come_once_keep_the_order_they_always_had(self, path: Path):
        names = tuple(f"i{number}" for number in range(8))
        assert listed(path, names) == ["i7", "i3", "i6", "i4", "i5", "i0", "i2", "i1"]

    def test_the_copies_of_a_name_do_not_stand_together(self, path: Path):
        order = listed(path, tuple(f"i{number}" for number in range(10)) * 25)
        together = sum(one == other for one, other in pairwise(order))
        assert sorted(order) == sorted([f"i{number}" for number in range(10)] * 25)
        assert together < 50  # 24 of 249 neighbours are equal on average in a random order, 240 if sorted

    def test_the_order_of_pairs_is_uniformly_random(self, path: Path):
        """Of a, a, b, b there are six orders; each must come about equally often over the seeds."""
        seen = Counter("".join(listed(path, tuple("aabb"), seed)) for seed in range(600))
        assert len(seen) == 6
        assert sum((count - 100) ** 2 / 100 for count in seen.values()) < 20.5  # χ² with 5 degrees, 0.1 %

    def test_every_pair_has_a_seed_of_its_own(self, path: Path):
        scenario = replace(read_scenario(path), training=ListedInstances(("a", "b") * 50, files=False))
        source = instance_source(scenario)
        assert len({source.seed(position) for position in range(100)}) == 100

    def test_a_scenario_says_how_many_seeds(self, path: Path):
        changed(path, (TRAINING, TRAINING + '\nseeds_per_instance = 3\ntest = ["train/one.cnf"]'))
        scenario = read_scenario(path)
        source = instance_source(scenario)
        assert source.count == 9
        assert Counter(source.name(position) for position in range(9)) == dict.fromkeys(
            scenario.training.distinct, 3
        )
        assert scenario.test == ListedInstances(("train/one.cnf",) * 3)
        assert Scenario.from_snapshot(scenario.snapshot()) == scenario
        path.write_text(write_scenario(scenario))
        assert read_scenario(path).training.names == scenario.training.names

    def test_the_fingerprint_knows_the_number_of_seeds(self, path: Path):
        once = read_scenario(path)
        thrice = replace(once, training=once.training.seeded(3))
        assert once.digest() != thrice.digest()

    def test_they_are_no_sample_of_instances_like_these(self, path: Path):
        once = read_scenario(path)
        with pytest.raises(ScenarioError, match='population = "finite"'):
            replace(once, training=once.training.seeded(2), population=Population.INFINITE)
        changed(path, (TRAINING, TRAINING + '\nseeds_per_instance = 2\npopulation = "infinite"'))
        with pytest.raises(ScenarioError, match=r"no independent sample.*remove seeds_per_instance"):
            read_scenario(path)

    @pytest.mark.parametrize("names", [("a\0b",), (7,), ("a", None)])
    def test_what_cannot_be_ordered_is_refused(self, names: tuple[str, ...]):
        with pytest.raises(ScenarioError, match="must be a text without zero bytes"):
            ListedInstances(names, files=False)

    @pytest.mark.parametrize("count", [0, -1, 2.5, True])
    def test_a_number_of_seeds_that_makes_no_sense_is_refused(self, count: int):
        with pytest.raises(ScenarioError, match="whole number of at least 1"):
            ListedInstances(("a",), files=False).seeded(count)

    def test_generated_instances_have_a_seed_each(self, path: Path):
        with_generator(path, "true")
        changed(path, ("[instances]", "[instances]\nseeds_per_instance = 2"))
        with pytest.raises(ScenarioError, match="a generator makes a new one for every seed"):
            read_scenario(path)

    def test_different_numbers_of_seeds_cannot_be_written(self, path: Path):
        scenario = replace(read_scenario(path), training=ListedInstances(("a", "a", "b"), files=False))
        with pytest.raises(ScenarioError, match="different numbers of seeds"):
            write_scenario(scenario)

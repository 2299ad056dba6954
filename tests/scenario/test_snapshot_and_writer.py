from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scenario.scenario_files import changed, write_files
from utilitune.domain import Guesses, RunStatus
from utilitune.errors import ScenarioError
from utilitune.scenario import (
    CommandSpec,
    FailurePolicy,
    GeneratedInstances,
    ListedInstances,
    Population,
    Scenario,
    StopRules,
    read_scenario,
)
from utilitune.scenario.writer import write_scenario
from utilitune.targets.verdict import VerdictRules

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_files(tmp_path)


@pytest.fixture
def rich(path: Path) -> Scenario:
    rules = VerdictRules(
        exit_codes=frozenset({10, 20}),
        answer_exit_codes={10: "SAT", 20: "UNSAT"},
        answers={'train/"odd"\nname.cnf': "SAT"},
        failure_pattern='error "\\d+"',
    )
    templates = {"mode": {"a": ("-a",), "b": ()}, "depth": ("-d", "{value}")}
    return replace(
        read_scenario(path),
        target=CommandSpec(
            ("./solver", "{parameters}", 'it\'s \\ "{instance}"'), templates=templates, rules=rules
        ),
        training=GeneratedInstances(("./solver", "{seed}", "{output}"), "made", ".cnf"),
        test=ListedInstances(("train/one.cnf",)),
        population=Population.INFINITE,
        stop=StopRules(epsilon=0.1, gamma=0.2, cpu_time_s=1.5, wall_time_s=3600, runs=9),
        policies={RunStatus.CRASHED: FailurePolicy.ABORT},
        memory_bytes=2**30,
        pause_memory_bytes=2**31,
        workers=3,
        guesses=Guesses.ALL,
        procedure="coup",
        options={"doubling": "old", "schedule": [1, 2]},
    )


def test_a_snapshot_restores_the_same_scenario(path: Path, rich: Scenario):
    for scenario in (read_scenario(path), rich):
        snapshot = json.loads(json.dumps(scenario.snapshot()))
        restored = Scenario.from_snapshot(snapshot)
        assert restored == scenario
        assert restored.digest() == scenario.digest()


def test_a_snapshot_of_another_format_is_refused(path: Path):
    with pytest.raises(ScenarioError, match="format 99"):
        Scenario.from_snapshot({**read_scenario(path).snapshot(), "format": 99})


def test_a_written_scenario_reads_back_as_the_same(path: Path, rich: Scenario):
    for scenario in (read_scenario(path), rich):
        path.write_text(write_scenario(scenario))
        assert read_scenario(path) == scenario


def test_long_lists_are_written_one_per_line(path: Path):
    names = tuple(f"train/{number}.cnf" for number in range(50))
    scenario = replace(read_scenario(path), training=ListedInstances(names, files=False))
    text = write_scenario(scenario)
    path.write_text(text)
    assert '\n  "train/7.cnf",\n' in text
    assert read_scenario(path).training == ListedInstances(names, files=False)


def test_the_digest_ignores_what_may_change(path: Path):
    scenario = read_scenario(path)
    free = {
        "name": "other",
        "workers": 9,
        "stop": StopRules(epsilon=0.01, runs=5),
        "test": ListedInstances(("train/one.cnf",)),
    }
    for key, value in free.items():
        assert replace(scenario, **{key: value}).digest() == scenario.digest(), key


def test_the_digest_moves_with_the_folder_but_not_with_the_content(
    path: Path, tmp_path_factory: pytest.TempPathFactory
):
    elsewhere = write_files(tmp_path_factory.mktemp("elsewhere"))
    digest = read_scenario(path).digest()
    assert read_scenario(elsewhere).digest() == digest
    (elsewhere.parent / "train" / "one.cnf").write_text("changed")
    assert read_scenario(elsewhere).digest() != digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k0=60", "k0=61"),
        ('name = "small"', "seed = 5"),
        ('name = "small"', 'measure = "wall"'),
        ("--seed={seed}", "--rnd={seed}"),
        ("range = [1, 9]", "range = [1, 10]"),
        ("largest_captime = 10", "largest_captime = 11"),
        ("[limits]", '[failures]\ncrashed = "abort"\n[limits]'),
        ("[limits]", "[promise]\ndelta = 0.01\n[limits]"),
        ("[limits]", '[procedure]\nname = "oup"\n[limits]'),
        ("[instances]", '[instances]\npopulation = "infinite"'),
        ('training = "train"', 'training = ["train/one.cnf"]'),
    ],
)
def test_the_digest_covers_what_runs_mean(path: Path, old: str, new: str):
    digest = read_scenario(path).digest()
    assert read_scenario(changed(path, (old, new))).digest() != digest


def test_a_vanished_instance_is_an_error_of_the_digest(path: Path):
    scenario = read_scenario(path)
    (path.parent / "train" / "one.cnf").unlink()
    with pytest.raises(ScenarioError, match=r"one\.cnf: the instance cannot be read"):
        scenario.digest()

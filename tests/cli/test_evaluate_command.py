"""``utilitune evaluate``: real runs on the test instances, each made once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, invoke
from utilitune.errors import ScenarioError, StoppedError, StoreError, UsageError
from utilitune.store import RunFolder, RunRecord, read_run_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_runs_and_the_next_time_makes_none_again(tmp_path: Path):
    toy = Toy.write(tmp_path)
    toy.run()
    picture = tmp_path / "solved.svg"
    told = invoke("evaluate", toy.folder, "--configuration", "1", "--workers", "2", "--plot", picture)
    words = " ".join(told.stdout.split())
    assert "mean utility" in words
    assert "with 95 % confidence between" in words
    assert "8 test instances, the same seed for both" in words
    assert "share of test instances solved" in picture.read_text()
    assert kept_runs(toy) == 16

    again = json.loads(invoke("evaluate", toy.folder, "--configuration", "1", "--json").stdout)
    assert kept_runs(toy) == 16
    assert again["pairs"] == 8
    assert again["chosen"]["solved"] == again["default"]["solved"] == 8
    low, high = again["difference_interval"]
    assert low <= again["difference"] <= high
    assert again["excludes_no_gain"] is (low > 0)

    invoke("evaluate", toy.folder, "--configuration", "2", "--json")
    assert kept_runs(toy) == 24  # the default's runs are there already


def test_an_evaluation_ends_in_time_and_goes_on(tmp_path: Path):
    toy = Toy.write(tmp_path)
    toy.run()
    with pytest.raises(StoppedError, match="wall-clock budget is spent: raise --max-wall-time to go on"):
        invoke("evaluate", toy.folder, "--configuration", "1", "--max-wall-time", "1ms")
    told = invoke("evaluate", toy.folder, "--configuration", "1", "--max-wall-time", "1h", "--json")
    assert json.loads(told.stdout)["pairs"] == 8


def test_test_instances_that_were_trained_on_are_no_fair_test(tmp_path: Path):
    toy = Toy.write(tmp_path)
    toy.scenario.write_text(toy.scenario.read_text().replace('test = "test"', 'test = "train"'))
    toy.run()
    told = json.loads(invoke("evaluate", toy.folder, "--configuration", "1", "--json").stdout)
    assert told["trained_on"] == told["pairs"] == 40
    assert told["excludes_no_gain"] is False
    assert told["verdict"].startswith("No fair test: 40 of the 40 test instances are training instances")
    shown = " ".join(invoke("evaluate", toy.folder, "--configuration", "1").stdout.split())
    assert told["verdict"] in shown


def test_how_to_try_more_test_instances_is_said_where_they_are_too_few(tmp_path: Path):
    """Naming the scenario file in place of the folder does not do it, whatever one expects."""
    toy = Toy.write(tmp_path)
    toy.run()
    few = invoke("evaluate", toy.scenario, "--configuration", "1").stdout
    assert "add them to the scenario and name its file with --scenario" in " ".join(few.split())
    for number in range(1, 41):
        (tmp_path / "test" / f"more {number}.txt").write_text(f"{number}.00")
    assert "8 test instances" in invoke("evaluate", toy.scenario, "--configuration", "1").stdout
    more = invoke("evaluate", toy.scenario, "--configuration", "1", "--scenario", toy.scenario).stdout
    assert "48 test instances" in more


def test_the_default_against_itself(tmp_path: Path):
    toy = Toy.write(tmp_path)
    toy.run()
    told = invoke("evaluate", toy.folder, "--configuration", "0").stdout
    assert "is the default itself" in " ".join(told.split())
    assert "--scenario" not in told
    assert "The interval of the gain" not in told
    assert kept_runs(toy) == 8


def test_test_instances_added_later(tmp_path: Path):
    toy = Toy.write(tmp_path, test=False)
    toy.run()
    with pytest.raises(ScenarioError, match=r"no test instances: add instances\.test"):
        invoke("evaluate", toy.folder)
    toy.describe(test=True)
    told = invoke("evaluate", toy.folder, "--scenario", toy.scenario, "--configuration", "0", "--json")
    assert json.loads(told.stdout)["pairs"] == 8
    toy.describe(smallest="200ms")
    with pytest.raises(StoreError, match="is not the scenario of"):
        invoke("evaluate", toy.folder, "--scenario", toy.scenario)


def test_mistakes_cost_no_runs(tmp_path: Path):
    toy = Toy.write(tmp_path)
    toy.run()
    with pytest.raises(UsageError, match="there is no configuration 9: this run knows 0 to 3"):
        invoke("evaluate", toy.folder, "--configuration", "9")
    with pytest.raises(UsageError, match=r"must end in \.png, \.pdf, \.svg"):
        invoke("evaluate", toy.folder, "--plot", tmp_path / "solved.gif")
    with pytest.raises(UsageError, match="is not a duration"):
        invoke("evaluate", toy.folder, "--captime", "soon")
    with pytest.raises(UsageError, match="the captime must be a positive number"):
        invoke("evaluate", toy.folder, "--captime", "0")
    assert not (toy.folder / "evaluation").exists()


def test_an_interruption_keeps_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    toy = Toy.write(tmp_path)
    toy.run()
    keep = RunFolder.add_run

    def keep_and_interrupt(store: RunFolder, record: RunRecord) -> int:
        keep(store, record)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "add_run", keep_and_interrupt)
        told = invoke("evaluate", toy.folder, "--configuration", "0")
    assert told.exit_code == 130
    assert "finished runs are kept" in told.stderr
    assert kept_runs(toy) == 1
    invoke("evaluate", toy.folder, "--configuration", "0")
    assert kept_runs(toy) == 8


def kept_runs(toy: Toy) -> int:
    [place] = (toy.folder / "evaluation").iterdir()
    reader = read_run_folder(place)
    try:
        return sum(reader.counts().values())
    finally:
        reader.close()

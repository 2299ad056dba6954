from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from live.simulated_scenarios import backend, make_scenario
from utilitune.domain.stopping import Budget
from utilitune.live.running import run_scenario, settings_of
from utilitune.live.use_of_time import FACT, UseOfTime
from utilitune.store import MemoryStore, Snapshot, read_run_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_several_workers_say_which_part_of_their_time_was_of_use(tmp_path: Path):
    scenario = make_scenario(tmp_path, procedure="wager", options={"configurations": 6})
    settings = replace(settings_of(scenario, workers=8), budget=Budget(max_runs=120))
    result = run_scenario(scenario, tmp_path / "run", settings, backend=backend(8))
    assert result.use is not None
    assert 0.0 < result.use.share <= 1.0
    assert result.use.all_s == result.progress.total_time_s
    assert result.to_dict()["useful_share"] == result.use.share
    with contextlib.closing(read_run_folder(tmp_path / "run")) as store:
        assert UseOfTime.read(store) == result.use


def test_a_single_worker_wastes_nothing_and_says_nothing(tmp_path: Path):
    scenario = make_scenario(tmp_path, procedure="wager", options={"configurations": 6})
    settings = replace(settings_of(scenario, workers=1), budget=Budget(max_runs=40))
    result = run_scenario(scenario, None, settings, backend=backend(1))
    assert result.use is None
    assert result.to_dict()["useful_share"] is None


def test_what_is_stored_comes_back_and_what_is_not_is_none():
    store = MemoryStore(Snapshot({}, ""))
    assert UseOfTime.read(store) is None
    UseOfTime(3.0, 4.0).keep(store)
    found = UseOfTime.read(store)
    assert found == UseOfTime(3.0, 4.0)
    assert found.share == 0.75
    assert "75 %" in found.sentence()
    store.keep_fact(FACT, "nonsense")
    assert UseOfTime.read(store) is None


def test_runs_that_were_paid_for_elsewhere_do_not_count_twice():
    assert UseOfTime(9.0, 4.0).share == 1.0
    assert UseOfTime(9.0, 4.0).sentence() == "All seconds in runs were useful."
    assert UseOfTime(0.0, 0.0).share == 1.0
    assert UseOfTime(9.99, 10.0).sentence().startswith("99 % of the seconds")


def test_nothing_is_called_useless_before_the_first_run_that_is_needed_has_ended():
    for useful_s in (0.0, 0.09):
        assert UseOfTime(useful_s, 10.0).sentence().startswith("It is too early to say")
    assert UseOfTime(0.1, 10.0).sentence().startswith("1 % of the seconds")

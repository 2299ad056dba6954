"""An evaluation that is read back says what the evaluation itself said."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from live.test_evaluation import SCENARIO, Program
from utilitune.domain import Progress
from utilitune.execution.simulated import SimulatedBackend
from utilitune.live.evaluation import FOLDER_NAME, plan_evaluation, run_evaluation
from utilitune.reports import heldout
from utilitune.reports.heldout import heldout_of
from utilitune.scenario import ListedInstances
from utilitune.store import MemoryStore, Snapshot, open_run_folder
from utilitune.store.records import ConfigurationRecord, StoredOrigin


def evaluated(folder: Path, scenario):
    """Evaluate configuration 1 of a run beside its folder, on a virtual clock."""
    run = MemoryStore(Snapshot(scenario.snapshot(), scenario.digest()))
    for index, alpha in enumerate((0.8, 0.05)):
        origin = StoredOrigin.DEFAULT if index == 0 else StoredOrigin.RANDOM
        run.add_configuration(ConfigurationRecord(index, {"alpha": alpha}, origin))
    run.add_progress(Progress(1, 0.5, None, 0.05, 1.0, 2, 1, 2, 2))
    plan = plan_evaluation(run, scenario)
    place = folder / FOLDER_NAME / plan.digest[:12]
    with (
        contextlib.closing(open_run_folder(place, Snapshot(scenario.snapshot(), plan.digest))) as store,
        SimulatedBackend(2, Program()) as backend,
    ):
        return run_evaluation(plan, store, backend), place


MANY = ListedInstances(tuple(str(number / 10) for number in range(60, 100)), files=False)


@pytest.mark.parametrize("trained", [(), ("6.0", "7.5", "9.9")])
def test_the_verdict_is_the_same_when_it_is_read_back(tmp_path: Path, trained: tuple[str, ...]):
    """Where test instances were trained on, the report does not call the answer better, as it once did."""
    training = ListedInstances(("1", *trained), files=False)
    scenario = replace(SCENARIO, directory=tmp_path, training=training, test=MANY)
    told, _ = evaluated(tmp_path, scenario)
    found = heldout_of(tmp_path, 1)
    assert found is not None
    assert found["verdict"] == told.verdict()
    assert found["trained_on"] == len(trained)
    assert found["excludes_no_gain"] is not bool(trained)


def test_an_evaluation_that_does_not_say_is_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Earlier versions did not keep how many test instances were trained on."""
    training = ListedInstances(("1", "6.0"), files=False)
    evaluated(tmp_path, replace(SCENARIO, directory=tmp_path, training=training, test=MANY))
    monkeypatch.setattr(heldout, "TRAINED_ON", "a fact that nobody kept")
    found = heldout_of(tmp_path, 1)
    assert found is not None
    assert "No fair test: 1 of the 40" in found["verdict"]

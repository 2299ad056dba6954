"""Tables of a run as data frames, from a result and from a search that others make the runs of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import utilitune
from reports.dashboard.stored_runs import small_run
from utilitune.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pandas")


def test_the_tables_of_a_stored_run(tmp_path: Path):
    result = utilitune.load(small_run(tmp_path).folder)
    runs = result.to_pandas()
    assert len(runs) == result.progress.runs
    assert runs["instance"].str.startswith("instance-").all()
    configurations = result.to_pandas("configurations")
    assert list(configurations["configuration"]) == list(range(30))
    assert configurations["runs"].sum() == len(runs)
    assert (configurations["low"] <= configurations["mean"]).all()
    assert (configurations["mean"] <= configurations["high"]).all()
    assert "parameter.heuristicsOnOff" in configurations
    answer = configurations.iloc[result.progress.best_index]
    assert answer["mean"] == pytest.approx(result.standing.answer.mean, abs=1e-5)
    assert answer["low"] == pytest.approx(result.standing.answer.low, abs=1e-5)
    instances = result.to_pandas("instances")
    assert len(instances) == 40
    assert (instances["configurations"] == 30).sum() == 8
    assert list(result.to_pandas("trajectory")["epsilon"]) == [each.epsilon for each in result.trajectory]
    with pytest.raises(UsageError, match="did you mean 'instances'"):
        result.to_pandas("instance")


@pytest.mark.parametrize("kept", [True, False])
def test_the_tables_of_a_search_whose_runs_others_make(kept: bool, tmp_path: Path):
    folder = tmp_path / "kept.run" if kept else None
    tuner = utilitune.Tuner.of(
        {"x": {"type": "float", "range": [0.0, 1.0]}},
        instances=[f"i{n}" for n in range(9)],
        utility="uniform(k0=10)",
        largest_captime=10,
        folder=folder,
        procedure="oup",
        options={"configurations": 3},
    )
    assert tuner.to_pandas().empty
    for _ in range(2):
        for trial in tuner.ask(3):
            tuner.tell(trial, 1.0 + trial.configuration["x"])
    for _ in range(2):  # open, and closed
        assert len(tuner.to_pandas()) == tuner.progress.runs > 0
        table = tuner.to_pandas("configurations")
        assert table["runs"].sum() == tuner.progress.runs
        assert {"mean", "low", "high", "parameter.x"} <= set(table)
        assert len(tuner.to_pandas("instances")) == 9
        assert tuner.result().best == tuner.best
        tuner.close()

"""``utilitune peer``, and peers in ``utilitune replay``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cli.live_runs import Toy, invoke
from rivals.packages.playgrounds import Sweep
from utilitune.data import RuntimeMatrix, write_matrix
from utilitune.errors import MissingExtraError, StoreError, UsageError
from utilitune.rivals.packages import PEERS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """A peer that needs no package."""
    monkeypatch.setitem(PEERS, "sweep", Sweep)


def test_a_peer_configures_a_program_and_its_folder_can_be_used_like_any_other(tmp_path: Path):
    toy = Toy.write(tmp_path)
    options = ("--max-time", "2s", "--set", "instances=3", "--set", "tries=6", "--workers", "1")
    result = invoke("peer", "sweep", toy.scenario, *options)
    assert result.exit_code == 0
    assert "No promise: sweep proves nothing about the utility of its answer." in result.stdout
    assert "solver.py" in result.stdout
    assert "ruled out" not in result.stdout
    folder = tmp_path / "scenario.sweep.run"
    assert folder.is_dir()

    status = invoke("status", folder).stdout
    assert "No promise: sweep" in status
    assert "ε" not in status
    assert "solver.py" in invoke("best", folder).stdout
    assert "mean utility" in invoke("evaluate", folder, "--workers", "1").stdout
    assert "mean utility" in invoke("evaluate", folder, "--scenario", toy.scenario).stdout

    again = invoke("peer", "sweep", toy.scenario, *options)
    assert again.stdout == result.stdout
    with pytest.raises(StoreError, match="another"):
        invoke("run", toy.scenario, "--folder", folder)


def test_its_budget_may_come_from_the_scenario(tmp_path: Path):
    toy = Toy.write(tmp_path, runs=5)
    result = invoke("peer", "sweep", toy.scenario, "--workers", "1", "--folder", tmp_path / "here")
    assert "in 5 runs of 2 configurations." in result.stdout
    assert "Stopped (run-limit)" in result.stdout


def test_time_on_the_clock_ends_it_and_the_advice_names_the_option(tmp_path: Path):
    toy = Toy.write(tmp_path)
    result = invoke("peer", "sweep", toy.scenario, "--workers", "1", "--max-wall-time", "1ms")
    shown = " ".join(result.stdout.split())
    assert "Stopped (wall-limit) The wall-clock budget is spent: raise --max-wall-time" in shown


def test_mistakes_are_told_before_anything_is_run(tmp_path: Path):
    toy = Toy.write(tmp_path)
    with pytest.raises(UsageError, match="there is no peer 'smak'; did you mean 'smac'"):
        invoke("peer", "smak", toy.scenario)
    with pytest.raises(UsageError, match="sweep has no setting 'instanecs'; did you mean 'instances'"):
        invoke("peer", "sweep", toy.scenario, "--set", "instanecs=3")
    with pytest.raises(UsageError, match="must be a positive number"):
        invoke("peer", "sweep", toy.scenario, "--max-time", "0")
    assert not (tmp_path / "scenario.sweep.run").exists()


def test_a_package_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    toy = Toy.write(tmp_path)
    monkeypatch.setattr("utilitune.rivals.packages.peer.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'utilitune\[smac\]'"):
        invoke("peer", "smac", toy.scenario, "--max-time", "1s")


def recorded(tmp_path: Path, *, features: bool) -> Path:
    places = np.linspace(0, 1, 20)
    runtimes_s = (1 + np.abs(places - 0.5))[:, None] * np.ones((1, 50))
    matrix = RuntimeMatrix(
        runtimes_s=runtimes_s,
        cutoff_s=10.0,
        configurations=tuple(f"c{row}" for row in range(20)),
        instances=tuple(f"i{column}" for column in range(50)),
        columns=np.arange(50),
        source="line",
        features=places[:, None] if features else None,
        feature_names=("place",) if features else (),
    )
    path = tmp_path / "line.npz"
    write_matrix(matrix, path)
    return path


def test_a_peer_plays_in_a_replay_under_its_name(tmp_path: Path):
    data = recorded(tmp_path, features=True)
    result = invoke(
        "replay", data, "--procedure", "sweep", "--seed", "3", "--set", "tries=50", "--max-time", "900"
    )
    assert result.exit_code == 0
    assert "Best configuration: c9" in result.stdout or "Best configuration: c10" in result.stdout
    assert "No promise: sweep" in result.stdout


def test_a_replay_without_features_says_what_is_missing(tmp_path: Path):
    with pytest.raises(UsageError, match="needs features of the configurations"):
        invoke("replay", recorded(tmp_path, features=False), "--procedure", "sweep")
    with pytest.raises(UsageError, match="--epsilon has no meaning for sweep; its own settings"):
        invoke("replay", recorded(tmp_path, features=True), "--procedure", "sweep", "--epsilon", "0.1")

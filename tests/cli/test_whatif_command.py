from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from utilitune.cli.whatif import whatif
from utilitune.domain import RunOutcome, RunRequest, RunStatus
from utilitune.errors import StoreError, UsageError, UtilituneError
from utilitune.store import ConfigurationRecord, RunRecord, Snapshot, StoredOrigin, open_run_folder

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = {"delta": 0.05, "population": "finite", "training": {"names": [f"i{j}" for j in range(40)]}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Configuration 0 takes 20 s on each of 40 instances; 1 takes 2 s on 30 of them and fails else."""
    place = tmp_path / "some.run"
    store = open_run_folder(place, Snapshot(SCENARIO, "digest"))
    store.begin_session({"procedure": {"name": "wager", "configurations": 2}})
    for index in range(2):
        store.add_configuration(ConfigurationRecord(index, {"level": index}, StoredOrigin.RANDOM))
    for position in range(40):
        steady = RunOutcome(RunStatus.FINISHED, 20.0)
        risky = RunOutcome(RunStatus.CRASHED if position % 4 == 3 else RunStatus.FINISHED, 2.0)
        store.add_run(RunRecord(RunRequest(0, position, 60.0), steady))
        store.add_run(RunRecord(RunRequest(1, position, 60.0), risky))
    store.close()
    return place


def said(*arguments: object) -> str:
    app = typer.Typer()
    app.command()(whatif)
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=True)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_tables_for_utilities_and_a_family(folder: Path):
    text = said(
        folder,
        "--utility",
        "step(deadline=10)",
        "--utility",
        "step(deadline=60)",
        "--family",
        "step(deadline=*)",
    )
    lines = [line for line in text.splitlines() if re.search(r"configuration \d", line)]
    assert ["configuration 1" in line for line in lines] == [True, False, False, True, False]
    assert "level=0" in text
    assert "95 %" in text
    assert "exactly these instances" in text


def test_json_holds_everything(folder: Path):
    found = json.loads(
        said(folder, "--utility", "step(deadline=10)", "--family", "uniform(k0=*)", "--delta", 0.2, "--json")
    )
    assert (found["delta"], found["population"], found["configurations"]) == (0.2, "finite", 2)
    (single,) = found["utilities"]
    assert (single["best_index"], single["best"], single["epsilon"]) == (1, {"level": 1}, 0.0)
    assert single["bounds"][1] == {
        "index": 1,
        "runs": 40,
        "lower": pytest.approx(0.75),
        "upper": pytest.approx(0.75),
    }
    ranges = found["family"]["ranges"]
    assert ranges[0]["from_s"] == pytest.approx(1.0)
    assert ranges[-1]["to_s"] == pytest.approx(3600.0)
    assert ranges[-1]["best_index"] == 0
    assert len(found["family"]["points"]) >= 61


def test_a_plot(folder: Path, tmp_path: Path):
    picture = tmp_path / "k0.png"
    said(
        folder,
        "--family",
        "log-laplace(k0=*)",
        "--from",
        "500ms",
        "--to",
        "2h",
        "--points",
        5,
        "--plot",
        picture,
    )
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((), UsageError, "which utility"),
        (("--utility", "uniform(k0=6)", "--plot", "a.png"), UsageError, "add --family"),
        (("--family", "uniform(k0=*)", "--plot", "a.txt"), UsageError, "must end in"),
        (("--family", "uniform(k0=*)", "--from", "soon"), UsageError, "not a duration"),
        (("--utility", "uniform(k0=6)", "--delta", "2"), UsageError, "strictly between"),
        (("--utility", "unifrom(k0=6)"), UtilituneError, "did you mean"),
    ],
)
def test_mistakes_are_one_sentence(
    folder: Path, arguments: tuple[str, ...], error: type[Exception], text: str
):
    with pytest.raises(error) as caught:
        said(folder, *arguments)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_run_is_named(tmp_path: Path):
    with pytest.raises(StoreError, match="no run folder"):
        said(tmp_path, "--utility", "uniform(k0=6)")

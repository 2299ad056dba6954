"""``utilitune datasets``: list, fetch, describe."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from data.range_server import Site, serving
from utilitune.cli.datasets import app
from utilitune.data import catalogue
from utilitune.errors import DataError, UsageError, UtilityError

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


@pytest.fixture
def runs(tmp_path: Path) -> str:
    path = tmp_path / "runs.csv"
    path.write_text("# cutoff_s = 60\nname,i1,i2\n[slow],30,\nquick,6,12\n")
    return str(path)


def test_list_names_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("UTILITUNE_DATA", str(tmp_path))
    result = run("list")
    assert result.exit_code == 0
    for text in (
        "minisat",
        "cplex_rcw",
        "cplex_region",
        "972 × 20,118",
        "lookalike:cplex_region",
        str(tmp_path),
    ):
        assert text in result.stdout


def test_fetch_downloads_into_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with serving(Site(b"archive")) as site:
        small = replace(catalogue.DATA_SETS["minisat"], archive=catalogue.Archive("archive.zip", site.url))
        monkeypatch.setitem(catalogue.DATA_SETS, "minisat", small)
        result = run("fetch", "minisat", "--to", str(tmp_path / "kept"))
    assert result.exit_code == 0
    assert (tmp_path / "kept" / "archive.zip").read_bytes() == b"archive"
    assert "UTILITUNE_DATA" in result.stderr


def test_fetch_of_an_unknown_name():
    with pytest.raises(DataError, match="did you mean 'minisat'"):
        run("fetch", "minisatt")


def test_describe_ranks_by_a_utility(runs: str):
    result = run("describe", runs, "--utility", "uniform(k0=60)", "--top", "2")
    assert result.exit_code == 0
    assert "75.00 % of the runs" in result.stdout
    lines = result.stdout.splitlines()
    assert lines[-2].split() == ["1", "1", "quick", "0.8500"]
    assert lines[-1].split() == ["2", "0", "[slow]", "0.2500"]


def test_describe_as_json(runs: str):
    content = json.loads(run("describe", runs, "--json", "--utility", "uniform(k0=60)").stdout)
    assert content["rows"] == content["columns"] == 2
    assert content["cutoff_s"] == 60
    assert content["quantiles_s"]["1"] is None
    assert content["best"][0] == {"row": 1, "configuration": "quick", "mean_utility": pytest.approx(0.85)}


def test_describe_refuses_what_it_cannot_do(runs: str):
    with pytest.raises(UsageError, match="--top must be at least 1"):
        run("describe", runs, "--top", "0")
    with pytest.raises(UtilityError):
        run("describe", runs, "--utility", "unifrom(k0=60)")
    with pytest.raises(DataError, match="there is no such data"):
        run("describe", runs + ".missing")

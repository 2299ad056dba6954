"""``utilitune runs``: filters, the table and comma-separated values."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from cli.live_runs import Toy, invoke
from utilitune.cli.runs import _cells
from utilitune.cli.texts import memory_text
from utilitune.errors import UsageError
from utilitune.errors.outside import printable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    toy = Toy.write(tmp_path_factory.mktemp("runs"))
    toy.run()
    return toy.folder


def listed(*arguments: str | Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(invoke("runs", *arguments, "--csv").stdout)))


def test_every_run_is_a_line(folder: Path):
    rows = listed(folder)
    assert len(rows) == 60
    assert [int(row["sequence"]) for row in rows] == list(range(60))
    assert all(row["instance"].endswith(" train.txt") for row in rows)
    assert {row["parameter.alpha"] for row in rows if row["configuration"] == "0"} == {"8.0"}


def test_filters_go_together(folder: Path):
    everything = listed(folder)
    expected = [row for row in everything if row["configuration"] == "1" and "/1" in row["instance"]]
    assert expected
    assert listed(folder, "--configuration", "1", "--instance", "/1", "--status", "finished") == expected
    assert listed(folder, "--status", "crashed") == []
    assert listed(folder, "--limit", "3") == everything[-3:]


def test_the_table_names_instances_and_says_what_it_leaves_out(folder: Path):
    shown = invoke("runs", folder, "--limit", "2").stdout
    assert "train/" in shown
    assert "finished" in shown
    assert "The latest 2 of 60 runs" in shown
    assert "There are no such runs" in invoke("runs", folder, "--status", "memout").stdout


@pytest.mark.parametrize("width", [40, 60, 100])
def test_a_narrow_terminal_shows_instances_and_says_what_it_leaves_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, width: int
):
    """At 60 columns the instances had no room at all, and at 40 neither had the number of a run."""
    monkeypatch.setenv("COLUMNS", str(width))
    shown = invoke("runs", folder, "--limit", "2").stdout
    assert max(map(len, shown.splitlines())) <= width
    assert "instance" in shown
    assert "train.txt" in shown
    assert "finished" in shown
    assert "…" not in shown
    assert ("There is no room for memory" in shown) is (width < 100)


def test_mistakes(folder: Path):
    with pytest.raises(UsageError, match="did you mean 'crashed'"):
        invoke("runs", folder, "--status", "crash")
    with pytest.raises(UsageError, match="--limit must not be negative"):
        invoke("runs", folder, "--limit", "-1")


def test_texts_of_programs_cannot_drive_the_terminal():
    row = {
        "sequence": 1,
        "configuration": 2,
        "instance": "a\x1b]0;title\x07b",
        "status": "crashed",
        "captime_s": 1.0,
        "runtime_s": 0.5,
        "peak_memory_bytes": 3 * 2**20,
        "exit_code": None,
        "detail": "Traceback\n  line " + "x" * 100,
    }
    cells = _cells(row, solutions=False)
    assert cells[2] == "a\\x1b]0;title\\x07b"
    assert all(cell.isprintable() for cell in cells)
    assert cells[-1].startswith("Traceback line xxx")
    assert len(cells[-1]) == 80


def test_printable_keeps_what_is_asked_for():
    assert printable("ä\n\tb", keep="\n") == "ä\n\\tb"
    assert [memory_text(size) for size in (0, 2**20, 3 * 2**30)] == ["unknown", "1.0 MiB", "3.00 GiB"]

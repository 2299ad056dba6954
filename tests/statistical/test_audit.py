"""A small form of the audit: every cell works, and a setting whose assumption is broken is caught."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.audit import cells as cells_module
from benchmarks.audit import worlds
from benchmarks.audit.__main__ import main
from benchmarks.audit.cells import DELTA, Cell, all_cells
from benchmarks.audit.counting import Count, Ledger, count_piece, turns
from benchmarks.audit.page import page, too_many
from benchmarks.audit.searches import engine_search, specification

if TYPE_CHECKING:
    from pathlib import Path

CELLS = all_cells()
FEW = 3


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_every_cell_can_be_counted(cell: Cell):
    assert count_piece(cell, range(FEW)) < FEW


def test_no_two_cells_have_the_same_name():
    assert len({cell.name for cell in CELLS}) == len(CELLS)


@pytest.mark.parametrize("procedure", ["wager", "oup", "up"])
def test_a_list_in_stored_order_is_caught(procedure: str):
    """Broken on purpose: the easy instances come first, which no random order does."""

    def search(generator: np.random.Generator) -> bool:
        easy, hard = np.full((2, 400), 0.5), np.full((2, 400), 60.0)
        hard[1], easy[1] = 0.7, 0.7
        runtimes = np.hstack([easy, hard])
        world = worlds.one_better(generator, 4)
        made = replace(world, runtimes_s=runtimes, worth=world.utility(runtimes).mean(axis=1))
        return engine_search(
            made, specification(procedure, 2, delta=DELTA, growth="fixed", population="finite")
        )

    cell = Cell(procedure, "stored order", search)
    counts = [Count(20, count_piece(cell, range(20)))]
    assert too_many([cell], counts)


def test_an_audit_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    seen: list[int] = []
    cell = Cell(
        "nobody",
        "nowhere",
        lambda generator: seen.append(1) or bool(generator.random() < 0.01),
        120,
        piece=50,
    )
    monkeypatch.setattr("benchmarks.audit.__main__.all_cells", lambda: [cell])
    words = ["--ledger", str(tmp_path / "counts.jsonl"), "--page", str(tmp_path / "audit.md")]
    main([*words, "--share", "0.4"])
    assert len(seen) == 48
    with (tmp_path / "counts.jsonl").open("a") as file:
        file.write('{"digest": "cut of')
    main(words)
    assert len(seen) == 120
    assert "nobody: nowhere" in capsys.readouterr().out
    assert "| nobody | nowhere | 120 |" in (tmp_path / "audit.md").read_text()
    main([*words, "--code", "another"])
    assert len(seen) == 240


def test_failures_beyond_delta_end_the_audit_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cell = Cell("nobody", "nowhere", lambda generator: True, 60)
    monkeypatch.setattr("benchmarks.audit.__main__.all_cells", lambda: [cell])
    with pytest.raises(SystemExit, match=r"nobody: nowhere: 60 of 60 searches failed, δ = 0\.1"):
        main(["--ledger", str(tmp_path / "c"), "--page", str(tmp_path / "p")])


def test_turns_give_every_cell_a_piece_before_any_has_two(tmp_path: Path):
    ledger = Ledger(tmp_path / "counts.jsonl", "now")
    first, second = (Cell(name, "here", lambda generator: False, 30, piece=10) for name in "ab")
    order = [(cell.procedure, piece.start) for cell, piece in turns(ledger, [first, second], 1.0)]
    assert order[:4] == [("a", 0), ("b", 0), ("a", 10), ("b", 10)]
    ledger.add(first, range(10), 2)
    assert json.loads((tmp_path / "counts.jsonl").read_text())["failures"] == 2
    assert Ledger(ledger.path, "now").count(first) == Count(10, 2)
    assert Ledger(ledger.path, "other").count(first) == Count()


def test_intervals_are_clopper_and_pearsons():
    assert Count(2000, 0).interval() == pytest.approx((0.0, 1 - 0.005 ** (1 / 2000)))
    low, high = Count(100, 10).interval()
    assert low < 0.1 < high
    assert Count(5, 5).interval()[1] == 1.0


def test_the_page_names_what_was_not_counted():
    cells = [Cell("a", "x", lambda generator: False), Cell("b", "y", lambda generator: False)]
    text = page(cells, [Count(100, 1), Count()], "0123")
    assert "| a | x | 100 | 1 | 0.0100 |" in text
    assert "| b | y | not counted yet |" in text
    assert cells_module.DELTA == DELTA

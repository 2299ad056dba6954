"""A small form of the audit: every cell works, and a setting whose assumption is broken is caught."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.audit import footprints, worlds
from benchmarks.audit.__main__ import main
from benchmarks.audit.cells import DELTA, Cell, all_cells
from benchmarks.audit.counting import Count, Counter, Ledger, turns
from benchmarks.audit.page import Line, page, too_many
from benchmarks.audit.searches import engine_search, specification
from benchmarks.audit.verdict import NOTHING_SEEN, Verdict

if TYPE_CHECKING:
    from pathlib import Path

CELLS = all_cells()
FEW = 3


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_every_cell_can_be_counted(cell: Cell):
    assert Counter().count(cell, range(FEW))[0].failures < FEW


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
    assert too_many([Line(cell, Counter().count(cell, range(20))[0])])


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
        file.write('{"code": "cut of')
    main(words)
    assert len(seen) == 120
    assert "nobody: nowhere" in capsys.readouterr().out
    assert "| nobody | nowhere | 120 |" in (tmp_path / "audit.md").read_text()
    main(words)
    assert len(seen) == 120


def test_failures_beyond_delta_end_the_audit_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cell = Cell("nobody", "nowhere", lambda generator: True, 60)
    monkeypatch.setattr("benchmarks.audit.__main__.all_cells", lambda: [cell])
    with pytest.raises(SystemExit, match=r"nobody: nowhere: 60 of 60 searches failed, δ = 0\.1"):
        main(["--ledger", str(tmp_path / "c"), "--page", str(tmp_path / "p")])


def test_turns_give_every_cell_a_piece_before_any_has_two(tmp_path: Path):
    ledger = Ledger(tmp_path / "counts.jsonl")
    first, second = (Cell(name, "here", lambda generator: False, 30, piece=10) for name in "ab")
    order = [(cell.procedure, piece.start) for cell, piece in turns(ledger, [first, second], 1.0)]
    assert order[:4] == [("a", 0), ("b", 0), ("a", 10), ("b", 10)]
    ledger.add(first, range(10), Count(10, 2, 10, 7), ["benchmarks.audit.worlds"])
    ledger.add(first, range(10, 20), Count(10, 1), ["benchmarks.audit.worlds"])
    assert [json.loads(line).get("failures") for line in ledger.path.read_text().splitlines()] == [None, 2, 1]
    assert Ledger(ledger.path).count(first) == Count(20, 3, 10, 7)
    assert Ledger(ledger.path).earlier(first) == Count()


def test_a_packed_ledger_knows_what_it_knew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "benchmarks_of_yours").mkdir()
    module = tmp_path / "benchmarks_of_yours" / "rule.py"
    monkeypatch.syspath_prepend(tmp_path)
    cell, path = Cell("a", "here", lambda generator: False, 100, piece=10), tmp_path / "counts.jsonl"
    for value, pieces in ((1, [(0, 10)]), (2, [(0, 10), (10, 20)]), (3, [(0, 10), (10, 20), (40, 50)])):
        module.write_text(f"def rule():\n    return {value}\n")
        footprints.forget()
        for piece in pieces:
            Ledger(path).add(cell, range(*piece), Count(10, value, 10, 4), ["benchmarks_of_yours.rule"])
    before = Ledger(path)
    Ledger(path).pack()
    ledger = Ledger(path)
    assert ledger.count(cell) == before.count(cell) == Count(30, 9, 30, 12)
    assert ledger.earlier(cell) == before.earlier(cell) == Count(20, 4, 20, 8)
    assert list(ledger.missing(cell, 60)) == [range(20, 30), range(30, 40), range(50, 60)]
    pieces = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(piece["first"], piece["searches"]) for piece in pieces[2:]] == [(0, 20), (40, 10), (0, 20)]


def test_a_changed_module_sets_counts_aside_that_rest_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "benchmarks_of_mine").mkdir()
    module = tmp_path / "benchmarks_of_mine" / "rule.py"
    module.write_text("def rule():\n    return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    cell, path = Cell("a", "here", lambda generator: False, 30), tmp_path / "counts.jsonl"
    Ledger(path).add(cell, range(10), Count(10, 1), ["benchmarks_of_mine.rule"])
    for text, present in (
        ('"""What it is."""\n\ndef rule():  # plainly\n    """Say."""\n    return 1\n', True),
        ("def rule():\n    return 2\n", False),
        ("def rule():\n    return 1\n", True),
    ):
        module.write_text(text)
        footprints.forget()
        ledger = Ledger(path)
        assert (ledger.count(cell) == Count(10, 1)) is present
        assert (ledger.earlier(cell) == Count(10, 1)) is not present
    module.unlink()
    footprints.forget()
    assert Ledger(path).count(cell) == Count()


def test_a_module_that_is_found_under_its_name_of_before_only_has_moved():
    assert footprints.source_of("utilitune.procedures.bounds.betting") is not None
    assert footprints.source_of("utilitune.bounds.betting") is None


def test_a_footprint_has_what_is_called_and_what_is_used_without_a_call():
    cell = next(cell for cell in CELLS if cell.name == "oup: fixed set, many instances")
    _, used = footprints.watched(lambda: cell.search(np.random.default_rng(1)))
    assert "utilitune.procedures.paper.engine" in used
    assert "utilitune.procedures.paper.loop" in used  # compiled rules: nobody sees a call
    assert "utilitune.procedures.selection" in used  # compiled rules of compiled rules
    assert "utilitune.domain" in used  # constants and enumerations
    assert not any("wager" in name or "dashboard" in name for name in used)


def footprint(name: str) -> frozenset[str]:
    cell = next(cell for cell in CELLS if cell.name == name)
    return footprints.watched(lambda: cell.search(np.random.default_rng(1)))[1]


def test_the_footprint_of_wager_has_wager():
    looking_ahead = "utilitune.procedures.wager.foresight"
    used = footprint("wager: fixed set") | footprint("wager: nominees, list")  # the second one has a default
    assert looking_ahead not in used  # nobody waits for runs
    driven = footprint("wager: parallel, list")
    assert looking_ahead in driven
    folder = footprints.source_of("utilitune.procedures.wager").parent
    kernels = {
        f"utilitune.procedures.wager.{path.stem}"
        for path in folder.glob("*.py")
        if "@compiled" in path.read_text()
    }
    assert kernels <= used | driven


def test_intervals_are_clopper_and_pearsons():
    assert Count(2000, 0).interval() == pytest.approx((0.0, 1 - 0.005 ** (1 / 2000)))
    low, high = Count(100, 10).interval()
    assert low < 0.1 < high
    assert Count(5, 5).interval()[1] == 1.0


def test_the_page_names_what_was_not_counted_and_what_was_counted_before():
    cells = [Cell(name, "x", lambda generator: False) for name in "abc"]
    counts = [(Count(100, 1), Count(50, 50)), (Count(), Count()), (Count(70, 1), Count(2000, 3))]
    text = page([Line(cell, *both) for cell, both in zip(cells, counts, strict=True)])
    assert "| a | x | 100 | 1 | 0.0100 |" in text
    assert "| b | x | not counted yet |" in text
    assert "| c | x ° | 2000 | 3 |" in text
    assert "have them in 1 of 3" in text
    assert "Lines with °" in text
    assert "70 further searches of the lines with °, of which 1 failed" in text
    assert "Lines with °" not in page([Line(cells[0], Count(100, 1))])


def test_the_page_says_how_often_the_worst_answer_would_have_been_caught():
    cell = Cell("a", "x", lambda generator: False)
    assert Line(cell, Count(100, 1, 80, 60)).row().endswith("| 0.1 | 75 % |")
    assert Line(cell, Count(100, 1)).row().endswith("| 0.1 | — |")
    assert Line(cell, Count(10, 0, 10, 9), Count(100, 1)).row().endswith("| 0.1 | 90 % |")


def test_what_a_search_tells_is_counted():
    verdicts = iter(
        [Verdict(failed=False, caught=True), Verdict(failed=True, caught=False), NOTHING_SEEN, True]
    )
    cell = Cell("a", "x", lambda generator: next(verdicts))
    assert Counter().count(cell, range(4))[0] == Count(4, 2, 2, 1)


def test_looks_at_one_search_tell_together_what_any_of_them_tells():
    assert NOTHING_SEEN | NOTHING_SEEN == NOTHING_SEEN
    both = NOTHING_SEEN | Verdict(failed=False, caught=True) | Verdict(failed=True, caught=False)
    assert both == Verdict(failed=True, caught=True)
    assert both
    assert not Verdict(failed=False, caught=True)


def test_failures_of_earlier_code_are_told_too():
    cell = Cell("a", "x", lambda generator: False)
    assert too_many([Line(cell, Count(100, 1), Count(50, 50))])

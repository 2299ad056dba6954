"""``python -m benchmarks.audit``: count, show how it goes, and write docs/audit.md."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.audit.cells import all_cells
from benchmarks.audit.counting import Counter, Ledger, turns
from benchmarks.audit.page import Line, page, too_many

ROOT = Path(__file__).parents[2]


def main(words: list[str] | None = None) -> None:
    """Count what is missing and write the page."""
    told = _arguments(words)
    every = all_cells()
    cells = [cell for cell in every if told.only in cell.name]
    ledger = Ledger(told.ledger)
    began, searches, counter = time.monotonic(), 0, Counter()
    for cell, piece in turns(ledger, cells, told.share):
        if time.monotonic() - began > 60 * told.minutes:
            print("The time is up: the same command goes on from here.", flush=True)
            break
        ledger.add(cell, piece, *counter.count(cell, piece))
        searches += len(piece)
        so_far = ledger.count(cell)
        minutes = (time.monotonic() - began) / 60
        failed = f"{so_far.failures} of {so_far.searches} failed"
        print(f"{minutes:6.1f} min {searches:7,} searches | {cell.name}: {failed}", flush=True)
    ledger = Ledger(told.ledger)  # others may have counted meanwhile
    if told.pack:
        ledger.pack()
    lines = [Line(cell, ledger.count(cell), ledger.earlier(cell)) for cell in every]
    told.page.write_text(page(lines), encoding="utf-8")
    print(f"Written: {told.page}")
    if wrong := too_many(lines):
        sys.exit("\n".join(wrong))


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("benchmarks.audit", description=__doc__)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--share", type=float, default=1.0, help="count this share of all searches")
    parser.add_argument("--only", default="", help="only cells whose name holds this text")
    parser.add_argument(
        "--ledger", type=Path, default=Path(__file__).with_name("counts.jsonl"), help="where counts are kept"
    )
    parser.add_argument(
        "--pack", action="store_true", help="make that file small; nobody else may be counting"
    )
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "audit.md", help="the page to write")
    return parser.parse_args(words)


if __name__ == "__main__":
    main()

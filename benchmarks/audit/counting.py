"""Counts that are kept piece by piece, so that an audit that was stopped goes on where it was.

A piece is a few searches of one cell. What it gave is written at once. The seed of a search follows from the
cell's name and its number alone, so pieces can be counted in any order, and again. Pieces that another
version of the code has counted are set aside.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.audit.cells import Cell

CONFIDENCE = 0.99
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Count:
    """How many of how many searches promised too much."""

    searches: int = 0
    failures: int = 0

    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's 99 % interval for the share that fails."""
        from scipy.stats import beta

        tail, n, k = (1 - CONFIDENCE) / 2, self.searches, self.failures
        low = float(beta.ppf(tail, k, n - k + 1)) if k else 0.0
        return low, float(beta.ppf(1 - tail, k + 1, n - k)) if k < n else 1.0


def code_digest() -> str:
    """Names the code that is audited, and the audit."""
    digest = hashlib.sha256()
    for folder in (_ROOT / "src" / "utilitune", Path(__file__).parent):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


class Ledger:
    """The counts of an audit, in a file with a line per piece.

    Args:
        path: The file.
        digest: The code that counts; lines of another one are left out.
    """

    def __init__(self, path: Path, digest: str) -> None:
        self.path, self.digest = path, digest
        self._pieces: dict[str, dict[int, Count]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._read(line)

    def _read(self, line: str) -> None:
        try:
            piece = json.loads(line)
            if piece["digest"] == self.digest:
                count = Count(piece["searches"], piece["failures"])
                self._pieces.setdefault(piece["cell"], {})[piece["first"]] = count
        except (ValueError, KeyError):  # the last line of an audit that was killed
            return

    def count(self, cell: Cell) -> Count:
        """What is known of a cell."""
        pieces = self._pieces.get(cell.name, {}).values()
        return Count(sum(each.searches for each in pieces), sum(each.failures for each in pieces))

    def missing(self, cell: Cell, searches: int) -> Iterator[range]:
        """The pieces of a cell that nobody has counted, as numbers of searches."""
        known = self._pieces.get(cell.name, {})
        for first in range(0, searches, cell.piece):
            end = min(first + cell.piece, searches)
            counted = sum(
                count.searches for start, count in known.items() if first <= start < first + cell.piece
            )
            if first + counted < end:
                yield range(first + counted, end)

    def add(self, cell: Cell, piece: range, failures: int) -> None:
        """Keep what a piece gave."""
        self._pieces.setdefault(cell.name, {})[piece.start] = Count(len(piece), failures)
        line = {"digest": self.digest, "cell": cell.name, "first": piece.start}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "searches": len(piece), "failures": failures}) + "\n")


def count_piece(cell: Cell, piece: range) -> int:
    """How many searches of a piece promised too much."""
    name = zlib.crc32(cell.name.encode())
    return sum(bool(cell.search(np.random.default_rng([number, name]))) for number in piece)


def turns(ledger: Ledger, cells: Sequence[Cell], share: float) -> Iterator[tuple[Cell, range]]:
    """Missing pieces, one of each cell in turn, so that all have some when the time is up."""
    waiting = {
        cell.name: (cell, ledger.missing(cell, max(1, round(share * cell.searches)))) for cell in cells
    }
    while waiting:
        for name, (cell, pieces) in list(waiting.items()):
            piece = next(pieces, None)
            if piece is None:
                del waiting[name]
            else:
                yield cell, piece

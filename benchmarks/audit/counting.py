"""Counts that are kept piece by piece, so that an audit that was stopped goes on where it was.

A piece is a few searches of one cell. What it gave is written at once, with the modules that its searches
used. The seed of a search follows from the cell's name and its number alone, so pieces can be counted in any
order, and again. A piece counts as long as none of its modules has changed; those that were counted with
earlier code are told apart.
"""

from __future__ import annotations

import functools
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.audit.footprints import digest_of, watched
from benchmarks.audit.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from benchmarks.audit.cells import Cell

CONFIDENCE = 0.99
_WATCHED_AT_FIRST = 3
_WATCHED_LATER = 1


@dataclass(frozen=True)
class Count:
    """How many of how many searches promised too much.

    Attributes:
        searches: How many searches.
        failures: How many promised too much.
        tried: Of how many it is known whether the worst answer would have been caught.
        caught: In how many of these it would have been.
    """

    searches: int = 0
    failures: int = 0
    tried: int = 0
    caught: int = 0

    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's 99 % interval for the share that fails."""
        from scipy.stats import beta

        tail, n, k = (1 - CONFIDENCE) / 2, self.searches, self.failures
        low = float(beta.ppf(tail, k, n - k + 1)) if k else 0.0
        return low, float(beta.ppf(1 - tail, k + 1, n - k)) if k < n else 1.0

    def __add__(self, other: Count) -> Count:
        return Count(
            self.searches + other.searches,
            self.failures + other.failures,
            self.tried + other.tried,
            self.caught + other.caught,
        )


NOTHING = Count()


class Ledger:
    """The counts of an audit, in a file with a line per piece.

    Several processes may write into one file, and see what the others wrote when they start.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._present: dict[str, dict[int, Count]] = {}
        self._modules: dict[str, list[str]] = {}
        self._code: dict[tuple[str, int], str] = {}
        self._earlier: dict[str, dict[str, dict[int, Count]]] = {}
        self._known: dict[str, bool] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self._cut = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            self._read(line)

    def _read(self, line: str) -> None:
        try:
            piece = json.loads(line)
            code = piece["code"]
            if "modules" in piece:
                self._known[code] = digest_of(piece["modules"]) == code
                self._modules[code] = piece["modules"]
                return
            told = (piece.get(name, 0) for name in ("searches", "failures", "tried", "caught"))
            count = Count(*told)
            if self._known[code]:
                self._present.setdefault(piece["cell"], {})[piece["first"]] = count
                self._code[piece["cell"], piece["first"]] = code
            else:
                versions = self._earlier.setdefault(piece["cell"], {})
                versions.setdefault(code, {})[piece["first"]] = count
        except (ValueError, KeyError):  # the last line of an audit that was killed
            return

    def count(self, cell: Cell) -> Count:
        """What the present code is known to do in a cell."""
        return sum(self._present.get(cell.name, {}).values(), NOTHING)

    def earlier(self, cell: Cell) -> Count:
        """What earlier code was counted to do: the version with the most searches."""
        versions = [sum(pieces.values(), NOTHING) for pieces in self._earlier.get(cell.name, {}).values()]
        return max(versions, key=lambda count: count.searches, default=NOTHING)

    def missing(self, cell: Cell, searches: int) -> Iterator[range]:
        """The pieces of a cell that nobody has counted, as numbers of searches."""
        known = self._present.get(cell.name, {})
        counted = {
            number for first, count in known.items() for number in range(first, first + count.searches)
        }
        for first in range(0, searches, cell.piece):
            rest = [
                number for number in range(first, min(first + cell.piece, searches)) if number not in counted
            ]
            if rest:
                yield range(rest[0], rest[-1] + 1)

    def add(self, cell: Cell, piece: range, count: Count, modules: Collection[str]) -> None:
        """Keep what a piece gave, and the modules that it used."""
        code = digest_of(modules)
        self._present.setdefault(cell.name, {})[piece.start] = count
        self._code[cell.name, piece.start] = code
        lines = []
        if code not in self._known:
            self._known[code] = True
            self._modules[code] = sorted(modules)
            lines.append(self._line_of_code(code))
        lines.append(_line_of_piece(code, cell.name, piece.start, count))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" * self._cut + "".join(lines))
        self._cut = False

    def pack(self) -> None:
        """Write the file anew: pieces that lie side by side as one, and of earlier code one version only.

        Nobody else may be counting meanwhile.
        """
        pieces: list[tuple[str, str, int, Count]] = []
        for name, known in self._present.items():
            pieces += _side_by_side([(self._code[name, at], name, at, known[at]) for at in sorted(known)])
        for name, versions in self._earlier.items():
            sums = {code: sum(found.values(), NOTHING) for code, found in versions.items()}
            best = max(sums, key=lambda code: sums[code].searches)
            pieces.append((best, name, 0, sums[best]))
        codes = dict.fromkeys(code for code, *_ in pieces)
        lines = [self._line_of_code(code) for code in codes] + [_line_of_piece(*each) for each in pieces]
        self.path.write_text("".join(lines), encoding="utf-8")

    def _line_of_code(self, code: str) -> str:
        return json.dumps({"code": code, "modules": self._modules[code]}) + "\n"


def _line_of_piece(code: str, cell: str, first: int, count: Count) -> str:
    told = {
        "code": code,
        "cell": cell,
        "first": first,
        "searches": count.searches,
        "failures": count.failures,
    }
    if count.tried:
        told |= {"tried": count.tried, "caught": count.caught}
    return json.dumps(told) + "\n"


def _side_by_side(pieces: list[tuple[str, str, int, Count]]) -> list[tuple[str, str, int, Count]]:
    """Pieces of one cell in their order; those that follow one another, by the same code, as one."""
    packed: list[tuple[str, str, int, Count]] = []
    for code, name, first, count in pieces:
        if packed and packed[-1][0] == code and packed[-1][2] + packed[-1][3].searches == first:
            packed[-1] = (code, name, packed[-1][2], packed[-1][3] + count)
        else:
            packed.append((code, name, first, count))
    return packed


class Counter:
    """Counts piece after piece, and remembers which modules the searches of a cell were seen to use."""

    def __init__(self) -> None:
        self._used: dict[str, frozenset[str]] = {}

    def count(self, cell: Cell, piece: range) -> tuple[Count, frozenset[str]]:
        """How many searches of a piece promised too much, and the modules that they used.

        Watching takes long, so only the first few searches are watched, and one of each later piece; a count
        rests on all that was ever seen.
        """
        name = zlib.crc32(cell.name.encode())
        count, used = NOTHING, self._used.get(cell.name, frozenset[str]())
        watching = _WATCHED_LATER if used else _WATCHED_AT_FIRST
        for place, number in enumerate(piece):
            search = functools.partial(cell.search, np.random.default_rng([number, name]))
            if place < watching:
                found, seen = watched(search)
                used |= seen
            else:
                found = search()
            count += _count_of(found)
        self._used[cell.name] = used
        return count, used


def _count_of(found: Verdict | bool) -> Count:
    """One search as a count."""
    caught = found.caught if isinstance(found, Verdict) else None
    return Count(1, int(bool(found)), int(caught is not None), int(bool(caught)))


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

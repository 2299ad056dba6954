"""docs/audit.md: what was counted, beside what may fail."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.audit.counting import NOTHING, Count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.audit.cells import Cell

_TEMPLATE = Path(__file__).with_suffix(".md")


@dataclass(frozen=True)
class Line:
    """What is known of a cell.

    Attributes:
        cell: The cell.
        present: What was counted with the present code.
        earlier: What was counted with earlier code.
    """

    cell: Cell
    present: Count
    earlier: Count = NOTHING

    @property
    def is_earlier(self) -> bool:
        """Whether more was counted with earlier code, so that this is what the page shows."""
        return self.earlier.searches > self.present.searches

    @property
    def shown(self) -> Count:
        """What the page shows."""
        return self.earlier if self.is_earlier else self.present

    def row(self) -> str:
        """As a row of the table."""
        cell, count = self.cell, self.shown
        start = f"| {cell.procedure} | {cell.setting}{' °' if self.is_earlier else ''} |"
        if not count.searches:
            return f"{start} not counted yet | | | | {cell.limit:g} | |"
        low, high = count.interval()
        return (
            f"{start} {count.searches} | {count.failures} | "
            f"{count.failures / count.searches:.4f} | {low:.4f} – {high:.4f} | {cell.limit:g} | "
            f"{self._caught()} |"
        )

    def _caught(self) -> str:
        """How often the worst answer would have been caught, as far as that was looked at."""
        counts = [count for count in (self.shown, self.present, self.earlier) if count.tried]
        return f"{100 * counts[0].caught / counts[0].tried:.0f} %" if counts else "—"


def page(lines: Sequence[Line]) -> str:
    """The page as Markdown."""
    columns = "procedure | setting | searches | failed | share | 99 % interval | may fail (δ)"
    table = [
        f"| {columns} | worst answer caught |",
        "|---|---|---|---|---|---|---|---|",
        *(line.row() for line in lines),
    ]
    text = _TEMPLATE.read_text(encoding="utf-8")
    return text.replace("{table}", "\n".join(table)).replace("{summary}", _summary(lines))


def _summary(lines: Sequence[Line]) -> str:
    counted = [line for line in lines if line.shown.searches]
    if not counted:
        return "Nothing is counted yet."
    total = sum(line.shown.searches for line in counted)
    closest = max(counted, key=_used)
    full = sum(line.shown.searches >= line.cell.searches for line in lines)
    found = (
        f"In all {total:,} searches. We want {lines[0].cell.searches:,} in each line, and have them in "
        f"{full} of {len(lines)}. The line that comes closest to what it may is *{closest.cell.name}*, with "
        f"{100 * _used(closest):.0f} % of its δ."
    )
    if any(line.is_earlier for line in lines):
        again = sum((line.present for line in lines if line.is_earlier), NOTHING)
        found += (
            " Lines with ° were counted with earlier code: since then, something has changed in a module "
            "that their searches use. All others were counted with the present code, and so were "
            f"{again.searches:,} further searches of the lines with °, of which {again.failures} failed."
        )
    return found


def _used(line: Line) -> float:
    return line.shown.failures / line.shown.searches / line.cell.limit


def too_many(lines: Sequence[Line]) -> list[str]:
    """Cells that certainly fail more often than they may."""
    return [
        f"{line.cell.name}: {count.failures} of {count.searches} searches failed, δ = {line.cell.limit:g}"
        for line in lines
        for count in (line.present, line.earlier)
        if count.searches and count.interval()[0] > line.cell.limit
    ]

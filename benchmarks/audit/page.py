"""docs/audit.md: what was counted, beside what may fail."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.audit.cells import Cell
    from benchmarks.audit.counting import Count

_TEMPLATE = Path(__file__).with_suffix(".md")


def page(cells: Sequence[Cell], counts: Sequence[Count], code: str) -> str:
    """The page as Markdown.

    Args:
        cells: What was audited.
        counts: What was counted in each.
        code: Names the code that was audited.
    """
    lines = [
        "| procedure | setting | searches | failed | share | 99 % interval | may fail (δ) |",
        "|---|---|---|---|---|---|---|",
    ]
    for cell, count in zip(cells, counts, strict=True):
        if not count.searches:
            lines.append(f"| {cell.procedure} | {cell.setting} | not counted yet | | | | {cell.limit:g} |")
            continue
        low, high = count.interval()
        lines.append(
            f"| {cell.procedure} | {cell.setting} | {count.searches} | {count.failures} | "
            f"{count.failures / count.searches:.4f} | {low:.4f} – {high:.4f} | {cell.limit:g} |"
        )
    text = _TEMPLATE.read_text(encoding="utf-8")
    return text.replace("{table}", "\n".join(lines)).replace("{summary}", _summary(cells, counts, code))


def _summary(cells: Sequence[Cell], counts: Sequence[Count], code: str) -> str:
    total = sum(count.searches for count in counts)
    if not total:
        return "Nothing is counted yet."
    share, name = max(
        (count.failures / count.searches / cell.limit, cell.name) for cell, count in _counted(cells, counts)
    )
    return (
        f"In all {total:,} searches of the code with the fingerprint {code}. The line that comes closest to "
        f"what it may is *{name}*, with {100 * share:.0f} % of its δ."
    )


def _counted(cells: Sequence[Cell], counts: Sequence[Count]) -> list[tuple[Cell, Count]]:
    return [(cell, count) for cell, count in zip(cells, counts, strict=True) if count.searches]


def too_many(cells: Sequence[Cell], counts: Sequence[Count]) -> list[str]:
    """Cells that certainly fail more often than they may."""
    return [
        f"{cell.name}: {count.failures} of {count.searches} searches failed, δ = {cell.limit:g}"
        for cell, count in _counted(cells, counts)
        if count.interval()[0] > cell.limit
    ]

"""Runs counted once: whoever looks again and again counts only what is new."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(slots=True)
class Counted:
    """Runs up to a sequence number, by how they ended and by configuration; no stored run ever changes.

    Attributes:
        last: The latest sequence number that is counted; -1 before the first.
        by_status: How many ended in a way.
        by_configuration: How many there are of a configuration.
    """

    last: int = -1
    by_status: Counter[str] = field(default_factory=Counter)
    by_configuration: Counter[int] = field(default_factory=Counter)

    def with_more(self, rows: Iterable[tuple[str, int, int, int]]) -> Counted:
        """The same, after these: status, configuration, how many, and the latest of them."""
        for status, configuration, count, last in rows:
            self.by_status[status] += count
            self.by_configuration[configuration] += count
            self.last = max(self.last, last)
        return self

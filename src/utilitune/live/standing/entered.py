"""Which configurations a promise compares, how many of them were run, and how many search has tried.

A promise speaks of the default, of what was given or drawn, and of what was nominated. A candidate of a
search that was tried and dropped is no part of it. In a small space a draw can repeat another configuration,
and a nominee can be a draw; each configuration counts once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from utilitune.spaces import Assignment
from utilitune.store.records import StoredOrigin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.store.base import StoreReader
    from utilitune.store.records import ConfigurationRecord


class Entered(NamedTuple):
    """Numbers of different configurations.

    Attributes:
        compared: Those that the promise compares.
        tried: Those of them that were run; some need no run to be compared.
        searched: Candidates of a search that were run, nominated or not; 0 where all of them were nominated,
            for then they are among those compared.
    """

    compared: int
    tried: int
    searched: int

    @classmethod
    def of(cls, store: StoreReader, records: Sequence[ConfigurationRecord]) -> Entered:
        """Those of a stored run.

        Args:
            store: The run.
            records: Its configurations, by number.
        """
        nominated, run = set(store.nominations()), store.runs_each()
        compared, tried = set[Assignment](), set[Assignment]()
        candidates = (each.index for each in records if each.origin is StoredOrigin.CANDIDATE)
        searched = [number for number in candidates if number in run]
        for record in records:
            if record.origin is not StoredOrigin.CANDIDATE or record.index in nominated:
                assignment = Assignment(record.assignment)
                compared.add(assignment)
                if record.index in run:
                    tried.add(assignment)
        return cls(len(compared), len(tried), 0 if nominated.issuperset(searched) else len(searched))

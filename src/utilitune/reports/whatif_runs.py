"""The runs from which `whatif` answers: those in a row, for bands, and all of them, for what is certain.

A band needs the runs of a configuration on instances in their order without gaps. On a list, counting needs
no order: every run there is bounds the sum over the list, whoever asked for it and why (docs/theory.md,
section 8.2). That matters after a search. Its candidates are run here and there, and were chosen by looking
at outcomes, so what is certain is all there is to say of them.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.procedures.bounds.every_utility import CensoredRuns, UtilityBands
from utilitune.procedures.pair_runtime import PairRuntime
from utilitune.spaces import Assignment
from utilitune.store import StoredOrigin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.store import ConfigurationRecord, RunRecord

    Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


class KnownRuns(NamedTuple):
    """What is known of the runs of one configuration.

    Attributes:
        in_a_row: From its first position on, up to the first that was never run.
        everywhere: All of them.
    """

    in_a_row: CensoredRuns
    everywhere: CensoredRuns

    @classmethod
    def of(
        cls, runtimes_s: NDArray[np.float64], watched_s: NDArray[np.float64], first_position: int
    ) -> KnownRuns:
        """Those of runtimes and times of watching, by position; 0 s where it was never run."""
        seen = np.isfinite(runtimes_s) | (watched_s > 0)
        gaps = np.flatnonzero(~seen[first_position:])
        end = first_position + int(gaps[0]) if gaps.size else seen.size
        finished = np.isfinite(runtimes_s)
        stop_s, row = np.where(finished, runtimes_s, watched_s), slice(first_position, end)
        return cls(
            CensoredRuns(stop_s[row], finished[row], first_position),
            CensoredRuns(stop_s[seen], finished[seen]),
        )


class KnownBands:
    """Bounds for every utility at once, by the runs in a row and, on a list, by all that is certain.

    Args:
        known: The runs of each configuration.
        shares: The share of δ of each; 0 where only what is certain counts.
        population: Number of instances whose mean is meant; 0 for the expectation over instances like these.
    """

    def __init__(self, known: Sequence[KnownRuns], shares: NDArray[np.float64], population: int = 0) -> None:
        bands = [UtilityBands([each.in_a_row for each in known], shares, population)]
        if population:
            nothing = np.zeros(len(known))
            bands.append(UtilityBands([each.everywhere for each in known], nothing, population))
        self._bands = bands

    def bounds(self, utility: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Bounds:
        """The lower and the upper bounds on mean utility, one entry per configuration."""
        lower, upper = zip(*(each.bounds(utility) for each in self._bands), strict=True)
        least = np.maximum.reduce(lower)
        return least, np.maximum(least, np.minimum.reduce(upper))


def known_to(evidence: LiveEvidence) -> Callable[[ConfigurationRecord], KnownRuns]:
    """What somebody has read of the runs of each configuration."""
    arrays = evidence.arrays

    def known(record: ConfigurationRecord) -> KnownRuns:
        if record.index >= len(arrays.base):
            return KnownRuns.of(np.zeros(0), np.zeros(0), record.first_position)
        start = int(arrays.base[record.index])
        cells = slice(start, start + int(arrays.room[record.index]))
        return KnownRuns.of(arrays.runtime_s[cells], arrays.known_s[cells], record.first_position)

    return known


class _Seen:
    """What is known of the runtimes of one configuration, by position; in as little memory as that takes."""

    __slots__ = ("runtimes_s", "watched_s")

    def __init__(self) -> None:
        self.runtimes_s = array("d")
        self.watched_s = array("d")

    def take(self, position: int, told: PairRuntime) -> None:
        """Add what one run told."""
        missing = position + 1 - len(self.watched_s)
        if missing > 0:
            self.runtimes_s.extend(repeat(math.inf, missing))
            self.watched_s.extend(repeat(0.0, missing))
        known = PairRuntime(self.runtimes_s[position], self.watched_s[position]).then(told)
        self.runtimes_s[position], self.watched_s[position] = known.runtime_s, known.watched_s


def stored(records: Iterable[RunRecord]) -> Callable[[ConfigurationRecord], KnownRuns]:
    """What stored runs tell of each configuration."""
    known: defaultdict[int, _Seen] = defaultdict(_Seen)
    for record in records:
        request = record.request
        known[request.configuration].take(request.position, PairRuntime.of(request, record.outcome))

    def of(record: ConfigurationRecord) -> KnownRuns:
        seen = known[record.index]
        return KnownRuns.of(np.array(seen.runtimes_s), np.array(seen.watched_s), record.first_position)

    return of


def sharing_runs(configurations: Sequence[ConfigurationRecord]) -> list[ConfigurationRecord]:
    """The same, where a random draw that repeats one that was given or drawn goes by the number of that one.

    A draw is never run anew, and what is known of the first is known of it, too.
    """
    first: dict[Assignment, int] = {}
    found = []
    for record in configurations:
        number = record.index
        if not record.origin.searched:
            number = first.setdefault(Assignment(record.assignment), number)
        found.append(replace(record, index=number) if record.origin is StoredOrigin.RANDOM else record)
    return found

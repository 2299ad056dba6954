"""What runs made ahead of need have cost: the part of all seconds that was of use.

A run is of use once the search or the proof has looked at it, up to the captime that was needed. One worker
makes no others. With several, some runs turn out not to be needed, or not for so long.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utilitune.store.base import Store, StoreReader

FACT = "use of time"
"""The name under which the store keeps it."""

LEAST_SAID = 0.01
"""Below this share nothing is said: the first run that is needed has not ended, and others wait for it."""


@dataclass(frozen=True, slots=True)
class UseOfTime:
    """Seconds of runs, by the scenario's measure.

    Attributes:
        useful_s: In runs that were of use.
        all_s: In all runs.
    """

    useful_s: float
    all_s: float

    @property
    def share(self) -> float:
        """The part that was of use; runs that an earlier folder has paid for count as nothing here."""
        return min(1.0, self.useful_s / self.all_s) if self.all_s > 0 else 1.0

    @property
    def percent(self) -> str:
        """The share as a percentage, rounded down.

        >>> UseOfTime(99.9, 100.0).percent
        '99 %'
        """
        return f"{math.floor(100.0 * self.share)} %"

    @property
    def is_early(self) -> bool:
        """Whether too little has counted yet for the share to mean anything."""
        return self.share < LEAST_SAID

    def keep(self, store: Store) -> None:
        """Store it, in place of what was kept before."""
        store.keep_fact(FACT, f"{self.useful_s!r} {self.all_s!r}")

    @classmethod
    def read(cls, store: StoreReader) -> UseOfTime | None:
        """What is stored; None for a run by a single worker."""
        with contextlib.suppress(ValueError):
            useful_s, all_s = map(float, store.facts().get(FACT, "").split())
            return cls(useful_s, all_s)
        return None

    def sentence(self) -> str:
        """The same in words; nothing is called the whole that is not."""
        if self.share == 1.0:
            return "All seconds in runs were useful."
        if self.is_early:
            return "It is too early to say which part of the seconds in runs is useful."
        return (
            f"{self.percent} of the seconds in runs were useful; the rest went into runs that were made "
            "ahead of need to keep workers busy."
        )

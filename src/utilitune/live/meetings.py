"""The milestones at which search and proof wait for each other, and what passes between them there.

See `exploring` for the rule. A milestone follows from its number and from what the first look of search took,
so only the number is kept.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from utilitune.live.asker import Nominate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utilitune.live.choosing import Choice
    from utilitune.live.hunting import Hunt
    from utilitune.live.proof import Proof

FIRST_NOMINATION = 12.0
"""The first nomination comes when search has spent so many times what the first run of the default took."""

NOMINATION_GROWTH = 1.3
"""Every further one comes when search has spent so many times as much as at the one before."""

MEETINGS_ALONE = 6
"""At the first so many milestones search is offered nothing, so it may go so far before there is a proof."""

OFFERS = 2
"""So many of the proof's best draws are offered to search at every later milestone."""


def milestone_s(first_s: float, number: int) -> float:
    """The seconds of search at a milestone, from number 0; `first_s` is what its first look took."""
    return FIRST_NOMINATION * first_s * NOMINATION_GROWTH**number


class Meetings:
    """Where search and proof meet next, and what is nominated and offered when they do.

    Args:
        proof: The side that proves.
        hunt: The side that searches.
        choice: Who learns whom search holds to be the best.
        share: The share of search in the seconds in runs.
        stored: The configurations that were nominated in earlier starts, by number.

    Attributes:
        nominated: Whom search has nominated, by number.
        drawn: The random draws of the proof, by number.
    """

    def __init__(self, proof: Proof, hunt: Hunt, choice: Choice, share: float, stored: Sequence[int]) -> None:
        self.nominated: list[int] = []
        self.drawn: set[int] = set()
        self._proof, self._hunt, self._choice = proof, hunt, choice
        self._share = share
        self._stored = stored
        self._number: int | None = 0  # None once search has nothing left to look for
        self._offered: set[int] = set()

    @property
    def milestone_s(self) -> float:
        """The seconds of search at the next milestone; 0 before its first look, infinite after its end."""
        return math.inf if self._number is None else milestone_s(self._hunt.first_s, self._number)

    @property
    def search_waits(self) -> bool:
        """Whether search has come to the milestone, or has nothing left to look for."""
        return self._hunt.exhausted or 0.0 < self.milestone_s <= self._hunt.spent_s

    @property
    def limit_s(self) -> float:
        """How far the proof may go before the milestone is passed."""
        return self.milestone_s * (1.0 - self._share) / self._share

    def nomination(self, *, finished: bool) -> Nominate | None:
        """What is to be nominated where both sides have come to the milestone; if nothing, it is passed.

        Args:
            finished: Whether the proof has nothing left to do.
        """
        if not self.search_waits or (not finished and self._proof.spent_s < self.limit_s):
            return None
        best = self._best_now()
        if best is not None and self._proof.has_room_for_nominee(self._hunt.frontier):
            return Nominate(len(self.nominated) + 1, best)
        if self._number is not None:
            if self._number >= MEETINGS_ALONE:
                self._offer()
            self._number = None if self._hunt.exhausted else self._number + 1
        return None

    def _offer(self) -> None:
        """Let search try the proof's best draws: they were run anyway, and may be better than what it has."""
        for number in self._proof.best_draws(OFFERS):
            if number not in self._offered:
                self._offered.add(number)
                self._hunt.offer(number)

    def _best_now(self) -> int | None:
        """Search's best candidate if it is to be nominated; what an earlier start nominated is so once more.

        A random draw of the proof, or an earlier nominee, is judged by what the proof knows of it already.
        """
        best, place = self._hunt.nominee(), len(self.nominated)
        if best is None:
            return None
        if best in self.nominated or (best in self.drawn and not self._choice.proves_one):
            self._choice.note(best)
            return None
        return self._stored[place] if place < len(self._stored) else best

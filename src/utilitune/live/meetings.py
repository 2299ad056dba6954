"""How search and proof share the time: the milestones where they wait for each other, and what passes there.

See `exploring` for the rule. A milestone follows from its number and from what the first look of search took.

**A head start.** Before search has spent the time of a hundred runs of the default, it gets seven tenths of
the time, where its share is smaller: so early it finds much, and little can be proved anyway.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from utilitune.live.asker import Again, Join, Joining, Make, Nominate, Wanted, pair_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from utilitune.live.asker import Pair, Room
    from utilitune.live.choosing import Choice
    from utilitune.live.hunting import Hunt
    from utilitune.live.proof import Proof

FIRST_NOMINATION = 12.0
"""The first nomination comes when search has spent so many times what the first run of the default took."""

NOMINATION_GROWTH = 1.3
"""Every further one comes when search has spent so many times as much as at the one before."""

HEAD_START = 100.0
"""How many default runs search spends, in seconds, before it has to make do with its share."""

HEAD_SHARE = 0.7
"""Its share until then. On tasks for tuning, 72 runs each, this raised the score of the answer by .057 ± .024
at 250 default runs and by .055 ± .018 at 500, with 1.11 and 1.02 times the ε in the median."""

MEETINGS_ALONE = 6
"""At the first so many milestones search is offered nothing, so it may go so far before there is a proof."""

OFFERS = 2
"""So many of the proof's best draws are offered to search at every later milestone."""


def milestone_s(first_s: float, number: int) -> float:
    """The seconds of search at a milestone, from number 0; `first_s` is what its first look took."""
    return FIRST_NOMINATION * first_s * NOMINATION_GROWTH**number


class Shares(NamedTuple):
    """How much of the seconds in runs is search's.

    Attributes:
        usual: Its share.
        head_start: How many default runs it spends, in seconds, with `HEAD_SHARE` if that is more. 0 in runs
            that were begun by versions without it: what they have proved would have to wait for search.
    """

    usual: float
    head_start: float = 0.0

    def after(self, spent_s: float, default_run_s: float | None) -> float:
        """The share when search has spent so many seconds; only who times the default has a head start."""
        if self.head_start == 0.0 or default_run_s is None:
            return self.usual
        early = spent_s == 0.0 or spent_s < self.head_start * default_run_s
        return max(self.usual, HEAD_SHARE) if early else self.usual


class Passed(NamedTuple):
    """The last milestone.

    Attributes:
        search_s: The seconds of search there.
        proof_s: Those of the proof.
        share: The share of search from there to the next one. It is settled there, where both sides rest, so
            that it does not depend on who was quicker.
    """

    search_s: float
    proof_s: float
    share: float


class Stored(NamedTuple):
    """What was nominated in earlier starts.

    Attributes:
        configurations: The numbers of the configurations, the first nomination first.
        first_fresh: The first position behind all that shaped a nominee, by the number of its nomination.
        looked_at: The first position behind all that search had looked at by then, which is all that earlier
            versions kept.
    """

    configurations: Sequence[int]
    first_fresh: Mapping[int, int]
    looked_at: Mapping[int, int]


class Meetings:
    """Where search and proof meet next, and what is nominated and offered when they do.

    Args:
        proof: The side that proves.
        hunt: The side that searches.
        choice: Who learns whom search holds to be the best.
        shares: How much of the seconds in runs is search's.
        stored: What was nominated in earlier starts.

    Attributes:
        nominated: Whom search has nominated, by number.
        drawn: The random draws of the proof, by number.
    """

    def __init__(self, proof: Proof, hunt: Hunt, choice: Choice, shares: Shares, stored: Stored) -> None:
        self.nominated: list[int] = []
        self.drawn: set[int] = set()
        self._proof, self._hunt, self._choice = proof, hunt, choice
        self._shares = shares
        self._stored = stored
        self._number: int | None = 0  # None once search has nothing left to look for
        self._passed = Passed(0.0, 0.0, shares.after(0.0, hunt.default_run_s))
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
        search_s, proof_s, share = self._passed
        return proof_s + (self.milestone_s - search_s) * (1.0 - share) / share

    def go_on_searching(self, *, proof_is_over: bool) -> Again | Nominate | Join | None:
        """Let search go on with what is known, past every milestone where both sides have come to it.

        Args:
            proof_is_over: Whether the proof has nothing left to do.

        Returns:
            What search asks for before anything else: time to think, a nomination, new configurations. None
            if it asks for runs alone.
        """
        milestone_s = -1.0
        while milestone_s != self.milestone_s:
            milestone_s = self.milestone_s
            candidates = () if self.search_waits else self._hunt.go_on(milestone_s)
            if candidates is None:
                return Again()
            if candidates:
                return Join(tuple(Joining(each) for each in candidates))
            if (nomination := self._nomination(proof_is_over=proof_is_over)) is not None:
                return nomination
        return None

    def together(self, room: Room, proving: Make) -> Make:
        """The runs of both sides, first of the one that has had less than its share of the seconds."""
        found = [] if self.search_waits else self._hunt.requests(room.slots)
        searching = [Wanted(request, ahead=place > 0) for place, request in enumerate(found)]
        search_s, proof_s, share = self._passed
        behind = (self._hunt.spent_s - search_s) * (1.0 - share) <= (self._proof.spent_s - proof_s) * share
        timeless = self._hunt.spent_s == 0.0 < self._hunt.first_s  # no run takes time: nothing can be found
        first, second = (proving.runs, searching) if timeless or not behind else (searching, proving.runs)
        runs = _distinct([*first[:1], *second[:1], *first[1:], *second[1:]], room.under_way)
        searched = set(map(pair_of, found))
        return Make(runs, enough=[each for each in proving.enough if pair_of(each) not in searched])

    def _nomination(self, *, proof_is_over: bool) -> Nominate | None:
        """What is to be nominated where both sides have come to the milestone; if nothing, it is passed."""
        if not self.search_waits or (not proof_is_over and self._proof.spent_s < self.limit_s):
            return None
        self._proof.look_beside(self._hunt.new_looks())
        best, number = self._best_now(), len(self.nominated) + 1
        if best is not None and self._proof.has_room_for_nominee(self.first_fresh(number)):
            return Nominate(number, best, self.first_fresh(number))
        if self._number is not None:
            if self._number >= MEETINGS_ALONE:
                self._offer()
            share = self._shares.after(self.milestone_s, self._hunt.default_run_s)
            self._passed = Passed(self.milestone_s, self.limit_s, share)
            self._number = None if self._hunt.exhausted else self._number + 1
        return None

    def first_fresh(self, number: int) -> int:
        """The first position behind all that shaped a nominee, now or in an earlier start.

        What an earlier start has nominated is judged from the position from which it was judged then.
        """
        stored, looked_at = self._stored, self._hunt.frontier
        if number <= len(stored.configurations):
            if number in stored.first_fresh:
                return stored.first_fresh[number]
            looked_at = stored.looked_at.get(number, looked_at)
        return self._proof.first_fresh(looked_at)

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
        stored = self._stored.configurations
        return stored[place] if place < len(stored) else best


def _distinct(wanted: Iterable[Wanted], under_way: Iterable[Pair]) -> list[Wanted]:
    """Each pair once, without those under way."""
    found: dict[Pair, Wanted] = {}
    busy = set(under_way)
    for each in wanted:
        if pair_of(each.request) not in busy:
            found.setdefault(pair_of(each.request), each)
    return list(found.values())

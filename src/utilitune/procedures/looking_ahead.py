"""What to run next with many workers: what is needed, then what is likely to be needed.

An engine names one run that its next step cannot do without. To keep more workers busy it also names runs
that it is likely to need (`Engine.likely`), the most likely first. Naming them takes time, so a list is used
until it is too old. This decides only which runs are made, never what they prove.

Three rules keep useless runs few:

- **No more guesses than facts.** With n runs known, at most `FEWEST_BEGUN` + n/5 are under way. Guesses that
  rest on a few runs are bad ones: nobody good is known yet, so captimes are too long.
- **A list grows old** by what is heard: it is made anew when an eighth of all workers have brought a result.
- **Looking ahead must not keep the coordinator from its work**: it takes at most a fifth of its time,
  a few rounds for each list aside.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from utilitune.domain import RunRequest
    from utilitune.procedures.engine import BegunRun, Engine
    from utilitune.procedures.evidence import LiveEvidence

FEWEST_BEGUN = 32
"""So many runs may be under way before any is known."""

BEGUN_PER_KNOWN = 0.2
"""How many more may be under way for each run that is known."""

OLD_AFTER = 8
"""A list is old when this part of all workers has brought a result since it was made."""

ROUND_S = 20e-6
"""About what a round of looking ahead takes, in seconds."""

FREE_ROUNDS = 16
"""So many rounds of looking ahead are always made: with few workers a list takes no more than that."""

TIME_SHARE = 0.2
"""The part of the coordinator's time that looking ahead may take."""


class NextRuns(NamedTuple):
    """What to do next.

    Attributes:
        needed: Runs to be begun that the engine cannot go on without.
        ahead: Runs to be begun that it is likely to need, the most likely first.
        enough: Needed runs that are under way up to a longer captime: they may end at this one.
    """

    needed: list[RunRequest]
    ahead: list[RunRequest]
    enough: list[RunRequest]


class Begun(Protocol):
    """The runs under way, in the engine's terms."""

    def __len__(self) -> int:
        """How many there are."""

    def captime_of(self, configuration: int, position: int) -> float | None:
        """Up to which captime a run is under way; None if it is not."""

    def runs(self) -> list[BegunRun]:
        """All of them."""


class LookAhead:
    """Says what to run next.

    Args:
        engine: The procedure that works on the evidence.
        evidence: What it reads.
    """

    def __init__(self, engine: Engine, evidence: LiveEvidence) -> None:
        self._engine = engine
        self._evidence = evidence
        self._listed: deque[RunRequest] = deque()
        self._heard = 0
        self._listed_at = 0
        self._listed_for = 0
        self._next_at_s = -math.inf

    def hear(self) -> None:
        """A run has ended, and the evidence knows of it."""
        self._heard += 1

    def next_runs(self, slots: int, begun: Begun, now_s: float) -> NextRuns:
        """What to begin now, and what may end.

        Args:
            slots: How many runs can be under way together.
            begun: Those that are.
            now_s: The time on any clock, in seconds.
        """
        found = NextRuns([], [], [])
        for each in self._evidence.lacking(self._engine.needed()):
            captime_s = begun.captime_of(each.configuration, each.position)
            if captime_s is None:
                found.needed.append(each)
            elif self._evidence.imaginable and captime_s > each.captime_s:
                found.enough.append(each)
        most = min(slots, int(FEWEST_BEGUN + BEGUN_PER_KNOWN * self._heard))
        room = most - len(begun) - len(found.needed)
        if room > 0:
            self._renew(most, slots, begun, now_s)
            self._take(room, found, begun)
        return found

    def _renew(self, most: int, slots: int, begun: Begun, now_s: float) -> None:
        """Make the list anew if it is used up or old and there is time for it, or if it is too short."""
        new = self._heard - self._listed_at
        is_old = new > 0 and (not self._listed or new >= slots // OLD_AFTER) and now_s >= self._next_at_s
        if not is_old and slots <= self._listed_for:
            return
        before = self._engine.imagined_rounds
        likely = self._engine.likely(most, begun.runs())
        self._listed = deque(self._evidence.lacking(likely))
        self._listed_at, self._listed_for = self._heard, slots
        rounds = self._engine.imagined_rounds - before
        took_s = max(0, rounds - FREE_ROUNDS) * ROUND_S
        self._next_at_s = now_s + took_s * (1.0 - TIME_SHARE) / TIME_SHARE

    def _take(self, room: int, found: NextRuns, begun: Begun) -> None:
        """Take runs that are neither known, nor under way, nor needed; they stay listed until they are."""
        taken = {(each.configuration, each.position) for each in found.needed}
        while self._listed and len(found.ahead) < room:
            each = self._listed.popleft()
            pair = each.configuration, each.position
            known = self._evidence.knows(each)
            if pair not in taken and not known and begun.captime_of(*pair) is None:
                taken.add(pair)
                found.ahead.append(each)
        self._listed.extendleft(reversed(found.ahead))

"""What to run next with many workers: what is needed, then what is likely to be needed.

An engine names one run that its next step cannot do without. To keep more workers busy it also names runs
that it is likely to need (`Engine.likely`), the most likely first. Naming them takes time, so a list is used
until it is too old. This decides only which runs are made, never what they prove.

Which of them are begun is the user's choice (`Guesses`): those that are likely to be of use, or one for every
slot that is free. With the first, four rules keep useless seconds few:

- **No more guesses than facts.** With n runs known, at most `FEWEST_BEGUN` + n/10 are under way. Guesses that
  rest on a few runs are bad ones: nobody good is known yet, so captimes are too long.
- **A captime is guessed again while the run is under way.** With many workers a guess is begun with a longer
  captime than is expected (`Guess`), and ended at the one that the latest list says.
- **A list grows old** by what is heard: it is made anew when an eighth of all workers have brought a result,
  and one that is used up, when an eighth of the runs under way have ended.
- **Looking ahead must not keep the coordinator from its work**: it takes at most a fifth of its time,
  a few rounds for each list aside.

With the second, the first rule is left aside, the engine names less and less likely runs until there are
enough (`EverySlot`), and where it has no more of them to name, those it has named go on with their next
instances.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from utilitune.domain import Guesses, RunRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from utilitune.procedures.engine import BegunRun, Engine
    from utilitune.procedures.evidence import LiveEvidence

FEWEST_BEGUN = 16
"""So many runs may be under way before any is known."""

BEGUN_PER_KNOWN = 0.1
"""How many more may be under way for each run that is known."""

OLD_AFTER = 8
"""A list is old when one in so many workers has brought a result since it was made, or, where it is used up,
one in so many runs under way."""

ROUND_S = 20e-6
"""About what a round of looking ahead takes, in seconds."""

FREE_ROUNDS = 16
"""So many rounds of looking ahead are always made: with few workers a list takes no more than that."""

TIME_SHARE = 0.2
"""The part of the coordinator's time that looking ahead may take."""


MANY_SLOTS = 32
"""With more slots than this, guesses are begun with longer captimes than expected, and lists are longer than
this, so that an engine knows that not every slot must be filled."""

SPARE_SHARE = 0.5
"""Where every slot is to be filled, a list is longer than there are slots by so much: runs end while it is in
use."""

LATE_SHARE = 0.5
"""A run that goes on for so much longer than it was to be ended at is one that nobody ends for us."""


@dataclass(frozen=True, slots=True)
class Guess(RunRequest):
    """A run that is likely to be needed up to `captime_s`, as far as can be said by now.

    Attributes:
        longest_s: The captime that it may be begun with, if it can be ended sooner.
    """

    longest_s: float


class EverySlot(tuple["BegunRun", ...]):
    """The runs under way, for an engine that shall name a run for every slot, likely or not.

    An engine that names as many as it can anyway need not tell it from any other sequence.
    """

    __slots__ = ()


class NextRuns(NamedTuple):
    """What to do next.

    Attributes:
        needed: Runs to be begun that the engine cannot go on without.
        ahead: Runs to be begun that it is likely to need, the most likely first.
        enough: Runs that are under way up to a longer captime than is needed or expected: they may end at
            this one.
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
        guesses: Which runs are made ahead of need.
    """

    def __init__(self, engine: Engine, evidence: LiveEvidence, guesses: Guesses = Guesses.USEFUL) -> None:
        self._engine = engine
        self._evidence = evidence
        self._guesses = guesses
        self._listed: deque[RunRequest] = deque()
        self._heard = 0
        self._listed_at = 0
        self._listed_for = 0
        self._next_at_s = -math.inf
        self._endings = Endings(evidence)
        self._last: dict[int, RunRequest] = {}

    def hear(self) -> None:
        """A run has ended, and the evidence knows of it."""
        self._heard += 1

    @property
    def fills(self) -> bool:
        """Whether every slot gets a run."""
        return self._guesses is Guesses.ALL

    def next_runs(self, slots: int, begun: Begun, now_s: float, *, waits: bool = False) -> NextRuns:
        """What to begin now, and what may end.

        Args:
            slots: How many runs can be under way together.
            begun: Those that are.
            now_s: The time on any clock, in seconds.
            waits: Whether the engine is not to go on for now, so that nothing is needed.
        """
        found = NextRuns([], [], [])
        for each in self._evidence.lacking([] if waits else self._engine.needed()):
            captime_s = begun.captime_of(each.configuration, each.position)
            if captime_s is None:
                found.needed.append(each)
            elif self._evidence.imaginable and captime_s > each.captime_s:
                found.enough.append(each)
        few = int(FEWEST_BEGUN + BEGUN_PER_KNOWN * self._heard)
        most = slots if self.fills else min(slots, few)
        room = most - len(begun) - len(found.needed)
        if room > 0 or slots > MANY_SLOTS:
            self._renew(most, slots, begun, now_s)
        if room > 0:
            self._take(room, found, begun)
        found.enough.extend(self._endings.due(begun, now_s))
        if slots > MANY_SLOTS and self._endings.are_heeded:
            found.ahead[:] = [self._endings.expect(each, now_s) for each in found.ahead]
        return found

    def _renew(self, most: int, slots: int, begun: Begun, now_s: float) -> None:
        """Make the list anew if it is used up or old and there is time for it, or if it is too short."""
        new = self._heard - self._listed_at
        bringing = slots if self._listed else len(begun)
        is_old = new >= max(1, bringing // OLD_AFTER) and now_s >= self._next_at_s
        if not is_old and slots <= self._listed_for:
            return
        before = self._engine.imagined_rounds
        under_way = begun.runs()
        listed = self._full(slots, under_way) if self.fills else self._few(most, slots, under_way)
        self._listed = deque(listed)
        self._endings.renew(self._listed, under_way, now_s)
        self._listed_at, self._listed_for = self._heard, slots
        rounds = self._engine.imagined_rounds - before
        took_s = max(0, rounds - FREE_ROUNDS) * ROUND_S
        self._next_at_s = now_s + took_s * (1.0 - TIME_SHARE) / TIME_SHARE

    def _few(self, most: int, slots: int, under_way: Sequence[BegunRun]) -> list[RunRequest]:
        """The runs that are likely to be of use; few slots are all filled, since guesses are good there."""
        if slots <= MANY_SLOTS:
            return self._evidence.lacking(self._engine.likely(most, EverySlot(under_way)))
        return self._evidence.lacking(self._engine.likely(max(most, MANY_SLOTS + 1), under_way))

    def _full(self, slots: int, under_way: Sequence[BegunRun]) -> list[RunRequest]:
        """A run for every slot and some to spare, those of the best expected use first."""
        count = slots + math.ceil(SPARE_SHARE * slots)
        named = self._engine.likely(count, EverySlot(under_way))
        return self._evidence.lacking([*named, *self._further(named, count - len(named))])

    def _further(self, named: Sequence[RunRequest], count: int) -> list[RunRequest]:
        """Up to `count` unknown runs on the next instances of those who were named, one of each in turn.

        Those named now come before those who were named for earlier lists.
        """
        for each in named:
            last = self._last.pop(each.configuration, each)
            position = max(each.position, last.position)
            self._last[each.configuration] = RunRequest(each.configuration, position, each.captime_s)
        now = dict.fromkeys(each.configuration for each in named)
        line = deque(self._last[each] for each in [*now, *(each for each in self._last if each not in now)])
        found: list[RunRequest] = []
        while line and len(found) < count:
            last = line.popleft()
            following = RunRequest(last.configuration, last.position + 1, last.captime_s)
            if following.position >= self._evidence.positions:
                continue
            if self._evidence.knows(following):
                line.appendleft(following)
            else:
                found.append(following)
                line.append(following)
        return found

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


class _Ending(NamedTuple):
    """When a run will have lasted as long as is expected of it."""

    at_s: float
    pair: tuple[int, int]
    captime_s: float


class Endings:
    """When the guesses under way have lasted as long as is expected of them.

    Some runs cannot be ended when we say so: those of a program that reports its own runtime, those that a
    user makes, and those whose CPU time lags behind the clock, which are lost if they are ended early. Where
    that is seen once, no more guesses are begun with longer captimes.

    Args:
        evidence: What is known.

    Attributes:
        are_heeded: Whether runs have ended where we said they may.
    """

    def __init__(self, evidence: LiveEvidence) -> None:
        self.are_heeded = True
        self._evidence = evidence
        self._expected: dict[tuple[int, int], _Ending] = {}
        self._heap: list[_Ending] = []
        self._said: dict[tuple[int, int], RunRequest] = {}

    def expect(self, guess: RunRequest, now_s: float) -> RunRequest:
        """The run to be begun now for a guess: it may last longer than is expected by now."""
        if not isinstance(guess, Guess):
            return guess
        pair = guess.configuration, guess.position
        self._expected[pair] = ending = _Ending(now_s + guess.captime_s, pair, guess.captime_s)
        heapq.heappush(self._heap, ending)
        return RunRequest(*pair, guess.longest_s)

    def renew(self, listed: Iterable[RunRequest], under_way: Iterable[BegunRun], now_s: float) -> None:
        """Take over what a new list expects of runs under way; of those not in it, what the last one did."""
        latest = {(each.configuration, each.position): each.captime_s for each in listed}
        before, self._expected = self._expected, {}
        for run in under_way:
            pair = run.configuration, run.position
            if pair in before:
                captime_s = latest.get(pair, before[pair].captime_s)
                self._expected[pair] = _Ending(now_s + captime_s - run.so_far_s, pair, captime_s)
        self._heap = list(self._expected.values())
        heapq.heapify(self._heap)

    def due(self, begun: Begun, now_s: float) -> list[RunRequest]:
        """The runs that have lasted long enough, and the one that will have next; none if nobody heeds it."""
        self._look_back(begun)
        found: list[RunRequest] = []
        if not self.are_heeded:
            return found
        kept: list[_Ending] = []
        while self._heap and (not kept or kept[-1].at_s <= now_s):
            ending = heapq.heappop(self._heap)
            begun_s = begun.captime_of(*ending.pair)
            if begun_s is None or begun_s <= ending.captime_s or self._expected[ending.pair] != ending:
                continue
            kept.append(ending)
            found.append(RunRequest(*ending.pair, ending.captime_s))
            if ending.at_s <= now_s:
                self._said.setdefault(ending.pair, found[-1])
                self.are_heeded &= now_s <= ending.at_s + LATE_SHARE * ending.captime_s
        for ending in kept:
            heapq.heappush(self._heap, ending)
        return found

    def _look_back(self, begun: Begun) -> None:
        """See whether the runs that we said may end were kept."""
        for pair in [pair for pair in self._said if begun.captime_of(*pair) is None]:
            self.are_heeded &= self._evidence.knows(self._said.pop(pair))

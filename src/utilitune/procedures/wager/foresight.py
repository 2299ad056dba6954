"""Which runs `wager` will need, found by playing on with imagined outcomes.

The loop goes on from where it stands, on a copy of its state. A run that nobody has made yet gets an imagined
outcome: a quantile of the estimated runtimes of its configuration, given how long it has been under way. The
unknown runs that this game chooses, in its order, are those that the real one is likely to choose: with the
captimes that will have been planned by then, of those who will lead by then, and none beyond the end of the
proof. The further a game goes, the more it rests on imagined outcomes. So it ends after a round
for each configuration (for `ROUNDS_AHEAD` of them at the most) and half as many more as were played in
earnest: while everybody waits for one long run, guesses must end somewhere.

Where every slot is to be filled (`EverySlot`), the game goes on until it has as many runs as are wanted, past
the ε that is asked for if need be: reality may fall behind it. What the rules above would leave out comes
after everything else.

Imagined outcomes stand in the evidence while the game is played and are taken out before it returns. They
decide which runs are made ahead of need, and nothing else: no bound is ever computed from them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain.compiled import compiled
from utilitune.procedures.evidence import LiveEvidence, is_known
from utilitune.procedures.looking_ahead import EverySlot, Guess
from utilitune.procedures.wager import tuning
from utilitune.procedures.wager.captimes import interval_of
from utilitune.procedures.wager.observation import run_index
from utilitune.procedures.wager.planning import finish_estimate
from utilitune.procedures.wager.rounds import choose, commit
from utilitune.procedures.wager.state import Play, has_room, with_longer_arena

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from utilitune.domain import RunRequest
    from utilitune.procedures.engine import BegunRun
    from utilitune.procedures.evidence import RecordedEvidence

ROUNDS_AHEAD = 200
ROUNDS_PER_ROUND = 0.5
"""A game goes on for at most one round for each configuration, or `ROUNDS_AHEAD` if that is less, and
`ROUNDS_PER_ROUND` · n more, with n the rounds played so far, where more than `FEW` runs are wanted. Rounds on
runs that are known already count: while a long run is waited for, guesses must not pile up on its imagined
outcome."""

FIRST_LEADS = 32
SURE_LEADS_PER_RUN = 3.0
LEADS_PER_RUN = 1.15
"""Runs of the leader are listed up to number `FIRST_LEADS` + `SURE_LEADS_PER_RUN` · m, with m the runs it has
had: somebody else may take the lead, and then the rest would be of no use. Where its aim will have been set
anew by then, which may be the end of its turn, `LEADS_PER_RUN` counts in place of the first number."""

NEW_LEADS_PER_RUN = 2.0
"""Runs of a configuration that leads in imagination only are listed up to number `tuning.LEADER_LEAST` +
`NEW_LEADS_PER_RUN` · m: most of those who take the lead do so by luck, and lose it after a few runs."""

OTHERS_AHEAD = 1
"""So many more runs of another configuration are listed than are known of it."""

LEVELS_LONGER = 2
"""By how many levels of captimes a guess may last longer than is expected of it, see `Guess`. A run that
turns out too short is repeated from the beginning, while one that turns out too long is ended in time."""

FEW = 32
"""Where no more runs are wanted than this and fewer are foreseen, those next in line make up for it."""

FULL_ROUNDS = 2000
FULL_ROUNDS_PER_RUN = 4
"""Where every slot is to be filled, a game goes on for at most `FULL_ROUNDS` + `FULL_ROUNDS_PER_RUN` · c
rounds, with c the runs that are wanted. Rounds on runs that are known take time and bring nothing."""

ENDLESS_ROUNDS = 1 << 60
"""A number of rounds that no game reaches."""

ROOM_AHEAD = 8
FULL_ROOM_AHEAD = 64
"""The evidence is given places for so many runs of a configuration more than twice as many as it has had; the
second number is for games that fill every slot."""

ENDED, NO_PLACE, NO_ARENA = range(3)
"""Why a game ended: it has found enough or is over; the evidence, or the arena, has no place for a run."""


class UnderWay(NamedTuple):
    """Runs under way as columns: whose, on which position, for how many seconds so far."""

    configuration: NDArray[np.int64]
    position: NDArray[np.int64]
    so_far_s: NDArray[np.float64]

    @classmethod
    def of(cls, begun: Sequence[BegunRun]) -> UnderWay:
        """The same as columns."""
        return cls(
            np.array([run.configuration for run in begun], dtype=np.int64),
            np.array([run.position for run in begun], dtype=np.int64),
            np.array([run.so_far_s for run in begun], dtype=np.float64),
        )


class Foreseen(NamedTuple):
    """What a game of imagination has found, the first one needed first.

    Attributes:
        configuration: Whose run.
        position: On which position.
        level: The level of its captime.
        why: Why the game ended; for `NO_PLACE`, the last run is the one without a place.
    """

    configuration: NDArray[np.int64]
    position: NDArray[np.int64]
    level: NDArray[np.int64]
    why: int

    def requests(self, captime_s: NDArray[np.float64]) -> dict[tuple[int, int], RunRequest]:
        """The runs to be made by pair; of one that was repeated in imagination, the first run.

        Args:
            captime_s: The captime of each level.
        """
        longest = np.minimum(self.level + LEVELS_LONGER, captime_s.size - 1)
        limits = captime_s[self.level].tolist(), captime_s[longest].tolist()
        found: dict[tuple[int, int], RunRequest] = {}
        for each in map(Guess, self.configuration.tolist(), self.position.tolist(), *limits):
            found.setdefault((each.configuration, each.position), each)
        return found


def make_room(evidence: LiveEvidence, arms: NDArray[np.void], ahead: int = ROOM_AHEAD) -> None:
    """Make room for as many runs of each arm as are likely to be imagined.

    Args:
        evidence: Where the room is made.
        arms: The arms, with the runs that each has had.
        ahead: How many more than twice as many runs get a place.

    A game that meets a run without a place begins anew, and with many workers there would be many such.
    """
    evidence.reserve(int(arms["row"].max()), 0)
    room = evidence.arrays.room
    wanted = np.minimum(arms["first"] + 2 * arms["runs"] + ahead, evidence.positions)
    for i in np.flatnonzero(wanted > room[arms["row"]]).tolist():
        evidence.reserve(int(arms["row"][i]), int(wanted[i]) - 1)


def copied(play: Play) -> Play:
    """A state to play on with; the evidence is shared."""
    standing = np.array([play.standing]).view(np.recarray)[0]
    half = play.levels_run
    return play._replace(
        arms=play.arms.view(np.uint8).copy().view(play.arms.dtype),  # field by field takes 20 times as long
        score=play.score.copy(),
        alone=play.alone.copy(),
        paired=play.paired.copy(),
        score_tree=play.score_tree.copy(),
        alone_tree=play.alone_tree.copy(),
        paired_tree=play.paired_tree.copy(),
        levels_run=np.concatenate([half, np.zeros_like(half)]),
        pooled=play.pooled.copy(),
        standing=standing,
    )


class Ledger(NamedTuple):
    """What was changed in the evidence, to be put back, and what was imagined of each configuration.

    Attributes:
        run: Where each change was made.
        before: Runtime, time watched and utility that stood there.
        changes: How many changes there were (one entry).
        imagined: How many runs of each arm were imagined.
        had: How many runs each arm had before the first of them.
    """

    run: NDArray[np.int64]
    before: NDArray[np.float64]
    changes: NDArray[np.int64]
    imagined: NDArray[np.int32]
    had: NDArray[np.int32]


class Start(NamedTuple):
    """Where a game begins.

    Attributes:
        present: How many configurations there are.
        leader: The arm that leads.
        next_aim_at: The round after which its aim is set anew.
        last_round: The round after which the game ends at the latest.
        fills: Whether as many runs are wanted as there are, likely or not.
    """

    present: int
    leader: int
    next_aim_at: int
    last_round: int
    fills: bool = False


@compiled
def _note(play: Play, ledger: Ledger, run: int) -> None:
    """Remember what stands in the evidence before it is changed."""
    number = ledger.changes[0]
    ledger.run[number] = run
    ledger.before[number, 0] = play.evidence.runtime_s[run]
    ledger.before[number, 1] = play.evidence.known_s[run]
    ledger.before[number, 2] = play.evidence.utility[run]
    ledger.changes[0] = number + 1


@compiled
def _put_back(play: Play, ledger: Ledger) -> None:
    """Leave the evidence as it was."""
    for number in range(ledger.changes[0] - 1, -1, -1):
        run = ledger.run[number]
        play.evidence.runtime_s[run] = ledger.before[number, 0]
        play.evidence.known_s[run] = ledger.before[number, 1]
        play.evidence.utility[run] = ledger.before[number, 2]


@compiled
def _has_place(play: Play, row: int, position: int) -> bool:
    """Whether the evidence has a place for a run."""
    evidence = play.evidence
    return bool(row < evidence.base.size and position < evidence.room[row if evidence.room.size > 1 else 0])


@compiled
def _watch(play: Play, ledger: Ledger, begun: UnderWay) -> None:
    """Let runs under way be known as far as they have come."""
    evidence = play.evidence
    for k in range(begun.position.size):
        row, position = begun.configuration[k], begun.position[k]
        if not _has_place(play, row, position):
            continue
        run = evidence.base[row] + evidence.column[position]
        if evidence.runtime_s[run] == math.inf and begun.so_far_s[k] > evidence.known_s[run]:
            _note(play, ledger, run)
            evidence.known_s[run] = begun.so_far_s[k]


@compiled
def _quantile(number: int) -> float:
    """The quantile of the imagined run with this number, from 1: 1/2, 1/4, 3/4, 1/8, 5/8, 3/8, 7/8 and so on.

    So a configuration with few runs is imagined as usual, neither as lucky nor as unlucky.
    """
    found, step = 0.0, 0.5
    while number > 0:
        found += step * (number % 2)
        number //= 2
        step /= 2.0
    return found


@compiled
def _imagine(play: Play, i: int, run: int, number: int) -> None:
    """Put the imagined outcome of the chosen run of arm i into the evidence, up to the chosen captime."""
    evidence, grid, chosen = play.evidence, play.grid, play.standing.chosen_level
    _, beyond = finish_estimate(play, i)
    level = interval_of(grid.captime_s, evidence.known_s[run])
    alive = beyond[level - 1] if level > 0 else 1.0
    threshold = alive * (1.0 - _quantile(number))
    while level <= chosen and beyond[level] > threshold:
        level += 1
    if level <= chosen:
        evidence.runtime_s[run] = grid.middle_s[level]
        evidence.utility[run] = grid.middle_utility[level]
    else:
        evidence.known_s[run] = grid.captime_s[chosen]


@compiled
def _is_likely(play: Play, ledger: Ledger, i: int, start: Start) -> bool:
    """Whether the next run of arm i, which nobody has made, is worth a guess."""
    runs, imagined = play.arms[i].runs, ledger.imagined[i]
    if i == play.standing.leader:
        if i != start.leader:
            return bool(runs < tuning.LEADER_LEAST + NEW_LEADS_PER_RUN * ledger.had[i])
        per_run = SURE_LEADS_PER_RUN if play.standing.rounds < start.next_aim_at else LEADS_PER_RUN
        return bool(runs < FIRST_LEADS + per_run * ledger.had[i])
    return bool(imagined <= runs - imagined + OTHERS_AHEAD)


@compiled
def _play_on(
    play: Play, start: Start, begun: UnderWay, ledger: Ledger, found: NDArray[np.int64]
) -> tuple[int, int]:
    """Play until as many runs were imagined as `found` has columns; how many are in it, and why it ended.

    What is not likely is left out, or put behind everything else where every slot is to be filled.
    """
    standing, have, imagined, why = play.standing, 0, 0, ENDED
    last = found.shape[1] - 1
    aside = 0
    _watch(play, ledger, begun)
    while imagined < found.shape[1]:
        proved = standing.answer_epsilon <= play.rules.epsilon
        if proved and not start.fills:
            break
        if standing.rounds >= start.last_round or not choose(play, start.present):
            break
        i, position, level = standing.chosen_arm, standing.chosen_position, standing.chosen_level
        if not has_room(play, i):
            why = NO_ARENA
            break
        row = play.arms[i].row
        if not is_known(play.evidence, row, position, play.grid.captime_s[level]):
            likely = not proved and _is_likely(play, ledger, i, start)
            if not _has_place(play, row, position):
                found[0, have], found[1, have], found[2, have] = row, position, level
                have, aside, why = have + 1, 0, NO_PLACE
                break
            if likely:
                found[0, have], found[1, have], found[2, have] = row, position, level
                have += 1
            elif start.fills:
                found[0, last - aside], found[1, last - aside], found[2, last - aside] = row, position, level
                aside += 1
            imagined += 1
            ledger.imagined[i] += 1
            run = run_index(play, i, position)
            _note(play, ledger, run)
            _imagine(play, i, run, ledger.imagined[i])
        commit(play, start.present)
    _put_back(play, ledger)
    found[:, have : have + aside] = found[:, last - aside + 1 :][:, ::-1].copy()
    return have + aside, why


def _start(play: Play, present: int, count: int, *, fills: bool) -> Start:
    """Where a game begins in which `count` runs are wanted."""
    standing = play.standing
    ahead = ENDLESS_ROUNDS
    if fills:
        ahead = FULL_ROUNDS + FULL_ROUNDS_PER_RUN * count
    elif count > FEW:
        ahead = min(present, ROUNDS_AHEAD) + int(ROUNDS_PER_ROUND * standing.rounds)
    last_round = int(standing.rounds) + ahead
    return Start(present, int(standing.leader), int(standing.next_aim_at), last_round, fills)


def foresee(play: Play, present: int, begun: UnderWay, count: int, *, fills: bool = False) -> Foreseen:
    """Play on until `count` unknown runs were imagined, ε is proved, nothing is left or it leads too far.

    Args:
        play: A copy of the state, see `copied`.
        present: How many configurations there are.
        begun: The runs under way.
        count: How many runs are imagined at the most.
        fills: Whether that many are wanted, likely or not.
    """
    size = count + begun.position.size
    ledger = Ledger(
        np.empty(size, dtype=np.int64),
        np.empty((size, 3)),
        np.zeros(1, dtype=np.int64),
        np.zeros(len(play.arms), dtype=np.int32),
        np.ascontiguousarray(play.arms["runs"]),
    )
    found = np.empty((3, count), dtype=np.int64)
    have, why = _play_on(play, _start(play, present, count, fills=fills), begun, ledger, found)
    return Foreseen(found[0, :have], found[1, :have], found[2, :have], why)


class Likely(NamedTuple):
    """What a look ahead has found.

    Attributes:
        play: The state in earnest, with more room where a game needed it.
        rounds: How many rounds were imagined.
        runs: The runs to be made by pair, the first one needed first.
        enough: Whether nobody else need be asked which runs are likely.
    """

    play: Play
    rounds: int
    runs: dict[tuple[int, int], RunRequest]
    enough: bool


def look_ahead(
    play: Play,
    evidence: LiveEvidence | RecordedEvidence,
    present: int,
    begun: Sequence[BegunRun],
    count: int,
) -> Likely:
    """Play on in imagination; where something outgrows its place, make more room and begin anew."""
    under_way, rounds, fills = UnderWay.of(begun), 0, isinstance(begun, EverySlot)
    if isinstance(evidence, LiveEvidence):
        make_room(evidence, play.arms[:present], FULL_ROOM_AHEAD if fills else ROOM_AHEAD)
    while True:
        play = play._replace(evidence=evidence.arrays)
        imagined = copied(play)
        found = foresee(imagined, present, under_way, count, fills=fills)
        rounds += int(imagined.standing.rounds - play.standing.rounds)
        if found.why == ENDED:
            runs = found.requests(play.grid.captime_s)
            return Likely(play, rounds, runs, len(runs) >= count or (count > FEW and not fills))
        if found.why == NO_ARENA:
            play = with_longer_arena(play)
        elif isinstance(evidence, LiveEvidence):
            evidence.reserve(int(found.configuration[-1]), int(found.position[-1]))
            if fills:  # others come near their limits, too
                make_room(evidence, imagined.arms[:present], FULL_ROOM_AHEAD)

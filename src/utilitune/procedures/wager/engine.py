"""`wager` as an engine: what lies around the compiled loop.

The loop in `rounds` plays with the configurations of one stage until the stage's ε is proved; this module
fills the stages, keeps what was proved about earlier ones, and says why it stopped. Everything the loop reads
lies in one `Play` tuple; its arrays are replaced by longer ones when configurations or runs outgrow them.
What is proved is said in `claims`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import PhaseRecord, RunRequest, StopReason
from utilitune.domain.stopping import (
    INSTANCES_EXHAUSTED,
    NOT_STOPPED,
    configurations_exhausted,
    epsilon_reached,
    instances_exhausted,
    one_left,
    phases_done,
)
from utilitune.errors import UsageError
from utilitune.procedures.engine import LINE_PER_RUN, Halt, Origin, PauseAt, runs_ahead
from utilitune.procedures.evidence import RecordedEvidence
from utilitune.procedures.growth import FixedSet, Phases
from utilitune.procedures.wager import rounds, tuning
from utilitune.procedures.wager.ahead import next_runs
from utilitune.procedures.wager.capital import refresh_upper
from utilitune.procedures.wager.claims import Claims
from utilitune.procedures.wager.foresight import look_ahead
from utilitune.procedures.wager.growth import Adaptive, next_stage
from utilitune.procedures.wager.leader import (
    note_equal,
    place,
    refresh_covered,
    settle,
    try_largest_lower,
)
from utilitune.procedures.wager.shares import shares_with
from utilitune.procedures.wager.state import with_longer_arena, with_room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from utilitune.procedures.engine import BegunRun
    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.procedures.wager.settings import WagerSettings
    from utilitune.utility import Utility

_NOTHING = (math.inf, 0.0)
"""ε and γ where nothing was proved yet."""


class WagerEngine(Claims):
    """The procedure `wager` at work.

    Args:
        evidence: The runs it reads.
        utility: The utility function.
        settings: What is promised, and how the set of configurations grows.
    """

    def __init__(
        self, evidence: RecordedEvidence | LiveEvidence, utility: Utility, settings: WagerSettings
    ) -> None:
        super().__init__(evidence, utility, settings)
        self.phases: list[PhaseRecord] = []
        self.imagined_rounds = 0
        self._stop: StopReason | None = None
        self._closed = False

    # -- growth ------------------------------------------------------------------------------------

    @property
    def missing_configurations(self) -> int:
        """How many random draws (or, for a fixed set, configurations) the current stage still lacks."""
        if self._closed or self._roster.has_whole_space:
            return 0
        return max(0, self._stage.draws - self._roster.draws)

    def shows_runs(self) -> WagerEngine:
        """This engine: what it promises follows from the runs it has looked at."""
        return self

    def takes_proposals(self) -> WagerEngine | None:
        """This engine, if its set of configurations grows; a fixed set has no place for proposals."""
        return None if isinstance(self.settings.growth, FixedSet) else self

    def add(
        self,
        origin: Origin = Origin.RANDOM,
        first_position: int = 0,
        *,
        configuration: int | None = None,
        order: NDArray[np.int32] | None = None,
    ) -> int:
        """Take in one more configuration.

        A random draw counts towards γ and is covered by ε, unless it repeats an earlier one. Others need not
        be ruled out but can be the answer: one that was given counts as drawn before the first instance, a
        nominee is judged along its own order, and one that a model proposed is judged on positions from
        `first_position` on only, or from `frontier` on if that is 0 (or, on a finite list, by what its runs
        add up to). One that an earlier start has proposed is judged from where it was judged then, even if
        that lies before the frontier of now: another beginning would spend its share of δ once more.
        """
        self._roster.check(origin, order)
        i = self.added
        if i >= len(self._play.arms):
            self._play = with_room(self._play, 2 * i)
        play, arms = self._play, self._play.arms
        row = i if configuration is None else configuration
        role = self._roster.join(origin, row)
        member = self._roster.given_member(row) if origin is Origin.RANDOM else None
        if member is not None:
            self._cover(member, role.rank)
            role = role._replace(rank=0, idle=True)
        arms["row"][i] = row
        arms["rank"][i], arms["weight"][i], arms["ungauged"][i], arms["idle"][i] = role
        if order is not None:
            arms["order"][i] = self._take_order(order)
        if origin is Origin.MODEL and not role.ungauged:
            arms["first"][i] = first_position or self.frontier
        if origin is Origin.GIVEN and self.settings.default and play.rules.default < 0:
            self._play = self._play._replace(rules=play.rules._replace(default=i))
        if not role.rank and not role.idle:
            play.standing.outsiders += 1
            if self._stop is not None and self._stop.code == INSTANCES_EXHAUSTED:
                self._stop = None  # the newcomer has runs left
        self.added += 1
        if i != play.standing.leader and row == arms["row"][play.standing.leader]:
            note_equal(play, i)
        place(self._play, i)
        if self._entered:
            settle(self._play)
        return i

    def ask_about(self, arm: int) -> None:
        """Something is to be proved of this arm: it is run as often as the leader, though it may be worse."""
        self._play = self._play._replace(rules=self._play.rules._replace(asked=arm))

    def _cover(self, i: int, rank: int) -> None:
        """Arm i, a given configuration, was drawn: from now on ε covers it."""
        play = self._play
        play.arms["rank"][i] = rank
        play.standing.outsiders -= 1
        if play.arms["runs"][i]:
            refresh_upper(play, i)
        place(play, i)

    def _take_order(self, order: NDArray[np.int32]) -> int:
        """Keep one more order; its number among them, from 1."""
        orders = self._play.orders
        taken = int(self._play.arms["order"][: self.added].max(initial=0))
        if taken == len(orders):
            longer = np.zeros((max(4, 2 * taken), orders.shape[1]), np.int32)
            longer[:taken] = orders
            self._play = self._play._replace(orders=longer)
        self._play.orders[taken] = order
        return taken + 1

    def no_more(self) -> None:
        """Play on with the configurations there are; phases that cannot be filled end the procedure."""
        if isinstance(self.settings.growth, Adaptive) and self._roster.draws:
            self._closed = True
            return
        have, need = self._roster.draws, self._stage.draws
        if self._stage.number == 1:
            raise UsageError(f"{need} configurations are needed to begin with, but there are only {have}")
        self._stop = configurations_exhausted(self._stage.number, need, have)

    def _enter(self) -> None:
        """Start to play with the configurations now present; no bound is reset."""
        self._entered = True
        draws = self._roster.draws
        if self._roster.has_whole_space and self._stage.gamma is not None:
            self._closed = isinstance(self.settings.growth, Adaptive)
            self._stage = replace(self._stage, draws=draws, gamma=0.0)
        elif self._closed and draws < self._stage.draws:
            gamma = self._grid.gamma_of_last(self._stage.number, draws)
            self._stage = replace(self._stage, draws=draws, gamma=gamma)
        self._play.standing.answer_epsilon = np.inf
        self._play.arms["proved"] = 1.0
        shares = shares_with(self._play.shares, draws, whole=self._roster.has_whole_space)
        if shares != self._play.shares:
            self._play = self._play._replace(shares=shares)
            refresh_covered(self._play, self.added)
        epsilon = self._stage_epsilon()
        last = epsilon == self.settings.epsilon
        planned = epsilon if last else epsilon * (tuning.STAGE_FOCUS + (1.0 - tuning.STAGE_FOCUS) * epsilon)
        rules = self._play.rules._replace(epsilon=epsilon, planned_epsilon=planned)
        self._play = self._play._replace(rules=rules)
        settle(self._play)

    def _stage_epsilon(self) -> float:
        """The ε at which the loop shall return."""
        wanted = -1.0 if self.settings.epsilon is None else self.settings.epsilon
        if self._closed or self._stage.gamma is None:
            return wanted
        if not self._covers_enough():
            return self._stage.epsilon
        growth = self.settings.growth
        if isinstance(growth, Adaptive):
            enough = growth.least_gamma if self.settings.gamma is None else self.settings.gamma
            if self._stage.gamma <= enough:
                return wanted
        return max(wanted, self._stage.epsilon)

    def _covers_enough(self) -> bool:
        """Whether γ is as small as asked for."""
        gamma, wanted = self._stage.gamma, self.settings.gamma
        return self._closed or wanted is None or gamma is None or gamma <= wanted

    # -- play --------------------------------------------------------------------------------------

    def advance(self, pause: PauseAt) -> Halt:
        """Play until something is missing, a limit is reached or the procedure is done."""
        while self._stop is None:
            if self.missing_configurations:
                return Halt.NEEDS_CONFIGURATIONS
            self._play = self._play._replace(evidence=self._evidence.arrays)
            if not self._entered:
                self._enter()
            state = rounds.advance(self._play, pause, self.added)
            if state == rounds.PAUSED:
                return Halt.PAUSED
            if state == rounds.UNKNOWN:
                return Halt.NEEDS_RUNS
            if state == rounds.FULL:
                self._play = with_longer_arena(self._play)
            else:
                self._conclude(state)
        return Halt.DONE

    def _conclude(self, state: int) -> None:
        """The loop has come to an end of some kind: stop, or go on to the next stage."""
        try_largest_lower(self._play, self.added, thorough=True)
        epsilon = float(self._play.standing.answer_epsilon)
        if state == rounds.PROVED and isinstance(self.settings.growth, Phases):
            self.phases.append(PhaseRecord.of(self._stage.number, self._progress_of_stage()))
        if self.settings.epsilon is not None and epsilon <= self.settings.epsilon and self._covers_enough():
            self._stop = epsilon_reached(self.settings.epsilon)
        elif state == rounds.EXHAUSTED:
            self._stop = instances_exhausted(self._evidence.positions, epsilon, self.captime_note())
        else:
            self._grow()

    def _grow(self) -> None:
        """Keep the promise of this stage if it is the best yet, and open the next stage."""
        following = next_stage(self.settings.growth, self._stage.number, self._grid)
        if following is None:
            self._stop = phases_done(self._stage.number)
            return
        (answer, epsilon), gamma = self._proved(), self._stage.gamma or 0.0
        if epsilon == 0.0 and self._roster.has_whole_space:
            self._stop = one_left(self._roster.draws)  # no phase can prove more
            return
        self._play.arms["proved"][answer] = epsilon
        for arm, proved in enumerate(self._play.arms["proved"][: self.added].tolist()):
            known = proved < 1.0 or arm == answer
            if known and self._worth(proved, gamma) < self._worth(*self._earlier.get(arm, _NOTHING)):
                self._earlier[arm] = (proved, gamma)
        best = self._earlier.get(-1 if self._kept is None else self._kept, _NOTHING)
        if self._worth(*self._earlier[answer]) < self._worth(*best):
            self._kept = answer
        self._stage = following
        self._entered = False

    # -- what to run ---------------------------------------------------------------------------------

    def needed(self) -> list[RunRequest]:
        """The one run the next round cannot do without."""
        standing, grid = self._play.standing, self._play.grid
        captime = float(grid.captime_s[standing.chosen_level])
        row = int(self._play.arms["row"][standing.chosen_arm])
        return [RunRequest(row, int(standing.chosen_position), captime)]

    def likely(self, count: int, begun: Sequence[BegunRun] = ()) -> list[RunRequest]:
        """The runs it would choose next if every unknown run ended as is expected of it.

        Where no outcome can be imagined, or few runs are wanted and fewer foreseen: next runs of the leader
        and of those who contribute most to ε, broad first, then deep.
        """
        found: dict[tuple[int, int], RunRequest] = {}
        if self._entered and (isinstance(self._evidence, RecordedEvidence) or self._evidence.imaginable):
            guesses = look_ahead(self._play, self._evidence, self.added, begun, count)
            self._play, found = guesses.play, guesses.runs
            self.imagined_rounds += guesses.rounds
            if guesses.enough:
                return list(found.values())
        following = next_runs(self._play, self.added, LINE_PER_RUN * count)
        for each in runs_ahead(self._evidence, following, count):
            found.setdefault((each.configuration, each.position), each)
        return list(found.values())[:count]

    def stop_reason(self) -> StopReason:
        """Why it is done."""
        return NOT_STOPPED if self._stop is None else self._stop

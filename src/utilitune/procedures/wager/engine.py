"""`wager` as an engine: books around the compiled loop.

The loop in `rounds` plays with the configurations of one stage until the stage's ε is proved; this module
fills the stages, keeps what was proved about earlier ones, and says why it stopped. Everything the loop reads
lies in one `Play` tuple; its arrays are replaced by longer ones when configurations or runs outgrow them.

All bounds hold for all times and all stages at once, so every pair (answer, ε) that was ever proved stays
proved. The one reported is the best of them: the smallest ε of the current stage, or an earlier promise whose
ε + w·γ is smaller still.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from utilitune.domain import PhaseRecord, Progress, RunRequest, StopReason
from utilitune.errors import UsageError
from utilitune.procedures.engine import LINE_PER_RUN, Halt, Origin, PauseAt, runs_ahead
from utilitune.procedures.paper import FixedSet, Phases
from utilitune.procedures.wager import rounds
from utilitune.procedures.wager.ahead import next_runs
from utilitune.procedures.wager.captimes import captime_grid, half_life_s
from utilitune.procedures.wager.growth import Adaptive, Stage, gamma_of_last, stage
from utilitune.procedures.wager.leader import place, settle
from utilitune.procedures.wager.shares import fixed_shares, growing_shares
from utilitune.procedures.wager.state import (
    AMOUNTS,
    ANSWER,
    ANSWER_EPSILON,
    ARM,
    CHOSEN_ARM,
    CHOSEN_LEVEL,
    CHOSEN_POSITION,
    COUNTERS,
    LEADER,
    OUTSIDERS,
    ROUNDS,
    RUNS,
    SERIOUS,
    TOTAL_S,
    Play,
    Rules,
    with_room,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.evidence import LiveEvidence, RecordedEvidence
    from utilitune.procedures.wager.settings import WagerSettings
    from utilitune.utility import Utility

_FIRST_ARENA = 1 << 12
_LOOK_AHEAD = 0.6  # a stage is played with the next ones in mind


class Observed(NamedTuple):
    """Runs as columns: whose, on which position, up to which captime."""

    configuration: NDArray[np.int64]
    position: NDArray[np.int64]
    captime_s: NDArray[np.float64]


class WagerEngine:
    """The procedure `wager` at work.

    Args:
        evidence: The runs it reads.
        utility: The utility function.
        settings: What is promised, and how the set of configurations grows.
    """

    def __init__(
        self, evidence: RecordedEvidence | LiveEvidence, utility: Utility, settings: WagerSettings
    ) -> None:
        self.settings = settings
        self.phases: list[PhaseRecord] = []
        self.added = 0
        self._draws = 0
        self._evidence = evidence
        self._stop: StopReason | None = None
        self._kept: tuple[int, float, float] | None = None
        self._closed = False
        self._entered = False
        self._stage = self._first_stage()
        self._play = self._new_play(utility)

    def _first_stage(self) -> Stage:
        first = stage(self.settings.growth, 1, self.settings.delta)
        if first is None or first.draws < 1:
            raise UsageError("a set of configurations needs at least one of them")
        return first

    def _new_play(self, utility: Utility) -> Play:
        """The state before the first run."""
        settings = self.settings
        half_life = half_life_s(utility)
        limit_s = settings.captime_limit_s
        first_s = min(half_life / 60.0, limit_s) if settings.captime0_s is None else settings.captime0_s
        grid = captime_grid(utility, first_s, limit_s)
        fixed = isinstance(settings.growth, FixedSet)
        size = self._stage.draws
        counters = np.zeros(COUNTERS, dtype=np.int64)
        counters[SERIOUS] = size
        nobody = np.zeros(0)
        no_tree = np.zeros(0, dtype=np.int32)
        play = Play(
            arms=np.zeros(0, dtype=ARM),
            score=nobody,
            alone=nobody,
            paired=nobody,
            score_tree=no_tree,
            alone_tree=no_tree,
            paired_tree=no_tree,
            levels_run=np.zeros(_FIRST_ARENA, dtype=np.uint8),
            evidence=self._evidence.arrays,
            grid=grid,
            shares=fixed_shares(settings.delta, size) if fixed else growing_shares(settings.delta),
            rules=Rules(
                population=self._evidence.positions if settings.finite_population else 0,
                positions=self._evidence.positions,
                resume=settings.resume,
                epsilon=-1.0,
                planned_epsilon=-1.0,
                half_life_s=half_life,
            ),
            pooled=np.zeros((2, len(grid.captime_s))),
            counters=counters,
            amounts=np.zeros(AMOUNTS),
        )
        return with_room(play, size)

    # -- growth ------------------------------------------------------------------------------------

    @property
    def missing_configurations(self) -> int:
        """How many random draws (or, for a fixed set, configurations) the current stage still lacks."""
        return 0 if self._closed else max(0, self._stage.draws - self._draws)

    @property
    def runs(self) -> int:
        """How many runs it has consumed."""
        return int(self._play.counters[RUNS])

    @property
    def time_each_s(self) -> NDArray[np.float64]:
        """Seconds spent on each configuration so far."""
        return self._play.arms["time_s"][: self.added].copy()

    @property
    def frontier(self) -> int:
        """The first position behind all runs consumed; a proposal may only be shaped by runs before it."""
        arms = self._play.arms
        return int((arms["first"][: self.added] + arms["runs"][: self.added]).max(initial=0))

    def observed(self) -> Observed:
        """Every run so far; one that was repeated counts once, with its last captime."""
        arms = self._play.arms[: self.added]
        counts = arms["runs"].astype(np.int64)
        offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        levels = self._play.levels_run[np.repeat(arms["block"], counts) + offset]
        return Observed(
            configuration=np.repeat(np.arange(self.added), counts),
            position=np.repeat(arms["first"], counts) + offset,
            captime_s=self._play.grid.captime_s[levels],
        )

    def add(self, origin: Origin = Origin.RANDOM, first_position: int = 0) -> int:
        """Take in one more configuration.

        A random draw counts towards γ and is covered by ε. Others need not be ruled out but can be the
        answer: one that was given counts as drawn before the first instance, one that a model proposed is
        judged on positions from `frontier` on only (or, on a finite list, by what its runs add up to), even
        if its `first_position` lies before.
        """
        i = self.added
        fixed = isinstance(self.settings.growth, FixedSet)
        if fixed and (origin is Origin.MODEL or self._draws >= self._stage.draws):
            raise UsageError(
                f"a fixed set of {self._stage.draws} configurations has no place for another one: "
                "let the set grow instead"
            )
        if i >= len(self._play.arms):
            self._play = with_room(self._play, 2 * i)
        arms = self._play.arms
        if origin is Origin.MODEL:
            if self.settings.finite_population:
                arms["ungauged"][i] = True
            else:
                arms["first"][i] = max(first_position, self.frontier)
        if fixed or origin is Origin.RANDOM:
            self._draws += 1
            arms["rank"][i] = arms["number"][i] = self._draws
        else:
            self._play.counters[OUTSIDERS] += 1
            arms["number"][i] = self._play.counters[OUTSIDERS]
        self.added += 1
        place(self._play, i)
        if self._entered:
            settle(self._play)
        return i

    def no_more(self) -> None:
        """Play on with the configurations there are; phases that cannot be filled end the procedure."""
        if isinstance(self.settings.growth, Adaptive) and self._draws:
            self._closed = True
            return
        have, need = self._draws, self._stage.draws
        if self._stage.number == 1:
            raise UsageError(f"{need} configurations are needed to begin with, but there are only {have}")
        self._stop = StopReason(
            "configurations-exhausted",
            f"Phase {self._stage.number} needs {need} configurations, but there are only {have}: bring more "
            "configurations, or accept the promise of the last phase.",
        )

    def _enter(self) -> None:
        """Start to play with the configurations now present; no bound is reset."""
        self._entered = True
        if self._closed and self._draws < self._stage.draws:
            gamma = gamma_of_last(self._stage.number, self._draws, self.settings.delta)
            self._stage = replace(self._stage, draws=self._draws, gamma=gamma)
        self._play.amounts[ANSWER_EPSILON] = np.inf
        epsilon = self._stage_epsilon()
        last = epsilon == self.settings.epsilon
        planned = epsilon if last else epsilon * (_LOOK_AHEAD + (1.0 - _LOOK_AHEAD) * epsilon)
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
            if not self._entered:
                self._enter()
            self._play = self._play._replace(evidence=self._evidence.arrays)
            state = rounds.advance(
                self._play, rounds.Limits(pause.rounds, pause.runs, pause.total_time_s), self.added
            )
            if state == rounds.PAUSED:
                return Halt.PAUSED
            if state == rounds.UNKNOWN:
                return Halt.NEEDS_RUNS
            if state == rounds.FULL:
                self._extend_arena()
            else:
                self._conclude(state)
        return Halt.DONE

    def _extend_arena(self) -> None:
        old = self._play.levels_run
        self._play = self._play._replace(levels_run=np.concatenate([old, np.zeros_like(old)]))

    def _conclude(self, state: int) -> None:
        """The loop has come to an end of some kind: stop, or go on to the next stage."""
        epsilon = float(self._play.amounts[ANSWER_EPSILON])
        if state == rounds.PROVED and isinstance(self.settings.growth, Phases):
            self.phases.append(PhaseRecord.of(self._stage.number, self._progress_of_stage()))
        if self.settings.epsilon is not None and epsilon <= self.settings.epsilon and self._covers_enough():
            self._stop = StopReason(
                "epsilon-reached",
                f"The target ε = {self.settings.epsilon:g} is proved: "
                "ask for a smaller ε to go on from here.",
            )
        elif state == rounds.EXHAUSTED:
            self._stop = StopReason(
                "instances-exhausted",
                f"All {self._evidence.positions} instances are used: add instances, or accept ε = "
                f"{epsilon:.3g}.{self.captime_note()}",
            )
        else:
            self._grow(epsilon)

    def _grow(self, epsilon: float) -> None:
        """Keep the promise of this stage if it is the best yet, and open the next stage."""
        following = stage(self.settings.growth, self._stage.number + 1, self.settings.delta)
        if following is None:
            self._stop = StopReason(
                "phases-done",
                f"All {self._stage.number} phases are done: ask for more phases to go on from here.",
            )
            return
        answer, gamma = int(self._play.counters[ANSWER]), self._stage.gamma or 0.0
        if self._kept is None or self._worth(epsilon, gamma) < self._worth(*self._kept[1:]):
            self._kept = (answer, epsilon, gamma)
        self._stage = following
        self._entered = False

    def _worth(self, epsilon: float, gamma: float) -> float:
        """What a promise is measured by when two are compared: ε + w·γ."""
        growth = self.settings.growth
        return epsilon + (growth.gamma_weight if isinstance(growth, Adaptive) else 1.0) * gamma

    # -- what to run ---------------------------------------------------------------------------------

    def needed(self) -> list[RunRequest]:
        """The one run the next round cannot do without."""
        counters, grid = self._play.counters, self._play.grid
        captime = float(grid.captime_s[counters[CHOSEN_LEVEL]])
        return [RunRequest(int(counters[CHOSEN_ARM]), int(counters[CHOSEN_POSITION]), captime)]

    def likely(self, count: int) -> list[RunRequest]:
        """Next runs of the leader and of those who contribute most to ε, broad first, then deep."""
        following = next_runs(self._play, self.added, LINE_PER_RUN * count)
        return runs_ahead(self._evidence, following, count)

    def _contributions(self) -> NDArray[np.float64]:
        """min(UCB_i − LCB_b, D_ib) for every configuration ε covers, −∞ for the others."""
        arms, leader = self._play.arms, int(self._play.counters[LEADER])
        present = slice(0, self.added)
        values = np.minimum(arms["upper"][present] - arms["lower"][leader], arms["apart"][present])
        return np.where(arms["rank"][present] > 0, values, -math.inf)

    # -- where it stands -------------------------------------------------------------------------------

    def progress(self) -> Progress:
        """The best proved answer so far, and what it has cost."""
        current = self._progress_of_stage()
        if self._kept is None:
            return current
        answer, epsilon, gamma = self._kept
        if self._entered and self._worth(current.epsilon, current.gamma or 0.0) <= self._worth(
            epsilon, gamma
        ):
            return current
        return replace(current, best_index=answer, epsilon=epsilon, gamma=gamma)

    def _progress_of_stage(self) -> Progress:
        counters, amounts = self._play.counters, self._play.amounts
        leader = int(counters[LEADER])
        in_play = self._contributions() > 0.0
        if self.added:
            in_play[leader] = True
        proved = float(amounts[ANSWER_EPSILON]) if self._entered else 1.0
        return Progress(
            best_index=int(counters[ANSWER]),
            epsilon=min(1.0, proved),
            gamma=self._stage.gamma,
            delta=self.settings.delta,
            total_time_s=float(amounts[TOTAL_S]),
            runs=int(counters[RUNS]),
            rounds=int(counters[ROUNDS]),
            configurations=self.added,
            alive=int(in_play.sum()),
        )

    def stop_reason(self) -> StopReason:
        """Why it is done."""
        if self._stop is None:
            return StopReason("not-stopped", "The procedure is still at work.")
        return self._stop

    def captime_note(self) -> str:
        """A sentence where the largest captime limits what can be proved, else nothing."""
        grid, arms = self._play.grid, self._play.arms
        last = len(grid.captime_s) - 1
        answer = int(self._play.counters[ANSWER])
        worth = float(grid.utility[last]) - grid.floor
        if not self.added or arms["level"][answer] < last or worth <= 0 or not arms["runs"][answer]:
            return ""
        lost = float(arms["most"][answer] - arms["least"][answer]) / int(arms["runs"][answer])
        if lost <= 0:
            return ""
        return (
            f" Runs are not known beyond {grid.captime_s[last]:g} s, where an answer is still worth "
            f"{worth:.3g} more than none: {lost:.3g} of this configuration's mean utility is uncertain."
        )

"""UP, OUP and COUP as one engine: a composition of bound, captime rule, selection and growth.

The compiled loop plays the rounds. This module keeps track of the rest: which configurations are in play, in
which phase, and why it stopped. `up`, `oup` and `coup` at the end pick the parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import (
    PhaseRecord,
    Progress,
    RunRequest,
    StopReason,
    require_delta,
    require_positive,
    require_probability,
)
from utilitune.domain.compiled import new_record
from utilitune.domain.stopping import (
    NOT_STOPPED,
    configurations_exhausted,
    epsilon_reached,
    instances_exhausted,
    one_left,
    phases_done,
)
from utilitune.errors import UsageError
from utilitune.procedures.bounds.hoeffding import phase_width_scale, width_scale
from utilitune.procedures.captime import Doubling, captime_levels
from utilitune.procedures.engine import LINE_PER_RUN, LOOK_AHEAD, Halt, NextRuns, Origin, PauseAt, runs_ahead
from utilitune.procedures.growth import FixedSet, Phases, least_gamma
from utilitune.procedures.paper import loop
from utilitune.procedures.paper.arms import extended, new_arms
from utilitune.procedures.selection import Selection, build_tournament

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from utilitune.procedures.engine import BegunRun
    from utilitune.procedures.evidence import LiveEvidence, RecordedEvidence
    from utilitune.procedures.growth import Phase, Schedule
    from utilitune.utility import Utility


@dataclass(frozen=True, slots=True)
class PaperSettings:
    """What UP, OUP and COUP have in common.

    Attributes:
        delta: Probability with which the promise may fail.
        epsilon: Stop once the answer is proved within this of the best; None to go on.
        doubling: Captime-doubling rule.
        captime0_s: First captime.
        captime_limit_s: Largest captime that may be asked for.
        resume: Whether a capped run is continued (pays the extra seconds) rather than restarted.
        gamma: COUP: do not stop for ε before the promise covers all but this fraction of the space.
    """

    delta: float
    epsilon: float | None = None
    doubling: Doubling = Doubling.NEW
    captime0_s: float = 1.0
    captime_limit_s: float = math.inf
    resume: bool = False
    gamma: float | None = None

    def __post_init__(self) -> None:
        require_delta(self.delta)
        require_positive("the first captime", self.captime0_s)
        if self.epsilon is not None:
            require_probability("epsilon", self.epsilon)


class PaperEngine:
    """One of the paper's procedures at work; `up`, `oup` and `coup` build it."""

    def __init__(
        self,
        evidence: RecordedEvidence | LiveEvidence,
        utility: Utility,
        settings: PaperSettings,
        selection: Selection,
        growth: FixedSet | Phases,
    ) -> None:
        self.settings = settings
        self.levels = captime_levels(utility, settings.captime0_s, settings.captime_limit_s)
        self.arms = new_arms(0)
        self.phases: list[PhaseRecord] = []
        self._evidence = evidence
        self._selection = selection
        self._growth = growth
        self._phase: Phase | None = None
        self._next_phase: Phase | None = None
        self._size = 0
        self._not_random = 0
        self.added = 0
        self._entered = False
        self._standing = new_record(loop.Standing)
        self._stop: StopReason | None = None
        self._play: loop.Play  # exists once the first set is entered
        self._tree: NDArray[np.int32]
        self._open_next_set()

    # -- growth ------------------------------------------------------------------------------------

    @property
    def missing_configurations(self) -> int:
        """How many configurations the current set still lacks."""
        return max(0, self._size - self.added)

    def add(
        self, origin: Origin = Origin.RANDOM, first_position: int = 0, *, configuration: int | None = None
    ) -> int:
        """Take in the next configuration.

        One that was not drawn at random plays like the others but does not count towards γ, so a
        phase grows by it.
        """
        del first_position, configuration
        if origin is not Origin.RANDOM and isinstance(self._growth, Phases):
            self._not_random += 1
            self._size += 1
        self.added += 1
        return self.added - 1

    def no_more(self) -> None:
        """End: the next set cannot be filled; a first set that cannot be filled is refused."""
        have, need, phase = self.added, self._size, self._next_phase
        if phase is None:
            raise UsageError(f"{need} configurations were asked for, but there are only {have}")
        if not self.phases:
            drawn = max(1, have - self._not_random)
            least = math.ceil(1000 * least_gamma(phase.number, drawn, self.settings.delta)) / 1000
            other = (
                f"a first gamma of at least {least:g} (--gamma-schedule)" if least < 1 else "a larger delta"
            )
            raise UsageError(
                f"phase {phase.number} needs {need} configurations, but there are only {have}: bring more "
                f"configurations, or choose {other}"
            )
        self._stop = configurations_exhausted(phase.number, need, have)

    def _open_next_set(self) -> None:
        """Decide how many configurations are in play next, or stop when a schedule ends."""
        self._entered = False
        if isinstance(self._growth, FixedSet):
            self._size = self._growth.configurations
            return
        number = len(self.phases) + 1
        following = self._growth.schedule.phase(number, self.settings.delta)
        if following is None or (self._growth.most is not None and number > self._growth.most):
            self._stop = phases_done(number - 1)
            return
        self._next_phase = following
        self._size = max(following.configurations + self._not_random, self._size)

    def _enter_set(self) -> None:
        """Play with the configurations now present; bounds restart from 0 and 1 (Algorithm 2 lines 7–14)."""
        self._phase = self._next_phase
        self.arms = extended(self.arms, self._size)
        self.arms.upper[:] = 1.0
        self.arms.lower[:] = 0.0
        self._play = loop.Play(self.arms, self._evidence.arrays, self.levels, self._rules(), self._standing)
        for i in np.flatnonzero(self.arms.runs):
            loop.update_bounds(self._play, int(i))
        self._standing.best = int(np.argmax(self.arms.lower))
        self._tree = build_tournament(self.arms.upper, self._size)
        self._entered = True

    def _rules(self) -> loop.Composition:
        settings, phase = self.settings, self._phase
        target = -1.0 if settings.epsilon is None else settings.epsilon
        if phase is None:
            scale, strict = width_scale(self._size, settings.delta), False
        else:
            scale = phase_width_scale(phase.number, self._size, settings.delta)
            strict = phase.epsilon > target or not self._covers_enough()
            target = phase.epsilon if strict else target
        return loop.Composition(
            doubling=int(settings.doubling),
            width_scale=scale,
            resume=settings.resume,
            positions=self._evidence.positions,
            epsilon=target,
            strict=strict,
        )

    def _covers_enough(self) -> bool:
        """Whether γ is as small as asked for."""
        wanted = self.settings.gamma
        return wanted is None or self._phase is None or self._phase.gamma <= wanted

    # -- play --------------------------------------------------------------------------------------

    def advance(self, pause: PauseAt) -> Halt:
        """Play until something is missing, a limit is reached or the procedure is done."""
        while self._stop is None:
            if not self._entered:
                if self.added < self._size:
                    return Halt.NEEDS_CONFIGURATIONS
                self._enter_set()
            state = self._play_on(pause)
            if state == loop.PAUSED:
                return Halt.PAUSED
            if state == loop.NEEDS_RUNS:
                return Halt.NEEDS_RUNS
            self._conclude(state)
        return Halt.DONE

    def _play_on(self, pause: PauseAt) -> int:
        self._play = self._play._replace(evidence=self._evidence.arrays)
        if self._selection is Selection.ROUND_ROBIN:
            return int(loop.advance_round_robin(self._play, pause))
        return int(loop.advance_optimistic(self._play, pause, self._tree, self._phase is None))

    def _conclude(self, state: int) -> None:
        """The loop has come to an end of some kind: stop, or go on to the next phase."""
        progress = self.progress()
        if state == loop.NO_INSTANCES:
            self._stop = instances_exhausted(self._evidence.positions, progress.epsilon, self.captime_note())
        elif state == loop.ONE_LEFT:
            self._stop = one_left(progress.configurations)
        elif (
            self.settings.epsilon is not None
            and progress.epsilon <= self.settings.epsilon
            and self._covers_enough()
        ):
            self._stop = epsilon_reached(self.settings.epsilon)
        if self._phase is None:
            return
        if state == loop.PROVED:
            self.phases.append(PhaseRecord.of(self._phase.number, progress))
        if self._stop is None:
            self._open_next_set()

    @property
    def time_each_s(self) -> NDArray[np.float64]:
        """Seconds spent on each configuration so far."""
        return self.arms.time_s.copy()

    # -- what to run ---------------------------------------------------------------------------------

    def needed(self) -> list[RunRequest]:
        """The runs the next round cannot do without."""
        i, level = int(self._standing.needed_arm), int(self._standing.needed_level)
        play = self._play._replace(evidence=self._evidence.arrays)
        captime = float(self.levels.captime_s[level])
        return [RunRequest(i, int(j), captime) for j in loop.missing_runs(play, i, level)]

    @property
    def imagined_rounds(self) -> int:
        """It imagines nothing: it looks at who is next in line."""
        return 0

    def likely(self, count: int, begun: Sequence[BegunRun] = ()) -> list[RunRequest]:
        """Next runs of the configurations that are next in line, broad first, then deep."""
        del begun
        line = self._in_line(LINE_PER_RUN * count)
        captime_s = self.levels.captime_s[self.arms.level[line]]
        ahead = self.arms.runs[line].astype(np.int64)[:, None] + np.arange(LOOK_AHEAD)
        positions = np.where(ahead < self._evidence.positions, ahead, -1)
        following = NextRuns(line, positions, captime_s)
        return runs_ahead(self._evidence, following, count)

    def _in_line(self, count: int) -> NDArray[np.int64]:
        """Up to `count` configurations in the order in which they are likely to be selected."""
        if self._selection is Selection.ROUND_ROBIN:
            alive = np.flatnonzero(self.arms.alive)
            turn = np.searchsorted(alive, self._standing.turn)
            return np.roll(alive, -int(turn))[:count].astype(np.int64)
        count = min(count, self._size)
        largest = np.argpartition(-self.arms.upper, count - 1)[:count].astype(np.int64)
        return largest[np.lexsort((largest, -self.arms.upper[largest]))]

    # -- where it stands -------------------------------------------------------------------------------

    def progress(self) -> Progress:
        """The current answer, what is proved and what it has cost."""
        best, configurations = int(self._standing.best), len(self.arms.runs)
        epsilon, alive = 1.0, configurations
        if configurations:
            in_play = self.arms.alive & (self.arms.upper >= self.arms.lower[best])
            in_play[best] = True
            epsilon = max(0.0, float(self.arms.upper[in_play].max() - self.arms.lower[best]))
            alive = int(in_play.sum())
        return Progress(
            best_index=best,
            epsilon=epsilon,
            gamma=None if self._phase is None else self._phase.gamma,
            delta=self.settings.delta,
            total_time_s=float(self._standing.total_s),
            runs=int(self._standing.runs),
            rounds=int(self._standing.rounds),
            configurations=configurations,
            alive=alive,
        )

    def stop_reason(self) -> StopReason:
        """Why it is done."""
        if self._stop is None:
            return NOT_STOPPED
        return self._stop

    def captime_note(self) -> str:
        """A sentence where the largest captime limits what can be proved, else nothing."""
        best, last = int(self._standing.best), len(self.levels.captime_s) - 1
        worth = float(self.levels.utility[last])
        if not len(self.arms.runs) or self.arms.level[best] < last or worth == 0:
            return ""
        unfinished = 1.0 - float(self.arms.finished[best]) / max(1, int(self.arms.runs[best]))
        if unfinished == 0:
            return ""
        return (
            f" Runs are not known beyond {self.levels.captime_s[last]:g} s, where an answer is still worth "
            f"{worth:.3g}: as {unfinished:.0%} of the runs last longer, ε cannot fall below "
            f"{worth * unfinished:.3g}."
        )

    def shows_runs(self) -> None:
        """None: bounds keep the extremes of the past here, which runs alone do not tell."""

    def takes_proposals(self) -> None:
        """None: the paper's procedures draw all configurations at random."""


def up(
    evidence: RecordedEvidence | LiveEvidence, utility: Utility, settings: PaperSettings, configurations: int
) -> PaperEngine:
    """Utilitarian Procrastination: survivors advance in turns, hopeless ones are struck off."""
    return PaperEngine(evidence, utility, settings, Selection.ROUND_ROBIN, FixedSet(configurations))


def oup(
    evidence: RecordedEvidence | LiveEvidence, utility: Utility, settings: PaperSettings, configurations: int
) -> PaperEngine:
    """Optimistic UP (Algorithm 1): the largest upper bound runs next."""
    return PaperEngine(evidence, utility, settings, Selection.LARGEST_UPPER_BOUND, FixedSet(configurations))


def coup(
    evidence: RecordedEvidence | LiveEvidence,
    utility: Utility,
    settings: PaperSettings,
    schedule: Schedule,
    phases: int | None = None,
) -> PaperEngine:
    """Continuous OUP (Algorithm 2): phase after phase with more configurations and a smaller ε."""
    return PaperEngine(evidence, utility, settings, Selection.LARGEST_UPPER_BOUND, Phases(schedule, phases))

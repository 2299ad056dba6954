"""What `wager` has proved, said whenever somebody asks.

All bounds hold for all times and all stages at once, so every pair (answer, ε) that was ever proved stays
proved. The one reported is the best of them: the smallest ε of the current stage, or an earlier promise whose
ε + w·γ is smaller still. On a list, the looks of others count in what is said (`beside`).

Asking changes nothing: what the procedure does next must not depend on who looks at it.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from utilitune.domain import Progress
from utilitune.errors import UsageError
from utilitune.procedures.wager import tuning
from utilitune.procedures.wager.beginning import new_play
from utilitune.procedures.wager.beside import NO_LOOKS, AllRuns, Beside
from utilitune.procedures.wager.capital import lower_now
from utilitune.procedures.wager.gains import Looks, apart_from, gaps_to_default
from utilitune.procedures.wager.growth import Adaptive, GammaGrid, Stage, next_stage, stage
from utilitune.procedures.wager.leader import best_draws, best_proved, bounds_known, most_of
from utilitune.procedures.wager.roster import Roster
from utilitune.procedures.wager.seen import runs_seen
from utilitune.procedures.wager.shares import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from utilitune.procedures.engine import Observed
    from utilitune.procedures.evidence import LiveEvidence, RecordedEvidence
    from utilitune.procedures.wager.settings import WagerSettings
    from utilitune.procedures.wager.state import Play
    from utilitune.utility import Utility


class Claims:
    """A search by `wager`, as far as it can be asked about.

    Args:
        evidence: The runs it reads.
        utility: The utility function.
        settings: What is promised, and how the set of configurations grows.

    Attributes:
        settings: See above.
        added: How many configurations are in play.
    """

    def __init__(
        self, evidence: RecordedEvidence | LiveEvidence, utility: Utility, settings: WagerSettings
    ) -> None:
        self.settings = settings
        self.added = 0
        self._evidence = evidence
        self._earlier: dict[int, tuple[float, float]] = {}  # by arm, ε and γ of the best promise of a stage
        self._kept: int | None = None  # whose promise is the best of these
        self._beside: Beside | None = None
        self._all_runs: AllRuns | None = None
        self._moment: _Moment | None = None
        self._entered = False
        self._grid = GammaGrid(settings.delta, settings.announced_gamma)
        self._stage = self._first_stage()
        self._roster = Roster(settings, self._stage.draws, evidence.positions)
        self._play = new_play(settings, evidence, utility, self._stage.draws)

    def _first_stage(self) -> Stage:
        size = self.settings.space_size
        if self.settings.listed and size is not None:
            return Stage(1, size, 0.0, -1.0)
        first = next_stage(self.settings.growth, 0, self._grid)
        if first is None or first.draws < 1:
            raise UsageError("a set of configurations needs at least one of them")
        return first

    @property
    def runs(self) -> int:
        """How many runs it has consumed."""
        return int(self._play.standing.runs)

    @property
    def spent_s(self) -> float:
        """Seconds of all runs it has consumed."""
        return float(self._play.standing.total_s)

    @property
    def time_each_s(self) -> NDArray[np.float64]:
        """Seconds spent on each configuration so far."""
        return self._play.arms["time_s"][: self.added].copy()

    @property
    def frontier(self) -> int:
        """The first position behind all runs consumed; only runs before it may shape a proposal."""
        arms = self._play.arms
        return int((arms["first"][: self.added] + arms["runs"][: self.added]).max(initial=0))

    @property
    def first_positions(self) -> NDArray[np.int64]:
        """The first position of the stored order that counts for each configuration in play."""
        return self._play.arms["first"][: self.added].astype(np.int64)

    @property
    def finite_population(self) -> bool:
        """Whether the promise is about exactly the instances that are listed."""
        return self.settings.finite_population

    def observed(self) -> Observed:
        """Every run consumed; one that was repeated counts once, with its last captime."""
        return runs_seen(self._play, self.added)

    def _worth(self, epsilon: float, gamma: float) -> float:
        """What a promise is measured by when two are compared: ε + w·γ."""
        growth = self.settings.growth
        return epsilon + (growth.gamma_weight if isinstance(growth, Adaptive) else 1.0) * gamma

    def progress(self) -> Progress:
        """The best proved answer so far, and what it has cost.

        It may be the one with the largest lower bound by all looks, those of others included.
        """
        return self._compared(*self._best_of(self._promises()))

    def _promises(self) -> list[tuple[int, Progress]]:
        """Arms, and what is proved with each as the answer: now, in an earlier stage, and by all looks."""
        if self._moment is None:
            return self._promises_now()
        if self._moment.promises is None:
            self._moment.promises = self._promises_now()
        return self._moment.promises

    def _promises_now(self) -> list[tuple[int, Progress]]:
        current = self._progress_of_stage()
        found = [(self._proved()[0], current)]
        if self._kept is not None:
            epsilon, gamma = self._earlier[self._kept]
            earlier = self._kept, replace(current, epsilon=epsilon, gamma=gamma)
            found = [*found, earlier] if self._entered else [earlier]
        if self._beside is not None and self.added:
            lower, upper = self._bounds()
            for best in self._arms_of(int(self._play.arms["row"][np.argmax(lower)])):
                epsilon, among = self._least(self._by_stages(best, float(lower[best]), upper))
                found.append((best, replace(current, epsilon=epsilon, gamma=among)))
        return found

    def _arms_of(self, row: int) -> list[int]:
        """The arms that stand for a configuration, each with an order and a share of its own."""
        arms = self._play.arms[: self.added]
        return np.flatnonzero((arms["row"] == row) & ~arms["idle"]).tolist()

    def _best_of(self, promises: list[tuple[int, Progress]]) -> tuple[int, Progress]:
        return min(promises, key=lambda each: self.worth(each[1]))

    def progress_of(self, configuration: int) -> Progress:
        """What is proved with this configuration as the answer, whatever the procedure itself would answer.

        LCB_b holds for every configuration b at once, and what was proved of b while it led stays proved.
        And where a, an answer of the procedure's own, is within ε_a and worth at most M_a by counting, b is
        within ε_a + M_a − LCB_b. The best of these is given. Nothing is noted: what the procedure does next
        must not depend on who looks at it.
        """
        promises = self._promises()
        current = self._compared(*self._best_of(promises))
        arms, own = self._play.arms[: self.added], self._arms_of(configuration)
        if current.best_index == configuration or not own:
            return current
        lower, upper = self._bounds()
        for i in own:
            if arms["runs"][i]:
                lower[i] = max(lower[i], lower_now(self._play, i))
        answer = max(own, key=lower.__getitem__)
        near = [(current.best_index, current)]
        near += [(int(arms["row"][i]), promise) for i, promise in promises]
        found = [
            (promise.epsilon + self._most_of(row) - float(lower[answer]), promise.gamma)
            for row, promise in near
        ]
        for i in own:
            found += self._by_stages(i, float(lower[i]), upper)
        found.extend(self._earlier[i] for i in own if i in self._earlier)
        if self._entered:
            found.append((float(arms["proved"][own].min()), self._stage.gamma))
        epsilon, gamma = self._least(found)
        return self._compared(answer, replace(current, epsilon=epsilon, gamma=gamma))

    def look_beside(self, configuration: int, position: int, captime_s: float) -> None:
        """Others have looked at a run up to a captime: it counts in what is said, not in what is run."""
        if self.settings.finite_population:
            self._beside = self._beside or Beside(self._play.rules.population)
            self._beside.note(configuration, position, captime_s)

    @contextmanager
    def with_all_runs(self) -> Iterator[None]:
        """Meanwhile what is said rests on all runs that there are, where the promise is about a list.

        Nothing may happen meanwhile: what is said of many is worked out together.
        """
        kept = self._beside
        if self.settings.finite_population:
            if self._all_runs is None:
                self._all_runs = AllRuns(self._play.rules.population, self._evidence)
            self._beside, self._moment = self._all_runs, _Moment()
        try:
            yield
        finally:
            self._beside, self._moment = kept, None

    def _bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower and the upper bound of each arm by all that is known now."""
        if self._moment is None:
            return self._bounds_now()
        if self._moment.bounds is None:
            self._moment.bounds = self._bounds_now()
        lower, upper = self._moment.bounds
        return lower.copy(), upper.copy()

    def _bounds_now(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        lower, upper = bounds_known(self._play, self.added)
        if self._beside is not None:
            self._beside.sharpen(self._play_now(), lower, upper)
        return lower, upper

    def _play_now(self) -> Play:
        """The state with all runs there are; others may have looked at some since the loop read them last."""
        return self._play._replace(evidence=self._evidence.arrays)

    def _most_of(self, row: int) -> float:
        """What a configuration can be worth at most, as far as that is certain."""
        most = most_of(self._play, self.added, row)
        return (
            most
            if self._beside is None
            else min(most, self._beside.most_of(self._play_now(), row, self.added))
        )

    def _by_stages(
        self, answer: int, lower: float, upper: NDArray[np.float64]
    ) -> list[tuple[float, float | None]]:
        """ε and γ of every stage with this arm as the answer.

        A stage's γ holds for the draws up to that stage. So for every stage p, P(U_b ≥ benchmark − ε) ≥ 1 − δ
        with ε = max over the draws k of that stage of min(UCB_k − LCB_b, D_kb).
        """
        arms = self._play.arms[: self.added]
        others = np.flatnonzero((arms["rank"] > 0) & (arms["row"] != arms["row"][answer]))
        values, ranks = upper[others] - lower, arms["rank"][others]
        if answer == self._play.standing.leader:
            values = np.minimum(values, arms["apart"][others])
        pairs = _Pairs(lambda k: self._apart(int(others[k]), answer))
        found: list[tuple[float, float | None]] = []
        for number in range(1, self._stage.number + 1):
            last = number == self._stage.number
            this = self._stage if last else stage(self.settings.growth, number, self._grid)
            if this is not None and serve(self._play.shares, this.draws, self._roster.draws):
                found.append((pairs.largest(values, ranks <= this.draws), this.gamma))
        return found

    def _least(self, found: list[tuple[float, float | None]]) -> tuple[float, float | None]:
        """The best of these, each a pair of ε and γ; nothing is proved where there is none."""
        possible = [(min(1.0, max(0.0, epsilon)), gamma) for epsilon, gamma in found] or [(1.0, 1.0)]
        return min(possible, key=lambda each: self._worth(each[0], each[1] or 0.0))

    def worth(self, progress: Progress) -> float:
        """What a promise is measured by when two are compared: ε + w·γ."""
        return self._worth(progress.epsilon, progress.gamma or 0.0)

    def best_draws(self, count: int) -> list[int]:
        """Up to `count` random draws, the best by their runs first."""
        return best_draws(self._play, self.added, count)

    def _compared(self, answer: int, current: Progress) -> Progress:
        """What is proved of an arm as the answer, with its gain over the default.

        Where it is proved to be worse than the default by x, the default is the answer, and within ε − x.
        """
        row = int(self._play.arms["row"][answer]) if self.added else 0
        default = self._play.rules.default
        found = replace(current, best_index=row)
        if default >= 0:
            known = self._evidence.default_is_known
            play = self._play_now()
            looks = self._looks(play, answer, default)._replace(default_is_known=known)
            arms = self._arms_of(row) or [answer]
            gaps = [gaps_to_default(play, each, self.added, looks) for each in arms]
            above, behind = (min(each) for each in zip(*gaps, strict=True))
            if above < 0.0:
                default_row = int(self._play.arms["row"][default])
                epsilon = max(0.0, current.epsilon + above)
                found = replace(current, best_index=default_row, epsilon=epsilon, gain=0.0)
            else:
                found = replace(found, gain=None if behind >= 1.0 else 0.0 - behind)
        if found.epsilon > 0.0:  # who may be better than the answer is not ruled out by the leader's bounds
            found = replace(found, alive=max(found.alive, min(2, found.configurations)))
        return found

    def _proved(self) -> tuple[int, float]:
        """The arm of which most is proved in this stage, and its ε."""
        standing = self._play.standing
        if not self._entered:
            return int(standing.answer), 1.0
        noted = int(standing.answer), float(standing.answer_epsilon)
        return min(noted, best_proved(self._play, self.added), key=lambda each: each[1])

    def _progress_of_stage(self) -> Progress:
        standing = self._play.standing
        leader = int(standing.leader)
        in_play = self._contributions() > 0.0
        if self.added:
            in_play[leader] = True
        answer, proved = self._proved()
        return Progress(
            best_index=int(self._play.arms["row"][answer]) if self.added else 0,
            epsilon=min(1.0, proved),
            gamma=self._stage.gamma,
            delta=self.settings.delta,
            total_time_s=float(standing.total_s),
            runs=int(standing.runs),
            rounds=int(standing.rounds),
            configurations=self.added,
            alive=int(in_play.sum()),
        )

    def _contributions(self) -> NDArray[np.float64]:
        """min(UCB_i − LCB_b, D_ib) for every configuration ε covers, −∞ for the others."""
        arms, leader = self._play.arms, int(self._play.standing.leader)
        present = slice(0, self.added)
        values = np.minimum(arms["upper"][present] - arms["lower"][leader], arms["apart"][present])
        return np.where(arms["rank"][present] > 0, values, -math.inf)

    def captime_note(self) -> str:
        """A sentence where the largest captime limits what can be proved, else nothing."""
        grid, arms = self._play.grid, self._play.arms
        last = len(grid.captime_s) - 1
        answer = int(self._play.standing.answer)
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

    def _apart(self, draw: int, answer: int) -> float:
        """D_kb of a draw and any answer."""
        play = self._play_now()
        return apart_from(play, draw, answer, self.added, self._looks(play, answer, draw))

    def _looks(self, play: Play, answer: int, other: int) -> Looks:
        """What others have looked at of an answer and of the arm that it is compared with."""
        if self._beside is None:
            return Looks(NO_LOOKS, NO_LOOKS)
        rows = play.arms["row"]
        return Looks(
            self._beside.levels(play, int(rows[answer])), self._beside.levels(play, int(rows[other]))
        )


@dataclass(slots=True)
class _Moment:
    """What has been worked out of all arms while nothing happens; None where nobody has asked for it yet."""

    promises: list[tuple[int, Progress]] | None = None
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


class _Pairs:
    """D_kb of the draws and one answer, worked out only where ε depends on it.

    Args:
        apart: D_kb of the draw with this place in a list.
    """

    def __init__(self, apart: Callable[[int], float]) -> None:
        self._apart = apart
        self._known: dict[int, float] = {}

    def largest(self, values: NDArray[np.float64], among: NDArray[np.bool_]) -> float:
        """Max over the draws among these of min(UCB_k − LCB_b, D_kb), at least 0, or somewhat more.

        Args:
            values: UCB_k − LCB_b of every draw of the list.
            among: Which of them count.
        """
        reached, places = 0.0, np.flatnonzero(among)
        for k in places[np.argsort(-values[places], kind="stable")].tolist():
            value = float(values[k])
            if value <= reached:
                break
            if k not in self._known and len(self._known) < tuning.MOST_PAIRS_ASKED:
                self._known[k] = self._apart(k)
            reached = max(reached, min(value, self._known.get(k, value)))
        return reached

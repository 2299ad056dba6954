"""What a procedure has proved so far, in terms of the store."""

from __future__ import annotations

from collections import defaultdict
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.domain import rounded_up
from utilitune.domain.stopping import EPSILON_REACHED, NOT_STOPPED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from utilitune.domain import PhaseRecord, Progress
    from utilitune.live.asker import Pair
    from utilitune.live.entrants import Entrants
    from utilitune.procedures.engine import Engine, ShowsRuns, TakesProposals


class Proved:
    """Where a procedure stands; asking changes nothing.

    Args:
        engine: The procedure.
        entrants: Who takes part.
        earlier: What was proved by an earlier start that asked for another ε or γ (`earlier_promise`).
    """

    def __init__(self, engine: Engine, entrants: Entrants, earlier: Progress | None = None) -> None:
        self.engine = engine
        self._entrants = entrants
        self._earlier = earlier
        self._looks: defaultdict[int, dict[int, float]] = defaultdict(dict)

    @property
    def spent_s(self) -> float:
        """Seconds of the runs that the engine has looked at, as its pauses count them."""
        engine = self.engine.takes_proposals()
        return float(self.engine.time_each_s.sum()) if engine is None else engine.spent_s

    @property
    def useful_s(self) -> float:
        """Seconds of runs that were of use: what one worker would have spent."""
        return self.spent_s

    def proved(self) -> Progress | None:
        """The answer and what is proved of it; None before the first configuration."""
        if not self.engine.added:
            return None
        own, kept = self._own(), self._still_ahead()
        if kept is None:
            return own
        return replace(
            own,
            best_index=kept.best_index,
            epsilon=kept.promise.epsilon,
            gamma=kept.gamma,
            gain=kept.gain,
            configurations=kept.configurations,
        )

    @property
    def is_over(self) -> bool:
        """Whether the procedure has ended: then what is said follows from the outcomes of runs alone."""
        return self.engine.stop_reason().code != NOT_STOPPED.code

    def with_all_runs(self) -> AbstractContextManager[None]:
        """Meanwhile what is said rests on all runs there are, where they count: on a list.

        Which runs there are depends on who was quicker: on workers that were busy meanwhile, on how far a
        search has come, on earlier starts. So nothing is decided by it.
        """
        engine = self.engine.shows_runs()
        return nullcontext() if engine is None else engine.with_all_runs()

    def progress_of(self, configuration: int) -> Progress:
        """The same with this configuration, which has joined, as the answer."""
        place = self._entrants.place_of(configuration)
        if place is None:
            raise RuntimeError(f"configuration {configuration} has not joined")
        return self._in_store_terms(self._nominating().progress_of(place))

    def worth(self, progress: Progress) -> float:
        """What a promise is measured by when two are compared, in units of ε: the smaller the better."""
        engine = self.engine.takes_proposals()
        if engine is None:
            return progress.promise.epsilon + (progress.gamma or 0.0)
        return engine.worth(progress)

    def _own(self) -> Progress:
        """The answer of this start."""
        return self._in_store_terms(self.engine.progress())

    def _still_ahead(self) -> Progress | None:
        """What an earlier start has proved, if that is more.

        It does not count where its answer is proved worse than the default by now.
        """
        kept = self._earlier
        if kept is None or self.engine.stop_reason().code == EPSILON_REACHED:
            return None
        if self.worth(self._own()) <= self.worth(kept):
            return None
        engine, place = self.engine.takes_proposals(), self._entrants.place_of(kept.best_index)
        holds = engine is None or place is None or engine.progress_of(place).best_index == place
        return kept if holds else None

    def best_draws(self, count: int) -> list[int]:
        """Up to `count` random draws, the best by their runs first."""
        return [self._entrants.numbers[place] for place in self._nominating().best_draws(count)]

    def _in_store_terms(self, progress: Progress) -> Progress:
        return replace(progress, best_index=self._entrants.numbers[progress.best_index])

    @property
    def phases(self) -> Sequence[PhaseRecord]:
        """The phases that are over, but not one that the user's ε has ended: a smaller ε goes on with it."""
        by_epsilon = self.engine.stop_reason().code == EPSILON_REACHED
        over = self.engine.phases[:-1] if by_epsilon else self.engine.phases
        return [replace(phase, best_index=self._entrants.numbers[phase.best_index]) for phase in over]

    def captime_note(self) -> str:
        """Sentences where more was proved by an earlier start, or the largest captime limits what can be."""
        return " ".join(filter(None, [self._earlier_note(), self.engine.captime_note().strip()]))

    def _earlier_note(self) -> str:
        kept = self._still_ahead() if self.engine.added else None
        if kept is None:
            return ""
        gamma = f" and γ = {rounded_up(kept.gamma)}" if kept.gamma else ""
        stated = f"ε = {rounded_up(kept.promise.epsilon)}{gamma} of configuration {kept.best_index}"
        return (
            f"An earlier start, which asked for another ε or γ, has proved {stated}. That stays true; this "
            "start has not proved as much yet."
        )

    def looked_at(self) -> dict[Pair, float]:
        """Every pair that its promise rests on, and up to which captime it was looked at.

        On a list, what search has looked at counts, too, where it is about who takes part.
        """
        columns = [column.tolist() for column in self._showing().observed()]
        found: dict[Pair, float] = {}
        for row, position, captime_s in zip(*columns, strict=True):
            pair = self._entrants.numbers[row], position
            found[pair] = max(captime_s, found.get(pair, 0.0))
        engine = self.engine.takes_proposals()
        if engine is not None and engine.finite_population:
            for number in set(self._entrants.numbers) & self._looks.keys():
                for position, captime_s in self._looks[number].items():
                    found[number, position] = max(captime_s, found.get((number, position), 0.0))
        return found

    def in_play(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Who has joined, by number and the first position that counts for each; and all nominations."""
        firsts = self._showing().first_positions.tolist()
        everybody = list(zip(self._entrants.numbers, firsts, strict=True))
        nominees = set(self._entrants.nominees)
        joined = [each for arm, each in enumerate(everybody) if arm not in nominees]
        return joined, [everybody[arm] for arm in self._entrants.nominees]

    def _nominating(self) -> TakesProposals:
        engine = self.engine.takes_proposals()
        if engine is None:
            raise RuntimeError("this procedure takes no nominees")
        return engine

    def _showing(self) -> ShowsRuns:
        engine = self.engine.shows_runs()
        if engine is None:
            raise RuntimeError("this procedure cannot say what it has looked at")
        return engine

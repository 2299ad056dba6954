"""The asker behind ``run``, ``configure`` and ask and tell: a procedure that proves its answer.

It joins an engine, the evidence that the engine reads, and the supply of configurations. All three are pure,
so this is too. `Entrants` knows which configuration of the store is which of the engine. Runs of a
configuration that has not joined the engine wait here until it does. A random draw that equals an earlier
configuration shares the runs of that one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.domain import Guesses
from utilitune.live.asker import Again, Done, Join, Make, Wanted
from utilitune.live.entrants import BegunRuns, Entrants, at
from utilitune.live.first_start import fresh_from, settled
from utilitune.live.proved import Proved
from utilitune.live.supply import ConfigurationSupply, model_for
from utilitune.procedures.engine import Halt, PauseAt
from utilitune.procedures.looking_ahead import LookAhead
from utilitune.procedures.naming import build_engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from utilitune.domain import Progress
    from utilitune.live.asker import Ended, Instruction, Room
    from utilitune.live.hunting import Look
    from utilitune.live.nominating import Orders
    from utilitune.live.supply import Drawn
    from utilitune.live.task import Task
    from utilitune.procedures.engine import Engine
    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.spaces import Assignment
    from utilitune.store.base import Store
    from utilitune.store.records import ConfigurationRecord

ROUNDS_PER_QUESTION = 100_000
"""After so many rounds others get a word in, such as somebody who asks for a stop."""


class Proof(Proved):
    """A procedure at work.

    Args:
        engine: The procedure.
        evidence: What it reads.
        supply: Where its configurations come from.
        orders: Where the orders of nominees come from; None if there will be no nominees.
        guesses: Which runs are made ahead of need.
        earlier: What an earlier start has proved, see `Proved`.
    """

    def __init__(
        self,
        engine: Engine,
        evidence: LiveEvidence,
        supply: ConfigurationSupply,
        orders: Orders | None = None,
        guesses: Guesses = Guesses.USEFUL,
        *,
        earlier: Progress | None = None,
    ) -> None:
        super().__init__(engine, Entrants(), earlier)
        self._orders = orders
        self._evidence = evidence
        self._look_ahead = LookAhead(engine, evidence, guesses)
        self._supply = supply
        self._wanted = len(supply.given)
        self._taken = 0
        self._round_limit = ROUNDS_PER_QUESTION
        self._early: defaultdict[int, list[Ended]] = defaultdict(list)

    # -- events --------------------------------------------------------------------------------------------

    def restore(self, configurations: Sequence[ConfigurationRecord]) -> None:
        """Take over the configurations that are stored."""
        self._supply.restore(configurations)

    def joined(self, number: int, drawn: Drawn) -> None:
        """Let a configuration join the engine, with the runs that it has already."""
        self._taken += 1
        self._enter(number)
        self.engine.add(
            drawn.origin, drawn.first_position, configuration=self._entrants.whose_runs(number, drawn)
        )

    def nominated(
        self, number: int, configuration: int, first_fresh: int = 0, assignment: Assignment | None = None
    ) -> None:
        """Let a nominee join the engine, see `nominating`; draws that are equal to it read its runs.

        Args:
            number: Which nomination of the run it is, from 1.
            configuration: The number of the configuration in the store; it may be in the engine already.
            first_fresh: The first position behind all that shaped the nominee.
            assignment: Its values.
        """
        engine, known_as = self._nominating(), self._entrants.place_of(configuration)
        if self._orders is None:
            raise RuntimeError("this run has no orders for nominees")
        self._enter(configuration)
        self._entrants.nominees.append(self._orders.add_nominee(engine, number, known_as, first_fresh))
        if assignment is not None:
            self._entrants.share_runs(configuration, assignment)

    def ask_about_nominee(self) -> None:
        """The latest nominee is the one that something is to be proved of."""
        self._nominating().ask_about(self._entrants.nominees[-1])

    def look_beside(self, looks: Iterable[Look]) -> None:
        """Search has looked at these runs; on a list they count in what is proved of who takes part."""
        for look in looks:
            at_most = self._looks[look.number]
            at_most[look.position] = max(look.captime_s, at_most.get(look.position, 0.0))
            if self._entrants.place_of(look.number) is not None:
                self._share(look.number, look.position)

    def _share(self, number: int, position: int) -> None:
        """Let the engine know how far search has looked at a run of a configuration that takes part."""
        place, engine = self._entrants.place_of(number), self.engine.takes_proposals()
        if engine is not None and place is not None:
            engine.look_beside(place, position, self._looks[number][position])

    def first_fresh(self, looked_at: int) -> int:
        """The first position behind all that shapes a nominee of now.

        Args:
            looked_at: The first position behind all that search has looked at.
        """
        engine = self.engine.takes_proposals()
        if engine is None or self._orders is None:
            return looked_at
        return self._orders.first_fresh(engine, looked_at)

    def has_room_for_nominee(self, first_fresh: int) -> bool:
        """Whether enough instances are left behind this one, the first that did not shape the nominee."""
        engine = self.engine.takes_proposals()
        return engine is not None and self._orders is not None and self._orders.has_room(engine, first_fresh)

    def _enter(self, number: int) -> None:
        """The engine's next configuration has this number; what is known of it is put into the evidence."""
        self._entrants.enter(number)
        for run in self._early.pop(number, ()):
            self.hear(run)
        for position in self._looks.get(number, ()):
            self._share(number, position)

    def hear(self, run: Ended) -> None:
        """Put a run into the evidence, and let the supply know of a failure."""
        request, outcome, _ = run
        place = self._entrants.place_of(request.configuration)
        if place is None:
            self._early[request.configuration].append(run)
            return
        if outcome.failed:
            self._supply.note_failure(place, request.position, outcome.runtime_s)
        self._evidence.tell(at(request, place), outcome)
        self._look_ahead.hear()

    # -- instructions --------------------------------------------------------------------------------------

    @property
    def has_given(self) -> bool:
        """Whether all given configurations have joined; the default is the first of them."""
        return self._taken >= len(self._supply.given)

    def ask(self, room: Room, limit_s: float = math.inf) -> Instruction:
        """Let the procedure go on, and say what it needs.

        Args:
            room: How much can be begun now.
            limit_s: It is not to go on for now once it has looked at so many seconds of runs.
        """
        engine = self.engine
        if self._taken < self._wanted:
            return Join(self._supply.joining(self._taken, self._wanted))
        halt = engine.advance(PauseAt(self._round_limit, limit_s, self._supply.learn_at))
        if halt is Halt.DONE:
            return Done(engine.stop_reason())
        if halt is Halt.PAUSED:
            self._round_limit = engine.progress().rounds + ROUNDS_PER_QUESTION
            self._supply.learn()
            return Again()
        if halt is Halt.NEEDS_CONFIGURATIONS:
            self._wanted = self._taken + engine.missing_configurations
            return Join(self._supply.joining(self._taken, self._wanted))
        return self._runs(room)

    def meanwhile(self, room: Room) -> Make:
        """What it is likely to need when it may go on, if every slot is to be filled; else nothing."""
        return self._runs(room, waits=True) if self._look_ahead.fills else Make([])

    def _runs(self, room: Room, *, waits: bool = False) -> Make:
        """What is needed, and where there is room for more, what is likely to be needed soon."""
        begun = BegunRuns(room, self._entrants)
        found = self._look_ahead.next_runs(room.slots, begun, room.now, waits=waits)
        stored = self._entrants.stored
        needed = [Wanted(stored(each)) for each in found.needed]
        ahead = [Wanted(stored(each), ahead=True) for each in found.ahead]
        return Make([*needed, *ahead], enough=[stored(each) for each in found.enough])

    # -- where it stands -----------------------------------------------------------------------------------

    def progress(self) -> Progress | None:
        """The answer and what is proved of it, by all runs there are until the procedure has ended."""
        with nullcontext() if self.is_over else self.with_all_runs():
            return self.proved()

    def close(self) -> None:
        """Nothing more will be asked."""
        self._supply.close()


def proof_of(
    task: Task,
    specification: ProcedureSpec,
    store: Store,
    *,
    live: bool,
    orders: Orders | None = None,
    guesses: Guesses = Guesses.USEFUL,
    earlier: Progress | None = None,
) -> Proof:
    """The procedure of a task, with nothing known yet.

    Args:
        task: What is configured.
        specification: The procedure and its settings.
        store: Where a warning is kept if a model cannot be had.
        live: Whether time passes: then a model is fitted in the background, else when it is asked.
        orders: Where the orders of nominees come from; None if there will be no nominees.
        guesses: Which runs are made ahead of need.
        earlier: What an earlier start has proved, see `Proved`.
    """
    evidence = task.evidence()
    spec = specification
    if task.recorded_cutoff_s is not None:
        spec = replace(spec, captime_limit_s=min(spec.captime_limit_s, task.recorded_cutoff_s))
    beforehand = settled(store, task, spec)
    engine = build_engine(
        spec, evidence, evidence.utility, configurations=spec.set_size(), beforehand=beforehand
    )
    listed = beforehand.listed  # then all will be tried, whatever a model likes
    proposing = None if listed else model_for(task, spec, store, engine, evidence, live=live)
    if proposing is not None:
        proposing = replace(proposing, fresh_from=fresh_from(store, specification))
    supply = ConfigurationSupply(task.space, task.scenario.seed, task.given, proposing, listed=listed)
    return Proof(engine, evidence, supply, orders, guesses, earlier=earlier)

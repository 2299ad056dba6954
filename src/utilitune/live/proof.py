"""The asker behind ``run``, ``configure`` and ask and tell: a procedure that proves its answer.

It joins an engine, the evidence that the engine reads, and the supply of configurations. All three are pure,
so this is too. The engine counts its configurations in the order in which they joined it. That is their
number in the store as long as nobody else brings configurations in; `Proof` translates where somebody does.
Runs of a configuration that has not joined the engine wait here until it does. A random draw that equals an
earlier configuration shares the runs of that one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from utilitune.domain.stopping import EPSILON_REACHED
from utilitune.live.asker import Again, Done, Join, Joining, Make, Wanted
from utilitune.live.first_start import fresh_from, settled
from utilitune.live.reusing import CONDITION
from utilitune.live.supply import ConfigurationSupply, model_for
from utilitune.procedures.engine import BegunRun, Halt, Origin, PauseAt
from utilitune.procedures.looking_ahead import LookAhead
from utilitune.procedures.naming import build_engine
from utilitune.procedures.orders import fresh_order, new_entropy
from utilitune.search.proposers.base import first_fresh_position
from utilitune.store.base import note_once

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from utilitune.domain import PhaseRecord, Progress, RunRequest
    from utilitune.live.asker import Ended, Instruction, Pair, Room
    from utilitune.live.supply import Drawn
    from utilitune.live.task import Task
    from utilitune.procedures.engine import Engine, ShowsRuns
    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.spaces import Assignment
    from utilitune.store.base import Store
    from utilitune.store.records import ConfigurationRecord

ROUNDS_PER_QUESTION = 100_000
"""After so many rounds others get a word in, such as somebody who asks for a stop."""

JOINING_TOGETHER = 32
"""So many new configurations are stored at a time: a stop need not wait for all that are wanted."""


ENTROPY = "entropy"
"""The name under which the store keeps what orders follow from."""


GIVEN_ENTROPY = "This assumes that nothing nominated was chosen with a view to the entropy that was given."
"""What a promise rests on where the orders of nominees could have been known beforehand."""


class Orders(NamedTuple):
    """Where the orders of nominees come from.

    Attributes:
        entropy: What they follow from; drawn when the run began, and unlike its seed known to nobody before.
        positions: How many instances there are.
        fresh_from: Without a list, no nominee is judged on a position before this one.
    """

    entropy: str
    positions: int
    fresh_from: int = 0

    @classmethod
    def of(cls, store: Store, positions: int, given: str | None = None) -> Orders:
        """Those of a run; its entropy is drawn and stored when it is first asked for.

        Args:
            store: The run.
            positions: How many instances there are.
            given: Entropy that the user fixes, for a run that can be repeated; the promise then rests on it.
        """
        entropy = store.facts().get(ENTROPY)
        if entropy is None:
            entropy = new_entropy() if given is None else given
            store.keep_fact(ENTROPY, entropy)
            if given is not None:
                note_once(store, CONDITION, GIVEN_ENTROPY)
        return cls(entropy, positions)

    def order(self, number: int) -> NDArray[np.int32]:
        """The order of a nomination, from 1; to be asked for only when that is stored."""
        return fresh_order(self.entropy, number, self.positions)


class Proof:
    """A procedure at work.

    Args:
        engine: The procedure.
        evidence: What it reads.
        supply: Where its configurations come from.
        orders: Where the orders of nominees come from; None if there will be no nominees.
    """

    def __init__(
        self,
        engine: Engine,
        evidence: LiveEvidence,
        supply: ConfigurationSupply,
        orders: Orders | None = None,
    ) -> None:
        self.engine = engine
        self._orders = orders
        self._evidence = evidence
        self._look_ahead = LookAhead(engine, evidence)
        self._supply = supply
        self._wanted = len(supply.given)
        self._taken = 0
        self._round_limit = ROUNDS_PER_QUESTION
        self._stored: list[int] = []
        self._numbers: list[int] = []
        self._nominees: list[int] = []
        self._places: dict[int, int] = {}
        self._first_equal: dict[Assignment, int] = {}
        self._early: defaultdict[int, list[Ended]] = defaultdict(list)

    @classmethod
    def of(
        cls,
        task: Task,
        specification: ProcedureSpec,
        store: Store,
        *,
        live: bool,
        orders: Orders | None = None,
    ) -> Proof:
        """The procedure of a task, with nothing known yet.

        Args:
            task: What is configured.
            specification: The procedure and its settings.
            store: Where a warning is kept if a model cannot be had.
            live: Whether time passes: then a model is fitted in the background, else when it is asked.
            orders: Where the orders of nominees come from; None if there will be no nominees.
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
            proposing = replace(proposing, fresh_from=fresh_from(store, spec))
        supply = ConfigurationSupply(task.space, task.scenario.seed, task.given, proposing, listed=listed)
        return cls(engine, evidence, supply, orders)

    # -- events --------------------------------------------------------------------------------------------

    def restore(self, configurations: Sequence[ConfigurationRecord]) -> None:
        """Take over the configurations that are stored."""
        self._stored = [record.index for record in configurations]
        self._supply.restore(configurations)

    def joined(self, number: int, drawn: Drawn) -> None:
        """Let a configuration join the engine, with the runs that it has already."""
        self._taken += 1
        self._enter(number)
        self.engine.add(drawn.origin, drawn.first_position, configuration=self._whose_runs(number, drawn))

    def nominated(self, number: int, configuration: int, first_fresh: int = 0) -> None:
        """Let a nominee join the engine, judged along an order of its own.

        Where instances have no end it is judged on those that are fresh instead.

        Args:
            number: Which nomination of the run it is, from 1.
            configuration: The number of the configuration in the store; it may be in the engine already.
            first_fresh: The first position behind all that shaped the nominee.
        """
        engine = self.engine.takes_proposals()
        if engine is None or self._orders is None:
            raise RuntimeError("this procedure takes no nominees")
        known_as = self._places.get(configuration)
        self._enter(configuration)
        if engine.finite_population:
            order = self._orders.order(number)
            arm = engine.add(Origin.NOMINEE, configuration=known_as, order=order)
        else:
            arm = engine.add(Origin.MODEL, max(first_fresh, self._orders.fresh_from))
        self._nominees.append(arm)

    def has_room_for_nominee(self, first_fresh: int) -> bool:
        """Whether enough instances are left for one that must be judged on fresh instances.

        Args:
            first_fresh: The first position behind all that shaped the nominee.
        """
        engine = self.engine.takes_proposals()
        if engine is None or self._orders is None:
            return False
        frontier = max(first_fresh, engine.frontier, self._orders.fresh_from)
        finite = engine.finite_population
        return first_fresh_position(frontier, self._orders.positions, finite=finite) is not None

    def _enter(self, number: int) -> None:
        """The engine's next configuration has this number; what is known of it is put into the evidence."""
        self._places.setdefault(number, len(self._numbers))
        self._numbers.append(number)
        for run in self._early.pop(number, ()):
            self.hear(run)

    def _whose_runs(self, number: int, drawn: Drawn) -> int:
        """Whose runs count for a configuration that joins: a random draw may equal an earlier one."""
        own = self._places[number]
        first = self._first_equal.setdefault(drawn.assignment, own)
        return first if drawn.origin is Origin.RANDOM else own

    def hear(self, run: Ended) -> None:
        """Put a run into the evidence, and let the supply know of a failure."""
        request, outcome, _ = run
        place = self._places.get(request.configuration)
        if place is None:
            self._early[request.configuration].append(run)
            return
        if outcome.failed:
            self._supply.note_failure(place, request.position, outcome.runtime_s)
        self._evidence.tell(_at(request, place), outcome)
        self._look_ahead.hear()

    # -- instructions --------------------------------------------------------------------------------------

    @property
    def has_given(self) -> bool:
        """Whether all given configurations have joined; the default is the first of them."""
        return self._taken >= len(self._supply.given)

    @property
    def spent_s(self) -> float:
        """Seconds of the runs that the engine has looked at, as its pauses count them."""
        engine = self.engine.takes_proposals()
        return float(self.engine.time_each_s.sum()) if engine is None else engine.spent_s

    @property
    def useful_s(self) -> float:
        """Seconds of runs that were of use: what one worker would have spent."""
        return self.spent_s

    def ask(self, room: Room, limit_s: float = math.inf) -> Instruction:
        """Let the procedure go on, and say what it needs.

        Args:
            room: How much can be begun now.
            limit_s: It is not to go on for now once it has looked at so many seconds of runs.
        """
        engine = self.engine
        if self._taken < self._wanted:
            return self._join()
        halt = engine.advance(PauseAt(self._round_limit, limit_s, self._supply.learn_at))
        if halt is Halt.DONE:
            return Done(engine.stop_reason())
        if halt is Halt.PAUSED:
            self._round_limit = engine.progress().rounds + ROUNDS_PER_QUESTION
            self._supply.learn()
            return Again()
        if halt is Halt.NEEDS_CONFIGURATIONS:
            self._wanted = self._taken + engine.missing_configurations
            return self._join()
        return self._runs(room)

    def _join(self) -> Join:
        """The next configurations: stored ones and new ones apart, the given ones all together."""
        first, stored = self._taken, self._stored
        end = min(self._wanted, first + max(JOINING_TOGETHER, len(self._supply.given)))
        if first < len(stored):
            end = min(end, len(stored))
        numbers = [stored[place] if place < len(stored) else None for place in range(first, end)]
        return Join(
            tuple(Joining(self._supply.draw(first + step), number) for step, number in enumerate(numbers))
        )

    def _runs(self, room: Room) -> Make:
        """What is needed, and where there is room for more, what is likely to be needed soon."""
        begun = _Begun(room, self._numbers, self._places)
        found = self._look_ahead.next_runs(room.slots, begun, room.now)
        needed = [Wanted(self._numbered(each)) for each in found.needed]
        ahead = [Wanted(self._numbered(each), ahead=True) for each in found.ahead]
        return Make([*needed, *ahead], enough=[self._numbered(each) for each in found.enough])

    def _numbered(self, request: RunRequest) -> RunRequest:
        """A run in terms of the store, for one in terms of the engine."""
        return _at(request, self._numbers[request.configuration])

    # -- where it stands -----------------------------------------------------------------------------------

    def progress(self) -> Progress | None:
        """The answer and what is proved of it; None before the first configuration."""
        if not self.engine.added:
            return None
        progress = self.engine.progress()
        return replace(progress, best_index=self._numbers[progress.best_index])

    def progress_of(self, configuration: int) -> Progress:
        """The same with this configuration, which has joined, as the answer."""
        engine = self.engine.takes_proposals()
        if engine is None:
            raise RuntimeError("this procedure takes no nominees")
        progress = engine.progress_of(self._places[configuration])
        return replace(progress, best_index=self._numbers[progress.best_index])

    def looked_at(self) -> dict[Pair, float]:
        """Every pair that the engine has looked at, in terms of the store, and up to which captime."""
        columns = [column.tolist() for column in self._showing().observed()]
        found: dict[Pair, float] = {}
        for row, position, captime_s in zip(*columns, strict=True):
            pair = self._numbers[row], position
            found[pair] = max(captime_s, found.get(pair, 0.0))
        return found

    def in_play(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Who has joined, by number and the first position that counts for each; and all nominations."""
        firsts = self._showing().first_positions.tolist()
        everybody = list(zip(self._numbers, firsts, strict=True))
        nominees = set(self._nominees)
        joined = [each for arm, each in enumerate(everybody) if arm not in nominees]
        return joined, [everybody[arm] for arm in self._nominees]

    def _showing(self) -> ShowsRuns:
        engine = self.engine.shows_runs()
        if engine is None:
            raise RuntimeError("this procedure cannot say what it has looked at")
        return engine

    @property
    def phases(self) -> Sequence[PhaseRecord]:
        """The phases that are over, but not one that the user's ε has ended: a smaller ε goes on with it."""
        by_epsilon = self.engine.stop_reason().code == EPSILON_REACHED
        over = self.engine.phases[:-1] if by_epsilon else self.engine.phases
        return [replace(phase, best_index=self._numbers[phase.best_index]) for phase in over]

    def captime_note(self) -> str:
        """A sentence where the largest captime limits what can be proved, else nothing."""
        return self.engine.captime_note().strip()

    def close(self) -> None:
        """Nothing more will be asked."""
        self._supply.close()


class _Begun:
    """The runs under way in terms of the engine.

    Args:
        room: The same in terms of the store.
        numbers: The number of each configuration of the engine.
        places: The place in the engine of each number.
    """

    def __init__(self, room: Room, numbers: Sequence[int], places: Mapping[int, int]) -> None:
        self._room, self._numbers, self._places = room, numbers, places

    def __len__(self) -> int:
        return len(self._room.under_way)

    def captime_of(self, configuration: int, position: int) -> float | None:
        """Up to which captime a run is under way; None if it is not."""
        run = self._room.under_way.get((self._numbers[configuration], position))
        return None if run is None else run.request.captime_s

    def runs(self) -> list[BegunRun]:
        """All of them, except those of configurations that have not joined."""
        return [
            BegunRun(self._places[number], position, run.request.captime_s, self._room.so_far_s(run))
            for (number, position), run in self._room.under_way.items()
            if number in self._places
        ]


def _at(request: RunRequest, configuration: int) -> RunRequest:
    """The same run under another number of its configuration."""
    return (
        request if request.configuration == configuration else replace(request, configuration=configuration)
    )

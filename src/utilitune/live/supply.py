"""Configurations by number: those that were given first, then random draws and a model's proposals by turns.

The r-th random draw follows from the scenario's seed and r alone, whatever a model proposes in between: the
random draws are an independent sample of the space. A configuration that was drawn before stays what it was:
a resumed run gets its proposals, and where their evidence begins, back from the store.

A model learns only from runs that the procedure has consumed, whenever their number reaches `learn_at`. So
what it proposes follows from the outcomes of runs, like everything else: several workers, a resumed run and a
single worker try the same configurations.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from utilitune.errors import MissingExtraError
from utilitune.live.asker import Joining
from utilitune.procedures.engine import Origin
from utilitune.scenario.model import Population, RecordedSpec
from utilitune.search.proposers.background import BackgroundProposals
from utilitune.search.proposers.base import Runs, Turns, first_fresh_position
from utilitune.search.proposers.fitting import ImmediateProposals
from utilitune.search.proposers.model_guided import ModelGuidedProposer
from utilitune.search.proposers.random import ListedDraws, RandomDraws
from utilitune.spaces import Assignment
from utilitune.store.base import note_once
from utilitune.store.records import ConfigurationRecord, StoredOrigin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from utilitune.live.task import Task
    from utilitune.procedures.engine import Engine, TakesProposals
    from utilitune.procedures.evidence import LiveEvidence
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.search.proposers.base import Proposals
    from utilitune.spaces import ParameterSpace
    from utilitune.store.base import Store

JOINING_TOGETHER = 32
"""So many new configurations are stored at a time: a stop need not wait for all that are wanted."""

_NEVER = 2**62
_ORIGINS = {
    StoredOrigin.DEFAULT: Origin.GIVEN,
    StoredOrigin.USER: Origin.GIVEN,
    StoredOrigin.RANDOM: Origin.RANDOM,
    StoredOrigin.MODEL: Origin.MODEL,
    StoredOrigin.PEER: Origin.MODEL,
}
_STORED_ORIGINS = {
    Origin.GIVEN: StoredOrigin.USER,
    Origin.RANDOM: StoredOrigin.RANDOM,
    Origin.MODEL: StoredOrigin.MODEL,
    Origin.NOMINEE: StoredOrigin.CANDIDATE,
}


class Drawn(NamedTuple):
    """A configuration, where it came from, and the first position that may count for it."""

    assignment: Assignment
    origin: Origin
    first_position: int = 0

    def record(self, index: int) -> ConfigurationRecord:
        """What is kept of it as configuration number `index`; the first one given is the default."""
        is_default = index == 0 and self.origin is Origin.GIVEN
        stored = StoredOrigin.DEFAULT if is_default else _STORED_ORIGINS[self.origin]
        return ConfigurationRecord(index, dict(self.assignment), stored, self.first_position, time.time())


@dataclass(frozen=True, slots=True)
class Proposing:
    """A model's part in the supply.

    Attributes:
        proposals: Where they come from.
        share: The share of new configurations that are proposals.
        positions: How many instances there are; None without end.
        population: Whether the promise is about exactly these instances.
        engine: The procedure that is supplied.
        evidence: What it reads.
        fresh_from: The first position a proposal may be judged on, whatever was consumed.
        failures: After how many seconds a run failed, by configuration and position.
    """

    proposals: Proposals[Assignment]
    share: float
    positions: int | None
    population: Population
    engine: TakesProposals
    evidence: LiveEvidence
    fresh_from: int = 0
    failures: dict[tuple[int, int], float] = field(default_factory=dict)

    def learn(self) -> None:
        """Let the model learn from what the procedure has consumed, if it has consumed enough for that."""
        if self.engine.runs >= self.proposals.learn_at:
            runs = Runs.observed(self.engine.observed(), self.evidence.learnable[0], self.failures)
            self.proposals.learn(runs)

    def next(self) -> Drawn | None:
        """A proposal that is judged on fresh positions; None if there is none, or too few of those.

        Its evidence begins where the procedure's own ends. Neither the model nor the decision to draw has
        looked at any run beyond, even where other workers have made some.
        """
        finite = self.population is Population.FINITE
        behind = max(self.engine.frontier, self.fresh_from)
        first_position = first_fresh_position(behind, self.positions, finite=finite)
        proposal = None if first_position is None else self.proposals.take()
        if proposal is None or first_position is None:
            return None
        return Drawn(proposal, Origin.MODEL, first_position)


class ConfigurationSupply:
    """Configurations to try.

    Args:
        space: What can be set.
        seed: The scenario's seed.
        given: Tried first, in this order; the scenario's default is usually the first.
        proposing: A model's part in it, where there is one.
        listed: Whether the random draws are the whole space in random order, each configuration once.
    """

    def __init__(
        self,
        space: ParameterSpace,
        seed: int,
        given: Sequence[Assignment] = (),
        proposing: Proposing | None = None,
        *,
        listed: bool = False,
    ) -> None:
        self.given = tuple(given)
        self._draws = ListedDraws(space, seed, len(self.given)) if listed else RandomDraws(space, seed)
        self._proposing = proposing
        self._turns = Turns(0.0 if proposing is None else proposing.share)
        self._stored: list[Joining] = []
        self._drawn: list[Drawn] = []
        self._proposed = 0

    @property
    def learn_at(self) -> int:
        """How many runs the procedure shall have consumed when `learn` is called; endless without a model."""
        return _NEVER if self._proposing is None else self._proposing.proposals.learn_at

    def restore(self, records: Iterable[ConfigurationRecord]) -> None:
        """Take over what was drawn before."""
        self._stored = [
            Joining(
                Drawn(Assignment(record.assignment), _ORIGINS[record.origin], record.first_position),
                record.index,
            )
            for record in records
        ]

    def draw(self, index: int) -> Drawn:
        """Configuration number `index`: one that was drawn already, or the next one."""
        if index == len(self._drawn):
            self._keep(self._stored[index].drawn if index < len(self._stored) else self._next(index))
        return self._drawn[index]

    def joining(self, first: int, wanted: int) -> tuple[Joining, ...]:
        """The next configurations: stored ones and new ones apart, the given ones all together.

        Args:
            first: How many have joined.
            wanted: How many shall have joined in the end.
        """
        end = min(wanted, first + max(JOINING_TOGETHER, len(self.given)))
        if first < len(self._stored):
            end = min(end, len(self._stored))
            return tuple(Joining(self.draw(place), self._stored[place].number) for place in range(first, end))
        return tuple(Joining(self.draw(place)) for place in range(first, end))

    def learn(self) -> None:
        """The procedure has paused: let the model learn from what it has consumed, if that is enough."""
        if self._proposing is not None:
            self._proposing.learn()

    def note_failure(self, configuration: int, position: int, after_s: float) -> None:
        """A run failed and would never finish; the model hears of it when the procedure has consumed it."""
        if self._proposing is not None:
            self._proposing.failures[configuration, position] = after_s

    def close(self) -> None:
        """Nothing more will be drawn."""
        if self._proposing is not None:
            self._proposing.proposals.close()

    def _next(self, index: int) -> Drawn:
        if index < len(self.given):
            return Drawn(self.given[index], Origin.GIVEN)
        if self._proposing is not None and self._turns.proposal_is_due(self._proposing.engine.runs):
            proposal = self._proposing.next()
            if proposal is not None:
                return proposal
        return Drawn(self._draws.draw(index - self._proposed), Origin.RANDOM)

    def _keep(self, drawn: Drawn) -> None:
        proposed = drawn.origin is Origin.MODEL
        self._drawn.append(drawn)
        self._proposed += proposed
        if drawn.origin is not Origin.GIVEN:
            self._turns.note(proposed=proposed)
        if self._proposing is not None:
            self._proposing.proposals.join(drawn.assignment, proposed=proposed)


def model_for(
    task: Task,
    specification: ProcedureSpec,
    store: Store,
    engine: Engine,
    evidence: LiveEvidence,
    *,
    live: bool,
) -> Proposing | None:
    """The model that proposes configurations, where the procedure has a use for one.

    Args:
        task: What is configured.
        specification: The procedure and its settings.
        store: Where a warning is kept if the model cannot be had.
        engine: The procedure that is supplied.
        evidence: What it reads.
        live: Whether it is fitted in the background; else when it is asked, as a virtual clock needs.
    """
    open_engine = engine.takes_proposals()
    if specification.proposals == 0 or isinstance(task.scenario.target, RecordedSpec) or open_engine is None:
        return None
    seed = task.scenario.seed
    try:
        proposer = ModelGuidedProposer(task.space, evidence.learnable[1], seed, task.features())
    except MissingExtraError as error:
        text = f"All new configurations are drawn at random, because no model can propose any: {error}."
        note_once(store, "warning", text)
        return None
    kind = BackgroundProposals if live else ImmediateProposals
    return Proposing(
        kind(proposer, seed),
        specification.proposals,
        task.training.count,
        task.scenario.population,
        open_engine,
        evidence,
    )

"""Configurations by number: those that were given first, then random draws and a model's proposals by turns.

The r-th random draw follows from the scenario's seed and r alone, whatever a model proposes in between: the
random draws are an independent sample of the space. A configuration that was drawn before stays what it was:
a resumed run gets its proposals, and where their evidence begins, back from the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from utilitune.errors import MissingExtraError
from utilitune.procedures.engine import Origin
from utilitune.proposers.background import BackgroundProposals
from utilitune.proposers.base import Turns, first_fresh_position
from utilitune.proposers.fitting import PromptProposals
from utilitune.proposers.instance_features import read_instance_features
from utilitune.proposers.model_guided import ModelGuidedProposer
from utilitune.proposers.random import RandomDraws
from utilitune.scenario.features import feature_file
from utilitune.scenario.instances import instance_source
from utilitune.scenario.model import Population, RecordedSpec
from utilitune.spaces import Assignment
from utilitune.store.records import Origin as StoredOrigin
from utilitune.utility import parse_utility

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from utilitune.proposers.base import Proposals
    from utilitune.scenario.model import Scenario
    from utilitune.spaces import ParameterSpace
    from utilitune.specification import ProcedureSpec
    from utilitune.store.base import Store
    from utilitune.store.records import ConfigurationRecord

_ORIGINS = {
    StoredOrigin.DEFAULT: Origin.GIVEN,
    StoredOrigin.USER: Origin.GIVEN,
    StoredOrigin.RANDOM: Origin.RANDOM,
    StoredOrigin.MODEL: Origin.MODEL,
}


class Drawn(NamedTuple):
    """A configuration, where it came from, and the first position that may count for it."""

    assignment: Assignment
    origin: Origin
    first_position: int = 0


@dataclass(frozen=True, slots=True)
class Proposing:
    """A model's part in the supply.

    Attributes:
        proposals: Where they come from.
        share: The share of new configurations that are proposals.
        positions: How many instances there are; None without end.
        population: Whether the promise is about exactly these instances.
    """

    proposals: Proposals[Assignment]
    share: float
    positions: int | None
    population: Population

    def next(self, begun: int) -> Drawn | None:
        """A proposal that is judged on fresh positions; None if there is none, or too few of those."""
        finite = self.population is Population.FINITE
        first_position = first_fresh_position(begun, self.positions, finite=finite)
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
    """

    def __init__(
        self,
        space: ParameterSpace,
        seed: int,
        given: Sequence[Assignment] = (),
        proposing: Proposing | None = None,
    ) -> None:
        self.given = tuple(given)
        self._random = RandomDraws(space, seed)
        self._proposing = proposing
        self._turns = Turns(0.0 if proposing is None else proposing.share)
        self._drawn: list[Drawn] = []
        self._proposed = 0

    def restore(self, records: Iterable[ConfigurationRecord]) -> None:
        """Take over what was drawn before."""
        for record in records:
            self._keep(Drawn(Assignment(record.assignment), _ORIGINS[record.origin], record.first_position))

    def draw(self, index: int, begun: int = 0) -> Drawn:
        """Configuration number `index`, which was drawn before or is the next one.

        Args:
            index: Its number.
            begun: How many positions of the instance order anybody has begun, runs in flight included.
        """
        if index == len(self._drawn):
            self._keep(self._next(index, begun))
        return self._drawn[index]

    def observe(self, configuration: int, position: int, runtime_s: float, known_s: float) -> None:
        """Let the model hear of a run; the arguments are those of `LiveEvidence.record`."""
        if self._proposing is not None:
            self._proposing.proposals.observe(configuration, position, runtime_s, known_s)

    def close(self) -> None:
        """Nothing more will be drawn."""
        if self._proposing is not None:
            self._proposing.proposals.close()

    def _next(self, index: int, begun: int) -> Drawn:
        if index < len(self.given):
            return Drawn(self.given[index], Origin.GIVEN)
        if self._proposing is not None and self._turns.proposal_is_due:
            proposal = self._proposing.next(begun)
            if proposal is not None:
                return proposal
        return Drawn(self._random.draw(index - self._proposed), Origin.RANDOM)

    def _keep(self, drawn: Drawn) -> None:
        proposed = drawn.origin is Origin.MODEL
        self._drawn.append(drawn)
        self._proposed += proposed
        if drawn.origin is not Origin.GIVEN:
            self._turns.note(proposed=proposed)
        if self._proposing is not None:
            self._proposing.proposals.join(drawn.assignment, proposed=proposed)


def given_configurations(scenario: Scenario) -> list[Assignment]:
    """The default and then what the scenario lists, each once."""
    return list(dict.fromkeys([scenario.space.default(), *scenario.initial]))


def model_for(
    scenario: Scenario, specification: ProcedureSpec, store: Store, *, live: bool
) -> Proposing | None:
    """The model that proposes configurations, where the procedure has a use for one.

    Args:
        scenario: What is configured.
        specification: The procedure and its settings.
        store: Where a warning is kept if the model cannot be had.
        live: Whether it works in the background; else it computes when it is asked, as a virtual clock needs.
    """
    if not specification.grows or not specification.proposals or isinstance(scenario.target, RecordedSpec):
        return None
    utility = parse_utility(scenario.utility)
    try:
        proposer = ModelGuidedProposer(scenario.space, utility, scenario.seed, _features(scenario))
    except MissingExtraError as error:
        text = f"All new configurations are drawn at random, because no model can propose any: {error}."
        if all(event.text != text for event in store.events()):
            store.add_event("warning", text)
        return None
    kind = BackgroundProposals if live else PromptProposals
    return Proposing(
        kind(proposer, scenario.seed),
        specification.proposals,
        instance_source(scenario).count,
        scenario.population,
    )


def _features(scenario: Scenario) -> NDArray[np.float64] | None:
    """What is known of the training instances, in their order."""
    instances = instance_source(scenario)
    if instances.count is None or (path := feature_file(scenario)) is None:
        return None
    return read_instance_features(path, [instances.name(position) for position in range(instances.count)])

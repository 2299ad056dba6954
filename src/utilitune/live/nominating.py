"""Nominees of a search: each joins a proof, and is judged along an order that nobody could have fitted it to.

With a list of instances that is a fresh random order, drawn only when the nomination is stored. Where
instances have no end, a nominee is judged on those behind all that shaped it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from utilitune.live.reusing import CONDITION
from utilitune.procedures.engine import Origin
from utilitune.procedures.orders import fresh_order, new_entropy
from utilitune.search.proposers.base import first_fresh_position
from utilitune.store.base import note_once

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from utilitune.procedures.engine import TakesProposals
    from utilitune.store.base import Store

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

    def add_nominee(self, engine: TakesProposals, number: int, known_as: int | None, first_fresh: int) -> int:
        """Let a nominee join an engine; says which of its configurations it is now.

        Args:
            engine: The procedure.
            number: Which nomination of the run it is, from 1.
            known_as: Its place in the engine if it has joined before.
            first_fresh: The first position behind all that shaped the nominee.
        """
        if engine.finite_population:
            return engine.add(Origin.NOMINEE, configuration=known_as, order=self.order(number))
        return engine.add(Origin.MODEL, first_fresh, configuration=known_as)

    def first_fresh(self, engine: TakesProposals, looked_at: int) -> int:
        """The first position behind all that shapes a nominee of now.

        Args:
            engine: The procedure, whose best draws search was offered.
            looked_at: The first position behind all that search has looked at.
        """
        return max(looked_at, engine.frontier, self.fresh_from)

    def has_room(self, engine: TakesProposals, first_fresh: int) -> bool:
        """Whether enough instances are left for a nominee that must be judged on fresh ones."""
        finite = engine.finite_population
        return first_fresh_position(first_fresh, self.positions, finite=finite) is not None

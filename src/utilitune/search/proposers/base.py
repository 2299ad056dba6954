"""The seam between a model and whoever asks it for configurations, and the values that cross it.

A `Proposer` learns from `Runs` and proposes one configuration at a time. What a configuration *is* stays
open: an assignment of parameters in a live run, the number of a row in recorded data. `Proposals` is what a
driver holds: it hears of every configuration, learns from the runs that the procedure has consumed, and hands
out a proposal when it has one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from utilitune.procedures.naming import require_proposal_share

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from utilitune.procedures.engine import Observed
    from utilitune.procedures.evidence import Evidence

Kind = TypeVar("Kind")


class Runs(NamedTuple):
    """Runs as columns, one entry per run.

    Attributes:
        configuration: Whose run, counted from 0.
        position: On which position of the instance order.
        runtime_s: Its runtime; infinite if it is not known to finish.
        known_s: How long it was watched; infinite if it is certain never to finish.
    """

    configuration: NDArray[np.int64]
    position: NDArray[np.int64]
    runtime_s: NDArray[np.float64]
    known_s: NDArray[np.float64]

    @classmethod
    def of(cls, records: Iterable[tuple[int, int, float, float]]) -> Runs:
        """Runs from records in the order in which they were made."""
        table = np.array(list(records), dtype=np.float64).reshape(-1, 4).T
        return cls(table[0].astype(np.int64), table[1].astype(np.int64), table[2], table[3])

    @classmethod
    def observed(
        cls, observed: Observed, evidence: Evidence, failures: Mapping[tuple[int, int], float] | None = None
    ) -> Runs:
        """The runs that a procedure has consumed, as far as it has looked at them.

        The evidence may hold more: runs made ahead of need, or for longer than was asked so far. That depends
        on who was quick, so nothing of it shows here.

        Args:
            observed: Which runs, up to which captime.
            evidence: What came of them.
            failures: After how many seconds a run failed, by configuration and position.
        """
        configuration, position, captime_s = observed
        runtime_s = evidence.runtime_s[evidence.base[configuration] + evidence.column[position]]
        finished = runtime_s < captime_s
        known_s = np.where(finished, runtime_s, captime_s)
        if failures:
            keys = zip(configuration.tolist(), position.tolist(), strict=True)
            failed_s = np.array([failures.get(key, math.inf) for key in keys])
            known_s = np.where(failed_s < captime_s, math.inf, known_s)
        return cls(configuration, position, np.where(finished, runtime_s, math.inf), known_s)


class Proposer(Protocol[Kind]):
    """A model that has an opinion on which configuration to try next."""

    def learn(self, runs: Runs, configurations: Sequence[Kind]) -> None:
        """Forget everything and learn from these runs of these configurations, none of them repeated."""
        ...

    def propose(self, known: Collection[Kind], generator: np.random.Generator) -> Kind | None:
        """A configuration that is not among the known ones; None if it finds none."""
        ...


class Proposals(Protocol[Kind]):
    """Proposals for one run of a procedure, told of what happens in the order of the procedure's own steps.

    A proposal follows from these calls and a seed alone, never from the clock.
    """

    @property
    def learn_at(self) -> int:
        """How many runs the procedure shall have consumed when `learn` is called next."""
        ...

    def join(self, configuration: Kind, *, proposed: bool) -> None:
        """One more configuration is in play."""
        ...

    def learn(self, runs: Runs) -> None:
        """Learn from all runs consumed so far; proposals follow from these until the next call."""
        ...

    def take(self) -> Kind | None:
        """A proposal, or None where there is none yet."""
        ...

    def close(self) -> None:
        """Let go of everything; nothing is asked afterwards."""
        ...


class Turns:
    """Whose turn the next new configuration is, so that a share of them are proposals.

    Every new configuration adds the share to an account, a proposal takes 1 from it, and it is a proposal's
    turn when the account holds 1. A turn that finds no proposal ready is kept, but only one: a model that
    starts late does not crowd out the random draws afterwards. The account follows from the origins of the
    configurations alone, so a resumed run takes the same turns.

    There are never more proposals than runs: where configurations join by the thousand because the promise
    needs no runs of them, proposals that nobody runs would help nobody. (Those are runs that the procedure
    has consumed, which a resumed run repeats.)

    Args:
        share: The share of new configurations that are proposals.

    Example:
        >>> turns = Turns(0.5)
        >>> pattern = []
        >>> for _ in range(6):
        ...     pattern.append(turns.proposal_is_due(runs=100))
        ...     turns.note(proposed=pattern[-1])
        >>> pattern
        [False, True, False, True, False, True]
    """

    def __init__(self, share: float) -> None:
        self._share = require_proposal_share(share)
        self._account = 0.0
        self._proposals = 0

    def proposal_is_due(self, runs: int) -> bool:
        """Whether the next new configuration should be a proposal, if there is one, after so many runs."""
        return self._proposals < runs and self._grown() >= 1.0 - 1e-9

    def note(self, *, proposed: bool) -> None:
        """One more new configuration was drawn."""
        self._account = self._grown() - (1.0 if proposed else 0.0)
        self._proposals += proposed

    def _grown(self) -> float:
        return min(self._account + self._share, 1.0 + self._share)


def first_fresh_position(frontier: int, positions: int | None, *, finite: bool) -> int | None:
    """Where the evidence of a proposal begins that is made now; None if too little is left for it.

    On instances that shaped it a proposal looks better than it is, so it is judged on those that nothing
    which shaped it has looked at. Model and procedure have looked at consumed runs only, and these lie before
    the frontier. Runs that were made or begun beyond it, ahead of need, nobody has looked at. Where fewer
    positions are left than were used, a proposal could not catch up. On a finite list the sum over its own
    runs is all that counts for it, and it may begin at the front.

    Args:
        frontier: How many positions of the instance order the procedure has consumed.
        positions: How many there are; None without end.
        finite: Whether the promise is about exactly these instances.
    """
    if finite:
        return 0
    return frontier if positions is None or positions >= 2 * frontier else None

"""Rows of recorded data as configurations: in their order as random draws, and a model's proposals by turns.

Row r is the r-th random draw, whatever was proposed before: a row that was proposed and comes up again is
added once more, now as a draw that counts towards γ and is judged on all instances. A proposal is the row,
among those not in play, that a forest on the rows' features likes best; see `utilitune.search.proposers`.

A row may be the same configuration as an earlier one, as draws from a small space often are. Such a row is a
draw that repeats an earlier one: it counts towards γ, and nothing is run for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from utilitune.errors import MissingExtraError
from utilitune.procedures.engine import Origin
from utilitune.search.proposers.base import Runs, Turns, first_fresh_position
from utilitune.search.proposers.fitting import FEWEST_CONFIGURATIONS, fitted_runs
from utilitune.search.proposers.rows import RowProposer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.procedures.engine import Engine, TakesProposals
    from utilitune.procedures.evidence import RecordedEvidence
    from utilitune.procedures.naming import ProcedureSpec
    from utilitune.replaying.recording import Recording

_SEED = 1


def row_supply(
    recording: Recording,
    specification: ProcedureSpec,
    engine: Engine,
    evidence: RecordedEvidence,
) -> tuple[RowSupply | None, str]:
    """A supply with proposals, where the set grows and the data says something about its rows.

    Returns:
        The supply, or None where rows are simply taken in their order; and a sentence on why, where that is
        not what was asked for.
    """
    features, open_engine = recording.features, engine.takes_proposals()
    if specification.proposals == 0 or features is None or open_engine is None:
        return None, ""
    if recording.judged is not None:
        return None, "All rows were taken in their order: models propose for recorded runtimes only."
    try:
        proposer = RowProposer(features, recording.utility, _SEED)
    except MissingExtraError as error:
        return None, f"All rows were taken in their order, because no model can propose any: {error}."
    supply = RowSupply(open_engine, evidence, proposer, specification.proposals, recording.repeats)
    return supply, ""


def draw_row(engine: Engine, number: int, first: int) -> None:
    """Draw a configuration.

    Args:
        engine: The procedure that is fed.
        number: The number that it gets.
        first: The number of the first draw of the same configuration, its own if there was none.
    """
    if first == number:
        engine.add(Origin.RANDOM)
    else:
        engine.add(Origin.RANDOM, configuration=first)


class RowsInOrder:
    """Every row, in their order, as a random draw or a part of a fixed set.

    Args:
        engine: The procedure that is fed.
        repeats: For every row the first one that is the same configuration.
    """

    def __init__(self, engine: Engine, repeats: NDArray[np.int64]) -> None:
        self._engine = engine
        self._first = repeats.tolist()

    @property
    def repeated(self) -> int:
        """How many draws so far repeat an earlier one."""
        return self._engine.added - len(set(self._first[: self._engine.added]))

    def feed(self) -> None:
        """Add configurations until the procedure has what it asks for, or all rows were drawn."""
        engine = self._engine
        for number in range(
            engine.added, min(engine.added + engine.missing_configurations, len(self._first))
        ):
            draw_row(engine, number, self._first[number])


class RowSupply:
    """Which row the next configuration is.

    Args:
        engine: The procedure that is fed.
        evidence: What it reads; configuration numbers are mapped to rows here.
        proposer: The model.
        share: The share of new configurations that are proposals.
        repeats: For every row the first one that is the same configuration, itself if left out.

    Attributes:
        rows: The row of every configuration so far.
    """

    def __init__(
        self,
        engine: TakesProposals,
        evidence: RecordedEvidence,
        proposer: RowProposer,
        share: float,
        repeats: NDArray[np.int64] | None = None,
    ) -> None:
        self.rows: list[int] = []
        self._engine = engine
        self._evidence = evidence
        self._proposer = proposer
        self._turns = Turns(share)
        self._first = np.arange(len(evidence.arrays.base)) if repeats is None else repeats
        self._starts = evidence.arrays.base[self._first]
        self._drawn = 0
        self._draws: dict[int, int] = {}
        self._learnt = 0
        most = 2 * len(self._starts)  # every row may come twice: proposed, then drawn
        evidence.arrays = evidence.arrays._replace(base=np.zeros(most, dtype=np.int64))

    @property
    def repeated(self) -> int:
        """How many draws so far repeat an earlier one."""
        return self._drawn - len(self._draws)

    def feed(self) -> None:
        """Add configurations until the procedure has what it asks for, or all rows were drawn."""
        while self._engine.missing_configurations and self._drawn < len(self._starts):
            row = self._proposal() if self._turns.proposal_is_due(self._engine.runs) else None
            proposed = row is not None
            if row is None:
                row = self._drawn
                self._drawn += 1
            self._turns.note(proposed=proposed)
            self._evidence.arrays.base[len(self.rows)] = self._starts[row]
            self.rows.append(row)
            if proposed:
                self._engine.add(Origin.MODEL)
                continue
            number = len(self.rows) - 1
            draw_row(self._engine, number, self._draws.setdefault(int(self._first[row]), number))

    def _proposal(self) -> int | None:
        """The model's favourite, if it has learnt enough and there are fresh instances to judge it on."""
        engine, finite = self._engine, self._engine.finite_population
        if first_fresh_position(engine.frontier, self._evidence.positions, finite=finite) is None:
            return None
        size = fitted_runs(engine.runs)
        if size != self._learnt:
            runs = Runs.observed(engine.observed(), self._evidence.arrays)
            if len(np.unique(runs.configuration)) >= FEWEST_CONFIGURATIONS:
                self._proposer.learn(runs, self.rows)
                self._learnt = size
        if not self._learnt:
            return None
        known = np.flatnonzero(np.isin(self._first, self._first[self.rows])).tolist()
        return self._proposer.propose(known, np.random.default_rng([_SEED, len(self.rows)]))

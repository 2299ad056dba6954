"""The seam between a procedure and whoever runs it, and what procedures have in common.

An engine is pure: no clock, no files, no processes, no random numbers of its own. Its driver (the
replay of recorded data, or a live session) calls `advance` and does what the answer says:

- ``PAUSED``: a limit of this call was reached; look at `progress`, call again.
- ``NEEDS_RUNS``: the next step needs runs nobody has made; make those of `needed` (and, with idle
  workers, those of `likely`), put them into the evidence, call again.
- ``NEEDS_CONFIGURATIONS``: draw `missing_configurations` more and `add` them, or say `no_more`.
- ``DONE``: `stop_reason` says why.

A driver that has a model's proposals to offer asks `takes_proposals` first: some procedures have no place for
them.

The state of an engine depends on the outcomes of runs only, never on the order in which they
finished. So several workers, a resumed run and a replay all reach the same state.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from utilitune.domain import RunRequest
from utilitune.domain.compiled import compiled
from utilitune.procedures.evidence import is_known

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from utilitune.domain import PhaseRecord, Progress, StopReason
    from utilitune.procedures.evidence import Evidence, LiveEvidence, RecordedEvidence


LOOK_AHEAD = 8
"""How many runs of one configuration are made ahead of need, at most, to keep workers busy."""

LINE_PER_RUN = 4
"""How many configurations next in line are looked at for each run to be made ahead of need."""


class BegunRun(NamedTuple):
    """A run under way: whose, on which position, up to which captime, and for how many seconds so far."""

    configuration: int
    position: int
    captime_s: float
    so_far_s: float


class Halt(Enum):
    """Why `advance` returned."""

    PAUSED = "paused"
    NEEDS_RUNS = "needs runs"
    NEEDS_CONFIGURATIONS = "needs configurations"
    DONE = "done"


class PauseAt(NamedTuple):
    """When `advance` shall return to its driver even though it could go on; compiled loops read it, too."""

    rounds: int
    total_time_s: float
    runs: int


class Origin(Enum):
    """Where a configuration came from; only random draws give credit for γ."""

    GIVEN = "given"
    RANDOM = "random"
    MODEL = "model"
    NOMINEE = "nominee"
    """Chosen by whatever means, on a list of instances: judged along an order of its own."""


class Engine(Protocol):
    """A procedure at work; see the module docstring for how it is driven."""

    @property
    def phases(self) -> Sequence[PhaseRecord]:
        """The phases that are over; none for a procedure without phases."""
        ...

    @property
    def added(self) -> int:
        """How many configurations it was given."""
        ...

    @property
    def missing_configurations(self) -> int:
        """How many more configurations the next step needs."""
        ...

    @property
    def time_each_s(self) -> NDArray[np.float64]:
        """Seconds spent on each configuration so far."""
        ...

    def advance(self, pause: PauseAt) -> Halt:
        """Go on until something is missing, a limit is reached or the procedure is done."""
        ...

    def add(self, origin: Origin, first_position: int = 0, *, configuration: int | None = None) -> int:
        """Take in one more configuration; return its index.

        Args:
            origin: Where it came from.
            first_position: For a model's proposal, the first position that may count for it. No run on it or
                behind it may have shaped the proposal. 0 for the first behind all runs consumed.
            configuration: The number under which its runs are known, where it equals an earlier one; its
                index if left out. An engine may run it under its own number all the same.
        """
        ...

    def no_more(self) -> None:
        """Say that there are no further configurations."""
        ...

    def needed(self) -> list[RunRequest]:
        """The runs the next step cannot do without."""
        ...

    @property
    def imagined_rounds(self) -> int:
        """How many rounds were played in imagination so far, to name likely runs: the price of `likely`."""
        ...

    def likely(self, count: int, begun: Sequence[BegunRun] = ()) -> list[RunRequest]:
        """Up to `count` unknown runs most likely to be needed soon, the likeliest first.

        Args:
            count: How many are wanted, those under way included.
            begun: Runs under way, which may be among them.
        """
        ...

    def progress(self) -> Progress:
        """The current answer, what is proved and what it has cost."""
        ...

    def stop_reason(self) -> StopReason:
        """Why the procedure is done, with advice."""
        ...

    def captime_note(self) -> str:
        """A sentence where the largest captime limits what can be proved, else nothing."""
        ...

    def takes_proposals(self) -> TakesProposals | None:
        """This engine, if a model may propose configurations to it; else None."""
        ...

    def shows_runs(self) -> ShowsRuns | None:
        """This engine, if it can say which runs its promise rests on; else None."""
        ...


class Observed(NamedTuple):
    """Runs as columns, one entry per run: whose, on which position, up to which captime."""

    configuration: NDArray[np.int64]
    position: NDArray[np.int64]
    captime_s: NDArray[np.float64]


class ShowsRuns(Engine, Protocol):
    """An engine that can say which runs it has looked at, so that others can check its promise."""

    @property
    def first_positions(self) -> NDArray[np.int64]:
        """The first position that counts for each configuration, in the order in which they joined."""
        ...

    def observed(self) -> Observed:
        """Every run consumed; one that was repeated counts once, with its last captime."""
        ...

    def with_all_runs(self) -> AbstractContextManager[None]:
        """Meanwhile what is said rests on all runs that there are, where the promise is about a list."""
        ...


class TakesProposals(ShowsRuns, Protocol):
    """An engine that also takes configurations a model proposes (`Origin.MODEL`)."""

    @property
    def runs(self) -> int:
        """How many runs it has consumed."""
        ...

    @property
    def spent_s(self) -> float:
        """Seconds of all runs it has consumed."""
        ...

    @property
    def frontier(self) -> int:
        """The first position behind all runs consumed; only runs before it may shape a proposal."""
        ...

    @property
    def finite_population(self) -> bool:
        """Whether the promise is about exactly the instances that are listed."""
        ...

    def progress_of(self, configuration: int) -> Progress:
        """What is proved with this configuration as the answer; it changes nothing."""
        ...

    def look_beside(self, configuration: int, position: int, captime_s: float) -> None:
        """Others have looked at a run up to a captime: it counts in what is said, not in what is run."""
        ...

    def ask_about(self, arm: int) -> None:
        """Something is to be proved of this arm, whatever its runs say."""
        ...

    def worth(self, progress: Progress) -> float:
        """What a promise is measured by when two are compared, in units of ε: the smaller the better."""
        ...

    def best_draws(self, count: int) -> list[int]:
        """Up to `count` random draws, the best by their runs first."""
        ...

    def add(
        self,
        origin: Origin,
        first_position: int = 0,
        *,
        configuration: int | None = None,
        order: NDArray[np.int32] | None = None,
    ) -> int:
        """Take in one more configuration; return its index.

        Args:
            origin: Where it came from.
            first_position: As for every engine.
            configuration: As for every engine.
            order: For a nominee, all positions of the list in an order that is revealed only now; see
                `utilitune.procedures.orders`.
        """
        ...


class NextRuns(NamedTuple):
    """The runs that some configurations would make next, the likeliest to be selected first.

    Attributes:
        configuration: Whose runs.
        positions: One line of up to `LOOK_AHEAD` positions for each, the next one first; −1 for none.
        captime_s: The captime of each.
    """

    configuration: NDArray[np.int64]
    positions: NDArray[np.int64]
    captime_s: NDArray[np.float64]


def runs_ahead(
    evidence: RecordedEvidence | LiveEvidence, following: NextRuns, count: int
) -> list[RunRequest]:
    """Up to `count` unknown runs of the configurations next in line, broad first, then deep.

    Args:
        evidence: What is known.
        following: The configurations next in line, with the runs they would make next.
        count: How many are wanted.
    """
    found = _unknown_ahead(evidence.arrays, following, count)
    return [
        RunRequest(int(following.configuration[place]), int(position), float(following.captime_s[place]))
        for place, position in found
    ]


@compiled
def _unknown_ahead(evidence: Evidence, following: NextRuns, count: int) -> NDArray[np.int64]:
    """Place in the line and position of each run that is found, one line per run."""
    found = np.empty((count, 2), dtype=np.int64)
    have = 0
    for ahead in range(LOOK_AHEAD):
        for place in range(following.configuration.size):
            position = following.positions[place, ahead]
            if have == count or position < 0:
                continue
            if not is_known(evidence, following.configuration[place], position, following.captime_s[place]):
                found[have, 0], found[have, 1] = place, position
                have += 1
    return found[:have]

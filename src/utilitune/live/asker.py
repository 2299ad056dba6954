"""The seam between a live run and whoever decides what to run: events in, instructions out.

An *asker* decides. It reads no clock, starts nothing and stores nothing. A `LiveRun` acts for it: it stores,
keeps account, watches budgets, failures and requests to stop, and is the same for every asker. The verbs are

- `restore`: these configurations are stored already. Called once, before anything else;
- `hear`: a run has ended. It is stored already. After a restart every stored run is heard again, in the
  order of storing, before the first question: **resume is replay**;
- `joined`: a configuration that the asker brought has this number now. It is stored already;
- `nominated`: a nomination is stored. Only now may the nominee's order be revealed;
- `ask`: what next, with so many slots free and these runs under way? The answer is one instruction:

  - `Join`: bring these configurations in. Each is stored, gets a number and comes back by `joined`;
  - `Make`: make these runs, the most urgent first. As many are begun as there are free slots and the budget
    allows; the asker is asked again as soon as one has ended or was begun elsewhere, so it need not remember
    what it asked for. An empty list waits for the runs under way;
  - `Nominate`: store that this configuration is nominated; it comes back by `nominated`;
  - `Again`: nothing is needed from outside. Between two of these others get a word in;
  - `Done`: there is nothing left to run, for this reason;

- `progress`: where it stands, for the trajectory and for people who watch; None if that means nothing here.

A budget that is spent, a request to stop and a target that keeps failing end the run before the next *new*
thing: a run, or a configuration that is not stored yet. So a resumed run always walks to the end of what was
paid for. Runs under way are then cancelled and count for nothing.

**Numbers.** A configuration's number is its place in the store, whoever brought it in. A run is a fact about
a configuration number and a position of the stored instance order, whoever wanted it: every asker hears of
every run. An asker made of several parts hands each event to all of them and joins their instructions;
`whose` a run is follows from what each part asked for, and is remembered by the asker alone.

**Runs under way.** A `Room` tells how long each has been running (`so_far_s`). An asker may guess from that
which runs to begin, but nothing that is proved may rest on it, as it is not stored. A run that has lasted
longer than the asker needs it for is ended (`Make.enough`) and stored as one that was stopped at that
captime: what would have been stored had it been begun with it.

Askers: `utilitune.live.proof` (a procedure with its supply of configurations), `utilitune.live.exploring`
(the same beside a search: ``run``, ``configure`` and ask and tell), `utilitune.live.grid` (given runs:
``collect``, ``evaluate`` and peers).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from utilitune.domain import PhaseRecord, Progress, RunOutcome, RunRequest, StopReason
    from utilitune.live.supply import Drawn
    from utilitune.store.records import ConfigurationRecord
    from utilitune.targets.base import Invocation

Pair = tuple[int, int]
"""A configuration's number and an instance's position."""


def pair_of(request: RunRequest) -> Pair:
    """The configuration and the position of a run."""
    return request.configuration, request.position


class Ended(NamedTuple):
    """A run that has ended and is stored.

    Attributes:
        request: Which configuration, at which position, up to which captime.
        outcome: What came of it.
        taken_over: Whether an earlier run folder made it, so that it cost nothing here.
    """

    request: RunRequest
    outcome: RunOutcome
    taken_over: bool = False


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A run that was begun and has not ended.

    Attributes:
        request: Which configuration, at which position, up to which captime.
        invocation: The same in the target's terms.
        started_at: When it was begun, in seconds since the epoch.
        ahead: Whether it was wanted ahead of need.
    """

    request: RunRequest
    invocation: Invocation
    started_at: float
    ahead: bool


class Room(NamedTuple):
    """How much can be begun now.

    Attributes:
        free: Slots that are free.
        under_way: The runs that occupy the others.
        now: The time, in seconds since the epoch.
    """

    free: int
    under_way: Mapping[Pair, UnderWay]
    now: float

    def so_far_s(self, run: UnderWay) -> float:
        """Seconds on the clock since a run was begun."""
        return max(0.0, self.now - run.started_at)

    @property
    def slots(self) -> int:
        """How many runs can be under way together."""
        return self.free + len(self.under_way)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run to be made.

    Attributes:
        request: Which configuration, at which position, up to which captime.
        ahead: Whether the asker could go on without it for now.
    """

    request: RunRequest
    ahead: bool = False


class Joining(NamedTuple):
    """A configuration to bring in.

    Attributes:
        drawn: The configuration.
        number: Its number if it is stored already; None for a new one.
    """

    drawn: Drawn
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Bring these configurations in."""

    configurations: tuple[Joining, ...]

    @property
    def stored(self) -> bool:
        """Whether all of them are stored already."""
        return all(each.number is not None for each in self.configurations)


@dataclass(frozen=True, slots=True)
class Make:
    """Make these runs, the most urgent first; none of them is under way.

    Attributes:
        runs: The runs.
        may_wait: Whether there may be none although none is under way: the asker waits for something else.
        enough: Runs that are under way up to a longer captime. Each is needed up to this one only, so it may
            end as soon as it has lasted that long; it then counts as stopped at this captime.
    """

    runs: Sequence[Wanted]
    may_wait: bool = False
    enough: Sequence[RunRequest] = ()


@dataclass(frozen=True, slots=True)
class Nominate:
    """Let a stored configuration be judged along an order of its own.

    Attributes:
        number: Which nomination of the run it is, from 1; one that is stored already is not stored again.
        configuration: The number of the configuration.
        first_fresh: The first position behind all that shaped it.
    """

    number: int
    configuration: int
    first_fresh: int = 0


@dataclass(frozen=True, slots=True)
class Again:
    """Ask again: nothing is needed from outside."""


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing is left to run."""

    reason: StopReason


Instruction = Join | Make | Nominate | Again | Done


class Asker(Protocol):
    """Whoever decides what to run; see the module docstring for how it is asked."""

    def restore(self, configurations: Sequence[ConfigurationRecord]) -> None:
        """Take over the configurations that are stored."""

    def hear(self, run: Ended) -> None:
        """Take in a run that has ended."""

    def joined(self, number: int, drawn: Drawn) -> None:
        """Take in a configuration under its number."""

    def nominated(self, number: int, configuration: int) -> None:
        """Take in that a nomination is stored."""

    def ask(self, room: Room) -> Instruction:
        """Say what to do next."""

    def progress(self) -> Progress | None:
        """Where it stands; None if there is no answer to speak of."""

    @property
    def phases(self) -> Sequence[PhaseRecord]:
        """The phases that are over, for procedures with phases."""

    def close(self) -> None:
        """Nothing more will be asked."""

"""Who takes part in a proof, in terms of the engine and in terms of the store.

An engine counts its configurations in the order in which they joined it. That is their number in the store as
long as nobody else brings configurations in; `Entrants` translates where somebody does. One configuration may
have several places: a nominee that has joined before joins again, with an order of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from utilitune.procedures.engine import BegunRun, Origin

if TYPE_CHECKING:
    from utilitune.domain import RunRequest
    from utilitune.live.asker import Room
    from utilitune.live.supply import Drawn
    from utilitune.spaces import Assignment


class Entrants:
    """The configurations of an engine.

    Attributes:
        numbers: The number in the store of each, in the order in which they joined.
        nominees: Which of them were nominated.
    """

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.nominees: list[int] = []
        self._places: dict[int, int] = {}
        self._first_equal: dict[Assignment, int] = {}

    def enter(self, number: int) -> None:
        """The engine's next configuration has this number."""
        self._places.setdefault(number, len(self.numbers))
        self.numbers.append(number)

    def share_runs(self, number: int, assignment: Assignment) -> None:
        """Random draws that join later and are equal to this one read its runs."""
        self._first_equal.setdefault(assignment, self._places[number])

    def place_of(self, number: int) -> int | None:
        """Where a configuration of the store first stands in the engine; None if it has not joined."""
        return self._places.get(number)

    def whose_runs(self, number: int, drawn: Drawn) -> int:
        """Whose runs count for a configuration that has joined: a random draw may equal an earlier one."""
        own = self._places[number]
        first = self._first_equal.setdefault(drawn.assignment, own)
        return first if drawn.origin is Origin.RANDOM else own

    def stored(self, request: RunRequest) -> RunRequest:
        """A run in terms of the store, for one in terms of the engine."""
        return at(request, self.numbers[request.configuration])


class BegunRuns:
    """The runs under way in terms of the engine.

    Args:
        room: The same in terms of the store.
        entrants: Who has joined.
    """

    def __init__(self, room: Room, entrants: Entrants) -> None:
        self._room, self._entrants = room, entrants

    def __len__(self) -> int:
        return len(self._room.under_way)

    def captime_of(self, configuration: int, position: int) -> float | None:
        """Up to which captime a run is under way; None if it is not."""
        run = self._room.under_way.get((self._entrants.numbers[configuration], position))
        return None if run is None else run.request.captime_s

    def runs(self) -> list[BegunRun]:
        """All of them, except those of configurations that have not joined."""
        return [
            BegunRun(place, position, run.request.captime_s, self._room.so_far_s(run))
            for (number, position), run in self._room.under_way.items()
            if (place := self._entrants.place_of(number)) is not None
        ]


def at(request: RunRequest, configuration: int) -> RunRequest:
    """The same run under another number of its configuration."""
    return (
        request if request.configuration == configuration else replace(request, configuration=configuration)
    )

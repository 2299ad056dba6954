"""The slots of a cluster's workers: which are free, and how a run gets a worker for itself."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Slots:
    """The free slots, those that wait longest first."""

    def __init__(self) -> None:
        self._free: deque[str] = deque()
        self._of: dict[str, int] = {}
        self._held = ""

    def __iter__(self) -> Iterator[str]:
        """The worker of every free slot."""
        return iter(self._free)

    def join(self, address: str, slots: int) -> None:
        """A worker has come with so many slots."""
        self._of[address] = slots
        self._free.extend([address] * slots)

    def lose(self, address: str) -> None:
        """A worker has gone."""
        self._of.pop(address, None)
        self._remove(address)
        if self._held == address:
            self._held = ""

    def take(self) -> str | None:
        """Take any slot, but none of a worker that is held back for one run; returns whose it is."""
        for _ in range(len(self._free)):
            address = self._free.popleft()
            if address != self._held:
                return address
            self._free.append(address)
        return None

    def take_at(self, address: str) -> bool:
        """Take a slot of this worker, if one is free."""
        if address == self._held or address not in self._free:
            return False
        self._free.remove(address)
        return True

    def take_worker(self) -> tuple[str, int] | None:
        """Take all slots of a worker; where none is without work, one is held back until it is.

        Returns:
            Which worker, and how many slots that are.
        """
        free = Counter(self._free)
        idle = next((address for address in free if free[address] == self._of[address]), None)
        if idle is None:
            self._held = self._held or max(self._of, key=lambda each: free[each] - self._of[each], default="")
            return None
        self._held = ""
        self._remove(idle)
        return idle, self._of[idle]

    def hold_none_back(self) -> None:
        """Nobody waits for a worker for itself."""
        self._held = ""

    def give_back(self, address: str, slots: int) -> None:
        """Slots are free again, unless their worker has gone."""
        if address in self._of:
            self._free.extend([address] * slots)

    def _remove(self, address: str) -> None:
        self._free = deque(free for free in self._free if free != address)

"""The candidates of a search and what is known of their runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from utilitune.search.base import Seen
    from utilitune.search.captimes import Captimes
    from utilitune.spaces import Assignment, ParameterSpace


class Result(NamedTuple):
    """What a run shows when it is looked at up to a captime.

    Attributes:
        worth: What it counts as being worth.
        stopped: Whether it was stopped, so that its worth is a guess.
        time_s: How long it lasted.
        log_time: The logarithm of the time it counts as having taken; infinite if it would never end.
    """

    worth: float
    stopped: bool
    time_s: float
    log_time: float


class Pool:
    """Candidates by number, their codes, and their runs.

    What a race looks at (`looked_at`) is kept apart from what is merely known (`known`): runs may be known
    early because other workers were quick, and no decision may depend on that.

    Args:
        space: The parameters.
        captimes: How stopped runs count.
    """

    def __init__(self, space: ParameterSpace, captimes: Captimes) -> None:
        self.space = space
        self.assignments: list[Assignment] = []
        self.numbers: dict[Assignment, int] = {}
        self.looked_at: list[dict[int, Result]] = []
        self._captimes = captimes
        self._known: list[dict[int, Seen]] = []
        self._keys: set[bytes] = set()
        self._codes = np.empty((len(space.parameters), 0))

    def __len__(self) -> int:
        """How many candidates there are."""
        return len(self.assignments)

    def add(self, assignment: Assignment) -> int:
        """One more candidate; its number, or the number it has already."""
        if assignment in self.numbers:
            return self.numbers[assignment]
        number = len(self.assignments)
        self.numbers[assignment] = number
        self.assignments.append(assignment)
        self.looked_at.append({})
        self._known.append({})
        if number >= self._codes.shape[1]:
            room = np.empty((self._codes.shape[0], max(64, number)))
            self._codes = np.hstack([self._codes, room])
        codes = self.space.codes([assignment])[:, 0]
        self._codes[:, number] = codes
        self._keys.add(codes.tobytes())
        return number

    def is_new(self, codes: NDArray[np.float64]) -> bool:
        """Whether the configuration with these codes is no candidate yet."""
        return codes.tobytes() not in self._keys

    def codes(self, numbers: list[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """The codes of these candidates, one column each."""
        return self._codes[:, numbers]

    def tell(self, candidate: int, position: int, seen: Seen) -> None:
        """Keep what came of a run; what told less is forgotten."""
        before = self._known[candidate].get(position)
        if before is None or (math.isinf(before.time_s) and before.known_s < max(seen.known_s, seen.time_s)):
            self._known[candidate][position] = seen
        elif math.isinf(before.time_s) and seen.time_s < math.inf:  # a repetition that ended sooner
            self._known[candidate][position] = seen._replace(time_s=before.known_s)

    def look(self, candidate: int, position: int, captime_s: float) -> Result | None:
        """What the run shows up to a captime; None if that is not known yet."""
        seen = self._known[candidate].get(position)
        if seen is None or not seen.tells(captime_s):
            return None
        if seen.time_s < captime_s:
            return Result(
                seen.worth, stopped=False, time_s=seen.time_s, log_time=math.log(max(seen.time_s, 1e-9))
            )
        if seen.failed_s < captime_s:
            return Result(seen.worth, stopped=False, time_s=seen.failed_s, log_time=math.inf)
        counted_s = self._captimes.stopped_time_s(captime_s)
        worth = self._captimes.stopped_worth(captime_s)
        return Result(worth, stopped=True, time_s=captime_s, log_time=math.log(counted_s))

    def differences(self, candidate: int, rival: int) -> list[float]:
        """Worth of one minus worth of the other on every position where both were looked at."""
        ours, theirs = self.looked_at[candidate], self.looked_at[rival]
        return [result.worth - theirs[each].worth for each, result in ours.items() if each in theirs]

    def paired(self, candidate: int, rival: int) -> tuple[int, float]:
        """On how many positions both were looked at, and the mean difference of their worths there."""
        values = self.differences(candidate, rival)
        return len(values), sum(values) / max(1, len(values))

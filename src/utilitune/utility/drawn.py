"""The curve of a user's function, kept as points, so that a run can be looked at where the function is not.

A run folder outlives the script or notebook that its utility was written in, and is opened on other machines.
Every start of such a run therefore keeps the curve: points between which straight lines stay within
`TOLERANCE` of the function. Whoever only looks at the run reads the points and runs nobody's code.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from utilitune.utility.base import Utility
from utilitune.utility.functions import DEFAULT_HORIZON_S, PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

TOLERANCE = 1e-4
"""How far a drawn curve may lie from its function, in utility."""

_SHORTEST_S = 1e-6
_PIECES = 64  # to begin with; each is halved until it is straight enough
_CLOSEST = 1e-9  # a jump is known to this share of its time
_MOST_POINTS = 20_000


@dataclass(frozen=True, slots=True)
class DrawnUtility(Utility):
    """A utility of which only the curve is known.

    Attributes:
        text: What the scenario calls it.
        words: What it said about itself.
        times_s: Rising times.
        worths: The worth at each.
    """

    text: str
    words: str
    times_s: tuple[float, ...]
    worths: tuple[float, ...]

    def _evaluate(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        worth: NDArray[np.float64] = np.interp(time_s, self.times_s, self.worths)
        return worth

    def __str__(self) -> str:
        return self.text

    def describe(self) -> str:
        """The utility in one line of plain words."""
        return self.words


def is_python(text: str) -> bool:
    """Whether a utility in text form names a Python function."""
    return PREFIX in text.lower()


def drawing_of(utility: Utility) -> dict[str, Any]:
    """The curve of a utility as plain values."""
    ends = [0.0, *np.geomspace(_SHORTEST_S, DEFAULT_HORIZON_S, _PIECES).tolist()]
    known = {time_s: float(utility(time_s)) for time_s in ends}
    pieces = list(pairwise(ends))
    while pieces and len(known) < _MOST_POINTS:
        early_s, late_s = pieces.pop()
        middle_s = (early_s + late_s) / 2
        if late_s - early_s <= _CLOSEST * late_s or known[early_s] == known[late_s]:
            continue
        worth = float(utility(middle_s))
        known[middle_s] = worth
        if abs(worth - (known[early_s] + known[late_s]) / 2) > TOLERANCE / 2 or _is_wide(early_s, late_s):
            pieces += [(early_s, middle_s), (middle_s, late_s)]
    times_s = sorted(known)
    return {"words": utility.describe(), "times_s": times_s, "worths": [known[each] for each in times_s]}


def _is_wide(early_s: float, late_s: float) -> bool:
    """Whether a piece is so long that a curve may be bent on both sides of a middle that lies on the line."""
    return late_s > 1.25 * max(early_s, _SHORTEST_S)


def drawn(text: str, drawing: Mapping[str, Any]) -> DrawnUtility:
    """The utility that `drawing_of` has written down."""
    return DrawnUtility(
        text,
        str(drawing["words"]),
        tuple(float(each) for each in drawing["times_s"]),
        tuple(float(each) for each in drawing["worths"]),
    )
